//! The first line of an error: `! message`, or `file:line: message`.

use crate::files::{Files, shown};
use crate::text::number;

/// A file's name and a line stand in so many bytes at the beginning of an error.
const PLACE_BYTES: usize = 300;

/// Where an error is, as far as its first line tells, and what is behind.
pub(crate) struct Header<'line> {
    pub(crate) file: Option<String>,
    pub(crate) line: Option<u32>,
    /// Of a piece of Lua in the source: its own line.
    pub(crate) lua_line: Option<u32>,
    pub(crate) message: &'line str,
}

/// Reads the first line of an error; nothing where a line is none.
pub(crate) fn header<'line>(line: &'line str, files: &Files) -> Option<Header<'line>> {
    if let Some(message) = line.strip_prefix('!') {
        let is_error = message.starts_with(' ')
            || message
                .split_once(" error")
                .is_some_and(|(engine, _)| engine.ends_with("TeX") || engine == "luatex");
        return is_error.then(|| Header { file: None, line: None, lua_line: None, message: message.trim() });
    }
    let (name, number, message) = placed(line)?;
    // A line of code in Lua that a document brings is not one of a file.
    if name.starts_with("[\\") && name.ends_with(']') {
        return Some(Header { file: None, line: None, lua_line: Some(number), message });
    }
    let is_file =
        ["./", "../", "/"].iter().any(|folder| name.starts_with(folder)) || files.is_open(&shown(name));
    let is_lua =
        !name.contains(' ') && name.rsplit_once('.').is_some_and(|(_, extension)| extension == "lua");
    (is_file || is_lua).then(|| Header {
        file: Some(shown(name)),
        line: Some(number),
        lua_line: None,
        message,
    })
}

/// Name, line and message of `name:line: message`.
fn placed(line: &str) -> Option<(&str, u32, &str)> {
    let colons = line.match_indices(':').map(|(at, _)| at).take_while(|at| *at < PLACE_BYTES);
    colons.into_iter().find_map(|at| {
        let (name, rest) = line.split_at_checked(at)?;
        let (number, rest) = number(rest.get(1..)?)?;
        Some((name, number, rest.strip_prefix(": ")?.trim()))
    })
}
