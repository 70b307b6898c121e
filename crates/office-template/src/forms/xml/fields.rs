//! Fields in XML of the data: they begin and end in it, and read no files.

use crate::field_code::FieldCode;

/// The fields that are open.
#[derive(Default)]
pub(super) struct Fields {
    open: Vec<Field>,
}

#[derive(Default)]
struct Field {
    code: FieldCode,
    /// Its result has begun.
    is_over: bool,
}

impl Fields {
    /// An element of Word's begins; `value` tells its attributes by their names without a prefix.
    pub(super) fn begin(&mut self, local: &str, value: impl Fn(&str) -> String) -> Result<(), String> {
        match local {
            "fldChar" => self.character(&value("fldCharType")),
            "fldSimple" => {
                self.check_around()?;
                let mut code = FieldCode::default();
                code.pass(&value("instr"));
                code.check()
            }
            "tab" | "br" | "cr" | "ptab" => {
                self.pass(" ");
                Ok(())
            }
            "instrText" | "delInstrText" if self.code().is_none() => {
                Err("the XML has a field's code outside of a field".to_owned())
            }
            _ => Ok(()),
        }
    }

    fn character(&mut self, kind: &str) -> Result<(), String> {
        match kind {
            "begin" => {
                self.check_around()?;
                self.open.push(Field::default());
                Ok(())
            }
            "separate" => {
                let field = self.open.last_mut().filter(|field| !field.is_over).ok_or_else(torn)?;
                field.is_over = true;
                field.code.check()
            }
            "end" => self.open.pop().ok_or_else(torn)?.code.check(),
            _ => Err("the XML has a w:fldChar that neither begins nor ends a field".to_owned()),
        }
    }

    /// A field inside of another's name would say what that is.
    fn check_around(&mut self) -> Result<(), String> {
        match self.code() {
            Some(code) if !code.is_named() => {
                Err("a field in the XML begins with another field; begin it with its name".to_owned())
            }
            Some(_) | None => Ok(()),
        }
    }

    /// A text is passed.
    pub(super) fn pass(&mut self, text: &str) {
        if let Some(code) = self.code() {
            code.pass(text);
        }
    }

    /// The innermost code that has begun and not ended.
    fn code(&mut self) -> Option<&mut FieldCode> {
        self.open.last_mut().filter(|field| !field.is_over).map(|field| &mut field.code)
    }

    /// The XML is over.
    pub(super) fn end(&self) -> Result<(), String> {
        if self.open.is_empty() { Ok(()) } else { Err(torn()) }
    }
}

fn torn() -> String {
    "a field in the XML must begin and end in it".to_owned()
}
