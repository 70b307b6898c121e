//! Writes what is in one cell: a text, a number, a truth value, a day, a formula, or a picture over it.

use cell_references::FORMULA_CHARACTERS;

use super::days::{Day, day};
use super::pictures::Wish;
use super::text::{CHARACTERS, long, plain};
use super::write::{Spot, Writer};
use crate::answer::{Answer, Content, Form};

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
                match day(days, self.is_1904) {
                    Day::Number(number) => self.number(number),
                    Day::Disputed(number) => {
                        self.told.days.disputed(here.cell, content.field(1));
                        self.number(number);
                    }
                    Day::Text => {
                        let text = content.field(1);
                        self.told.days.text(here.cell, text);
                        self.show(text);
                        self.inline(text, true);
                    }
                }
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
