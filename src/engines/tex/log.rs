//! What TeX's log says: the error that ended the run, whether another run would change anything, pages, warnings.

/// The log of a run, or its end.
pub(super) struct Log {
    text: String,
}

/// What ended a run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct LogError {
    /// The file, as TeX names it.
    pub file: Option<String>,
    /// The line of it.
    pub line: Option<u32>,
    /// What TeX says, on one line.
    pub message: String,
}

/// What is said of files that the next run reads and this one has begun.
const BEGUN: &str = "No file ";
/// Files of which TeX says that they are not there yet, and whose content comes to the pages.
const READ_AGAIN: [&str; 6] = [".toc", ".lof", ".lot", ".out", ".nav", ".ind"];
/// Lines of a message that go on what the one before began.
const CONTINUED_LIMIT: usize = 4;
/// Warnings that are told of one document.
const WARNINGS_LIMIT: usize = 20;

impl Log {
    /// The log whose bytes, or whose end, are `bytes`.
    pub fn new(bytes: &[u8]) -> Self {
        Self { text: String::from_utf8_lossy(bytes).into_owned() }
    }

    /// How many pages came out: what TeX says last, when nothing of the document runs any more.
    pub fn pages(&self) -> Option<u32> {
        let said = self.text.rsplit_once("Output written on ")?.1;
        let numbers = said.split_once(" (")?.1;
        numbers.split(' ').next()?.parse().ok()
    }

    /// Whether TeX, or a package, asks for another run.
    pub fn asks_again(&self) -> bool {
        let is_asking = |line: &str| {
            // A package is called so that looks whether one is needed.
            let line = line.to_ascii_lowercase().replace("rerunfilecheck", "");
            line.contains("rerun") && !line.starts_with("package: ")
        };
        self.text.lines().any(is_asking)
    }

    /// The extensions of files of the job `name` that were not there yet.
    pub fn begun(&self, name: &str) -> Vec<&'static str> {
        let said = |extension: &&'static str| {
            let missing = format!("{BEGUN}{name}{extension}.");
            self.text.lines().any(|line| line.starts_with(&missing))
        };
        READ_AGAIN.iter().filter(|extension| said(extension)).copied().collect()
    }

    /// The first error.
    pub fn error(&self) -> Option<LogError> {
        let mut lines = self.text.lines();
        while let Some(line) = lines.next() {
            let Some((place, message)) = error_of(line) else { continue };
            let mut message = message.trim().to_owned();
            let rest: Vec<&str> = lines.clone().take(CONTINUED_LIMIT).collect();
            // A package's message goes on in further lines until an empty one, TeX's own never does.
            if message.contains("Error:") {
                let more = rest.iter().take_while(|line| !line.trim().is_empty() && !line.starts_with("l."));
                for line in more {
                    message.push(' ');
                    message.push_str(line.trim().trim_start_matches('(').trim());
                }
            }
            if message == "Undefined control sequence." {
                let name =
                    rest.iter().find(|line| line.starts_with("l.")).and_then(|line| last_command(line));
                message = name.map_or(message, |name| format!("the command {name} is not known"));
            }
            // A file that is not there is told before the place at which it is missed.
            let place = place.or_else(|| lines.find_map(error_of).and_then(|(place, _)| place));
            let (file, line) = place.map_or((None, None), |(file, line)| (Some(file.to_owned()), Some(line)));
            return Some(LogError { file, line, message });
        }
        None
    }

    /// What the author should know of a document that was made.
    pub fn warnings(&self) -> Vec<String> {
        let mut found = Vec::new();
        for line in self.text.lines() {
            let told = ["Missing character: ", "LaTeX Warning: Reference ", "LaTeX Warning: Citation "];
            if !told.iter().any(|start| line.starts_with(start)) {
                continue;
            }
            let warning = line.trim_start_matches("LaTeX Warning: ").trim_end_matches('.').to_owned();
            if found.len() < WARNINGS_LIMIT && !found.contains(&warning) {
                found.push(warning);
            }
        }
        found
    }
}

/// The place and the words of an error: `./main.tex:3: words` or `! words`.
fn error_of(line: &str) -> Option<(Option<(&str, u32)>, &str)> {
    let told = if let Some(words) = line.strip_prefix("! ") {
        (None, words)
    } else {
        let (place, words) = line.split_once(": ")?;
        let (file, number) = place.rsplit_once(':')?;
        (Some((file, number.parse().ok()?)), words)
    };
    (!told.1.trim_start().starts_with("==> Fatal error")).then_some(told)
}

/// The command that a line of context ends with.
fn last_command(context: &str) -> Option<&str> {
    let at = context.rfind('\\')?;
    Some(context[at..].trim())
}

impl LogError {
    /// Whether the document needs a TeX that knows all letters.
    pub fn lacks_letters(&self) -> bool {
        let is_letter = self.message.contains("Unicode character") && self.message.contains("not set up");
        is_letter || self.message.contains("requires either XeTeX or LuaTeX")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn error(text: &str) -> LogError {
        Log::new(text.as_bytes()).error().unwrap()
    }

    #[test]
    fn the_first_error_is_told_with_its_place() {
        let log = "(./main.tex\n./main.tex:3: Undefined control sequence.\nl.3 Hello \\foo\n                  bar\n\
                   ./main.tex:3:  ==> Fatal error occurred, no output PDF file produced!\n";
        let found = error(log);
        assert_eq!((found.file.as_deref(), found.line), (Some("./main.tex"), Some(3)));
        assert_eq!(found.message, "the command \\foo is not known");
        let log = "./a.tex:5: LaTeX Error: Unicode character 漢 (U+6F22)\n               not set up for use with LaTeX.\n\n\
                   See the LaTeX manual";
        let found = error(log);
        assert_eq!(
            found.message,
            "LaTeX Error: Unicode character 漢 (U+6F22) not set up for use with LaTeX."
        );
        assert!(found.lacks_letters());
        assert_eq!(error("! Emergency stop.").file, None);
        let found = error(
            "! LaTeX Error: File `x.sty' not found.\n\nType X\n./a.tex:3: Emergency stop.\nl.3 \\begin",
        );
        assert_eq!((found.file.as_deref(), found.line), (Some("./a.tex"), Some(3)));
        assert!(Log::new(b"Package: x 2020 a: b\n").error().is_none());
    }

    #[test]
    fn pages_are_what_is_said_last() {
        let pages = |text: &str| Log::new(text.as_bytes()).pages();
        let said = "Output written on x.pdf (9 pages, 1 bytes).\nOutput written on main.pdf (3 pages, 7656 bytes).\n";
        assert_eq!(pages(said), Some(3));
        assert_eq!(pages("Output written on main.xdv (1 page, 7 bytes)."), Some(1));
        assert_eq!(pages("No pages of output."), None);
    }

    #[test]
    fn another_run_is_made_where_something_asks_for_it() {
        let asks = |text: &str| Log::new(text.as_bytes()).asks_again();
        assert!(asks("LaTeX Warning: Label(s) may have changed. Rerun to get cross-references right.\n"));
        assert!(asks("Package longtable Warning: Table widths have changed. Rerun LaTeX.\n"));
        assert!(!asks("Package: rerunfilecheck 2022-07-10 v1.10 Rerun checks for auxiliary files (HO)\n"));
        assert!(!asks("(/usr/share/texlive/texmf-dist/tex/latex/rerunfilecheck/rerunfilecheck.sty\n"));
        assert!(!asks("Package rerunfilecheck Info: File `main.out' has not changed.\n"));
        assert!(asks(
            "Package rerunfilecheck Warning: File `main.out' has changed.\n(rerunfilecheck) Rerun to get outlines right\n"
        ));
        let log = Log::new(b"No file main.aux.\nNo file main.toc.\nNo file other.lof.\n");
        assert_eq!(log.begun("main"), [".toc"]);
    }
}
