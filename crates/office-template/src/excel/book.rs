//! A workbook that is a template: its sheets with their tags.

use super::finder::Finder;
use super::headers::Header;
use super::links::decoded;
use super::parts::{self, Listed, Listing, Part, Strings, Tab};
use super::plan::{Item, Plan, Planner, Rows, Text};
use super::sheet::{Content, Sheet, shared_number};
use super::styles;
use super::tags::{Found, Of, Section, pair};
use super::text::runs;
use crate::container::Archive;
use crate::error::{Error, Fault};
use crate::lexer::{Delimiters, Expression, Tag};
use crate::limits::Limits;
use crate::outline::Collected;
use crate::program::{Step, step};
use crate::read::Reading;
use cell_references::{Cell, Once};
use std::collections::BTreeSet;

/// A workbook with tags.
pub(crate) struct Book {
    pub(super) main: String,
    pub(super) sheets: Vec<BookSheet>,
    pub(super) strings: Strings,
    /// The shared texts that have tags: nothing refers to them when the sheets are filled.
    pub(super) tagged: BTreeSet<usize>,
    pub(super) is_1904: bool,
    /// How many answers are its own.
    pub(crate) answers: usize,
}

/// A sheet of a workbook.
pub(super) struct BookSheet {
    pub name: String,
    /// What its name becomes: texts, and the places of answers.
    pub title: Vec<Title>,
    /// Its headers and footers that have tags.
    pub headers: Vec<Header>,
    /// Its part; none of what has no cells.
    pub part: Option<String>,
    pub tab: Tab,
    pub sheet: Option<Sheet>,
    pub plan: Plan,
    /// Cells that are not repeated with what is beside them.
    pub once: Vec<Once>,
    /// Where its answers begin among the workbook's; all of them are one where it is repeated.
    pub begin: usize,
    /// The number of the tag that repeats it.
    pub repeat: Option<usize>,
}

/// A piece of a sheet's name.
pub(super) enum Title {
    Text(String),
    Value { tag: usize, at: usize },
}

/// A tag, for what is to be said of it.
pub(crate) struct Place {
    /// Which cell it stands in, as `Sheet1!B7`.
    pub cell: String,
    pub shown: String,
}

/// What is read of a workbook before its tags are looked for.
pub(crate) struct Source {
    main: String,
    listing: Listing,
}

impl Source {
    /// Reads the parts of the workbook whose main part is `main`.
    pub(crate) fn read(
        (archive, main): (&mut Archive<'_>, &str),
        reading: &mut Reading<'_>,
        limits: &Limits,
    ) -> Result<Self, Error> {
        let listing = parts::listing(
            (archive, main),
            (&mut reading.unpacked_left, &mut reading.elements_left),
            limits,
        )?;
        Ok(Self { main: main.to_owned(), listing })
    }

    /// The texts that tags may stand in, for the delimiters that they are written with.
    pub(crate) fn texts(&self) -> Vec<String> {
        let whole = |part: &Option<(String, Vec<u8>)>| {
            part.as_ref().map(|(_, xml)| runs(xml).into_iter().map(|run| run.text).collect::<Vec<_>>())
        };
        let mut texts = whole(&self.listing.strings).unwrap_or_default();
        texts.extend(self.listing.sheets.iter().map(|sheet| sheet.name.clone()));
        let links = self.listing.sheets.iter().flat_map(|sheet| sheet.links.values());
        texts.extend(links.map(|address| decoded(address).0).filter(|address| address.contains(['{', '['])));
        texts
    }
}

impl Book {
    /// Finds the tags of a workbook, the first of which has the number `first`: it, its steps, and the places of its tags.
    pub(crate) fn plan(
        source: Source,
        (delimiters, first): (&Delimiters, usize),
        (reading, limits): (&mut Reading<'_>, &Limits),
    ) -> Result<(Self, Vec<Step>, Vec<Place>), Error> {
        let Source { main, listing } = source;
        let Listing { sheets, is_1904, strings, styles } = listing;
        let (dates, strings) = dates_and_strings((styles, strings), reading, limits)?;
        let may_have_tags = may_have_tags(&sheets, &strings, delimiters);
        let names: Vec<String> = sheets.iter().map(|sheet| sheet.name.clone()).collect();
        let (sheets_of_book, answers) = (Vec::with_capacity(sheets.len()), 0);
        let mut book =
            Self { main, sheets: sheets_of_book, strings, tagged: BTreeSet::new(), is_1904, answers };
        let (mut steps, mut places): (Vec<Step>, Vec<Place>) = (Vec::new(), Vec::new());
        for listed in sheets {
            let mut finder = Finder {
                delimiters: delimiters.clone(),
                found: Vec::new(),
                faults: Vec::new(),
                reading: &mut *reading,
                limits,
            };
            let Listed { name, part, links, tab } = listed;
            let told = finder.reading.outline.as_ref().map_or(0, Collected::steps);
            let (title, mut title_steps) = finder.title(&name, first + places.len(), &mut places)?;
            let (part, xml) = part.unzip();
            let mut sheet = match (&part, xml) {
                (Some(part), Some(xml)) if may_have_tags => {
                    Some(read_sheet((part, xml), &names, (&mut *finder.reading, limits))?)
                }
                _ => None,
            };
            let headers = match &sheet {
                Some(sheet) => finder.headers(sheet, &name, (first, &mut places), &mut title_steps)?,
                None => Vec::new(),
            };
            let number = first + places.len();
            let texts = match &mut sheet {
                Some(sheet) => finder.texts(sheet, (&name, &dates, &links), &mut book)?,
                None => Vec::new(),
            };
            let Finder { mut found, mut faults, .. } = finder;
            let place = |one: &Found| format!("{name}!{}", Cell { row: one.row, column: one.column });
            let (sections, mut unpaired) = pair(&mut found, place);
            faults.append(&mut unpaired);
            let repeat = repeated(&found, (&mut faults, place));
            tell(&found, place, reading);
            let (mut plan, once) = match &mut sheet {
                Some(sheet) if faults.is_empty() => {
                    let planner = Planner::new(&found, &sections, number);
                    let title_steps = std::mem::take(&mut title_steps);
                    planned(planner, sheet, (texts, title_steps), (&name, &mut faults))
                }
                _ => (Plan { steps: title_steps, ..Plan::default() }, Vec::new()),
            };
            reading.faults.extend(faults);
            places.extend(found.iter().map(|one| Place { cell: place(one), shown: one.shown.clone() }));
            let begin = steps.len();
            let body = std::mem::take(&mut plan.steps);
            let repeat = repeat.map(|(tag, list)| (number + tag, list));
            add_steps(&mut steps, (body, repeat.as_ref()), (reading, told));
            let repeat = repeat.map(|(tag, _)| tag);
            book.sheets.push(BookSheet { name, title, headers, part, tab, sheet, plan, once, begin, repeat });
        }
        book.answers = steps.len();
        Ok((book, steps, places))
    }

    /// The names of its sheets.
    pub(crate) fn names(&self) -> Vec<String> {
        self.sheets.iter().map(|sheet| sheet.name.clone()).collect()
    }

    /// The shared texts that cells show which have no tags: those of other delimiters are text there.
    pub(super) fn shown_texts(&self) -> BTreeSet<usize> {
        let sheets = self.sheets.iter().filter_map(|sheet| sheet.sheet.as_ref());
        let texts = sheets.flat_map(|sheet| {
            sheet.cells.iter().filter_map(|cell| match &cell.content {
                Content::Value(kind, value) if kind == "s" => shared_number(&sheet.xml, value),
                Content::Value(..)
                | Content::Empty
                | Content::Inline(_)
                | Content::Formula(_)
                | Content::Tagged(_) => None,
            })
        });
        texts.filter(|number| self.tagged.contains(number)).collect()
    }

    /// Whether there is anything to fill.
    pub(crate) fn has_tags(&self) -> bool {
        self.answers > 0 || !self.tagged.is_empty()
    }
}

/// Which formats are those of dates, and the shared texts.
fn dates_and_strings(
    (styles, strings): (Part, Part),
    reading: &mut Reading<'_>,
    limits: &Limits,
) -> Result<(BTreeSet<u32>, Strings), Error> {
    let left = &mut reading.elements_left;
    let dates = styles.map(|(name, xml)| styles::dates(&name, &xml, (&mut *left, limits)));
    Ok((dates.transpose()?.unwrap_or_default(), Strings::read(strings, (left, limits))?))
}

fn read_sheet(
    part: (&str, Vec<u8>),
    names: &[String],
    (reading, limits): (&mut Reading<'_>, &Limits),
) -> Result<Sheet, Error> {
    Sheet::read(part, names, (&limits.elements, &mut reading.elements_left, &mut reading.formulas_left))
}

/// The plan of a sheet, and the cells that stand once.
fn planned(
    planner: Planner<'_>,
    sheet: &mut Sheet,
    (texts, title_steps): (Vec<Text>, Vec<Step>),
    (name, faults): (&str, &mut Vec<Fault>),
) -> (Plan, Vec<Once>) {
    let (found, sections) = (planner.found, planner.sections);
    let (plan, mut wrong) = planner.plan(sheet, texts, title_steps);
    for fault in &mut wrong {
        fault.part = of_sheet(name, &fault.part);
    }
    faults.append(&mut wrong);
    let once = once(&plan, found, sections);
    (plan, once)
}

/// What a cell of a sheet is called, or the sheet where it is none.
fn of_sheet(name: &str, cell: &str) -> String {
    if cell.is_empty() { name.to_owned() } else { format!("{name}!{cell}") }
}

/// Tells the tags of a sheet to who wants to know them.
fn tell(found: &[Found], place: impl Fn(&Found) -> String, reading: &mut Reading<'_>) {
    if let Some(outline) = &mut reading.outline {
        let cells: Vec<_> = found.iter().map(|one| (place(one), &one.tag, one.shown.as_str())).collect();
        outline.add_cells(&cells);
    }
}

/// Adds the steps of a sheet; those of a repeated one are a section's. `told` is where its own begin among those that are told.
fn add_steps(
    steps: &mut Vec<Step>,
    (body, repeat): (Vec<Step>, Option<&(usize, Expression)>),
    (reading, told): (&mut Reading<'_>, usize),
) {
    let Some((tag, list)) = repeat else {
        steps.extend(body);
        return;
    };
    steps.push(step("section", *tag, list).with_body(body));
    if let Some(outline) = &mut reading.outline {
        let end = outline.steps();
        outline.nest_in(told..end, (*tag, list));
    }
}

/// Whether there may be a tag anywhere: without one nothing is filled, and no cell need be read.
fn may_have_tags(sheets: &[Listed], strings: &Strings, delimiters: &Delimiters) -> bool {
    let start = delimiters.start.as_bytes();
    let has = |text: &[u8]| {
        memchr::memmem::find(text, start).is_some() || memchr::memmem::find(text, b"&").is_some()
    };
    let in_sheet =
        |sheet: &Listed| has(sheet.name.as_bytes()) || sheet.part.as_ref().is_some_and(|(_, xml)| has(xml));
    let in_link = |sheet: &Listed| sheet.links.values().any(|address| has(decoded(address).0.as_bytes()));
    has(&strings.xml) || sheets.iter().any(in_sheet) || sheets.iter().any(in_link)
}

/// The tag that repeats a sheet, by its place, and what it goes over.
fn repeated(
    found: &[Found],
    (faults, place): (&mut Vec<Fault>, impl Fn(&Found) -> String),
) -> Option<(usize, Expression)> {
    let mut all = found.iter().enumerate().filter_map(|(index, one)| {
        if let Tag::Sheet(list) = &one.tag { Some((index, one, list.clone())) } else { None }
    });
    let first = all.next();
    for (_, one, _) in all {
        let message = "a sheet has one {:sheet list}; join the lists in one expression";
        faults.push(Fault::new(&place(one), 0, &one.shown, message));
    }
    first.map(|(index, _, list)| (index, list))
}

/// The cells that stand once, beside what is repeated in their rows or columns.
fn once(plan: &Plan, found: &[Found], sections: &[Section]) -> Vec<Once> {
    let Plan { items, areas, .. } = plan;
    let mut once = Vec::new();
    let numbers: Vec<&Section> = sections.iter().filter(|section| section.of == Of::Rows).collect();
    add_rows(items, (found, &numbers), &mut once, true);
    let of_columns = sections.iter().filter(|section| matches!(section.of, Of::Columns | Of::Right));
    let of_columns: Vec<&Section> = of_columns.collect();
    // Each with those of columns around it, the outermost one first.
    let mut chains: Vec<Vec<(usize, &Found, &Found)>> = Vec::new();
    for number in 0..of_columns.len() {
        let (mut chain, mut next) = (Vec::new(), Some(numbers.len() + number));
        while let Some(block) = next {
            let section = block.checked_sub(numbers.len()).and_then(|at| of_columns.get(at));
            let Some(section) = section.filter(|section| section.of == Of::Columns) else { break };
            let (Some(open), Some(close)) = (found.get(section.open), found.get(section.close)) else {
                break;
            };
            chain.push((block, open, close));
            next = areas.get(block).and_then(|(_, parent)| *parent);
        }
        chain.reverse();
        chains.push(chain);
    }
    // What is found first counts: a cell above two sections in each other stands in the first turn of both.
    chains.sort_by_key(|chain| std::cmp::Reverse(chain.len()));
    for chain in chains {
        let Some((_, open, close)) = chain.last() else { continue };
        let columns = cell_references::Lines::new(open.column, close.column);
        let (mut first, mut last) = (1, cell_references::LAST_ROW);
        for (depth, (_, open, close)) in chain.iter().enumerate() {
            let blocks: Vec<_> = chain.iter().skip(depth).map(|(block, ..)| (*block, false)).collect();
            for (from, to) in [(first, open.row - 1), (close.row + 1, last)] {
                if from <= to {
                    let rows = cell_references::Lines::new(from, to);
                    let area = cell_references::Range { rows, columns };
                    once.push(Once { area, blocks: blocks.clone() });
                }
            }
            (first, last) = (open.row, close.row);
        }
    }
    once
}

fn add_rows(
    items: &[Item],
    (found, sections): (&[Found], &[&Section]),
    once: &mut Vec<Once>,
    is_outermost: bool,
) {
    for item in items {
        let Item::Block(rows) = item else { continue };
        let ends = sections
            .get(rows.block)
            .and_then(|section| Some((found.get(section.open)?, found.get(section.close)?)));
        let Some((open, close)) = ends else { continue };
        // In a row that is repeated again, what is around stands in each turn.
        if open.row != close.row || is_outermost {
            let mut add = |row: u32, (first, last): (u32, u32), is_last: bool| {
                if first <= last {
                    let area = cell_references::Range {
                        rows: cell_references::Lines::new(row, row),
                        columns: cell_references::Lines::new(first, last),
                    };
                    let mut blocks = vec![(rows.block, is_last)];
                    inner(&rows.items, row, is_last, &mut blocks);
                    once.push(Once { area, blocks });
                }
            };
            add(open.row, (1, open.column - 1), false);
            add(close.row, (close.column + 1, cell_references::LAST_COLUMN), open.row != close.row);
        }
        add_rows(&rows.items, (found, sections), once, false);
    }
}

/// The blocks within others that have a row, too.
fn inner(items: &[Item], row: u32, is_last: bool, blocks: &mut Vec<(usize, bool)>) {
    let of_row = |item: &&Item| matches!(item, Item::Block(rows) if (rows.lines.first..=rows.lines.last).contains(&row));
    if let Some(Item::Block(Rows { block, items, .. })) = items.iter().find(of_row) {
        blocks.push((*block, is_last));
        inner(items, row, is_last, blocks);
    }
}
