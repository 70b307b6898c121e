//! The script that builds the front-end fixtures, on a fixture that needs no package.

use std::fs;
use std::path::Path;
use std::process::Command;

#[test]
fn a_fixture_whose_build_is_lost_is_built_again() {
    let folder = tempfile::tempdir().unwrap();
    let root = folder.path();
    for made in ["scripts", "tests/fixtures/plain"] {
        fs::create_dir_all(root.join(made)).unwrap();
    }
    fs::copy(Path::new(env!("CARGO_MANIFEST_DIR")).join("scripts/fixtures"), root.join("scripts/fixtures"))
        .unwrap();
    fs::write(root.join("tests/fixtures/plain/index.html"), "<p>plain").unwrap();
    fs::write(root.join("tests/fixtures/plain/data.json"), "{}").unwrap();
    let build = || {
        let mut command = Command::new("bash");
        let output =
            command.arg(root.join("scripts/fixtures")).env_remove("CARGO_TARGET_DIR").output().unwrap();
        let said = String::from_utf8(output.stderr).unwrap();
        assert!(output.status.success(), "{said}");
        said
    };
    let page = root.join("target/fixtures/plain/index.html");
    assert!(build().contains("plain was built"));
    assert_eq!(build(), "", "nothing changed");
    fs::remove_file(&page).unwrap();
    assert!(build().contains("plain was built"));
    assert_eq!(fs::read_to_string(&page).unwrap(), "<p>plain");
    fs::remove_dir_all(page.parent().unwrap()).unwrap();
    assert!(build().contains("plain was built"), "the stamp alone is no build");
}
