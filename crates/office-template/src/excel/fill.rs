//! Fills a workbook with its answers: names and lays out the copies of its sheets, then writes the parts.

use std::collections::{BTreeMap, HashMap, HashSet};

use cell_references::{Cell, Moves, Place, Sheet as MovedSheet, SheetCopy, Workbook};
use workbook_parts as parts;

use super::book::{Book, BookSheet};
use super::copies;
use super::counts::{Scope, blocks};
use super::follow::{Follower, failed};
use super::formulas;
use super::headers;
use super::headings::{self, Tables};
use super::links;
use super::output::Output;
use super::pictures::{self, Canvas};
use super::tail::LIST_LIMIT;
use super::tree::Title;
use super::workbook::{self, Copy};
use super::write::{Told, Writer};
use crate::answer::Answer;
use crate::error::{Error, TagFaults};
use crate::files::Files;
use crate::fill::misfit;
use crate::limits::Limit;
use crate::package::Package;
use crate::package::xml::{can_stand, replaced};

/// The remedy where a sheet would have too many rows or columns.
const FEWER: &str = "repeat less, or part the list over several sheets with {:sheet list}";

/// The most characters that Excel lets the name of a sheet have.
const NAME_CHARACTERS: usize = 31;

/// How many rows, cells and bytes of values of a sheet are looked at to know which ranges are empty. Hazard: a rule may have
/// thousands of ranges, each of the whole sheet.
const LOOKED_AT: u64 = 100_000_000;

/// The result of filling a workbook.
#[derive(Default)]
pub(crate) struct Done {
    /// Tags whose answers cannot be written, by their numbers.
    pub faults: TagFaults,
}

/// A copy of a sheet, before its cells are written.
struct Made<'a> {
    scope: Scope<'a>,
    part: Option<String>,
}

impl Book {
    /// Fills the workbook's sheets with the answers to its tags.
    pub(crate) fn fill(
        &self,
        answers: &[Answer<'_>],
        (package, files, most): (&mut Package<'_>, &mut dyn Files, &Limit),
    ) -> Result<Done, Error> {
        let mut done = Done::default();
        let mut made = Vec::with_capacity(self.sheets.len());
        let mut workbook = Workbook { sheets: Vec::with_capacity(self.sheets.len()) };
        let mut names = Names::default();
        // The sheets with the data of charts have their names already.
        names.taken.extend(package.unseen_sheets.iter().map(|(name, _)| name.to_lowercase()));
        let (kinds, mut tables) = (package.kinds()?, Tables::read(&self.sheets, package)?);
        let mut left = most.value;
        for (number, sheet) in self.sheets.iter().enumerate() {
            let end = self.sheets.get(number + 1).map_or(self.answers, |next| next.begin);
            let own = answers.get(sheet.begin..end).ok_or_else(misfit)?;
            let scopes = scopes(sheet, own)?;
            let many = || Error::limit(most, "the workbook would have more sheets than the limit");
            left = left.checked_sub(scopes.len() as u64).ok_or_else(many)?;
            let owned = match &sheet.part {
                Some(part) if scopes.len() > 1 => copies::owned(part, package)?,
                _ => Vec::new(),
            };
            let mut moved = MovedSheet { name: sheet.name.clone(), copies: Vec::with_capacity(scopes.len()) };
            let mut copies_of = Vec::with_capacity(scopes.len());
            for (copy, scope) in scopes.into_iter().enumerate() {
                let name = named(sheet, scope, &mut names, &mut done.faults)?;
                package.sheet_names.push(name.clone());
                let laid = laid_out(sheet, scope)?;
                let renamed = if copy > 0 { tables.renamed(number) } else { Vec::new() };
                moved.copies.push(SheetCopy { name, moves: laid, renamed });
                let part = match &sheet.part {
                    Some(_) if copy > 0 => Some(copies::copied(&owned, &kinds, package)?),
                    part => part.clone(),
                };
                copies_of.push(Made { scope, part });
            }
            workbook.sheets.push(moved);
            made.push(copies_of);
        }
        let mut all = self.sheets.iter().zip(&workbook.sheets).filter(|(sheet, _)| !sheet.tab.is_hidden);
        if let (true, Some(tag)) =
            (all.all(|(_, now)| now.copies.is_empty()), self.sheets.iter().find_map(|sheet| sheet.repeat))
        {
            let message = "no sheet would be left that is not hidden, and a workbook has one at least; keep a sheet for the case that \
                 the list has no items";
            done.faults.push((tag, message.to_owned()));
        }
        if !done.faults.is_empty() {
            return Ok(done);
        }
        let book = parts::Book::new(&workbook, LIST_LIMIT).with_elements(package.elements_at_most());
        let mut follower = Follower { book, kinds, report: parts::Report::default(), tables: tables.largest };
        let names: Vec<&str> = self.sheets.iter().map(|sheet| sheet.name.as_str()).collect();
        for (number, (sheet, copies)) in self.sheets.iter().zip(&made).enumerate() {
            let mut outside = BTreeMap::new();
            for (copy, made) in copies.iter().enumerate() {
                let at = (&workbook, names.as_slice(), (number, copy));
                let told = write((self, sheet, made), at, &mut follower, (&mut *package, &mut *files))?;
                warn(&told, (&sheet.name, self.is_1904), package);
                done.faults.append(told.faults);
                outside.extend(told.outside);
            }
            formulas::warn(&sheet.name, &outside, package);
        }
        let copies: Vec<Vec<Copy>> =
            workbook.sheets.iter().zip(made).map(|(sheet, made)| listed(sheet, made)).collect();
        workbook::rewrite(&self.main, &copies, &mut follower, package)?;
        follower.report.sentences().iter().for_each(|sentence| package.warnings.push(sentence));
        self.blank_texts(package)?;
        Ok(done)
    }

    /// Empties the shared strings whose tags were filled: no cell refers to them, and the result must not carry the template's
    /// tags. They are not removed, because cells refer to the others by their index.
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
        let shown = self.shown_texts();
        let edits: Vec<_> = self.tagged.difference(&shown).filter_map(text).collect();
        package.put(&self.strings.name, replaced(&self.strings.xml, &edits))
    }
}

/// The scope of each copy of a sheet.
fn scopes<'a>(sheet: &BookSheet, own: &'a [Answer<'a>]) -> Result<Vec<Scope<'a>>, Error> {
    if sheet.repeat.is_none() {
        return Ok(vec![Scope::Answers(own)]);
    }
    let [Answer::List(copies)] = own else { return Err(misfit()) };
    let scope = |copy: &'a Answer<'a>| {
        if let Answer::List(answers) = copy { Ok(Scope::Answers(answers)) } else { Err(misfit()) }
    };
    copies.iter().map(scope).collect()
}

fn laid_out(sheet: &BookSheet, scope: Scope<'_>) -> Result<Moves, Error> {
    let Some(cells) = &sheet.sheet else { return Ok(Moves::default()) };
    let blocks = blocks(cells, &sheet.plan, scope)?;
    if blocks.is_empty() {
        return Ok(Moves::default());
    }
    let moves = Moves::new(&blocks, cells.used());
    let moves = moves.map_err(|error| Error::Limit(format!("{}: {error}; {FEWER}", sheet.name)))?;
    Ok(moves.with_once(sheet.once.clone()))
}

/// The names that have been given to sheets so far.
#[derive(Default)]
struct Names {
    /// All, in lower case.
    taken: HashSet<String>,
    /// The last number that was appended to each name that came again.
    numbers: HashMap<String, u32>,
}

impl Names {
    /// A name that no sheet has: this one, or this one with a number behind it, cut to Excel's length.
    fn free(&mut self, plain: &str) -> String {
        let (mut name, key) = (plain.to_owned(), plain.to_lowercase());
        while !self.taken.insert(name.to_lowercase()) {
            let number = self.numbers.entry(key.clone()).or_insert(1);
            *number += 1;
            let end = format!(" ({number})");
            let mut room = NAME_CHARACTERS - end.len();
            let fits = |letter: &char| room.checked_sub(letter.len_utf16()).map(|left| room = left).is_some();
            name = plain.chars().take_while(fits).chain(end.chars()).collect();
        }
        name
    }
}

/// The name of a copy of a sheet.
fn named(
    sheet: &BookSheet,
    scope: Scope<'_>,
    names: &mut Names,
    faults: &mut TagFaults,
) -> Result<String, Error> {
    let (mut name, mut tag) = (String::new(), sheet.repeat);
    for piece in &sheet.title {
        match piece {
            Title::Text(text) => name.push_str(text),
            Title::Value { tag: own, at } => {
                tag = Some(*own);
                match scope.get(*at)? {
                    Some(Answer::Text(text)) => name.push_str(text),
                    _ => faults.push((
                        *own,
                        "the name of a sheet is a text; write it with a filter, as in {name | text}"
                            .to_owned(),
                    )),
                }
            }
        }
    }
    let is_own = sheet.title.len() > 1;
    if is_own && let (Some(why), Some(tag)) = (wrong(&name), tag) {
        faults.push((tag, why));
    }
    Ok(names.free(&name))
}

/// Why Excel would refuse a name.
fn wrong(name: &str) -> Option<String> {
    const FORBIDDEN: [char; 7] = ['[', ']', ':', '*', '?', '/', '\\'];
    let shown: String = name.chars().take(40).collect();
    let characters = name.encode_utf16().count();
    if characters > NAME_CHARACTERS {
        return Some(format!(
            "the sheet's name {shown:?} has {characters} characters, and Excel allows {NAME_CHARACTERS}; shorten it, as in \
             {{name.slice(0, {NAME_CHARACTERS})}}"
        ));
    }
    if let Some(letter) =
        name.chars().find(|letter| FORBIDDEN.contains(letter) || letter.is_control() || !can_stand(*letter))
    {
        return Some(format!(
            "the sheet's name {shown:?} has {letter:?} in it, which Excel does not allow; nor [ ] : * ? / \\; write another letter, as in \
             {{name.replaceAll(\"/\", \"-\")}}"
        ));
    }
    if name.trim().is_empty() {
        return Some(
            "the sheet's name would be empty; say what it is then, as in {name | default(\"Sheet\")}"
                .to_owned(),
        );
    }
    if name.starts_with('\'') || name.ends_with('\'') {
        return Some(format!(
            "the sheet's name {shown:?} begins or ends with an apostrophe, which Excel does not allow; write a letter before or behind it"
        ));
    }
    name.eq_ignore_ascii_case("history")
        .then(|| "Excel keeps the name History for itself; write a letter before or behind it".to_owned())
}

/// The copies of a sheet for the list of sheets.
fn listed(sheet: &MovedSheet, made: Vec<Made<'_>>) -> Vec<Copy> {
    let copies = sheet.copies.iter().zip(made);
    copies.map(|(copy, made)| Copy { name: copy.name.clone(), part: made.part }).collect()
}

/// Warns of what was found while a copy of a sheet was written.
fn warn(told: &Told, (sheet, is_1904): (&str, bool), package: &mut Package<'_>) {
    lost(told.lost, told.lost_at.as_deref(), package);
    for sentence in told.days.sentences(sheet, is_1904) {
        package.warnings.push(&sentence);
    }
    if let Some(cell) = &told.torn_at {
        let remedy = "let the section hold all of its cells, or none";
        package
            .warnings
            .push(&format!("{cell}: an array formula is repeated with only some of its cells; {remedy}"));
    }
}

/// Warns of references in cells that became `#REF!`.
fn lost(count: usize, cell: Option<&str>, package: &mut Package<'_>) {
    let Some(cell) = cell else { return };
    let references = if count == 1 { "a reference is lost (#REF!)" } else { "references are lost (#REF!)" };
    package.warnings.push(&format!("{cell}: {references}: the cells are not there any more"));
}

/// Writes a copy of a sheet, and the parts that belong to it.
fn write<'a>(
    (book, sheet, made): (&'a Book, &'a BookSheet, &Made<'a>),
    (workbook, names, (number, copy)): (&'a Workbook, &'a [&'a str], (usize, usize)),
    follower: &mut Follower<'_>,
    (package, files): (&mut Package<'_>, &mut dyn Files),
) -> Result<Told, Error> {
    let moved = workbook.sheets.get(number).and_then(|sheet| sheet.copies.get(copy));
    if let Some(chart) = &sheet.tab.chart {
        follower.sheet((chart, parts::At { sheet: number, copy }), &|_| None, package)?;
    }
    let (Some(cells), Some(part), Some(moved)) = (&sheet.sheet, &made.part, moved) else {
        return Ok(Told::default());
    };
    if let (Some(cell), 0) = (cells.data_table, copy) {
        let told = "a data table (What-If Analysis) keeps the values that it had, and is calculated no more; a formula in each of its cells is";
        package.warnings.push(&format!("{}!{cell}: {told}", sheet.name));
    }
    let none = BTreeMap::new();
    let mut scratch = package.packer()?;
    let mut writer = Writer {
        sheet: cells,
        workbook,
        names,
        moves: &moved.moves,
        at: (number, copy),
        is_1904: book.is_1904,
        areas: &sheet.plan.areas,
        has_columns: sheet.plan.areas.len() > sheet.plan.rows,
        output: Output::new(&mut scratch, &cells.prefix),
        now: Cell { row: 1, column: 1 },
        told: Told::default(),
        stack: vec![made.scope],
        headings: &none,
        shown: None,
        turns: Vec::new(),
        wishes: Vec::new(),
        links: Vec::new(),
    };
    let shown = headings::shown(&mut writer, &sheet.plan.items, (part, package))?;
    let heading = |cell: Cell| shown.get(&cell).cloned();
    let at = parts::At { sheet: number, copy };
    let asked = follower.sheet((part, at), &heading, package)?;
    let linked: Vec<String> = cells.links.values().map(|link| link.id.clone()).collect();
    let dropped: Vec<&str> = asked.dropped.iter().chain(&linked).map(String::as_str).collect();
    let mut of_headers = TagFaults::default();
    let xml = headers::filled(&sheet.headers, &cells.xml, made.scope, &mut of_headers)?;
    follower.book.set_room(package.room());
    let left = std::cell::Cell::new(LOOKED_AT);
    let is_filled = |range| cells.is_filled(range, &left);
    let around = parts::worksheet(&xml, &follower.book, at, (&dropped, &is_filled), &mut follower.report);
    let around = around.map_err(|error| failed(part, &error, package))?;
    let mut packer = package.packer()?;
    packer.write(&around.head)?;
    packer.write(format!("<{}sheetData>", cells.prefix).as_bytes())?;
    let output = Output::new(&mut packer, &cells.prefix);
    let mut writer =
        Writer { headings: &asked.headings, output, wishes: Vec::new(), links: Vec::new(), ..writer };
    writer.items(&sheet.plan.items, Place::default())?;
    writer.output.flush()?;
    let (mut told, wishes, copied) = (writer.told, writer.wishes, writer.links);
    packer.write(format!("</{}sheetData>", cells.prefix).as_bytes())?;
    let canvas = Canvas { sheet: cells, name: &moved.name, moves: &moved.moves, part, head: &around.head };
    let (beyond, of) = (told.links_beyond, (part.as_str(), cells, moved.name.as_str()));
    let tail = links::listed(&copied, beyond, of, (around.tail, &mut *package))?;
    package.forget(part, &linked)?;
    let (tail, faults) = pictures::draw(&wishes, &canvas, tail, (&mut *package, files))?;
    told.faults.append(of_headers);
    told.faults.append(faults);
    packer.write(&tail)?;
    package.put_packed(part, packer)?;
    Ok(told)
}
