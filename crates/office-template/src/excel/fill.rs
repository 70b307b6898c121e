//! A workbook with its answers: how often each of its sheets and blocks is there, then its parts.

use cell_references::{Moves, Place, Sheet as MovedSheet, SheetCopy, Workbook};

use super::book::{Book, BookSheet, Title};
use super::counts::{Scope, blocks};
use super::write::{Told, Writer};
use crate::answer::Answer;
use crate::error::Error;
use crate::fill::misfit;
use crate::limits::Limit;
use crate::package::{Package, replaced};

/// The most characters that Excel lets the name of a sheet have.
const NAME_CHARACTERS: usize = 31;

/// What came of it.
#[derive(Default)]
pub(crate) struct Done {
    /// Tags whose answers cannot be written, by their numbers.
    pub faults: Vec<(usize, String)>,
}

impl Book {
    /// Fills the workbook's sheets with the answers to its tags.
    pub(crate) fn fill(
        &self,
        answers: &[Answer<'_>],
        (package, _sheets): (&mut Package<'_>, &Limit),
    ) -> Result<Done, Error> {
        let mut done = Done::default();
        let mut copies = Vec::with_capacity(self.sheets.len());
        let mut workbook = Workbook { sheets: Vec::with_capacity(self.sheets.len()) };
        let mut taken = Vec::new();
        for (number, sheet) in self.sheets.iter().enumerate() {
            let end = self.sheets.get(number + 1).map_or(self.answers, |next| next.begin);
            let own = answers.get(sheet.begin..end).ok_or_else(misfit)?;
            let scopes = scopes(sheet, own)?;
            let mut moved = MovedSheet { name: sheet.name.clone(), copies: Vec::with_capacity(scopes.len()) };
            for scope in &scopes {
                let name = named(sheet, *scope, &mut taken, &mut done.faults)?;
                let moves = moves(sheet, *scope)?;
                moved.copies.push(SheetCopy { name, moves, renamed: Vec::new() });
            }
            workbook.sheets.push(moved);
            copies.push(scopes);
        }
        for (number, (sheet, scopes)) in self.sheets.iter().zip(&copies).enumerate() {
            for (copy, scope) in scopes.iter().enumerate() {
                let told = write((self, sheet), (&workbook, number, copy), *scope, package)?;
                done.faults.extend(told.faults);
                if let Some(cell) = told.lost_at {
                    package.warnings.push(&format!(
                        "{cell}: a formula refers to cells that are not there any more (#REF!); {} references are lost on this sheet",
                        told.lost
                    ));
                }
            }
        }
        self.blank_texts(package)?;
        Ok(done)
    }

    /// Empties the shared texts that had tags, which no cell has any more.
    fn blank_texts(&self, package: &mut Package<'_>) -> Result<(), Error> {
        if self.tagged.is_empty() {
            return Ok(());
        }
        let text = |number: &usize| {
            let range = self.strings.texts.get(*number)?;
            let xml = self.strings.xml.get(range.clone())?;
            let name = xml.get(1..)?.split(|byte| !byte.is_ascii_alphanumeric() && *byte != b':').next()?;
            let name = std::str::from_utf8(name).ok()?;
            let prefix = name.strip_suffix("si")?;
            Some((range.clone(), format!("<{name}><{prefix}t/></{name}>")))
        };
        let edits: Vec<_> = self.tagged.iter().filter_map(text).collect();
        package.put(&self.strings.name, replaced(&self.strings.xml, &edits))
    }
}

/// The scope of each copy of a sheet.
fn scopes<'a>(sheet: &BookSheet, own: &'a [Answer<'a>]) -> Result<Vec<Scope<'a>>, Error> {
    if sheet.repeat.is_none() {
        return Ok(vec![Scope::Answers(own)]);
    }
    let [Answer::List(copies)] = own else { return Err(misfit()) };
    let scope = |copy: &'a Answer<'a>| match copy {
        Answer::List(answers) => Ok(Scope::Answers(answers)),
        _ => Err(misfit()),
    };
    copies.iter().map(scope).collect()
}

fn moves(sheet: &BookSheet, scope: Scope<'_>) -> Result<Moves, Error> {
    let Some(cells) = &sheet.sheet else { return Ok(Moves::default()) };
    let blocks = blocks(cells, &sheet.plan, scope)?;
    if blocks.is_empty() {
        return Ok(Moves::default());
    }
    let moves = Moves::new(&blocks, cells.used());
    let moves = moves.map_err(|error| Error::Limit(format!("{}: {error}", sheet.name)))?;
    Ok(moves.with_once(sheet.once.clone()))
}

/// The name of a copy of a sheet; `taken` are those of the sheets before, in lower case.
fn named(
    sheet: &BookSheet,
    scope: Scope<'_>,
    taken: &mut Vec<String>,
    faults: &mut Vec<(usize, String)>,
) -> Result<String, Error> {
    let (mut name, mut tag) = (String::new(), sheet.repeat);
    for piece in &sheet.title {
        match piece {
            Title::Text(text) => name.push_str(text),
            Title::Value { tag: own, at } => {
                tag = Some(*own);
                match scope.get(*at)? {
                    Some(Answer::Text(text)) => name.push_str(text),
                    _ => faults.push((*own, "the name of a sheet is a text".to_owned())),
                }
            }
        }
    }
    let is_own = sheet.title.len() > 1;
    if is_own && let (Some(why), Some(tag)) = (wrong(&name), tag) {
        faults.push((tag, why));
    }
    let plain = name.clone();
    let mut number = 1;
    while taken.contains(&name.to_lowercase()) {
        number += 1;
        let end = format!(" ({number})");
        let room = NAME_CHARACTERS - end.len();
        name = plain.chars().take(room).chain(end.chars()).collect();
    }
    taken.push(name.to_lowercase());
    Ok(name)
}

/// Why Excel would not take a name.
fn wrong(name: &str) -> Option<String> {
    const FORBIDDEN: [char; 7] = ['[', ']', ':', '*', '?', '/', '\\'];
    let shown: String = name.chars().take(40).collect();
    let characters = name.encode_utf16().count();
    if characters > NAME_CHARACTERS {
        return Some(format!(
            "the sheet's name {shown:?} has {characters} characters, and Excel allows {NAME_CHARACTERS}"
        ));
    }
    if let Some(letter) = name.chars().find(|letter| FORBIDDEN.contains(letter) || letter.is_control()) {
        return Some(format!(
            "the sheet's name {shown:?} has {letter:?} in it, which Excel does not allow; nor [ ] : * ? / \\"
        ));
    }
    if name.trim().is_empty() {
        return Some("the sheet's name would be empty".to_owned());
    }
    if name.starts_with('\'') || name.ends_with('\'') {
        return Some(format!(
            "the sheet's name {shown:?} begins or ends with an apostrophe, which Excel does not allow"
        ));
    }
    name.eq_ignore_ascii_case("history").then(|| "Excel keeps the name History for itself".to_owned())
}

/// Writes a copy of a sheet.
fn write(
    (book, sheet): (&Book, &BookSheet),
    (workbook, number, copy): (&Workbook, usize, usize),
    scope: Scope<'_>,
    package: &mut Package<'_>,
) -> Result<Told, Error> {
    let (Some(cells), Some(part)) = (&sheet.sheet, &sheet.part) else { return Ok(Told::default()) };
    let Some(moved) = workbook.sheets.get(number).and_then(|sheet| sheet.copies.get(copy)) else {
        return Ok(Told::default());
    };
    let mut packer = package.packer()?;
    packer.write(cells.xml.get(..cells.data.start).unwrap_or_default())?;
    packer.write(format!("<{}sheetData>", cells.prefix).as_bytes())?;
    let mut writer = Writer {
        sheet: cells,
        workbook,
        moves: &moved.moves,
        at: (number, copy),
        is_1904: book.is_1904,
        has_columns: sheet.plan.areas.len() > sheet.plan.rows,
        packer: &mut packer,
        out: Vec::new(),
        told: Told::default(),
        stack: vec![scope],
        turns: Vec::new(),
    };
    writer.items(&sheet.plan.items, Place::default())?;
    writer.flush()?;
    let told = writer.told;
    packer.write(format!("</{}sheetData>", cells.prefix).as_bytes())?;
    packer.write(cells.xml.get(cells.data.end..).unwrap_or_default())?;
    package.put_packed(part, packer)?;
    Ok(told)
}
