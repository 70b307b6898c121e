//! Fields in XML of the data: each must begin and end in it, and must not be one that reads or runs something.

use crate::field_code::FieldCode;

#[derive(Default)]
pub(super) struct Fields {
    open: Vec<Field>,
}

#[derive(Default)]
struct Field {
    code: FieldCode,
    /// The code has ended and the field's result has begun.
    is_over: bool,
}

impl Fields {
    /// Checks an element of Word's that begins; `value` returns an attribute by its name without a prefix.
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

    /// An error where a field begins before the outer one has its name: its result could become that name.
    fn check_around(&mut self) -> Result<(), String> {
        match self.code() {
            Some(code) if !code.is_named() => {
                Err("a field in the XML begins with another field; begin it with its name".to_owned())
            }
            Some(_) | None => Ok(()),
        }
    }

    /// Adds text to the innermost code, if one is open.
    pub(super) fn pass(&mut self, text: &str) {
        if let Some(code) = self.code() {
            code.pass(text);
        }
    }

    /// The code of the innermost field, unless it has ended.
    fn code(&mut self) -> Option<&mut FieldCode> {
        self.open.last_mut().filter(|field| !field.is_over).map(|field| &mut field.code)
    }

    /// An error if a field is still open at the end of the XML.
    pub(super) fn end(&self) -> Result<(), String> {
        if self.open.is_empty() { Ok(()) } else { Err(torn()) }
    }
}

fn torn() -> String {
    "a field in the XML must begin and end in it".to_owned()
}
