//! A virtual machine of `JavaScriptCore` with one context: evaluates scripts, and turns exceptions into errors.

use javascriptcore6::glib::Bytes;
use javascriptcore6::{Context, Value, VirtualMachine};

/// A machine. It shares nothing with any other; all that a template leaves in it is freed with it.
pub struct Machine {
    context: Context,
}

/// The message of an exception.
pub struct Thrown(pub String);

impl Machine {
    /// An empty machine.
    pub fn new() -> Self {
        Self { context: Context::with_virtual_machine(&VirtualMachine::new()) }
    }

    /// Evaluates a script whose address in stack traces is `address`.
    pub fn evaluate(&self, script: &str, address: &str) -> Result<Value, Thrown> {
        let value = self.context.evaluate_with_source_uri(script, address, 1);
        self.caught(value)
    }

    /// Calls a function.
    pub fn call(&self, function: &Value, arguments: &[Value]) -> Result<Value, Thrown> {
        let value = function.function_callv(arguments);
        self.caught(value)
    }

    /// Calls a function that returns a text. An unpaired surrogate becomes U+FFFD.
    pub fn text_of(&self, function: &Value, arguments: &[Value]) -> Result<String, Thrown> {
        let value = self.call(function, arguments)?;
        if !value.is_string() {
            return Err(Thrown("the renderer did not answer".to_owned()));
        }
        // `to_str` would end at the first NUL.
        let text = value.to_string_as_bytes();
        Ok(text.map(|text| String::from_utf8_lossy(&text).into_owned()).unwrap_or_default())
    }

    /// A function or an object by its name in `object`.
    pub fn member(object: &Value, name: &str) -> Result<Value, Thrown> {
        object.object_get_property(name).ok_or_else(|| Thrown(format!("there is no '{name}'")))
    }

    /// A text of valid UTF-8.
    pub fn text(&self, text: &Bytes) -> Value {
        Value::new_string_from_bytes(&self.context, Some(text))
    }

    /// A short text.
    pub fn word(&self, word: &str) -> Value {
        self.text(&Bytes::from(word.as_bytes()))
    }

    /// A number below 2^53.
    #[expect(clippy::cast_precision_loss, reason = "lengths and limits are below 2^53")]
    pub fn number(&self, number: u64) -> Value {
        Value::new_number(&self.context, number as f64)
    }

    /// JavaScript's `undefined`.
    pub fn undefined(&self) -> Value {
        Value::new_undefined(&self.context)
    }

    /// An object with these members.
    pub fn object(&self, members: &[(&str, Value)]) -> Result<Value, Thrown> {
        let object = self.evaluate("({})", "")?;
        for (name, value) in members {
            object.object_set_property(name, value);
        }
        Ok(object)
    }

    fn caught(&self, value: Option<Value>) -> Result<Value, Thrown> {
        match (self.context.exception(), value) {
            (None, Some(value)) => Ok(value),
            (exception, _) => {
                let message = exception.and_then(|exception| exception.message());
                self.context.clear_exception();
                Err(Thrown(message.map(Into::into).unwrap_or_default()))
            }
        }
    }
}
