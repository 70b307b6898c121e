//! The report on a template that is linted.

use serde::{Deserialize, Serialize};

/// What a template has in it.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct LintReport {
    /// Its tags, in their order.
    pub tags: Vec<LintTag>,
    /// How many tags there are beside these.
    pub more_tags: usize,
    /// The data that it reads: `customer.name`, `items[].price`. `None` where that cannot be determined.
    pub variables: Option<Vec<String>>,
    /// Why `variables` cannot be determined.
    pub untold: Option<String>,
    /// Its errors.
    #[serde(rename = "faults")]
    pub errors: Vec<LintError>,
    /// How many errors there are beside these.
    #[serde(default, rename = "moreFaults")]
    pub more_errors: usize,
    /// Warnings for the author.
    #[serde(default)]
    pub warnings: Vec<String>,
}

/// A place in a template.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, Serialize)]
#[serde(untagged)]
pub enum SourceLocation {
    /// In a page.
    Line {
        /// The path of the file in the template.
        file: String,
        /// Counted from 1.
        line: usize,
    },
    /// In an Office file.
    Paragraph {
        /// The part's name, as `word/document.xml`; in a presentation the slide, as `slide 3`.
        part: String,
        /// Counted from 1.
        paragraph: usize,
    },
}

/// A tag.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, Serialize)]
pub struct LintTag {
    /// Its place.
    #[serde(flatten)]
    pub place: SourceLocation,
    /// Its kind: `value`, `code`, `section` …
    pub kind: String,
    /// As its author wrote it; a long one is cut.
    pub tag: String,
}

/// An error in a template.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, Serialize)]
pub struct LintError {
    /// Its place.
    #[serde(flatten)]
    pub place: SourceLocation,
    /// The tag that causes it; empty if none does.
    pub tag: String,
    /// The error, with the remedy if there is one.
    pub message: String,
}
