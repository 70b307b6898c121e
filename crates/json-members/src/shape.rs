//! What may be sent, as data.

/// What may be sent for a member.
#[derive(Clone, Debug, PartialEq)]
pub enum Shape {
    /// `true` or `false`.
    Flag,
    /// A string.
    Text,
    /// A whole number.
    Whole {
        /// The least one.
        least: u32,
        /// The greatest one.
        most: u32,
    },
    /// A number.
    Number {
        /// The least one.
        least: f64,
        /// The greatest one.
        most: f64,
    },
    /// One of these words.
    Words {
        /// What they are called in a schema; empty where no other member has the same ones.
        title: &'static str,
        /// The words.
        words: Vec<&'static str>,
    },
    /// A CSS length as a string, or a number of pixels.
    Length,
    /// The bytes of a file, in a form.
    File,
    /// An object that is passed on as it was sent.
    Any,
    /// Values of one shape.
    List(Box<Shape>),
    /// An object of values of one shape, by names of the caller's choice.
    Map(Box<Shape>),
    /// An object with members of its own.
    Object {
        /// What it is called in a schema.
        title: &'static str,
        /// Its members, in the order in which they are read.
        members: Vec<Member>,
    },
    /// A value of any of these shapes.
    OneOf {
        /// What it is called in a schema.
        title: &'static str,
        /// The shapes.
        shapes: Vec<Shape>,
    },
}

/// A member that is read, as its reader declares it.
#[derive(Clone, Debug, PartialEq)]
pub struct Member {
    /// Its name.
    pub name: &'static str,
    /// A sentence for callers.
    pub about: &'static str,
    /// What may be sent for it.
    pub shape: Shape,
    /// Whether it must be sent.
    pub is_required: bool,
    /// Whether it is an older name of another one.
    pub is_old: bool,
}

impl Shape {
    /// One of these words, which no other member has.
    pub fn words(words: Vec<&'static str>) -> Self {
        Self::Words { title: "", words }
    }

    /// Whether text that was not written as JSON (a part of a form, an argument) is this value as it stands, also where it
    /// looks like a number or like `true`.
    #[must_use]
    pub fn is_text(&self) -> bool {
        match self {
            Self::Text | Self::Words { .. } => true,
            Self::OneOf { shapes, .. } => shapes.iter().all(Self::is_text),
            Self::Flag
            | Self::Whole { .. }
            | Self::Number { .. }
            | Self::Length
            | Self::File
            | Self::Any
            | Self::List(_)
            | Self::Map(_)
            | Self::Object { .. } => false,
        }
    }
}
