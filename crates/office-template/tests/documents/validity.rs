//! What others say of the documents that are filled: no finding that their templates had not, and a reader opens what it opened.
//!
//! A finding is compared by the kind of its part, its rule and its element without numbers: one in a row that is repeated thirty
//! times is one finding.

mod made;
mod oracles;

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use office_template::{Delimiters, NoFiles, Template};
use serde_json::Value;

use crate::real;
use crate::support::{limits, run};
use crate::workbooks;
use made::made;

/// A template and its data.
pub struct Case {
    name: String,
    file: Vec<u8>,
    data: String,
    delimiters: Option<Delimiters>,
    /// How its file's name ends.
    end: &'static str,
}

impl Case {
    fn new(name: &str, file: Vec<u8>, data: &str) -> Self {
        Self { name: name.to_owned(), file, data: data.to_owned(), delimiters: None, end: "docx" }
    }

    fn file_name(&self) -> String {
        format!("{}.{}", self.name, self.end)
    }

    /// The document; none where the template is refused, of which other tests judge.
    fn fill(&self) -> Option<Vec<u8>> {
        let template = Template::read(self.file.clone(), self.delimiters.clone(), &limits()).ok()?;
        let answer = run(template.program(), &self.data, "{}");
        Some(template.fill(&answer, &mut NoFiles).ok()?.file)
    }
}

#[test]
fn documents_made_by_code_have_no_new_findings() {
    let written = real::all().map(|(name, file, data)| Case::new(name, file, &data));
    let cases: Vec<Case> = made().into_iter().chain(written).collect();
    let count = cases.len();
    assert_eq!(judge(cases), (count, 0), "all of them are filled, and none is unreadable");
}

#[test]
fn real_templates_have_no_new_findings() {
    let named = std::env::var_os("PLATEN_CORPUS").filter(|named| !named.is_empty() && named != "none");
    let Some(folder) = named else {
        eprintln!("NOT TESTED: the validity of real documents, for PLATEN_CORPUS paths no folder of them");
        return;
    };
    let (filled, unreadable) = judge(corpus(Path::new(&folder)));
    println!("filled {filled}; of these the Open XML SDK does not open {unreadable} templates");
    // Some are a few elements in a file of nothing else, which Word would not open either.
    assert!(filled >= 140 && unreadable <= 40, "{filled} {unreadable}");
}

/// Fills all, and compares what the oracles find in documents and templates: how many were filled, and how many of their templates
/// no oracle can say much about, for the SDK does not open them.
///
/// The validators cost more than all else here: a template is judged only where something is said of its document.
fn judge(cases: Vec<Case>) -> (usize, usize) {
    let folder = tempfile::tempdir().expect("a folder");
    let filled: Vec<(Case, Vec<u8>)> =
        cases.into_iter().filter_map(|case| case.fill().map(|file| (case, file))).collect();
    write(&folder.path().join("documents"), filled.iter().map(|(case, file)| (case, file.as_slice())));
    let mut report = String::new();
    let mut unreadable = 0;
    for (number, (oracle, says)) in oracles::ALL.into_iter().enumerate() {
        let found = says(&folder.path().join("documents"));
        let of = |case: &Case| {
            let file = case.file_name();
            found.get(&file).unwrap_or_else(|| panic!("{oracle} says nothing of {file}"))
        };
        let doubtful: Vec<&Case> =
            filled.iter().map(|(case, _)| case).filter(|case| !of(case).is_empty()).collect();
        if doubtful.is_empty() {
            continue;
        }
        let templates = folder.path().join(format!("templates {number}"));
        write(&templates, doubtful.iter().map(|case| (*case, case.file.as_slice())));
        let known = says(&templates);
        for case in doubtful {
            let known = &known[&case.file_name()];
            unreadable += usize::from(known.iter().any(|finding| finding.contains(oracles::UNOPENED)));
            for finding in of(case).difference(known) {
                report.extend(["\n", oracle, ", ", &case.name, ": ", finding]);
            }
        }
    }
    assert!(report.is_empty(), "findings that the templates had not:{report}");
    (filled.len(), unreadable)
}

/// Writes files that are called as their cases are into a new folder.
fn write<'a>(folder: &Path, files: impl Iterator<Item = (&'a Case, &'a [u8])>) {
    std::fs::create_dir(folder).expect("a folder");
    for (case, file) in files {
        std::fs::write(folder.join(case.file_name()), file).expect("is written");
    }
}

/// What was found in each file.
type Found = BTreeMap<String, BTreeSet<String>>;

/// The templates of Word, `PowerPoint` and Excel that lie there with their data.
fn corpus(folder: &Path) -> Vec<Case> {
    let workbook = |(name, file, data): (String, Vec<u8>, Value)| Case {
        end: "xlsx",
        ..Case::new(&format!("jsreport-{name}"), file, &data.to_string())
    };
    let mut cases: Vec<Case> = workbooks::templates(folder).into_iter().map(workbook).collect();
    for from in ["docxtemplater", "easy-template-x"] {
        for entry in std::fs::read_dir(folder.join(from)).expect("the corpus is there") {
            let path = entry.expect("a file").path();
            if path.extension().is_none_or(|end| end != "json") {
                continue;
            }
            let file = |end: &'static str| {
                Some((end, std::fs::read(path.with_extension(format!("template.{end}"))).ok()?))
            };
            let Some((end, file)) = file("docx").or_else(|| file("pptx")) else { continue };
            let json: Value =
                serde_json::from_slice(&std::fs::read(&path).expect("is read")).expect("is JSON");
            let name = path.file_stem().unwrap_or_default().to_string_lossy();
            let mut case = Case::new(&format!("{from}-{name}"), file, &json["data"].to_string());
            case.delimiters = delimiters(&json);
            case.end = end;
            cases.push(case);
        }
    }
    cases
}

fn delimiters(json: &Value) -> Option<Delimiters> {
    let given = json.pointer("/options/delimiters").or_else(|| json.get("delimiters"))?;
    let one = |name: &str| given[name].as_str().or(given[format!("tag{name}")].as_str()).map(str::to_owned);
    Some(Delimiters {
        start: one("Start").or_else(|| one("start"))?,
        end: one("End").or_else(|| one("end"))?,
    })
}
