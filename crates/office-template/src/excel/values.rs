//! Writes what is in one cell: a text, a number, a truth value, a day, a formula, or a picture over it.

use cell_references::FORMULA_CHARACTERS;

use super::pictures::Wish;
use super::text::{CHARACTERS, long, plain};
use super::write::{Spot, Writer};
use crate::answer::{Answer, Content, Form};

/// Days from 1899-12-30, which Excel counts from, to 1970.
const DAYS_TO_1970: f64 = 25_569.0;
/// Days from 1899-12-30 to 1904-01-01.
const DAYS_TO_1904: f64 = 1_462.0;
/// 1900-03-01, the first day that Excel counts as the calendar does: it has a 29th of February in 1900.
const FIRST_DAY: f64 = 61.0;

impl<'a> Writer<'a, '_> {
    /// Writes the rest of a cell that holds one value, from the open start tag on.
    pub(super) fn value(&mut self, answer: Option<&'a Answer<'a>>, tag: usize, here: Spot) {
        match answer {
            None | Some(Answer::Null | Answer::List(_)) => self.nothing(),
            Some(Answer::Text(text)) if text.is_empty() => self.nothing(),
            Some(Answer::Text(text)) => {
                if text.len() > CHARACTERS && text.chars().count() > CHARACTERS {
                    self.told.faults.push((tag, long(text.chars().count())));
                }
                self.show(text);
                self.inline(text, true);
            }
            Some(Answer::Truth(truth)) => {
                self.show(if *truth { "TRUE" } else { "FALSE" });
                self.output.kind("b");
                self.output.element("v", if *truth { "1" } else { "0" });
                self.output.close("c");
            }
            Some(Answer::Number(number)) => self.number(*number),
            Some(Answer::Content(content)) => self.content(content, tag, here),
        }
    }

    /// A text, and the end of its cell.
    pub(super) fn inline(&mut self, text: &str, is_of_data: bool) {
        self.output.kind("inlineStr");
        self.output.open("is");
        self.output.push(">");
        self.output.text(text, is_of_data);
        self.output.close("is");
        self.output.close("c");
    }

    /// Notes what the cell shows, if the texts of cells are collected.
    pub(super) fn show(&mut self, text: &str) {
        if let Some(shown) = &mut self.shown {
            shown.insert(self.now, plain(text));
        }
    }

    /// The end of a cell with nothing in it.
    fn nothing(&mut self) {
        self.show("");
        self.output.push("/>");
    }

    fn number(&mut self, number: f64) {
        if self.shown.is_some() {
            self.show(&number.to_string());
        }
        self.output.push(">");
        self.output.element("v", &number.to_string());
        self.output.close("c");
    }

    pub(super) fn raw(&mut self, range: std::ops::Range<usize>) {
        self.output.bytes(self.sheet.xml.get(range).unwrap_or_default());
    }

    fn content(&mut self, content: &'a Content<'a>, tag: usize, here: Spot) {
        match content.form {
            Form::Day => {
                let days: f64 = content.field(0).parse().unwrap_or_default();
                let serial = days + DAYS_TO_1970;
                let serial = if self.is_1904 { serial - DAYS_TO_1904 } else { serial };
                if (self.is_1904 && serial < 0.0) || (!self.is_1904 && serial < FIRST_DAY) {
                    let message = "the day is before those that Excel counts (1 March 1900, or 1904); print it as a text, {x | date(\"YYYY-MM-DD\")}";
                    self.told.faults.push((tag, message.to_owned()));
                }
                self.number(serial);
            }
            Form::Formula => {
                self.show("");
                self.output.push(">");
                self.output.open("f");
                self.output.push(">");
                let formula = content.field(0);
                if formula.chars().count() > FORMULA_CHARACTERS {
                    self.told.faults.push((
                        tag,
                        format!("the formula is longer than the {FORMULA_CHARACTERS} characters that Excel reads; part it over several cells"),
                    ));
                }
                let formula = formula.strip_prefix('=').unwrap_or(formula);
                self.output.shown(formula, false);
                self.output.close("f");
                self.output.close("c");
            }
            Form::Image | Form::Qr | Form::Barcode => {
                self.nothing();
                let Spot { cell, now, place } = here;
                self.wishes.push(Wish { tag, cell, now, place, content });
            }
            Form::Html
            | Form::Xml
            | Form::Link
            | Form::Pagebreak
            | Form::Include
            | Form::Toc
            | Form::Color
            | Form::Chart => {
                self.told.faults.push((
                    tag,
                    "the data say that it is more than a text; a cell holds a text, a number, a truth value, a date, a formula or a picture, \
                     so give it one of them"
                        .to_owned(),
                ));
                self.output.push("/>");
            }
        }
    }
}
