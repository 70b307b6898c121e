//! Finds the references in a formula (ECMA-376 part 1, 18.17.2, and Microsoft's [MS-XLSX] 2.2.2 for what came later: structured
//! references, spills).
//!
//! It reads in one pass, without recursion, and refuses nothing: what is no reference is passed over, so that it can be copied as
//! it is.

use crate::address::{Reference, is_word};
use crate::functions::{Signature, Takes};

/// A part of the formula that may change.
#[derive(Debug, Clone)]
pub(crate) struct Slot {
    /// Where it begins, with its sheet.
    pub start: usize,
    /// Where it goes on behind the sheet and `!`.
    pub body: usize,
    /// Where it ends.
    pub end: usize,
    pub sheet: Target,
    pub content: Content,
    /// Where the innermost parentheses around it begin, or the list in them (`SUBTOTAL(9,A1)`); 0 outside of all.
    pub call: usize,
}

/// Which sheet's cells are meant. Numbers are those of the list of sheets.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Target {
    /// No sheet is named.
    Own,
    Sheet(usize),
    /// All sheets from the one to the other: `Sheet1:Sheet3!A1`.
    Sheets(usize, usize),
    /// Another workbook, or a sheet that is not in the list.
    Elsewhere,
}

#[derive(Debug, Clone, Copy)]
pub(crate) enum Content {
    Reference(Reference, Role),
    /// A name, or what is left of a broken reference. Only its sheet, or a table's name, may change.
    Name,
}

/// What is meant where a reference to one cell finds several.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Role {
    /// One of them.
    One,
    /// All, as one list of values.
    All,
    /// All, as a table, whose rows and columns are told apart.
    Table,
    /// All, and of several sheets as several arguments.
    List,
    /// It is the begin of a range whose end is calculated: `A1:INDEX(…)`, `OFFSET(A1,…)`.
    Begin,
    /// It is the end of one.
    End,
}

enum Frame {
    /// The arguments of a function: what they take, the index of the current one, and whether values are arrays here.
    Call(Option<Signature>, usize, bool),
    /// Other parentheses.
    Group(Takes),
}

struct Reader<'a, S> {
    text: &'a str,
    bytes: &'a [u8],
    at: usize,
    sheets: &'a [S],
    whole: Takes,
    frames: Vec<Frame>,
    /// Where each of them begins, or the list of arguments in it.
    calls: Vec<usize>,
    slots: Vec<Slot>,
    /// Nothing of this argument has been read yet.
    is_start: bool,
    /// An operand has just been read: `#` then is the sign of a spill.
    is_behind_operand: bool,
}

const ERRORS: &[&str] = &[
    "#REF!",
    "#N/A",
    "#DIV/0!",
    "#NAME?",
    "#NULL!",
    "#NUM!",
    "#VALUE!",
    "#GETTING_DATA",
    "#SPILL!",
    "#CALC!",
    "#FIELD!",
    "#BLOCKED!",
    "#CONNECT!",
    "#EXTERNAL!",
    "#BUSY!",
    "#PYTHON!",
    "#UNKNOWN!",
];

/// The parts of a formula that may change, in its order. `whole` says what the formula is taken for.
pub(crate) fn slots<S: AsRef<str>>(text: &str, sheets: &[S], whole: Takes) -> Vec<Slot> {
    let mut reader = Reader {
        text,
        bytes: text.as_bytes(),
        at: 0,
        sheets,
        whole,
        frames: Vec::new(),
        calls: Vec::new(),
        slots: Vec::new(),
        is_start: true,
        is_behind_operand: false,
    };
    while let Some(&byte) = reader.bytes.get(reader.at) {
        reader.token(byte);
    }
    reader.slots
}

impl<S: AsRef<str>> Reader<'_, S> {
    fn token(&mut self, byte: u8) {
        match byte {
            b'"' => self.operand(self.behind_quoted(self.at, b'"')),
            b'\'' => self.quoted_sheet(),
            b'[' => self.bracket(),
            b'{' => self.operand(self.behind_array()),
            b'#' if self.is_behind_operand => self.at += 1,
            b'#' => self.operand(self.behind_error(self.at)),
            b'(' => {
                let inner = match self.takes() {
                    Takes::Array => Takes::Array,
                    Takes::Range if self.is_start => Takes::Range,
                    Takes::Set | Takes::List if self.is_start => Takes::Set,
                    Takes::Range | Takes::Set | Takes::List | Takes::First | Takes::Value => Takes::Value,
                };
                self.open(Frame::Group(inner), self.at + 1);
            }
            b')' => {
                self.frames.pop();
                self.calls.pop();
                self.operand(self.at + 1);
            }
            b',' | b';' => {
                let before = self.takes();
                if let Some(Frame::Call(_, index, _)) = self.frames.last_mut() {
                    *index += 1;
                }
                self.begin(self.at + 1);
                if before != Takes::List
                    && self.takes() == Takes::List
                    && let Some(call) = self.calls.last_mut()
                {
                    *call = self.at;
                }
            }
            b' ' | b'\t' | b'\r' | b'\n' => self.at += 1,
            // Some programs write the sign with which a formula is typed.
            b'=' if self.at == 0 => self.begin(1),
            b'$' => self.word(),
            _ if is_word(byte) => self.word(),
            _ => {
                self.at += 1;
                (self.is_start, self.is_behind_operand) = (false, false);
            }
        }
    }

    fn begin(&mut self, at: usize) {
        self.at = at;
        (self.is_start, self.is_behind_operand) = (true, false);
    }

    fn open(&mut self, frame: Frame, at: usize) {
        self.frames.push(frame);
        self.calls.push(at);
        self.begin(at);
    }

    fn operand(&mut self, end: usize) {
        self.at = end;
        (self.is_start, self.is_behind_operand) = (false, true);
    }

    fn byte(&self, at: usize) -> Option<u8> {
        self.bytes.get(at).copied()
    }

    /// What the current argument takes.
    fn takes(&self) -> Takes {
        match self.frames.last() {
            None => self.whole,
            Some(Frame::Group(takes)) => *takes,
            Some(Frame::Call(signature, index, is_array)) => {
                let takes = signature.map_or(Takes::Value, |signature| signature.argument(*index));
                if *is_array && takes == Takes::Value { Takes::Array } else { takes }
            }
        }
    }

    /// What a reference to one cell, from `start` to `end`, means.
    fn role(&self, start: usize, end: usize) -> Role {
        if self.byte(end) == Some(b':') {
            return Role::Begin;
        }
        if start > 0 && self.byte(start - 1) == Some(b':') {
            return Role::End;
        }
        if self.byte(end) == Some(b'#') {
            return Role::One;
        }
        let next = self.bytes.iter().skip(end).find(|byte| !byte.is_ascii_whitespace());
        let is_whole = self.is_start && matches!(next, None | Some(b',' | b';' | b')'));
        match self.takes() {
            Takes::Array => Role::All,
            Takes::Set if is_whole => Role::All,
            Takes::Range if is_whole => Role::Table,
            Takes::List if is_whole => Role::List,
            Takes::First if is_whole => Role::Begin,
            Takes::Range | Takes::Set | Takes::List | Takes::First | Takes::Value => Role::One,
        }
    }

    fn call(&self) -> usize {
        self.calls.last().copied().unwrap_or_default()
    }

    fn push(&mut self, slot: Slot) {
        self.operand(slot.end);
        self.slots.push(slot);
    }

    /// A word: a sheet before `!`, a reference, a function, a number or a name.
    fn word(&mut self) {
        let (start, end) = (self.at, self.behind_word(self.at));
        let next = self.byte(end);
        if next == Some(b'!') {
            return self.behind_sheet(start, end, self.sheet(&self.text[start..end]));
        }
        let reference = Reference::read(self.bytes, start);
        if next == Some(b':') {
            let last = self.behind_word(end + 1);
            if last > end + 1 && self.byte(last) == Some(b'!') {
                let target = self.sheets(&self.text[start..end], &self.text[end + 1..last]);
                // `Q1:Q4!A1` is of several sheets if these are sheets, and otherwise a range from the own `Q1`.
                if target != Target::Elsewhere || reference.is_none() {
                    return self.behind_sheet(start, last, target);
                }
            }
        }
        if let Some((reference, end)) = reference {
            let role = self.role(start, end);
            return self.push(Slot {
                start,
                body: start,
                end,
                sheet: Target::Own,
                content: Content::Reference(reference, role),
                call: self.call(),
            });
        }
        if next == Some(b'(') {
            let is_array = self.takes() == Takes::Array;
            let signature = Signature::of(&self.text[start..end]);
            return self.open(Frame::Call(signature, 0, is_array), end + 1);
        }
        if matches!(self.byte(start), Some(b'0'..=b'9' | b'.')) {
            return self.operand(self.behind_exponent(start, end));
        }
        // A `$` alone is no word.
        let end = end.max(start + 1);
        self.push(Slot {
            start,
            body: start,
            end,
            sheet: Target::Own,
            content: Content::Name,
            call: self.call(),
        });
        if next == Some(b'[') {
            self.operand(self.behind_brackets(end));
        }
    }

    /// Reads what follows a sheet, whose `!` is at `mark`.
    fn behind_sheet(&mut self, start: usize, mark: usize, target: Target) {
        let body = mark + 1;
        if let Some((reference, end)) = Reference::read(self.bytes, body) {
            let role = self.role(start, end);
            return self.push(Slot {
                start,
                body,
                end,
                sheet: target,
                content: Content::Reference(reference, role),
                call: self.call(),
            });
        }
        let end =
            if self.byte(body) == Some(b'#') { self.behind_error(body) } else { self.behind_word(body) };
        self.push(Slot { start, body, end, sheet: target, content: Content::Name, call: self.call() });
        match self.byte(end) {
            Some(b'[') => self.operand(self.behind_brackets(end)),
            Some(b'(') => self.open(Frame::Call(None, 0, false), end + 1),
            _ => {}
        }
    }

    /// `'It''s'!`, `'Sheet 1:Sheet 3'!` or `'[1]Sheet'!`.
    fn quoted_sheet(&mut self) {
        let (start, end) = (self.at, self.behind_quoted(self.at, b'\''));
        if self.byte(end) != Some(b'!') {
            return self.operand(end);
        }
        let inner = self.text.get(start + 1..end - 1).unwrap_or_default().replace("''", "'");
        let target = match inner.split_once(':') {
            _ if inner.contains('[') => Target::Elsewhere,
            Some((first, last)) => self.sheets(first, last),
            None => self.sheet(&inner),
        };
        self.behind_sheet(start, end, target);
    }

    /// `[1]Sheet!A1`, `[1]!Name`, `[0]Sheet!A1` of this workbook itself (ECMA-376 part 1, 18.17.2.3), or a structured reference
    /// within its own table: `[@Amount]`.
    fn bracket(&mut self) {
        let (start, close) = (self.at, self.behind_brackets(self.at));
        let mut mark = self.behind_word(close);
        if mark > close && self.byte(mark) == Some(b':') {
            mark = self.behind_word(mark + 1);
        }
        if self.byte(mark) == Some(b'!') {
            let is_own = &self.text[start..close] == "[0]";
            let target = if is_own { self.sheet(&self.text[close..mark]) } else { Target::Elsewhere };
            self.behind_sheet(start, mark, target);
        } else {
            self.operand(close);
        }
    }

    fn sheet(&self, name: &str) -> Target {
        self.sheets
            .iter()
            .position(|sheet| is_same_name(sheet.as_ref(), name))
            .map_or(Target::Elsewhere, Target::Sheet)
    }

    fn sheets(&self, first: &str, last: &str) -> Target {
        match (self.sheet(first), self.sheet(last)) {
            (Target::Sheet(first), Target::Sheet(last)) => Target::Sheets(first.min(last), first.max(last)),
            _ => Target::Elsewhere,
        }
    }

    fn behind_word(&self, at: usize) -> usize {
        let rest = self.bytes.get(at..).unwrap_or_default();
        at + rest.iter().take_while(|byte| is_word(**byte) || **byte == b'$').count()
    }

    /// The end of a number, whose exponent may have a sign.
    fn behind_exponent(&self, start: usize, end: usize) -> usize {
        let mantissa = self.text[start..end].strip_suffix(['E', 'e']);
        let is_number =
            mantissa.is_some_and(|it| it.bytes().all(|byte| byte.is_ascii_digit() || byte == b'.'));
        if is_number && matches!(self.byte(end), Some(b'+' | b'-')) { self.behind_word(end + 1) } else { end }
    }

    /// Behind the closing quote; a doubled one does not close. Behind the text where there is none.
    fn behind_quoted(&self, start: usize, quote: u8) -> usize {
        let mut at = start + 1;
        while let Some(byte) = self.byte(at) {
            at += 1;
            if byte == quote {
                if self.byte(at) != Some(quote) {
                    return at;
                }
                at += 1;
            }
        }
        at
    }

    /// Behind an array constant, whose texts may have braces.
    fn behind_array(&self) -> usize {
        let mut at = self.at + 1;
        while let Some(byte) = self.byte(at) {
            match byte {
                b'"' => at = self.behind_quoted(at, b'"'),
                b'}' => return at + 1,
                _ => at += 1,
            }
        }
        at
    }

    /// Behind brackets and those within them; `'` escapes the sign behind it.
    fn behind_brackets(&self, start: usize) -> usize {
        let (mut at, mut depth) = (start, 0usize);
        while let Some(byte) = self.byte(at) {
            at += 1;
            match byte {
                b'\'' => at += 1,
                b'[' => depth += 1,
                b']' if depth == 1 => return at,
                b']' => depth -= 1,
                _ => {}
            }
        }
        self.bytes.len()
    }

    /// Behind an error's name. Of `#REF!A1`, which old versions wrote of a lost sheet, nothing is a reference.
    fn behind_error(&self, at: usize) -> usize {
        let is_here = |error: &&&str| {
            let here = self.bytes.get(at..at + error.len());
            here.is_some_and(|here| here.eq_ignore_ascii_case(error.as_bytes()))
        };
        let Some(error) = ERRORS.iter().find(is_here) else { return at + 1 };
        let end = at + error.len();
        if *error != "#REF!" {
            return end;
        }
        Reference::read(self.bytes, end).map_or(end, |(_, end)| end)
    }
}

/// Excel compares names of sheets without regard to case.
fn is_same_name(one: &str, other: &str) -> bool {
    let lower =
        |name: &str| name.chars().flat_map(char::to_lowercase).eq(other.chars().flat_map(char::to_lowercase));
    one == other || lower(one)
}
