//! Build script: checks that the npm packages are installed which the program embeds, and hands them to the compiler.

use std::path::{Path, PathBuf};
use std::{env, fs};

/// The files of npm packages that the assembling child loads, and their names in `OUT_DIR`.
const PARTS: [(&str, &str); 3] = [
    ("ejs/lib/cjs/ejs.js", "ejs-ejs.js"),
    ("ejs/lib/cjs/utils.js", "ejs-utils.js"),
    ("acorn/dist/acorn.js", "acorn.js"),
];

/// Names in EJS and in the scripts it generates: the text to replace, its replacement, how often it occurs. Hazard: the
/// scripts run inside `with (locals)`, so a member of the data by such a name would replace it: the page would fail, or be
/// written without escaping. The new names are unlikely in data, and `assemble.js` and `run.js` exclude them as well. They
/// are as long as the old ones, for a bound limits how much longer a script is than its template. `__append` stays usable
/// in templates, as nothing else prints from a scriptlet; there a member of the data by that name hides it.
const RENAMED: [(&str, &str, usize); 6] = [
    ("'    ; __append(escapeFn('", "'    ; _$append(_$escape('", 1),
    ("'    ; __append(", "'    ; _$append(", 4),
    ("'  function __append(s) ", "'  var _$escape = escapeFn, __append = _$append; function _$append(s) ", 1),
    ("'    ; __line = '", "'    ; _$line = '", 1),
    ("\" __line = 1\"", "\" _$line = 1\"", 1),
    (
        "rethrow(e, __lines, __filename, __line, escapeFn)",
        "rethrow(e, __lines, __filename, _$line, escapeFn)",
        1,
    ),
];

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    let out = PathBuf::from(env::var_os("OUT_DIR").unwrap_or_default());
    for (part, name) in PARTS {
        let source = Path::new("assets/node_modules").join(part);
        println!("cargo::rerun-if-changed={}", source.display());
        let copied =
            fs::read_to_string(&source).and_then(|text| fs::write(out.join(name), renamed(name, text)));
        if let Err(error) = copied {
            let place = source.display();
            println!("cargo::error=an npm package is missing ({place}: {error}); run scripts/setup");
        }
    }
}

fn renamed(name: &str, mut text: String) -> String {
    for (theirs, ours, count) in RENAMED.iter().filter(|_| name == "ejs-ejs.js") {
        if text.matches(theirs).count() != *count {
            println!(
                "cargo::error=this version of EJS does not write {theirs} {count} time(s); look at RENAMED"
            );
        }
        text = text.replace(theirs, ours);
    }
    text
}
