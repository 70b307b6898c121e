//! Operations on one template at the same moment: exactly one wins, nothing of a template is lost, and nothing stays behind.

use std::collections::BTreeSet;

use futures_util::future::join_all;
use reqwest::Method;
use serde_json::{Value, json};

use super::races::{APART, together};
use super::{code, other_account, sent_by, stored};
use crate::app::TestApp;
use crate::template::{Previews, page, save_request};

/// Objects of a saved template: files, info, two previews.
const PARTS: usize = 4;

/// Moments at which the second operation begins, in steps of 200 µs. The outermost pairs are one after the other.
const MOMENTS: [i32; 13] = [-APART, -12, -6, -3, -1, 0, 1, 3, 6, 9, 12, 18, APART];

async fn clone(app: &TestApp, of: &str) -> String {
    let (status, clone) = app.send(Method::POST, &format!("/v1/templates/{of}/clone")).await;
    assert_eq!(status, 200, "{clone}");
    clone["newTemplateId"].as_str().unwrap().to_owned()
}

async fn draft(app: &TestApp, text: &str) -> (String, Previews) {
    let id = app.unzipped(page(text)).await;
    let previews = app.previews(&id).await;
    (id, previews)
}

fn update_request(content: &str, previews: &Previews) -> Value {
    let mut body = save_request("Updated", previews);
    body["contentId"] = json!(content);
    body
}

async fn delete(app: &TestApp, template: &str) -> (u16, Value) {
    app.send(Method::DELETE, &format!("/v1/templates/{template}")).await
}

/// Of each saved template all parts are kept, and nothing else but the files of drafts.
async fn assert_whole(app: &TestApp, drafts: usize) {
    let (_, list) = app.get("/v1/templates?limit=100").await;
    let saved = list["items"].as_array().unwrap();
    for template in saved {
        let id = template["uuid"].as_str().unwrap();
        let (status, whole) = app.get(&format!("/v1/templates/{id}")).await;
        assert_eq!(status, 200, "{whole}");
        for url in ["/preview/png/url", "/preview/pdf/url", "/sourceCode/url"] {
            assert_eq!(app.fetch(whole.pointer(url).unwrap()).await.0, 200, "{url} of {whole}");
        }
    }
    app.until("the parts of all templates are kept, and nothing else", async || {
        (stored(app, "templates"), stored(app, "unfinished")) == (PARTS * saved.len(), drafts)
    })
    .await;
}

#[actix::test]
async fn a_template_that_is_deleted_while_it_renders_is_rendered_whole_or_missing() {
    let app = TestApp::on_disk(&[]).await;
    let original = app.saved("One", page("whole")).await;
    let mut outcomes = BTreeSet::new();
    for steps in MOMENTS {
        let template = clone(&app, &original).await;
        let job = app
            .init(json!({"type": "html", "target": "html", "templateId": template, "data": {"name": "Bob"}}))
            .await;
        let (view, deleted) = together(steps, app.finish(&job.id), delete(&app, &template)).await;
        assert_eq!(deleted, (200, json!({"templateId": template})));
        if view["success"] == true {
            let (_, text) = app.fetch(&view["output"]["data"]["url"]).await;
            assert!(String::from_utf8(text).unwrap().contains("whole Bob"), "{view}");
        }
        outcomes.insert(view["errorCode"].as_str().unwrap_or("rendered").to_owned());
        assert_eq!(app.get(&format!("/v1/templates/{template}")).await.0, 404);
    }
    assert_eq!(outcomes, BTreeSet::from(["rendered".to_owned(), "template_missing".to_owned()]));
    assert_whole(&app, 0).await;
}

#[actix::test]
async fn a_template_that_is_saved_twice_at_once_is_there_once() {
    let app = TestApp::on_disk(&[]).await;
    let (template, previews) = draft(&app, "saved").await;
    let path = format!("/v1/templates/{template}");
    let body = save_request("One", &previews);
    for (status, answer) in join_all((0..4).map(|_| app.post(&path, &body))).await {
        assert_eq!((status, answer), (204, Value::Null), "a save may be repeated");
    }
    assert_whole(&app, 0).await;
    let html = json!({"indexHtml": "<p>rewritten <%= name %>"});
    for steps in MOMENTS {
        let copy = clone(&app, &template).await;
        let (save, index) = (format!("/v1/templates/{copy}"), format!("/v1/templates/{copy}/index-html"));
        // Previews of other content are refused, so the order shows in the answer.
        let ((saved, answer), (written, _)) =
            together(steps, app.post(&save, &body), app.post(&index, &html)).await;
        assert_eq!(written, 204);
        assert!(saved == 204 || (saved, code(&answer)) == (422, "preview_not_usable"), "{saved} {answer}");
        assert!(
            app.shown(&copy).await.unwrap().contains("rewritten Bob"),
            "the text is kept in either order"
        );
        let copy = clone(&app, &template).await;
        let save = format!("/v1/templates/{copy}");
        let ((saved, answer), (deleted, _)) =
            together(steps, app.post(&save, &body), delete(&app, &copy)).await;
        assert!(saved == 204 || (saved, code(&answer)) == (404, "template_not_found"), "{saved} {answer}");
        assert_eq!((deleted, app.get(&save).await.0), (200, 404));
    }
    assert_whole(&app, 0).await;
}

#[actix::test]
async fn a_content_that_two_updates_want_becomes_that_of_one() {
    let app = TestApp::on_disk(&[]).await;
    let original = app.saved("One", page("first")).await;
    let mut winners = BTreeSet::new();
    for steps in [-APART, -2, 0, 0, 2, APART] {
        let copies = [clone(&app, &original).await, clone(&app, &original).await];
        let (content, previews) = draft(&app, "wanted").await;
        let body = update_request(&content, &previews);
        let [one, other] = copies.each_ref().map(|copy| format!("/v1/templates/{copy}"));
        let (first, second) = together(steps, app.update(&one, &body), app.update(&other, &body)).await;
        let is_won = [&first, &second].map(|(status, _)| *status == 200);
        assert!(is_won[0] != is_won[1], "{first:?} {second:?}");
        let (status, answer) = if is_won[0] { &second } else { &first };
        assert_eq!((*status, code(answer)), (404, "template_not_found"));
        for (copy, is_won) in copies.iter().zip(is_won) {
            let shown = app.shown(copy).await.unwrap();
            assert!(shown.contains(if is_won { "wanted Bob" } else { "first Bob" }), "{shown}");
        }
        let winner = if is_won[0] { &one } else { &other };
        assert_eq!(app.update(winner, &body).await.0, 200, "a repeated update is answered like the first");
        winners.insert(is_won);
    }
    assert_eq!(winners.len(), 2, "both orders were had");
    assert_whole(&app, 0).await;
}

#[actix::test]
async fn a_content_of_another_account_is_none_also_while_its_owner_saves_it() {
    let mut app = TestApp::on_disk(&[]).await;
    let (template, previews) = draft(&app, "first").await;
    let path = format!("/v1/templates/{template}");
    assert_eq!(app.post(&path, &save_request("One", &previews)).await.0, 204);
    let (owner, other) = (app.token.clone(), other_account(&app));
    for steps in [-APART, 0, 10, APART] {
        app.token.clone_from(&other);
        let (foreign, theirs) = draft(&app, "foreign").await;
        app.token.clone_from(&owner);
        let body = save_request("Theirs", &theirs).to_string();
        let save = sent_by(&app, &other, Method::POST, &format!("/v1/templates/{foreign}")).body(body);
        let body = update_request(&foreign, &previews);
        let ((status, answer), saved) = together(steps, app.update(&path, &body), save.send()).await;
        assert_eq!((status, code(&answer)), (404, "template_not_found"), "{answer}");
        assert_eq!(saved.unwrap().status(), 204);
        assert!(app.shown(&template).await.unwrap().contains("first Bob"));
        app.token.clone_from(&other);
        assert!(app.shown(&foreign).await.unwrap().contains("foreign Bob"), "what is theirs is as it was");
        app.token.clone_from(&owner);
    }
}
