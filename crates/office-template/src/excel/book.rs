//! A workbook that is a template: its sheets with their tags.

use super::finder::Finder;
use super::headers::Header;
use super::joined::Joined;
use super::links::decoded;
use super::parts::{self, Listed, Listing, Part, Strings, Tab};
use super::plan::{Planner, Text};
use super::sheet::{Content, Sheet, shared_number};
use super::styles;
use super::tags::{Found, Of, Place, Section, pair};
use super::text::runs;
use super::tree::{Item, Plan, Rows, Title};
use crate::collected::Collected;
use crate::container::Archive;
use crate::error::{Error, Fault};
use crate::lexer::{Delimiters, Expression, Tag};
use crate::limits::Limits;
use crate::program::{Step, step};
use crate::read::Reading;
use cell_references::{Cell, LAST_COLUMN, LAST_ROW, Lines, Once, Range};
use std::collections::BTreeSet;

/// A workbook with tags.
pub(crate) struct Book {
    pub(super) main: String,
    pub(super) sheets: Vec<BookSheet>,
    pub(super) strings: Strings,
    /// Numbers of the shared strings that have tags. Filled cells hold their text inline, so these are blanked, but for
    /// `shown_texts`.
    pub(super) tagged: BTreeSet<usize>,
    pub(super) is_1904: bool,
    /// How many answers it takes: one for each of its outermost steps.
    pub(crate) answers: usize,
}

/// A sheet of a workbook.
pub(super) struct BookSheet {
    pub name: String,
    /// The pieces of its name in the result: texts, and indices of answers.
    pub title: Vec<Title>,
    /// Its headers and footers that have tags.
    pub headers: Vec<Header>,
    /// Its part; `None` where it is not a worksheet, but a chart sheet for example.
    pub part: Option<String>,
    pub tab: Tab,
    pub sheet: Option<Sheet>,
    pub plan: Plan,
    /// Cells that are written once although others in their rows or columns are repeated.
    pub once: Vec<Once>,
    /// The index of its first answer among the workbook's. A repeated sheet has one answer: a list with an item for each copy.
    pub begin: usize,
    /// The number of the tag that repeats it.
    pub repeat: Option<usize>,
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

    /// The texts that may hold tags; the delimiters are found in them.
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
    /// Finds the tags of a workbook and numbers them from `first`: the workbook, the steps of the program, and where its tags
    /// are.
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
                Some(sheet) => {
                    finder.texts(sheet, (&name, &dates, &links), (&book.strings, &mut book.tagged))?
                }
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
                    let planner =
                        Planner::new(&found, &sections, (number, (book.sheets.len(), names.as_slice())));
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

    /// Shared strings with tags that some cell still shows as plain text. Delimiters may change from one cell to the next, so the
    /// same string can be tags in one and text in another; blanking it would empty the second.
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

/// The cell formats that show dates, and the shared strings.
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

/// The plan of a sheet, and the cells that are written once.
fn planned(
    planner: Planner<'_>,
    sheet: &mut Sheet,
    (texts, title_steps): (Vec<Text>, Vec<Step>),
    (name, faults): (&str, &mut Vec<Fault>),
) -> (Plan, Vec<Once>) {
    let (found, sections) = (planner.found, planner.sections);
    let (plan, joined, mut wrong) = planner.plan(sheet, texts, title_steps);
    for fault in &mut wrong {
        fault.part = of_sheet(name, &fault.part);
    }
    faults.append(&mut wrong);
    let once = once(&plan, (found, sections, &joined));
    (plan, once)
}

/// `Sheet1!B7`, or the sheet's name where `cell` is empty.
fn of_sheet(name: &str, cell: &str) -> String {
    if cell.is_empty() { name.to_owned() } else { format!("{name}!{cell}") }
}

/// Adds the tags of a sheet to the outline, if one is collected.
fn tell(found: &[Found], place: impl Fn(&Found) -> String, reading: &mut Reading<'_>) {
    if let Some(outline) = &mut reading.outline {
        let cells: Vec<_> = found.iter().map(|one| (place(one), &one.tag, one.shown.as_str())).collect();
        outline.add_cells(&cells);
    }
}

/// Adds the steps of a sheet; if it is repeated, as the body of one `section` step. `told` is where its own begin in the outline.
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

/// Whether there may be a tag anywhere; if not, no cell is read. An `&` counts, because it may begin an entity that is a brace.
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

/// The index of the tag that repeats the sheet, and its list. Each further one is a fault.
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

/// The cells that are written once although others in their rows or columns are repeated.
fn once(plan: &Plan, (found, sections, joined): (&[Found], &[Section], &Joined)) -> Vec<Once> {
    let Plan { items, areas, .. } = plan;
    let mut once = Vec::new();
    let all = sections.iter().enumerate();
    let numbers: Vec<(usize, &Section)> = all.filter(|(_, section)| section.of == Of::Rows).collect();
    add_rows(items, (found, &numbers, joined), &mut once, true);
    let all = sections.iter().enumerate();
    let of_columns = all.filter(|(_, section)| matches!(section.of, Of::Columns | Of::Right));
    let of_columns: Vec<(usize, &Section)> = of_columns.collect();
    // Each section of columns with those around it, outermost first.
    let mut chains: Vec<Vec<(usize, usize, Range)>> = Vec::new();
    for number in 0..of_columns.len() {
        let (mut chain, mut next) = (Vec::new(), Some(numbers.len() + number));
        while let Some(block) = next {
            let section = block.checked_sub(numbers.len()).and_then(|at| of_columns.get(at));
            let Some((number, section)) = section.filter(|(_, section)| section.of == Of::Columns) else {
                break;
            };
            let Some(area) = section.area(found) else { break };
            chain.push((block, *number, area));
            next = areas.get(block).and_then(|(_, parent)| *parent);
        }
        chain.reverse();
        chains.push(chain);
    }
    // The first area that has a cell counts, so the longest chains come first: a cell above two nested sections is written in the
    // first turn of both.
    chains.sort_by_key(|chain| std::cmp::Reverse(chain.len()));
    for chain in chains {
        let Some((.., Range { columns, .. })) = chain.last() else { continue };
        let (mut first, mut last) = (1, LAST_ROW);
        for (depth, (.., Range { rows, .. })) in chain.iter().enumerate() {
            let around = chain.get(depth..).unwrap_or_default();
            for (from, to) in [(first, rows.first - 1), (rows.last + 1, last)] {
                if from <= to {
                    add_lines(
                        Range { rows: Lines::new(from, to), columns: *columns },
                        around,
                        joined,
                        &mut once,
                    );
                }
            }
            (first, last) = (rows.first, rows.last);
        }
    }
    once
}

/// Adds the cells of an area above or below nested sections of columns, outermost first. Formulas of it that belong to the turns of
/// the outer ones are written once in the inner ones.
fn add_lines(area: Range, mut around: &[(usize, usize, Range)], joined: &Joined, once: &mut Vec<Once>) {
    while let Some(((_, number, _), inner)) = around.split_first() {
        let but = joined.in_area(*number, area);
        let is_last = but.is_empty();
        once.push(Once { area, blocks: around.iter().map(|(block, ..)| (*block, false)).collect(), but });
        if is_last {
            return;
        }
        around = inner;
    }
}

fn add_rows(
    items: &[Item],
    (found, sections, joined): (&[Found], &[(usize, &Section)], &Joined),
    once: &mut Vec<Once>,
    is_outermost: bool,
) {
    for item in items {
        let Item::Block(rows) = item else { continue };
        let ends = sections.get(rows.block).and_then(|(number, section)| {
            Some((*number, found.get(section.open)?, found.get(section.close)?))
        });
        let Some((number, open, close)) = ends else { continue };
        // Beside a nested section of one row are cells of the outer section: they are repeated with it.
        if open.row != close.row || is_outermost {
            let mut add = |row: u32, (first, last): (u32, u32), is_last: bool| {
                if first <= last {
                    let area = Range { rows: Lines::new(row, row), columns: Lines::new(first, last) };
                    let mut blocks = vec![(rows.block, is_last)];
                    inner(&rows.items, row, is_last, &mut blocks);
                    once.push(Once { area, blocks, but: joined.in_row(number, row) });
                }
            };
            add(open.row, (1, open.column - 1), false);
            add(close.row, (close.column + 1, LAST_COLUMN), open.row != close.row);
        }
        add_rows(&rows.items, (found, sections, joined), once, false);
    }
}

/// Adds the nested blocks that have the row, too.
fn inner(items: &[Item], row: u32, is_last: bool, blocks: &mut Vec<(usize, bool)>) {
    let of_row = |item: &&Item| matches!(item, Item::Block(rows) if rows.lines.has(row));
    if let Some(Item::Block(Rows { block, items, .. })) = items.iter().find(of_row) {
        blocks.push((*block, is_last));
        inner(items, row, is_last, blocks);
    }
}
