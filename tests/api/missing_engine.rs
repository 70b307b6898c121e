//! A machine without the library that runs template code: the service starts, says what is missing, and works on. In a
//! mount namespace of the test's own, where something else lies over the library.

use std::path::{Path, PathBuf};
use std::process::Command;

use platen::engines::script::JAVASCRIPT_CORE;
use serde_json::json;

use crate::app::TestApp;
use crate::small_disk::rerun_in_mount_namespace;

/// Puts what is no file over one, and takes it away again.
pub struct Hidden(PathBuf);

impl Hidden {
    pub fn over(file: &Path) -> Self {
        let hidden = Self(std::fs::canonicalize(file).unwrap());
        hidden.run(&["mount", "--bind", "/dev/null"]);
        hidden
    }

    fn run(&self, command: &[&str]) {
        let status = Command::new(command[0]).args(&command[1..]).arg(&self.0).status().unwrap();
        assert!(status.success(), "{command:?}");
    }
}

impl Drop for Hidden {
    fn drop(&mut self) {
        self.run(&["umount"]);
    }
}

#[actix_web::test]
async fn without_the_library_the_service_says_so_and_works_on() {
    if rerun_in_mount_namespace("missing_engine::without_the_library_the_service_says_so_and_works_on")
        .is_some()
    {
        return;
    }
    let library = JAVASCRIPT_CORE.installed().unwrap();
    let hidden = Hidden::over(library);
    let app = TestApp::start().await;
    // Whatever has no code is made.
    let (view, pdf) = app.render("pdf", "<p>no tag at all", json!({})).await;
    assert!(view["success"] == true && app.text_of(&pdf).contains("no tag at all"), "{view}");
    let (view, _) = app.render("pdf", "<p><%= name %>", json!({"name": "x"})).await;
    assert_eq!(
        (&view["success"], &view["errorCode"]),
        (&json!(false), &json!("engine_unavailable")),
        "{view}"
    );
    let named =
        |text: &str| text.contains("apt-get install --no-install-recommends libjavascriptcoregtk-6.0-1");
    assert!(named(view["error"].as_str().unwrap()), "package and command: {view}");
    // What is nothing but code is refused before anything is uploaded.
    for (kind, target) in [("ejs", "pdf"), ("docx", "docx")] {
        let (status, problem) =
            app.post("/v1/documents/init", &json!({"type": kind, "target": target})).await;
        assert_eq!((status, &problem["code"]), (422, &json!("unsupported_conversion")), "{problem}");
        assert!(named(problem["detail"].as_str().unwrap()), "{problem}");
    }
    // It was never there, so nothing is lost.
    assert_eq!(app.get("/health/ready").await.0, 200);
    // Installed while the service runs, it is used.
    drop(hidden);
    app.until("the library is seen", async || {
        app.render("pdf", "<p><%= name %>", json!({"name": "x"})).await.0["success"] == true
    })
    .await;
}
