//! What stands behind `--` on the command line: words that choose, a path to another program, numbers by name.

use std::collections::BTreeMap;
use std::io;

/// What was given.
pub struct Options {
    /// Words that choose what is measured.
    pub words: Vec<String>,
    /// Another version's program.
    pub program: Option<String>,
    /// Those that stand alone, without the dashes.
    flags: Vec<String>,
    numbers: BTreeMap<String, u64>,
}

impl Options {
    /// Reads the command line; each of these names is followed by a number.
    pub fn read(names: &[&str]) -> io::Result<Self> {
        Self::of(std::env::args().skip(1), names)
    }

    fn of(mut given: impl Iterator<Item = String>, names: &[&str]) -> io::Result<Self> {
        let (words, flags) = (Vec::new(), Vec::new());
        let mut options = Self { words, program: None, flags, numbers: BTreeMap::new() };
        while let Some(word) = given.next() {
            match word.strip_prefix("--") {
                Some(name) if names.contains(&name) => {
                    let number = given.next().and_then(|number| number.parse().ok());
                    let number = number.ok_or_else(|| io::Error::other(format!("--{name} has no number")))?;
                    options.numbers.insert(name.to_owned(), number);
                }
                Some(name) => options.flags.push(name.to_owned()),
                None if word.contains('/') => options.program = Some(word),
                None => options.words.push(word),
            }
        }
        Ok(options)
    }

    /// The number of that name.
    pub fn number(&self, name: &str, default: u64) -> u64 {
        self.numbers.get(name).copied().unwrap_or(default)
    }

    /// Whether it was given.
    pub fn has(&self, flag: &str) -> bool {
        self.flags.iter().any(|given| given == flag)
    }

    /// Whether something of that name is to be measured: all is, unless words choose.
    pub fn chooses(&self, name: &str) -> bool {
        self.words.is_empty() || self.words.iter().any(|word| name.contains(word.as_str()))
    }
}
