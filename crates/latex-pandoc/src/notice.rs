//! What the author should know of a document that was made.

use std::fmt;

use crate::texts::Place;

/// Something that is not as it is in the PDF.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Notice {
    /// Where it is so first, as far as that is known.
    pub place: Option<Place>,
    /// What.
    pub what: What,
    /// How often.
    pub count: usize,
}

/// What can be told of a document.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum What {
    /// A command was left out with its arguments, such as `\index`.
    Command(String),
    /// An environment was left out with all that is in it, such as `tikzpicture`.
    Drawing(String),
    /// An environment is none any more, and what is in it is there.
    Environment(String),
    /// A file that the document includes is not there.
    File(String),
    /// A formula is shown as its code, for the command in it that is unknown.
    Formula(String),
    /// A reference leads nowhere.
    Reference(String),
    /// A citation that no bibliography has.
    Citation(String),
    /// A picture is not there.
    Picture(String),
    /// A picture that lies elsewhere.
    Remote(String),
    /// A picture of a format that nobody shows.
    Format(String),
    /// A link that would run something.
    Link(String),
    /// What pandoc says besides.
    Other(String),
}

impl fmt::Display for Notice {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.what.fmt(formatter)?;
        match self.count {
            0 | 1 => Ok(()),
            2 => formatter.write_str(" (and once more)"),
            count => write!(formatter, " (and {} times more)", count - 1),
        }
    }
}

impl fmt::Display for What {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Command(name) => {
                write!(formatter, "{name} was left out with its arguments; pandoc makes nothing of it")
            }
            Self::Drawing(name) => {
                write!(
                    formatter,
                    "the environment {name} was left out with all that is in it; pandoc makes nothing of it"
                )
            }
            Self::Environment(name) => {
                write!(
                    formatter,
                    "the environment {name} is unknown to pandoc; what is in it is there as plain text"
                )
            }
            Self::File(name) => write!(
                formatter,
                "the file '{name}' is not there; put it beside the template, in one archive"
            ),
            Self::Formula(command) => {
                write!(formatter, "a formula is there as its code, for pandoc does not know {command}")
            }
            Self::Reference(name) => write!(formatter, "the reference '{name}' is not defined"),
            Self::Citation(name) => write!(formatter, "'{name}' is cited and in no bibliography"),
            Self::Picture(name) => {
                write!(
                    formatter,
                    "the picture '{name}' is not there; put it beside the template, in one archive"
                )
            }
            Self::Remote(name) => write!(
                formatter,
                "the picture '{name}' was left out: nothing is fetched for LaTeX; put it beside the template, in one archive"
            ),
            Self::Format(name) => {
                write!(
                    formatter,
                    "the picture '{name}' was left out; make it a PDF, PNG, JPEG or SVG beforehand"
                )
            }
            Self::Link(target) => {
                write!(formatter, "the link to '{target}' is text alone: it would run something")
            }
            Self::Other(words) => write!(formatter, "pandoc: {words}"),
        }
    }
}
