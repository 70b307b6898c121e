//! `platen doctor` and `platen backup`, where objects live in a bucket.

use serde_json::Value;

use crate::app::TestApp;
use crate::command_line::platen;
use crate::objects::proxy::{Mode, Proxy};
use crate::objects::swift::{self, SwiftServer};
use crate::objects::{self, ObjectServer};

/// What the doctor finds of the store at `endpoint`.
fn found(endpoint: &str, changes: &[(&str, &str)]) -> Vec<Value> {
    let folder = tempfile::tempdir().unwrap();
    let settings = [&objects::settings(endpoint), changes].concat();
    let output = platen(folder.path(), &settings, &["doctor", "--json"], b"");
    let report: Value = serde_json::from_slice(&output.stdout).unwrap();
    let store = |finding: &&Value| finding["part"] == "Store";
    let findings: Vec<_> = report["findings"].as_array().unwrap().iter().filter(store).cloned().collect();
    let is_good = findings.iter().all(|finding| finding["state"] == "ok");
    // Other parts may fail as well: on a busy machine a browser may come too late.
    assert!(is_good || !output.status.success(), "{report}");
    assert_eq!(report["good"], output.status.success(), "{report}");
    let output_text = String::from_utf8_lossy(&output.stdout).into_owned();
    assert!(
        !output_text.contains(objects::SECRET_KEY) && !output_text.contains("X-Amz-Signature"),
        "{output_text}"
    );
    findings
}

#[test]
fn a_bucket_that_works_is_tried_and_left_as_it_was() {
    let folder = tempfile::tempdir().unwrap();
    let server = ObjectServer::start(folder.path());
    let findings = found(&server.endpoint(), &[("s3.prefix", "platen/")]);
    assert_eq!(findings.len(), 1, "{findings:?}");
    let detail = findings[0]["detail"].as_str().unwrap();
    assert!(detail.contains("bucket 'documents'") && detail.contains("presigned addresses work"), "{detail}");
    assert!(server.objects("").is_empty());
}

#[test]
fn a_bucket_of_swift_works() {
    let folder = tempfile::tempdir().unwrap();
    let server = SwiftServer::start(folder.path());
    let findings = found(&server.endpoint, &[("s3.access_key", swift::ACCESS_KEY)]);
    assert_eq!((findings.len(), findings[0]["state"].as_str()), (1, Some("ok")), "{findings:?}");
}

#[test]
fn faults_of_a_bucket_are_reported_once_with_the_setting() {
    let folder = tempfile::tempdir().unwrap();
    let server = ObjectServer::start(folder.path());
    let (endpoint, nowhere) = (server.endpoint(), "http://127.0.0.1:9");
    for (changes, words) in [
        (("s3.secret_key", "wrong"), "check s3.secret_key"),
        (("s3.access_key", "NOBODY"), "check s3.access_key"),
        (("s3.bucket", "elsewhere"), "make it, or correct s3.bucket"),
        (("s3.endpoint", nowhere), "127.0.0.1:9 (s3.endpoint)"),
        (("s3.public_endpoint", nowhere), "s3.public_endpoint"),
    ] {
        let findings = found(&endpoint, &[changes]);
        assert_eq!(findings.len(), 1, "{changes:?}: {findings:?}");
        let detail = findings[0]["detail"].as_str().unwrap();
        assert!(detail.contains(words), "{changes:?}: {detail}");
        assert_eq!(findings[0]["state"], "missing");
    }
    let findings = found("http://store.invalid", &[("s3.path_style", "false")]);
    assert!(findings[0]["detail"].as_str().unwrap().contains("set s3.path_style to true"), "{findings:?}");
}

#[test]
fn a_store_that_fails_or_hangs_is_reported_in_time() {
    let folder = tempfile::tempdir().unwrap();
    let server = ObjectServer::start(folder.path());
    let proxy = Proxy::before(server.address);
    let patience = [("s3.stall_timeout_ms", "1000"), ("s3.answer_timeout_ms", "1000")];
    for (mode, words) in [(Mode::Fail, "fails: 500"), (Mode::Hang, "no answer")] {
        proxy.set(mode);
        let findings = found(&proxy.endpoint(), &patience);
        assert_eq!(findings.len(), 1, "{findings:?}");
        assert!(findings[0]["detail"].as_str().unwrap().contains(words), "{findings:?}");
    }
}

#[test]
fn a_key_that_may_not_do_everything_is_reported_by_the_permission_that_it_lacks() {
    for (denied, words) in [
        ("PutObject", "allow s3:PutObject"),
        ("GetObject", "allow s3:GetObject"),
        ("ListObjectsV2", "allow s3:ListBucket"),
        ("DeleteObject", "allow s3:DeleteObject"),
        ("DeleteObjects", "allow s3:DeleteObject"),
        ("CopyObject", "allow s3:GetObject and s3:PutObject"),
    ] {
        let folder = tempfile::tempdir().unwrap();
        let server = ObjectServer::denying(folder.path(), denied);
        let findings = found(&server.endpoint(), &[]);
        let details: Vec<_> = findings.iter().map(|finding| finding["detail"].as_str().unwrap()).collect();
        assert!(details.iter().all(|detail| detail.contains("403 AccessDenied")), "{denied}: {details:?}");
        assert!(details[0].contains(words) && details.len() <= 2, "{denied}: {details:?}");
    }
}

#[test]
fn a_store_that_lets_presigned_urls_copy_other_objects_is_reported() {
    let folder = tempfile::tempdir().unwrap();
    let server = ObjectServer::careless(folder.path());
    let findings = found(&server.endpoint(), &[]);
    assert_eq!(findings.len(), 1, "{findings:?}");
    let detail = findings[0]["detail"].as_str().unwrap();
    assert!(detail.contains("x-amz-copy-source"), "{detail}");
    assert!(server.objects("").is_empty());
}

#[tokio::test]
async fn a_backup_says_what_it_does_not_hold() {
    let mut app = TestApp::with_bucket(&[]).await;
    app.stop();
    let copy = app.scratch().join("copy");
    let output_text = app.command(&["backup", copy.to_str().unwrap()]);
    assert!(
        output_text.contains("the bucket 'documents'") && output_text.contains("is not in this copy"),
        "{output_text}"
    );
}
