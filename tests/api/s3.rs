//! The service with its objects in a bucket.

use std::process::Command;

/// What always runs with a bucket as well; `PLATEN_TEST_STORE=s3` runs all of them so.
const SELECTION: [&str; 4] = ["flow::", "clients::", "templates::", "recovery::"];

#[test]
fn jobs_and_templates_do_the_same_with_their_objects_in_a_bucket() {
    if std::env::var_os("PLATEN_TEST_STORE").is_some() {
        return;
    }
    let program = std::env::current_exe().unwrap();
    let run = Command::new(program).args(SELECTION).env("PLATEN_TEST_STORE", "s3").output().unwrap();
    let told = String::from_utf8_lossy(&run.stdout);
    assert!(run.status.success(), "{told}{}", String::from_utf8_lossy(&run.stderr));
    assert!(told.contains("test result: ok.") && !told.contains("ok. 0 passed"), "{told}");
}
