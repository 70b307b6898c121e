//! The program run once, with a data folder of its own and without the settings of the user who runs the tests.

use std::io::Write as _;
use std::path::Path;
use std::process::{Output, Stdio};

use crate::app::{CACHES, LATE, bounded};

/// Runs `platen` in `folder` with `settings` (`http.bind`, value), writes `stdin` to it, and waits.
pub fn platen(folder: &Path, settings: &[(&str, &str)], arguments: &[&str], stdin: &[u8]) -> Output {
    let mut command = bounded();
    command.current_dir(folder).args(arguments).env("PLATEN_CONFIG", "");
    command.env("PLATEN__STORAGE__DATA_DIR", folder.join("data")).env("PLATEN__TEX__CACHE_DIR", CACHES);
    for (key, value) in settings {
        command.env(format!("PLATEN__{}", key.replace('.', "__").to_uppercase()), value);
    }
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().expect("the program starts");
    // One that refuses its arguments does not read on.
    let _ = child.stdin.take().expect("stdin is piped").write_all(stdin);
    let output = child.wait_with_output().expect("the program ends");
    assert_ne!(output.status.code(), Some(LATE), "{arguments:?} did not end");
    output
}
