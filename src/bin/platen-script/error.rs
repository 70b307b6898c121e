//! Why a job comes to nothing, and what its author is told of that.

use office_template::Error;
use platen::workers::assemble::ScriptError;
use platen::workers::child::Memory;

use crate::machine::Thrown;

/// What the engine throws where it has not given memory, also for what no memory would do for.
pub const REFUSED: &str = "Out of memory";

/// The longest sentence of an answer.
const SENTENCE_LIMIT_BYTES: usize = 8 << 10;

/// Why a job comes to nothing.
pub enum Failure {
    /// The pipe to the service broke: the child ends.
    Pipe(String),
    /// The engine threw something.
    Thrown(Thrown),
    /// Refused, for a reason that its author is told.
    Refused(ScriptError),
}

impl Failure {
    /// What its author is told, where a pipe is left to tell it by; of what the engine threw, what `otherwise` makes.
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
    /// That the memory is used up, where that is why, or else what `otherwise` makes of it.
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

/// A sentence as long as an answer may have it. A template may have made it, whatever cuts it before.
pub fn bounded(mut sentence: String) -> String {
    sentence.truncate(sentence.floor_char_boundary(SENTENCE_LIMIT_BYTES));
    sentence
}
