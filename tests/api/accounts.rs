//! An account that is deleted: what it had is gone, with the running service and without it.

use std::path::{Path, PathBuf};

use platen::config::Config;
use platen::storage::data_dir::DataDir;
use platen::storage::index::{Index as _, SledIndex};
use serde_json::json;

use crate::app::TestApp;
use crate::template::page;

fn files(folder: &Path) -> Vec<PathBuf> {
    let mut files = Vec::new();
    for entry in std::fs::read_dir(folder).into_iter().flatten().flatten() {
        if entry.path().is_dir() {
            files.extend(self::files(&entry.path()));
        } else {
            files.push(entry.path());
        }
    }
    files
}

/// The ids of the account's tokens.
fn token_ids(app: &TestApp, account: &str) -> Vec<String> {
    let list = app.command(&["token", "list", "--account", account]);
    list.lines().map(|line| line.split(' ').next().unwrap().to_owned()).collect()
}

/// An account of this name with some of everything, in the place of the test's own.
async fn fill_account(app: &mut TestApp, name: &str) {
    app.command(&["account", "create", name]);
    app.token = app.command(&["token", "create", "--account", name]);
    assert_eq!(app.render("html", "<p>done", json!({})).await.0["success"], true);
    app.saved("Saved", page("saved")).await;
    app.unzipped(page("begun")).await;
    app.prepared("html", &format!("<p>open{}", "x".repeat(50_000)), json!({})).await;
    let slow = "<!doctype html><script>setTimeout(() => { document.title = 'late' }, 60000)</script>";
    let running = app.prepared("pdf", slow, json!({})).await;
    assert_eq!(app.post(&format!("/v1/documents/{running}/render"), &json!({})).await.0, 202);
}

#[tokio::test]
async fn a_deleted_account_leaves_nothing() {
    let mut app = TestApp::on_disk(&[("jobs.running_account_limit", "1")]).await;
    let objects = app.data_dir().join("objects");
    let own = app.token.clone();
    assert_eq!(app.render("html", "<p>another's", json!({})).await.0["success"], true);
    let others = files(&objects);

    fill_account(&mut app, "guest").await;
    assert!(files(&objects).len() > others.len() + 5);
    let mut ids = token_ids(&app, "guest");
    let refused = app.refused(&["account", "delete", "guest"]);
    assert!(
        refused.contains("with its jobs, documents, templates and tokens") && refused.contains("--yes"),
        "{refused}"
    );
    assert_eq!(app.get("/v1/jobs").await.0, 200, "nothing was deleted");
    let save_request = app.command(&["account", "delete", "guest", "--yes"]);
    assert!(
        save_request.contains("deleted account guest")
            && save_request.contains("being erased by the service"),
        "{save_request}"
    );
    assert_eq!(app.get("/v1/jobs").await.0, 401);
    app.until("everything is gone", async || files(&objects) == others).await;
    assert!(!app.command(&["account", "list"]).contains("guest"));
    assert!(!app.command(&["token", "list"]).contains("guest"));

    fill_account(&mut app, "visitor").await;
    ids.extend(token_ids(&app, "visitor"));
    app.kill();
    let save_request = app.command(&["account", "delete", "visitor", "--yes"]);
    assert!(
        save_request.contains("erased 5 jobs and 2 templates"),
        "two of the jobs made previews: {save_request}"
    );
    let left: Vec<_> =
        files(&objects).into_iter().filter(|file| !file.starts_with(objects.join(".staging"))).collect();
    assert_eq!(left, others);
    let index = DataDir::open(&app.data_dir()).unwrap().index();
    let index = SledIndex::open(&index, &Config::default().storage).await.unwrap();
    // The mark of what was deleted is all that names the accounts, and nothing names their tokens.
    let marks = index.scan("erasing/", None, 9).await.unwrap();
    ids.extend(marks.iter().map(|mark| mark.key.split('/').next_back().unwrap().to_owned()));
    assert_eq!((marks.len(), ids.len()), (2, 4), "{ids:?}");
    for entry in index.scan("", None, usize::MAX).await.unwrap() {
        let value = String::from_utf8_lossy(&entry.value);
        let names = |id: &String| entry.key.contains(id) || value.contains(id);
        assert!(marks.contains(&entry) || !ids.iter().any(names), "{}: {value}", entry.key);
    }
    index.close().await;
    app.launch();
    app.until_ready().await;
    app.token = own;
    let (status, list) = app.get("/v1/jobs").await;
    assert_eq!((status, list["items"].as_array().unwrap().len()), (200, 1));
}

#[tokio::test]
async fn a_list_of_tokens_says_what_each_is_called_when_it_ends_and_when_it_was_used() {
    let mut app = TestApp::on_disk(&[]).await;
    let line = |app: &TestApp, name: &str| {
        let list = app.command(&["token", "list"]);
        let found = list.lines().find(|line| line.contains(&format!("  name={name}  ")));
        found.unwrap_or_else(|| panic!("{name}: {list}")).to_owned()
    };
    let create = ["token", "create", "--account", "test", "--name"];
    app.token = app.command(&[&create[..], &["ci", "--expires", "2099-12-31"]].concat());
    let unused = line(&app, "ci");
    assert!(unused.ends_with("  expires 2099-12-31T00:00:00Z  last-used never  active"), "{unused}");
    assert!(unused.contains(&format!("  ends-in={}  ", &app.token[app.token.len() - 4..])), "{unused}");
    assert_eq!(app.get("/v1/jobs").await.0, 200);
    let used = line(&app, "ci");
    assert!(!used.contains("last-used never") && used.ends_with("  active"), "{used}");
    // The same without the service, which finds it the same again.
    app.stop();
    assert_eq!(line(&app, "ci"), used);
    app.command(&[&create[..], &["night", "--expires", "12h"]].concat());
    let refused = app.refused(&[&create[..], &["past", "--expires", "2001-01-01"]].concat());
    assert!(refused.contains("which is over"), "{refused}");
    app.launch();
    app.until_ready().await;
    assert!(!line(&app, "night").contains("expires never"));
    app.command(&["token", "revoke", used.split(' ').next().unwrap()]);
    assert_eq!(app.get("/v1/jobs").await.0, 401);
    assert!(line(&app, "ci").contains("  revoked 2"));
}
