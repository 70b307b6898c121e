//! lualatex's font cache: made once, kept for the next start and for the command line; not used where another user could have
//! written it.

use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};

use serde_json::json;

use crate::app::{TestApp, bounded};
use crate::latex::document;

/// The one file in the cache folder, and its inode number.
fn cache_file(caches: &Path) -> (PathBuf, u64) {
    let files: Vec<_> = std::fs::read_dir(caches).unwrap().map(|entry| entry.unwrap().path()).collect();
    assert_eq!(files.len(), 1, "{files:?}");
    (files[0].clone(), files[0].metadata().unwrap().ino())
}

/// How many programs of TeX have run since the service's start, which is here, and one document's end.
async fn runs_for_a_document(app: &TestApp) -> u64 {
    let options = json!({"engine": "lualatex"});
    let (view, pdf) = app.typeset("pdf", document("", "Ωμέγα"), (json!({}), options)).await;
    assert_eq!((&view["success"], &view["warnings"]), (&json!(true), &json!([])), "{view}");
    assert!(app.text_of(&pdf).contains("Ωμέγα"));
    app.metric_of("platen_engine_jobs_total{engine=\"tex\",end=\"answered\"}").await
}

#[actix_web::test]
async fn the_font_cache_of_lualatex_is_made_once_for_all_starts_and_the_command_line() {
    let folder = tempfile::tempdir().unwrap();
    let caches = folder.path().join("platen");
    let mut app = TestApp::with(&[("tex.cache_dir", caches.to_str().unwrap())]).await;
    assert_eq!(runs_for_a_document(&app).await, 2, "one for the cache");
    let made = cache_file(&caches);
    app.stop();
    app.launch();
    app.until_ready().await;
    assert_eq!((runs_for_a_document(&app).await, cache_file(&caches)), (1, made.clone()));
    app.stop();
    // The command line has the user's own folder, which here is the same.
    let letter = app.scratch().join("letter.tex");
    std::fs::write(&letter, document("% !TeX program = lualatex", "from the command line")).unwrap();
    let render = || {
        let mut platen = bounded();
        platen.env("PLATEN_CONFIG", "").env("XDG_CACHE_HOME", folder.path());
        let output = platen.args(["render", "--type", "latex", "-o", "letter.pdf"]).arg(&letter);
        let output = output.current_dir(app.scratch()).output().unwrap();
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        String::from_utf8_lossy(&output.stderr).into_owned()
    };
    render();
    assert_eq!(cache_file(&caches), made);
    // What is damaged, or may be another user's, is made anew.
    std::fs::write(&made.0, "return os.exit()").unwrap();
    assert!(render().contains("it is damaged"));
    let whole = cache_file(&caches);
    assert!(whole != made && std::fs::read(&whole.0).unwrap().len() > 100_000);
    std::fs::set_permissions(&caches, std::os::unix::fs::PermissionsExt::from_mode(0o777)).unwrap();
    assert!(render().contains("another user could have written it"));
    assert_eq!(cache_file(&caches), whole, "and nothing is put there");
}
