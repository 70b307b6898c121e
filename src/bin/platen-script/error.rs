//! Why a job has no result, as an error for the template's author.

use office_template::Error;
use platen::workers::assemble::ScriptError;
use platen::workers::child::Memory;

use crate::machine::Thrown;

/// What the engine throws when it refuses an allocation: memory is used up, or one value is larger than it ever allows
/// or than the memory that is left.
pub const REFUSED: &str = "Out of memory";

const SENTENCE_LIMIT_BYTES: usize = 8 << 10;

/// Why a job has no result.
pub enum Failure {
    /// The pipe to the service broke: the child ends.
    Pipe(String),
    /// The engine threw something.
    Thrown(Thrown),
    /// The template, data or options were refused.
    Refused(ScriptError),
}

impl Failure {
    /// The error for the author. `otherwise` converts what the engine threw, unless memory was short.
    ///
    /// # Errors
    /// When the pipe is broken.
    pub fn explain(
        self,
        memory: &Memory,
        otherwise: fn(String) -> ScriptError,
    ) -> Result<ScriptError, String> {
        match self {
            Self::Pipe(cause) => Err(cause),
            Self::Thrown(thrown) => Ok(thrown.explain(memory, otherwise)),
            Self::Refused(error) => Ok(error),
        }
    }
}

impl Thrown {
    /// `OutOfMemory` where an allocation failed and memory is short; else what `otherwise` makes of the message.
    pub fn explain(self, memory: &Memory, otherwise: fn(String) -> ScriptError) -> ScriptError {
        let is_memory = self.0.contains(REFUSED) && memory.is_short();
        if is_memory { ScriptError::OutOfMemory } else { otherwise(bounded(self.0)) }
    }
}

impl From<Thrown> for Failure {
    fn from(thrown: Thrown) -> Self {
        Self::Thrown(thrown)
    }
}

impl From<String> for Failure {
    fn from(cause: String) -> Self {
        Self::Pipe(cause)
    }
}

impl From<ScriptError> for Failure {
    fn from(error: ScriptError) -> Self {
        Self::Refused(error)
    }
}

impl From<Error> for Failure {
    fn from(error: Error) -> Self {
        Self::Refused(match error {
            Error::NotOffice(sentence) => ScriptError::Template(sentence),
            Error::Limit(sentence) => ScriptError::Limit(sentence),
            Error::Delimiters(sentence) => ScriptError::Options(sentence),
            Error::Tags(faults) => ScriptError::Code(bounded(faults.to_string())),
            Error::Answer(sentence) => ScriptError::Broken(sentence),
        })
    }
}

/// A sentence cut to the longest length. Template code may have made it, so cutting it in JavaScript is not enough.
pub fn bounded(mut sentence: String) -> String {
    sentence.truncate(sentence.floor_char_boundary(SENTENCE_LIMIT_BYTES));
    sentence
}
