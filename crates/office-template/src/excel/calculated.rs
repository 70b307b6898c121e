//! The formula of a cell as the template has it, and what is known of its addresses.

use std::borrow::Cow;
use std::sync::Arc;

use cell_references::{Formula, Meaning, Range};

/// A formula of a cell.
pub(super) struct Calculated {
    pub formula: Spelled,
    /// The cells that an array formula fills, and its other attributes.
    pub array: Option<(Range, String)>,
    /// It takes a value of the cell directly above it, or left of it, which is not in its section: from the second turn on that of
    /// the turn before.
    pub is_above: bool,
    pub is_left: bool,
    /// An address outside of its sections.
    pub outside: Option<Outside>,
}

/// An address of a formula that moves along in Excel and stays here.
pub(super) struct Outside {
    /// What is to be said of it.
    pub told: Box<str>,
    /// Whether it stays in each turn of rows, and of columns.
    pub of_rows: bool,
    pub of_columns: bool,
}

impl Calculated {
    pub(super) fn new(formula: Spelled, array: Option<(Range, String)>) -> Self {
        Self { formula, array, is_above: false, is_left: false, outside: None }
    }
}

/// A formula, parsed or as a shift of a shared one.
pub(super) enum Spelled {
    Own(Formula),
    /// The formula of another cell, so many rows further down and columns further right.
    As(Arc<Formula>, (i32, i32)),
}

impl Spelled {
    /// The formula of the cell. `names` are those of all sheets of the workbook.
    pub(super) fn formula<S: AsRef<str>>(&self, names: &[S]) -> Cow<'_, Formula> {
        match self {
            Self::Own(formula) => Cow::Borrowed(formula),
            Self::As(first, (0, 0)) => Cow::Borrowed(first),
            Self::As(first, (rows, columns)) => {
                Cow::Owned(Formula::parse(&first.shifted(*rows, *columns), names, Meaning::Value))
            }
        }
    }
}
