//! Build script: checks that the npm packages are installed which the program embeds, and hands them to the compiler.

use std::path::{Path, PathBuf};
use std::{env, fs};

/// What the assembling child loads of npm packages, and the names by which it finds them.
const PARTS: [(&str, &str); 3] = [
    ("ejs/lib/cjs/ejs.js", "ejs-ejs.js"),
    ("ejs/lib/cjs/utils.js", "ejs-utils.js"),
    ("acorn/dist/acorn.js", "acorn.js"),
];

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    let out = PathBuf::from(env::var_os("OUT_DIR").unwrap_or_default());
    for (part, name) in PARTS {
        let source = Path::new("assets/node_modules").join(part);
        println!("cargo::rerun-if-changed={}", source.display());
        if let Err(error) = fs::copy(&source, out.join(name)) {
            let place = source.display();
            println!("cargo::error=an npm package is missing ({place}: {error}); run scripts/setup");
        }
    }
}
