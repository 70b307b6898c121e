//! What a template is written in.

use serde::{Deserialize, Serialize};

/// What a template is written in: says how values are escaped, and which tags there are beside those of EJS.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Language {
    /// HTML.
    #[default]
    Html,
    /// LaTeX.
    Latex,
}
