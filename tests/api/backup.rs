//! `platen backup` beside the running service: what is restored from one is whole, and nothing waits for one for ever.

use std::io::{Read as _, Write as _};
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;
use platen::config::Config;
use platen::domain::site::Site;
use platen::jobs::store::record::JobRecord;
use platen::storage::data_dir::DataDir;
use platen::storage::disk::DiskStore;
use platen::storage::index::{Index as _, SledIndex};
use platen::storage::{ObjectStore as _, StorageKey, record};
use platen::templates::package::Package;
use platen::templates::registry::record::TemplateRecord;
use reqwest::Method;
use serde_json::{Value, json};

use crate::app::{PATIENCE, TestApp};
use crate::small_disk::rerun_in_mount_namespace;
use crate::template::page;

/// Held deletions are done soon after the backup.
const SETTINGS: [(&str, &str); 2] = [("jobs.sweep_interval_s", "1"), ("templates.sweep_interval_s", "1")];

/// The content of a data folder: jobs with a document, templates, and its counters.
#[derive(Debug, Default)]
struct Found {
    documents: usize,
    templates: usize,
    unfinished: usize,
}

/// Opens every object that an entry of the index names.
async fn look_through(folder: &Path) -> Found {
    let data = DataDir::open(folder).unwrap();
    let index = SledIndex::open(&data.index(), &Config::default().storage).await.unwrap();
    let store = DiskStore::open(data.objects()).await.unwrap();
    let mut found = Found::default();
    for entry in index.scan("job/", None, usize::MAX).await.unwrap() {
        let job: JobRecord = record::decode(1, &entry.key, &entry.value).unwrap();
        found.unfinished += usize::from(!job.state.is_final());
        if let Some(output) = &job.output {
            let document = store.get(&StorageKey::JobOutput(job.account, job.id, job.file()), u64::MAX).await;
            let document = document.unwrap_or_else(|error| panic!("{}: {error}", entry.key));
            assert_eq!(document.len() as u64, output.bytes, "{}", entry.key);
            found.documents += 1;
        }
    }
    let mut stored = 0;
    for entry in index.scan("template/", None, usize::MAX).await.unwrap() {
        let template: TemplateRecord = record::decode(1, &entry.key, &entry.value).unwrap();
        for key in template.objects() {
            let object =
                store.get(&key, u64::MAX).await.unwrap_or_else(|error| panic!("{}: {error}", entry.key));
            if template.content.as_ref().is_some_and(|content| template.package(content) == key) {
                let package = Package::reopen(&object).unwrap();
                assert!(Site::new(&package.entry, package.files).page().is_some());
            }
        }
        stored += template.stored_bytes();
        found.templates += 1;
    }
    // A batch is whole in the copy or not in it: the account's counter counts exactly these templates.
    let counters = index.scan("stored/", None, 9).await.unwrap();
    assert_eq!(counters.len(), 1, "{counters:?}");
    assert_eq!(index.counter(&counters[0].key).await.unwrap(), i64::try_from(stored).unwrap());
    index.close().await;
    found
}

/// Jobs that come with their template and go, with documents that are kept.
async fn jobs(app: &TestApp, stop: &AtomicBool, ended: &AtomicU64) {
    // Beyond `jobs.journaled_input_limit_bytes`: the input is an object.
    let pad = "x".repeat(40_000);
    while !stop.load(Ordering::Relaxed) {
        let kept = app.init(json!({"type": "html", "target": "html", "data": {}})).await;
        assert_eq!(app.put(kept.template_url.as_deref().unwrap(), format!("<p>{pad}")).await, 200);
        assert_eq!(app.finish(&kept.id).await["success"], true);
        let gone = app.prepared("html", &format!("<p>gone{pad}"), json!({})).await;
        assert_eq!(app.finish(&gone).await["success"], true);
        assert_eq!(app.send(Method::DELETE, &format!("/v1/jobs/{gone}")).await.0, 204);
        ended.fetch_add(2, Ordering::Relaxed);
    }
}

/// Changes of templates, each of which replaces objects.
async fn templates(app: &TestApp, template: &str, stop: &AtomicBool, changed: &AtomicU64) {
    let path = format!("/v1/templates/{template}/index-html");
    let mut round: u64 = 0;
    while !stop.load(Ordering::Relaxed) {
        round += 1;
        let text = format!("<p>{round} {}", "y".repeat(20_000));
        let (status, answer) = app.post(&path, &json!({"indexHtml": text})).await;
        assert!(status < 300, "{status} {answer}");
        let begun = app.unzipped(page("begun")).await;
        assert_eq!(app.send(Method::DELETE, &format!("/v1/templates/{begun}")).await.0, 200);
        changed.fetch_add(3, Ordering::Relaxed);
    }
}

#[tokio::test]
async fn a_backup_made_under_load_restores_consistently() {
    let mut app = TestApp::on_disk(&SETTINGS).await;
    let template = app.saved("Kept", page("kept")).await;
    let (stop, ended, changed) = (AtomicBool::new(false), AtomicU64::new(0), AtomicU64::new(0));
    let copies: Vec<PathBuf> = (0..4).map(|round| app.scratch().join(format!("copy-{round}"))).collect();
    let backups = async {
        let mut slowest = 0;
        for copy in &copies {
            let (before, jobs) = (ended.load(Ordering::Relaxed), changed.load(Ordering::Relaxed));
            app.until("there is load", async || {
                ended.load(Ordering::Relaxed) > before + 4 && changed.load(Ordering::Relaxed) > jobs + 4
            })
            .await;
            let started = std::time::Instant::now();
            let mut command = app.set(Command::new(env!("CARGO_BIN_EXE_platen")));
            command.arg("backup").arg(copy);
            let output = tokio::task::spawn_blocking(move || command.output().unwrap()).await.unwrap();
            assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
            slowest = slowest.max(started.elapsed().as_millis());
        }
        stop.store(true, Ordering::Relaxed);
        slowest
    };
    let ((), (), (), (), slowest) = tokio::join!(
        jobs(&app, &stop, &ended),
        jobs(&app, &stop, &ended),
        templates(&app, &template, &stop, &changed),
        templates(&app, &template, &stop, &changed),
        backups
    );
    println!("jobs {ended:?}, changes {changed:?}, slowest backup {slowest} ms");
    // As it was left by the last restore: the folders of backups stay as they are.
    app.stop();
    for copy in &copies {
        std::fs::remove_dir_all(app.data_dir()).unwrap();
        app.command(&["restore", copy.to_str().unwrap()]);
        let found = look_through(&app.data_dir()).await;
        println!("{found:?}");
        assert!(found.documents > 4 && found.templates >= 1, "{found:?}");
    }
    app.launch();
    app.until_ready().await;
    assert!(app.shown(&template).await.unwrap().contains("yyy"));
    let (_, list) = app.get("/v1/jobs?limit=100").await;
    for job in list["items"].as_array().unwrap() {
        let view = app.get(&format!("/v1/jobs/{}", job["jobId"].as_str().unwrap())).await.1;
        let view = if view["status"] == "in-progress" {
            app.ended(job["jobId"].as_str().unwrap()).await
        } else {
            view
        };
        if view["status"] == "done" {
            assert_eq!(app.fetch(&view["output"]["data"]["url"]).await.0, 200, "{view}");
        }
    }
}

/// A backup as the command begins it, up to the end of the index: deletions are held for as long as this is there.
fn begin(app: &TestApp) -> UnixStream {
    let socket = DataDir::at(&app.data_dir()).control_socket();
    let mut stream = UnixStream::connect(socket).unwrap();
    stream.set_read_timeout(Some(PATIENCE)).unwrap();
    stream.write_all(b"{\"command\":\"backup\"}\n").unwrap();
    while frame(&mut stream) != b"c" {}
    stream
}

/// The next message of the service to a backup.
fn frame(stream: &mut UnixStream) -> Vec<u8> {
    let mut length = [0; 4];
    stream.read_exact(&mut length).unwrap();
    let mut frame = vec![0; u32::from_le_bytes(length) as usize];
    stream.read_exact(&mut frame).unwrap();
    frame
}

/// Why the service broke the backup off.
fn reason(stream: &mut UnixStream) -> String {
    let message = frame(stream);
    assert_eq!(message[0], b'!');
    String::from_utf8(message[1..].to_vec()).unwrap()
}

/// A job that is done: its id, the address of its document, and the file that holds it.
async fn done(app: &TestApp) -> (String, Value, PathBuf) {
    let (view, _) = app.render("html", "<p>1", json!({})).await;
    let job = view["jobId"].as_str().unwrap().to_owned();
    let accounts = std::fs::read_dir(app.data_dir().join("objects/outputs")).unwrap();
    let account = accounts.flatten().next().unwrap().path();
    let id = job.replace('-', "");
    let jobs = std::fs::read_dir(account).unwrap().flatten().map(|entry| entry.path());
    let folder =
        jobs.into_iter().find(|path| path.to_string_lossy().replace('-', "").ends_with(&id)).unwrap();
    (job, view["output"]["data"]["url"].clone(), folder.join("document.html"))
}

/// Deletes the job while a backup holds deletions: the interface no longer knows it, and its file is still there.
async fn delete_held(app: &TestApp, (job, url, file): &(String, Value, PathBuf)) {
    assert_eq!(app.send(Method::DELETE, &format!("/v1/jobs/{job}")).await.0, 204);
    assert_eq!(app.get(&format!("/v1/jobs/{job}")).await.0, 404);
    assert_eq!(app.fetch(url).await.0, 404, "the address of a deleted document opens nothing");
    assert!(file.exists(), "the file waits for the backup");
}

async fn until_gone(app: &TestApp, file: &Path) {
    app.until("what waited is deleted", async || !file.exists()).await;
}

fn backup(app: &TestApp, to: &Path) -> Child {
    app.set(Command::new(env!("CARGO_BIN_EXE_platen"))).arg("backup").arg(to).spawn().unwrap()
}

#[tokio::test]
async fn deletions_wait_for_a_backup_and_for_no_longer_than_it_lives() {
    let app = Arc::new(TestApp::on_disk(&SETTINGS).await);
    let (first, second) = (done(&app).await, done(&app).await);
    let held = begin(&app);
    delete_held(&app, &first).await;
    // Work goes on.
    let during = done(&app).await;
    delete_held(&app, &during).await;
    let refused = app.refused(&["backup", app.scratch().join("beside").to_str().unwrap()]);
    assert!(refused.contains("another backup is being made"), "{refused}");
    drop(held);
    until_gone(&app, &first.2).await;
    until_gone(&app, &during.2).await;

    // Enough that the command has not ended when it is met.
    for _ in 0..2 {
        let job = app.init(json!({"type": "html", "target": "html", "data": {}})).await;
        assert_eq!(app.put(&job.template_url.unwrap(), vec![b' '; 60 << 20]).await, 200);
    }
    let to = app.scratch().join("killed");
    let mut command = backup(&app, &to);
    let pid = Pid::from_raw(i32::try_from(command.id()).unwrap());
    app.until("the backup has begun", async || to.join("index/db").exists()).await;
    kill(pid, Signal::SIGSTOP).unwrap();
    delete_held(&app, &second).await;
    kill(pid, Signal::SIGKILL).unwrap();
    command.wait().unwrap();
    until_gone(&app, &second.2).await;
    assert!(!to.join("version").exists(), "what was killed is no backup");
}

#[tokio::test]
async fn a_backup_that_never_ends_is_broken_off() {
    let app = TestApp::on_disk(&[SETTINGS[0], ("storage.backup_limit_s", "1")]).await;
    let job = done(&app).await;
    let mut held = begin(&app);
    delete_held(&app, &job).await;
    until_gone(&app, &job.2).await;
    // The client, which asks at the end whether its copy is a backup, gets the reason why not.
    let _ = held.write_all(b"\n");
    assert!(reason(&mut held).contains("longer than 1 s (storage.backup_limit_s)"));
    assert_eq!(held.read(&mut [0; 8]).unwrap_or(0), 0);
}

/// Held deletions fill the disk; no job may be refused because of a backup.
#[tokio::test]
async fn a_backup_is_broken_off_before_the_disk_is_too_full_for_jobs() {
    let name = "backup::a_backup_is_broken_off_before_the_disk_is_too_full_for_jobs";
    if rerun_in_mount_namespace(name).is_some() {
        return;
    }
    let limits = [
        SETTINGS[0],
        ("storage.objects_free_limit_bytes", "16777216"),
        ("storage.free_limit_bytes", "4194304"),
    ];
    let app = Arc::new(TestApp::on_small_disk(128, &limits).await);
    let disk = app.disk.as_ref().unwrap();
    let (first, second) = (done(&app).await, done(&app).await);
    let mut held = begin(&app);
    delete_held(&app, &first).await;
    disk.fill(18 << 20);
    let why = reason(&mut held);
    assert!(
        why.contains("bytes are free on the disk of /") && why.contains("storage.objects_free_limit_bytes"),
        "{why}"
    );
    until_gone(&app, &first.2).await;
    let during = done(&app).await;
    let refused = app.refused(&["backup", app.scratch().join("late").to_str().unwrap()]);
    assert!(refused.contains("free some space") && refused.contains("is no backup"), "{refused}");

    // The command is notified while it copies.
    disk.clear();
    let job = app.init(json!({"type": "html", "target": "html", "data": {}})).await;
    assert_eq!(app.put(&job.template_url.unwrap(), vec![b' '; 60 << 20]).await, 200);
    let elsewhere = tempfile::tempdir().unwrap();
    let to = elsewhere.path().join("begun");
    let mut command = app.set(Command::new(env!("CARGO_BIN_EXE_platen")));
    let command = command.arg("backup").arg(&to).stderr(Stdio::piped()).spawn().unwrap();
    let pid = Pid::from_raw(i32::try_from(command.id()).unwrap());
    app.until("the backup has begun", async || to.join("index/db").exists()).await;
    kill(pid, Signal::SIGSTOP).unwrap();
    delete_held(&app, &second).await;
    disk.fill(18 << 20);
    until_gone(&app, &second.2).await;
    kill(pid, Signal::SIGCONT).unwrap();
    let output = tokio::task::spawn_blocking(move || command.wait_with_output().unwrap()).await.unwrap();
    let message = String::from_utf8_lossy(&output.stderr);
    assert!(!output.status.success() && message.contains("storage.objects_free_limit_bytes"), "{message}");
    assert!(!to.join("version").exists());
    disk.clear();
    app.command(&["backup", elsewhere.path().join("whole").to_str().unwrap()]);
    assert!(during.2.exists());
}
