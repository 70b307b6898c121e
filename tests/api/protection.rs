//! PDFs with a password and permissions: what others read of them, what is refused, and where the password is not.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use reqwest::Method;
use serde_json::{Value, json};

use crate::app::TestApp;
use crate::missing_engine::Hidden;
use crate::small_disk::rerun_in_mount_namespace;

const PAGE: &str = "<title>T</title><h1>closed</h1><p style='break-before: page'>two</p>";
const USER: &str = "s3cr3t";

/// What `qpdf` says of a file, with its status.
fn qpdf(app: &TestApp, file: &[u8], arguments: &[&str]) -> (Option<i32>, String) {
    let folder = tempfile::tempdir_in(app.scratch()).unwrap();
    let path = folder.path().join("document.pdf");
    std::fs::write(&path, file).unwrap();
    let output = Command::new("qpdf").args(arguments).arg(&path).output().unwrap();
    (output.status.code(), String::from_utf8_lossy(&output.stdout).into_owned())
}

/// The file opens with this password and with no other, and its text can be read then.
fn assert_closed(app: &TestApp, file: &[u8], password: &str, text: &str) {
    let with = format!("--password={password}");
    assert_eq!(qpdf(app, file, &["--requires-password"]).0, Some(0), "it opens without one");
    assert_eq!(qpdf(app, file, &["--requires-password", "--password=wrong"]).0, Some(0));
    assert_eq!(qpdf(app, file, &["--requires-password", &with]).0, Some(3), "'{password}' opens it");
    let report = qpdf(app, file, &[&with, "--show-encryption"]).1;
    assert!(report.contains("R = 6") && report.matches("method: AESv3").count() == 3, "{report}");
    assert_eq!(qpdf(app, file, &[&with, "--check"]).0, Some(0));
    // What it takes of a command's password.
    if password.len() > 32 {
        return;
    }
    let path = app.scratch().join(format!("{}.pdf", uuid(file)));
    std::fs::write(&path, file).unwrap();
    let read = Command::new("pdftotext")
        .args(["-upw", password, "-opw", password])
        .arg(&path)
        .arg("-")
        .output()
        .unwrap();
    assert!(String::from_utf8_lossy(&read.stdout).contains(text), "{read:?}");
    assert!(!Command::new("pdftotext").arg(&path).arg("-").output().unwrap().status.success());
}

/// Files of one test may be looked at side by side.
fn uuid(file: &[u8]) -> String {
    format!("{:p}", file.as_ptr())
}

async fn file_of(app: &TestApp, view: &Value) -> Vec<u8> {
    let url = view["output"]["data"]["url"].as_str().unwrap_or_else(|| panic!("no document: {view}"));
    app.client.get(url).send().await.unwrap().bytes().await.unwrap().to_vec()
}

async fn prepared(app: &TestApp, template: &str, options: Value) -> String {
    let job = app.init(json!({"type": "html", "target": "pdf", "data": {}, "formatOpts": options})).await;
    assert_eq!(app.put(&job.template_url.unwrap(), template.to_owned()).await, 200);
    job.id
}

async fn rendered(app: &TestApp, options: Value) -> (Value, Vec<u8>) {
    let view = app.finish(&prepared(app, PAGE, options).await).await;
    let file = file_of(app, &view).await;
    (view, file)
}

#[tokio::test]
async fn a_pdf_opens_with_its_password_whatever_that_is_and_not_without() {
    let app = TestApp::start().await;
    let longest = "x".repeat(127);
    for password in [
        "open sesame",
        "it's \"q\" \\ $(id) `id` %s",
        "@order.json",
        "--",
        "-",
        "--job-json-file=/etc/passwd",
        "🔒字ä",
        " in between ",
        "***",
        &longest,
    ] {
        let options = json!({"password": password, "metadata": {"author": "Zoë"}, "outline": true});
        let (view, file) = rendered(&app, options).await;
        assert_eq!((&view["success"], &view["warnings"]), (&json!(true), &json!([])), "{view}");
        assert_eq!(view["output"]["metadata"]["pages"], 2, "{view}");
        assert_eq!(view["formatOpts"]["password"], "***", "{view}");
        assert_closed(&app, &file, password, "closed");
    }
    let (_, file) =
        rendered(&app, json!({"userPassword": "one", "ownerPassword": "two", "outline": true})).await;
    for password in ["one", "two"] {
        assert_closed(&app, &file, password, "closed");
    }
    let opened = qpdf(&app, &file, &["--password=one", "--json", "--json-key=outlines"]).1;
    assert!(opened.contains("closed"), "its bookmarks are kept: {opened}");
    // By one call as well, whose answer says nothing of it.
    let body = json!({"type": "html", "target": "pdf", "template": PAGE, "data": {}, "formatOpts": {"password": "q"}});
    let (status, answer) = app.post("/v1/documents/immediate-render", &body).await;
    assert_eq!(status, 200, "{answer}");
    let file = app.client.get(answer["url"].as_str().unwrap()).send().await.unwrap().bytes().await.unwrap();
    assert_closed(&app, &file, "q", "closed");
}

#[tokio::test]
async fn an_office_document_is_protected_as_a_page_is() {
    let app = TestApp::start().await;
    let sample = |name: &str| {
        std::fs::read(format!("{}/assets/samples/invoice/{name}", env!("CARGO_MANIFEST_DIR"))).unwrap()
    };
    let data: Value = serde_json::from_slice(&sample("data.json")).unwrap();
    let body = |target: &str, options: Value| json!({"type": "docx", "target": target, "data": data, "formatOpts": options});
    let job = app.init(body("pdf", json!({"password": USER, "permissions": {"print": true}}))).await;
    assert_eq!(app.put(&job.template_url.unwrap(), sample("invoice.docx")).await, 200);
    let view = app.finish(&job.id).await;
    assert_eq!(view["success"], true, "{view}");
    let file = file_of(&app, &view).await;
    assert_eq!(qpdf(&app, &file, &["--password=s3cr3t", "--show-npages"]).1.trim(), "1");
    assert_closed(&app, &file, USER, data["recipient"]["name"].as_str().unwrap_or_default());
    for target in ["png", "docx", "html"] {
        let (status, answer) = app.post("/v1/documents/init", &body(target, json!({"password": USER}))).await;
        let detail = answer["errors"][0]["detail"].as_str().unwrap_or_default();
        let kept = format!("promises what cannot be kept for {target}; it can for pdf");
        assert!(status == 422 && detail.starts_with(&kept), "{answer}");
    }
    let both = body("pdf", json!({"password": USER, "pdfa": true}));
    let (status, answer) = app.post("/v1/documents/init", &both).await;
    let detail = answer["errors"][0]["detail"].as_str().unwrap_or_default();
    assert!(status == 422 && detail.contains("PDF/A forbids encryption"), "{answer}");
}

#[tokio::test]
async fn permissions_are_what_readers_find_in_the_file() {
    let app = TestApp::start().await;
    let allowed = |file: &[u8], password: &str| {
        let report = qpdf(&app, file, &[password, "--show-encryption"]).1;
        let lines = report.lines().filter_map(|line| line.strip_suffix(": allowed"));
        lines.map(str::to_owned).collect::<BTreeSet<_>>()
    };
    let names = |names: &[&str]| names.iter().map(|name| (*name).to_owned()).collect::<BTreeSet<_>>();
    let always = "extract for accessibility";
    for (permissions, found) in [
        (json!({"print": true}), vec!["print low resolution", "print high resolution"]),
        (json!({"print": "low", "assemble": true}), vec!["print low resolution", "modify document assembly"]),
        (json!({"annotate": true}), vec!["modify annotations", "modify forms"]),
        (json!({"fillForms": true}), vec!["modify forms"]),
        (json!({"modify": true}), vec!["modify other"]),
        (json!({"copy": true}), vec!["extract for any purpose"]),
    ] {
        let (view, file) = rendered(&app, json!({"permissions": permissions})).await;
        assert_eq!(view["formatOpts"]["permissions"], permissions);
        assert_eq!(allowed(&file, "--password="), names(&[&[always][..], &found].concat()), "{permissions}");
        assert_eq!(qpdf(&app, &file, &["--requires-password"]).0, Some(3), "it opens for everybody");
    }
    // Permissions bind readers with the user's password; the owner's password lifts them.
    let options = json!({"password": "one", "ownerPassword": "two", "permissions": {"copy": false}});
    let (_, file) = rendered(&app, options).await;
    let report = qpdf(&app, &file, &["--password=one", "--show-encryption"]).1;
    assert!(
        report.contains("extract for any purpose: not allowed")
            && report.contains("print high resolution: allowed")
    );
    assert!(
        report.contains("Supplied password is user password") && !report.contains("is owner password"),
        "{report}"
    );
    let report = qpdf(&app, &file, &["--password=two", "--show-encryption"]).1;
    assert!(report.contains("Supplied password is owner password"), "{report}");
    // Where no owner password was given, neither the user's nor an empty one opens the file as owner.
    let (_, file) = rendered(&app, json!({"password": "one", "permissions": {"copy": false}})).await;
    let report = qpdf(&app, &file, &["--password=one", "--show-encryption"]).1;
    assert!(
        report.contains("extract for any purpose: not allowed") && !report.contains("is owner password"),
        "{report}"
    );
    assert_eq!(qpdf(&app, &file, &["--requires-password", "--password="]).0, Some(0));
}

#[tokio::test]
async fn protection_that_cannot_be_kept_is_refused_at_init() {
    let app = TestApp::start().await;
    let fault = async |target: &str, options: Value| {
        let body =
            json!({"type": "html", "target": target, "data": {}, "template": "x", "formatOpts": options});
        let mut details = BTreeSet::new();
        for path in ["/v1/documents/init", "/v1/documents/immediate-render"] {
            let (status, answer) = app.post(path, &body).await;
            assert_eq!((status, &answer["code"]), (422, &json!("validation_failed")), "{answer}");
            assert!(!answer.to_string().contains("s3cr3t"), "{answer}");
            let error = &answer["errors"][0];
            let pointer = error["pointer"].as_str().unwrap().to_owned();
            details.insert(format!("{pointer} {}", error["detail"].as_str().unwrap()));
        }
        assert_eq!(details.len(), 1);
        details.pop_first().unwrap()
    };
    for target in ["png", "jpg", "html"] {
        for key in ["password", "userPassword", "permissions"] {
            let value = if key == "permissions" { json!({"copy": false}) } else { json!(USER) };
            let detail = fault(target, json!({ key: value })).await;
            let kept = format!(
                "/formatOpts/{key} promises what cannot be kept for {target}; it can for pdf. Leave the key out, or \
                 change the target"
            );
            assert_eq!(detail, kept);
        }
    }
    for (options, part) in [
        (
            json!({"password": "s3cr3t\u{0}"}),
            "/formatOpts/password has a character in it that nobody can type in",
        ),
        (
            json!({"password": "s3cr3t\n"}),
            "/formatOpts/password has a character in it that nobody can type in",
        ),
        (
            json!({"password": format!("s3cr3t{}", "é".repeat(61))}),
            "/formatOpts/password has 128 bytes in UTF-8",
        ),
        (json!({"password": "s3cr3t\u{fb01}"}), "/formatOpts/password has characters that PDF readers take"),
        (json!({"password": ["s3cr3t"]}), "/formatOpts/password must be a string, not an array"),
        (json!({"password": "s3cr3t", "userPassword": "other"}), "/formatOpts/userPassword is another one"),
        (json!({"ownerPassword": "s3cr3t"}), "/formatOpts/ownerPassword protects nothing by itself"),
        (json!({"permissions": {"copying": false}}), "/formatOpts/permissions/copying is not known"),
        (json!({"permissions": "none"}), "/formatOpts/permissions must be an object"),
        (json!({"user_password": "s3cr3t"}), "/formatOpts/user_password is not read by this name"),
        (json!({"encrypt": true}), "/formatOpts/encrypt is not read by this name"),
        (json!({"password": ""}), "/formatOpts/password is empty, so nothing would be protected"),
        (json!({"permissions": {}}), "/formatOpts/permissions neither allows nor forbids anything"),
    ] {
        let detail = fault("pdf", options).await;
        assert!(detail.starts_with(part), "{detail}");
    }
    // A picture of the page is one of the two previews.
    let template = app.unzipped(crate::template::page("one")).await;
    let body = json!({"type": "html", "data": {}, "formatOpts": {"password": USER}});
    let (status, answer) = app.post(&format!("/v1/templates/{template}/render-previews"), &body).await;
    assert_eq!((status, &answer["errors"][0]["pointer"]), (422, &json!("/formatOpts/password")), "{answer}");
    assert_eq!(app.get("/v1/jobs").await.1["items"], json!([]), "nothing was created");
}

#[tokio::test]
async fn the_command_protects_and_refuses_as_the_service_does() {
    let app = TestApp::start().await;
    let path = |name: &str| app.scratch().join(name).display().to_string();
    std::fs::write(path("page.html"), PAGE).unwrap();
    std::fs::write(path("opts.json"), json!({"password": USER}).to_string()).unwrap();
    let arguments = |output: &str| {
        ["render", &path("page.html"), "--type", "html", "--opts", &path("opts.json"), "-o", &path(output)]
            .map(str::to_owned)
    };
    let made = arguments("page.pdf");
    app.command(&made.each_ref().map(String::as_str));
    assert_closed(&app, &std::fs::read(path("page.pdf")).unwrap(), USER, "closed");
    let refused = app.refused(&arguments("page.png").each_ref().map(String::as_str));
    assert!(
        refused.contains("formatOpts.password promises what cannot be kept for png; it can for pdf"),
        "{refused}"
    );
    assert!(!refused.contains(USER) && !Path::new(&path("page.png")).exists());
}

/// The files below `folder` with one of the words in them.
fn holding(folder: &Path, words: &[&str]) -> Vec<PathBuf> {
    let (mut folders, mut found) = (vec![folder.to_owned()], Vec::new());
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(folder).into_iter().flatten().flatten() {
            let path = entry.path();
            if path.is_dir() {
                folders.push(path);
            } else if std::fs::read(&path).is_ok_and(|bytes| has(&bytes, words)) {
                found.push(path);
            }
        }
    }
    found
}

fn has(bytes: &[u8], words: &[&str]) -> bool {
    // No word is in every file.
    words.is_empty() || words.iter().any(|word| bytes.windows(word.len()).any(|part| part == word.as_bytes()))
}

/// Looks through the processes of this machine until it is stopped: whether qpdf was seen, and which process showed a password.
fn watch(words: [String; 2], stop: Arc<AtomicBool>) -> std::thread::JoinHandle<(bool, Vec<String>)> {
    std::thread::spawn(move || {
        let (mut seen, mut had) = (false, Vec::new());
        let words = words.each_ref().map(String::as_str);
        while !stop.load(Ordering::Relaxed) {
            for entry in std::fs::read_dir("/proc").unwrap().flatten() {
                let read = |name: &str| std::fs::read(entry.path().join(name)).unwrap_or_default();
                let command = read("cmdline");
                seen |= has(&command, &["--job-json-file"]);
                if has(&[command, read("environ")].concat(), &words) {
                    had.push(entry.path().display().to_string());
                }
            }
        }
        (seen, had)
    })
}

#[tokio::test]
async fn a_password_is_nowhere_but_in_the_document() {
    let mut app = TestApp::with(&[("log.filter", "debug"), ("jobs.sweep_interval_s", "1")]).await;
    app.kill();
    app.log = Some(app.scratch().join("log"));
    app.launch();
    app.until_ready().await;
    // These words are used nowhere else, nor in a test that runs beside this one.
    let [user, owner] = ["uSeR", "oWnEr"].map(|who| format!("{who}-s3cr3t-{}", std::process::id()));
    let options = json!({"password": user, "ownerPassword": owner, "permissions": {"copy": false}});
    let body = json!({"type": "html", "target": "pdf", "data": {}, "formatOpts": options});
    let init = app
        .request(Method::POST, "/v1/documents/init")
        .header("idempotency-key", "a-key")
        .body(body.to_string());
    let job: Value = init.send().await.unwrap().json().await.unwrap();
    let (id, url) = (job["jobId"].as_str().unwrap(), job["presignedTemplateUploadUrl"].as_str().unwrap());
    assert_eq!(app.put(url, PAGE).await, 200);
    let words = [user.as_str(), owner.as_str()];
    let nowhere = |app: &TestApp, when: &str| {
        let found = holding(app.scratch(), &words);
        assert!(found.is_empty(), "{when}: {found:?}");
    };
    nowhere(&app, "before the start");
    // After a kill the data folder has all that the job needs, and no password in clear.
    app.kill();
    nowhere(&app, "after a kill");
    app.launch();
    app.until_ready().await;
    let stop = Arc::new(AtomicBool::new(false));
    let watched = watch([user.clone(), owner.clone()], Arc::clone(&stop));
    let view = app.finish(id).await;
    let mut answers = vec![view.clone(), app.get("/v1/jobs").await.1];
    for _ in 0..5 {
        let (view, _) = rendered(&app, options.clone()).await;
        answers.push(view);
    }
    stop.store(true, Ordering::Relaxed);
    let (seen, had) = watched.join().unwrap();
    assert!(seen && had.is_empty(), "qpdf was seen: {seen}; the words were in {had:?}");
    assert_closed(&app, &file_of(&app, &view).await, &user, "closed");
    for answer in answers {
        assert!(!has(answer.to_string().as_bytes(), &words), "{answer}");
    }
    // Nor after an end of another kind.
    let failed = prepared(&app, "<%= gone %>", options.clone()).await;
    assert_eq!(app.finish(&failed).await["success"], false);
    let cancelled = prepared(&app, PAGE, options).await;
    let cancel = app.request(Method::DELETE, &format!("/v1/jobs/{cancelled}")).send().await.unwrap();
    assert_eq!(cancel.status(), 200);
    let objects = || match &app.objects {
        Some(server) => server.objects("jobs").len(),
        None => holding(&app.data_dir().join("objects/jobs"), &[]).len(),
    };
    app.until("both halves are not there any more", async || objects() == 0).await;
    app.stop();
    nowhere(&app, "at the end");
    assert!(std::fs::metadata(app.scratch().join("log")).unwrap().len() > 1_000, "there is a log");
}

#[tokio::test]
async fn a_killed_service_ends_every_job_protected() {
    let mut app = TestApp::with(&[("browser.tabs", "1")]).await;
    let slow = "<p>closed</p><script>setTimeout(() => { window.late = 1 }, 300)</script>";
    let mut jobs = Vec::new();
    for number in 0..6 {
        let password = format!("number {number}");
        let id = prepared(&app, slow, json!({ "password": password })).await;
        if number > 0 {
            app.post(&format!("/v1/documents/{id}/render"), &json!({})).await;
        }
        jobs.push((id, password));
    }
    app.kill();
    app.launch();
    app.until_ready().await;
    for (id, password) in &jobs {
        let view = app.finish(id).await;
        assert_closed(&app, &file_of(&app, &view).await, password, "closed");
    }
}

#[tokio::test]
async fn a_backup_has_no_password_and_a_restored_job_makes_no_unprotected_file() {
    let mut app = TestApp::on_disk(&[]).await;
    let job = prepared(&app, PAGE, json!({"password": USER})).await;
    app.stop();
    let copy = app.scratch().join("copy");
    app.command(&["backup", copy.to_str().unwrap()]);
    let names = |folder: &Path| {
        let files = holding(folder, &[]);
        files.iter().filter(|path| path.file_name().is_some_and(|name| name == "secret")).count()
    };
    assert_eq!((names(&app.data_dir()), names(&copy)), (1, 0));
    std::fs::remove_dir_all(app.data_dir()).unwrap();
    app.command(&["restore", copy.to_str().unwrap()]);
    app.launch();
    app.until_ready().await;
    let view = app.finish(&job).await;
    assert_eq!((&view["errorCode"], &view["output"]), (&json!("internal"), &Value::Null), "{view}");
    assert!(view["error"].as_str().unwrap().ends_with("(a backup has none); send the job again"), "{view}");
}

#[actix_web::test]
async fn without_qpdf_passwords_are_refused_and_no_unprotected_file_is_made() {
    if rerun_in_mount_namespace(
        "protection::without_qpdf_passwords_are_refused_and_no_unprotected_file_is_made",
    )
    .is_some()
    {
        return;
    }
    let app = TestApp::start().await;
    let job = prepared(&app, PAGE, json!({"password": USER})).await;
    let hidden = Hidden::over(Path::new("/usr/bin/qpdf"));
    let body = json!({"type": "html", "target": "pdf", "formatOpts": {"password": USER}});
    app.until("it is missed", async || app.post("/v1/documents/init", &body).await.0 == 422).await;
    let (_, problem) = app.post("/v1/documents/init", &body).await;
    assert_eq!(problem["code"], "unsupported_conversion", "{problem}");
    let remedy = "qpdf is not installed (there is no /usr/bin/qpdf); install it by: apt-get install \
                  --no-install-recommends qpdf";
    assert!(problem["detail"].as_str().unwrap().contains(remedy), "{problem}");
    let view = app.finish(&job).await;
    assert_eq!((&view["errorCode"], &view["output"]), (&json!("engine_unavailable"), &Value::Null), "{view}");
    let (view, file) = app.render("pdf", "<p>open", json!({})).await;
    assert!(view["success"] == true && app.text_of(&file).contains("open"), "the others are made");
    drop(hidden);
}
