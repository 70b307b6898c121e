//! Faults of the expressions in an Office file's tags. None of them is run.

use javascriptcore6::Value;

use crate::machine::{Machine, Thrown};

const TAG_FAULTS: &str = include_str!("../../../assets/tag-faults.js");

/// Loads `tag-faults.js`: its functions.
pub fn load(machine: &Machine) -> Result<Value, Thrown> {
    let make = machine.evaluate(TAG_FAULTS, "tag-faults")?;
    machine.call(&make, &[])
}

/// What is wrong with the expressions in `steps`, which are those of `office_template::Outline`: the numbers of tags, and why.
pub fn faults(machine: &Machine, steps: &str) -> Result<Vec<(usize, String)>, Thrown> {
    let faults = Machine::member(&load(machine)?, "ofJson")?;
    let found = machine.text_of(&faults, &[machine.word(steps)])?;
    serde_json::from_str(&found).map_err(|error| Thrown(error.to_string()))
}
