//! The data of a chart in a workbook: they are put on a hidden sheet, which users can unhide in Excel.

use std::fmt::Write as _;

use super::sheet;
use super::table::Table;
use crate::error::Error;
use crate::package::entries::entries;
use crate::package::xml::attribute_text;
use crate::package::{Package, Target};

const KIND: &str = "application/vnd.openxmlformats-officedocument.spreadsheetml.worksheet+xml";
const MAIN: &str = "http://schemas.openxmlformats.org/spreadsheetml/2006/main";
const STRICT_MAIN: &str = "http://purl.oclc.org/ooxml/spreadsheetml/main";

/// Puts the table on a sheet of its own, which [`list`] adds to the workbook; returns the sheet's name.
pub(super) fn added(table: &Table, package: &mut Package<'_>) -> String {
    let main = if package.is_strict() { STRICT_MAIN } else { MAIN };
    let empty = format!(
        "<?xml version=\"1.0\" encoding=\"UTF-8\" standalone=\"yes\"?>\n<worksheet xmlns=\"{main}\"><sheetData/></worksheet>"
    );
    let xml = sheet::filled(empty.as_bytes(), table, (None, None)).unwrap_or_default();
    let mut number = package.unseen_sheets.len() + 1;
    let name = loop {
        let name = format!("Chart data {number}");
        if !package.sheet_names.iter().any(|taken| taken.to_lowercase() == name.to_lowercase()) {
            break name;
        }
        number += 1;
    };
    package.sheet_names.push(name.clone());
    package.unseen_sheets.push((name.clone(), xml));
    name
}

/// Adds the hidden sheets with charts' data behind all others to the workbook, whose main part is `main`.
pub(crate) fn list(main: &str, package: &mut Package<'_>) -> Result<(), Error> {
    let sheets = std::mem::take(&mut package.unseen_sheets);
    if sheets.is_empty() {
        return Ok(());
    }
    let xml = package.part(main)?.unwrap_or_default();
    let all = entries(main, &xml)?;
    let list = all.iter().find(|one| one.name == "sheets");
    let list = list.ok_or_else(|| {
        Error::NotOffice(format!("{main} has no list of sheets; save the file anew in Excel"))
    })?;
    let prefix = super::pieces::prefix(&xml, list);
    let numbers = all.iter().filter(|one| one.name == "sheet");
    let mut number = numbers.filter_map(|one| one.value("sheetId").parse::<u32>().ok()).max().unwrap_or(0);
    let namespace = package.relationships_namespace();
    let mut lines = String::new();
    for (name, content) in sheets {
        let part = package.free_name("xl/worksheets/sheet", ".xml");
        package.put(&part, content)?;
        package.override_type(&part, KIND)?;
        let id = package.relate_as(main, &format!("{namespace}/worksheet"), Target::Part(&part))?;
        number = number.saturating_add(1);
        let name = attribute_text(&name);
        // Writing into a String does not fail.
        let _ = write!(
            lines,
            "<{prefix}sheet xmlns:r=\"{namespace}\" name=\"{name}\" sheetId=\"{number}\" state=\"hidden\" r:id=\"{id}\"/>"
        );
    }
    let end = format!("</{prefix}sheets>");
    let at = list.whole.end.saturating_sub(end.len());
    let (before, behind) = xml.split_at(at.min(xml.len()));
    package.put(main, [before, lines.as_bytes(), behind].concat())
}
