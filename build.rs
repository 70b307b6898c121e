//! Build script: checks that the template engine is installed and hands it to the compiler.

use std::path::{Path, PathBuf};
use std::{env, fs};

/// The parts of the npm package `ejs` that the assembling child loads.
const PARTS: [&str; 2] = ["ejs.js", "utils.js"];

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    let out = PathBuf::from(env::var_os("OUT_DIR").unwrap_or_default());
    for part in PARTS {
        let source = Path::new("assets/node_modules/ejs/lib/cjs").join(part);
        println!("cargo::rerun-if-changed={}", source.display());
        if let Err(error) = fs::copy(&source, out.join(format!("ejs-{part}"))) {
            let place = source.display();
            println!("cargo::error=the template engine EJS is missing ({place}: {error}); run scripts/setup");
        }
    }
}
