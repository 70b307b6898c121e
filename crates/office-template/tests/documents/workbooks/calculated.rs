//! What LibreOffice calculates of filled workbooks is what a model of each template says. All templates are one file each of a few,
//! for to start LibreOffice costs more than to calculate.

mod layouts;
mod shapes;

use std::path::Path;
use std::process::Command;

use super::book::{Sheet, book};
use super::read::{Book, Value};
use crate::support::try_fill;

/// Name, quantity and price of the items of all templates.
const ITEMS: [(&str, f64, f64); 4] =
    [("ink", 2.0, 5.0), ("pen", 3.0, 7.0), ("pad", 1.0, 11.0), ("cup", 4.0, 13.0)];

/// Groups with their values.
const GROUPS: [(&str, &[f64]); 3] = [("north", &[1.0, 2.0]), ("south", &[4.0, 8.0, 16.0]), ("west", &[32.0])];

/// What all templates are filled with.
pub fn data() -> String {
    let items: Vec<String> = ITEMS
        .iter()
        .map(|(name, quantity, price)| {
            format!("{{\"name\":\"{name}\",\"qty\":{quantity},\"price\":{price}}}")
        })
        .collect();
    let groups: Vec<String> = GROUPS
        .iter()
        .map(|(name, values)| {
            let rows: Vec<String> = values.iter().map(|value| format!("{{\"v\":{value}}}")).collect();
            format!("{{\"name\":\"{name}\",\"rows\":[{}]}}", rows.join(","))
        })
        .collect();
    format!(
        "{{\"items\":[{}],\"groups\":[{}],\"none\":[],\"months\":[\"Jan\",\"Feb\",\"Mar\"],\"no\":false,\"yes\":true}}",
        items.join(","),
        groups.join(",")
    )
}

/// What a cell must be when it is calculated.
struct Check {
    sheet: String,
    cell: String,
    /// The formula of the template.
    of: String,
    value: Value,
}

/// A workbook of sheets, and what must come of them.
#[derive(Default)]
struct Work {
    sheets: Vec<Sheet>,
    names: Vec<(&'static str, &'static str)>,
    checks: Vec<Check>,
}

impl Work {
    fn expect(
        &mut self,
        sheet: &str,
        cell: impl Into<String>,
        of: impl Into<String>,
        value: impl Into<Value>,
    ) {
        self.checks.push(Check {
            sheet: sheet.to_owned(),
            cell: cell.into(),
            of: of.into(),
            value: value.into(),
        });
    }
}

impl From<f64> for Value {
    fn from(number: f64) -> Self {
        Self::Number(number)
    }
}

impl From<&str> for Value {
    fn from(text: &str) -> Self {
        Self::Text(text.to_owned())
    }
}

fn works() -> [(&'static str, Work); 5] {
    [
        ("a list", layouts::work()),
        ("rows", shapes::rows()),
        ("tables and names", shapes::tables_and_names()),
        ("columns", shapes::columns()),
        ("sheets", shapes::sheets()),
    ]
}

/// The templates, by their names.
pub fn files() -> Vec<(&'static str, Vec<u8>)> {
    works().into_iter().map(|(name, work)| (name, book(&work.sheets, &work.names))).collect()
}

#[test]
fn filled_formulas_calculate_what_their_templates_mean() {
    let works = works();
    let folder = tempfile::tempdir().expect("a folder");
    for ((name, _), (_, file)) in works.iter().zip(files()) {
        let filled = try_fill(file, &data(), "{}").unwrap_or_else(|error| panic!("{name}: {error}"));
        std::fs::write(folder.path().join(format!("{name}.xlsx")), filled.file).expect("is written");
    }
    let out = folder.path().join("out");
    calculate(folder.path(), &out);
    let (mut wrong, mut checked) = (Vec::new(), 0);
    for (name, work) in &works {
        let read = |folder: &Path| {
            let file = std::fs::read(folder.join(format!("{name}.xlsx")));
            Book::read(&file.unwrap_or_else(|error| panic!("{name}: {error}")))
        };
        let (written, calculated) = (read(folder.path()), read(&out));
        for Check { sheet, cell, of, value } in &work.checks {
            let found = calculated.cell(sheet, cell).map_or(Value::Empty, |cell| cell.value.clone());
            let is_equal = match (&found, value) {
                (Value::Number(found), Value::Number(value)) => (found - value).abs() < 1e-9,
                (found, value) => found == value,
            };
            checked += 1;
            if !is_equal {
                let written = written.cell(sheet, cell);
                wrong.push(format!(
                    "{name}, {sheet}!{cell}: {of} is written as {written:?}, gives {found:?}, must be {value:?}"
                ));
            }
        }
    }
    println!("{checked} values of {} workbooks", works.len());
    assert!(checked >= 60, "{checked}");
    assert!(wrong.is_empty(), "{} of {checked}:\n{}", wrong.len(), wrong.join("\n"));
}

/// Opens and saves files with LibreOffice, which calculates what has no value.
fn calculate(folder: &Path, out: &Path) {
    let profile = folder.join("profile");
    let done = Command::new("soffice")
        .arg(format!("-env:UserInstallation=file://{}", profile.display()))
        .args(["--headless", "--norestore", "--convert-to", "xlsx:Calc MS Excel 2007 XML", "--outdir"])
        .arg(out)
        .args(works().map(|(name, _)| folder.join(format!("{name}.xlsx"))))
        .output()
        .expect("LibreOffice is installed, as scripts/setup does");
    assert!(done.status.success(), "{}", String::from_utf8_lossy(&done.stderr));
}
