//! What is found in a template of which nothing runs.

use serde::{Deserialize, Serialize};

/// What a template has in it.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct LintReport {
    /// Its tags, in their order.
    pub tags: Vec<LintTag>,
    /// How many tags there are beside these.
    pub more_tags: usize,
    /// The data that it reads: `customer.name`, `items[].price`. `None` where that cannot be told.
    pub variables: Option<Vec<String>>,
    /// Why it cannot.
    pub untold: Option<String>,
    /// What is wrong with it.
    pub faults: Vec<LintFault>,
    /// How many faults there are beside these.
    #[serde(default)]
    pub more_faults: usize,
    /// What its author should know besides.
    #[serde(default)]
    pub warnings: Vec<String>,
    /// Tags that are names, or else faults: data tell which.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub names: Vec<LintName>,
}

/// Where something stands.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, Serialize)]
#[serde(untagged)]
pub enum Place {
    /// In a page.
    Line {
        /// The path of the file in the template.
        file: String,
        /// Counted from 1.
        line: usize,
    },
    /// In an Office file.
    Paragraph {
        /// The part's name, as `word/document.xml`; of a presentation which slide's it is, as `slide 3`.
        part: String,
        /// Counted from 1.
        paragraph: usize,
    },
}

/// A tag.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, Serialize)]
pub struct LintTag {
    /// Where it stands.
    #[serde(flatten)]
    pub place: Place,
    /// What it is: `value`, `code`, `section` …
    pub kind: String,
    /// As its author wrote it; a long one is cut.
    pub tag: String,
}

/// A tag whose text is no expression and may be a name of the data, as `First Name`.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, Serialize)]
pub struct LintName {
    /// What it reads of the data.
    pub path: String,
    /// What is to be said where the data have none of this name.
    pub fault: LintFault,
}

/// What is wrong with a template.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, Serialize)]
pub struct LintFault {
    /// Where.
    #[serde(flatten)]
    pub place: Place,
    /// The tag, if one is to blame.
    pub tag: String,
    /// What it is, and the remedy where there is one.
    pub message: String,
}
