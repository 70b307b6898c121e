//! The default locale of template code.

use crate::machine::{Machine, Thrown};

/// The default locale of the engine, whatever its environment says.
pub const OWN_LOCALE: &str = "en-US";

const LOCALE: &str = include_str!("../../../assets/template-locale.js");

/// Makes `locale` the default for numbers and dates that the template formats.
pub fn localize(machine: &Machine, locale: &str) -> Result<(), Thrown> {
    if locale == OWN_LOCALE {
        return Ok(());
    }
    let localize = machine.evaluate(LOCALE, "locale")?;
    machine.call(&localize, &[machine.word(locale)]).map(drop)
}
