//! Every operation on a template in every state of a template: what is answered, and the state afterwards. For a private
//! template of another account the answer is that for an id which nothing has, byte for byte.

use reqwest::{Method, RequestBuilder, Response};
use serde_json::{Value, json};

use super::committed::{assert_committed, line};
use super::{
    Described, NOBODY, assert_all_tried, bytes_of, code, described, is_listed, operation_of, other_account,
    sent_by,
};
use crate::app::TestApp;
use crate::template::{Previews, page, save_request};

const COMMITTED: &str = include_str!("template_states.txt");

const STATES: [&str; 9] =
    ["begun", "uploaded", "unzipped", "saved", "public", "updated", "used up", "deleted", "unknown"];

/// One template in one state.
struct Template {
    id: String,
    upload_url: Option<String>,
    archive_url: Option<String>,
    /// Jobs of its previews, where they were rendered.
    previews: Previews,
    /// The content that an update has replaced.
    older_content: String,
    /// Its content.
    content: String,
}

/// What operations need beside the template.
struct Bench {
    app: TestApp,
    operations: Vec<Described>,
    /// A saved template, which is cloned.
    original: String,
    previews: Previews,
    /// An unfinished template with previews, until it is used.
    draft: Option<(String, Previews)>,
    /// The same of the other account.
    foreign: String,
}

type Operation = fn(&Bench, &str, &Template) -> Option<RequestBuilder>;

/// Every operation on a template. The first word is the `operationId`, where the OpenAPI document has one.
const OPERATIONS: [(&str, Operation); 22] = [
    ("listTemplates", |bench, token, _| {
        Some(sent_by(&bench.app, token, Method::GET, "/v1/templates?limit=100"))
    }),
    ("getTemplate", |bench, token, template| Some(bench.on(token, Method::GET, template, ""))),
    ("getTemplateArchive", |bench, token, template| {
        Some(bench.on(token, Method::GET, template, "/presigned-url"))
    }),
    ("download of its archive", |bench, _, template| {
        Some(bench.app.client.get(template.archive_url.as_ref()?))
    }),
    ("getIndexHtml", |bench, token, template| Some(bench.on(token, Method::GET, template, "/index-html"))),
    ("initDocument naming it", |bench, token, template| {
        let body = json!({"type": "html", "target": "html", "templateId": template.id});
        Some(sent_by(&bench.app, token, Method::POST, "/v1/documents/init").body(body.to_string()))
    }),
    ("immediateRender naming it", |bench, token, template| {
        let body =
            json!({"type": "html", "target": "html", "templateId": template.id, "data": {"name": "Bob"}});
        Some(
            sent_by(&bench.app, token, Method::POST, "/v1/documents/immediate-render").body(body.to_string()),
        )
    }),
    ("renderPreviews", |bench, token, template| {
        let body = json!({"type": "html", "data": {"name": "Ann"}});
        Some(bench.on(token, Method::POST, template, "/render-previews").body(body.to_string()))
    }),
    ("saveTemplate with a broken body", |bench, token, template| {
        Some(bench.on(token, Method::POST, template, "").body("{"))
    }),
    ("saveTemplate with another's previews", |bench, token, template| {
        let (_, previews) = bench.draft.as_ref().unwrap();
        Some(bench.on(token, Method::POST, template, "").body(save_request("T", previews).to_string()))
    }),
    ("updateTemplate with an unknown contentId", |bench, token, template| {
        Some(bench.update(token, template, NOBODY, &template.previews))
    }),
    ("updateTemplate with another account's", |bench, token, template| {
        Some(bench.update(token, template, &bench.foreign, &template.previews))
    }),
    ("updateTemplate with a saved template", |bench, token, template| {
        Some(bench.update(token, template, &bench.original, &template.previews))
    }),
    ("updateTemplate with its older contentId", |bench, token, template| {
        Some(bench.update(token, template, &template.older_content, &template.previews))
    }),
    ("updateTemplate with its contentId", |bench, token, template| {
        Some(bench.update(token, template, &template.content, &template.previews))
    }),
    ("unzipTemplate", |bench, token, template| Some(bench.on(token, Method::PATCH, template, "/unzip"))),
    ("upload of content", |bench, _, template| {
        Some(bench.app.client.put(template.upload_url.as_ref()?).body(page("later")))
    }),
    ("setIndexHtml", |bench, token, template| {
        let body = json!({"indexHtml": "<p>replaced <%= name %>"});
        Some(bench.on(token, Method::POST, template, "/index-html").body(body.to_string()))
    }),
    ("saveTemplate", |bench, token, template| {
        Some(
            bench
                .on(token, Method::POST, template, "")
                .body(save_request("T", &template.previews).to_string()),
        )
    }),
    ("cloneTemplate", |bench, token, template| Some(bench.on(token, Method::POST, template, "/clone"))),
    ("updateTemplate with a new contentId", |bench, token, template| {
        let (draft, previews) = bench.draft.as_ref().unwrap();
        Some(bench.update(token, template, draft, previews))
    }),
    ("deleteTemplate", |bench, token, template| Some(bench.on(token, Method::DELETE, template, ""))),
];

impl Bench {
    fn on(&self, token: &str, method: Method, template: &Template, path: &str) -> RequestBuilder {
        sent_by(&self.app, token, method, &format!("/v1/templates/{}{path}", template.id))
    }

    fn update(&self, token: &str, template: &Template, content: &str, previews: &Previews) -> RequestBuilder {
        let mut body = save_request("T", previews);
        body["contentId"] = json!(content);
        self.on(token, Method::PUT, template, "").body(body.to_string())
    }

    /// A template that was begun.
    async fn begun(&self) -> Template {
        let begun = self.app.begin().await;
        let nobody = Previews { png: NOBODY.to_owned(), pdf: NOBODY.to_owned() };
        Template {
            upload_url: Some(begun.upload_url),
            archive_url: None,
            previews: nobody,
            older_content: NOBODY.to_owned(),
            content: begun.id.clone(),
            id: begun.id,
        }
    }

    async fn uploaded(&self) -> Template {
        let template = self.begun().await;
        assert_eq!(self.app.put(template.upload_url.as_ref().unwrap(), page("one")).await, 200);
        template
    }

    async fn unzipped(&self) -> Template {
        let mut template = self.uploaded().await;
        let unzip = format!("/v1/templates/{}/unzip", template.id);
        assert_eq!(self.app.send(Method::PATCH, &unzip).await.0, 204);
        template.archive_url = self.archive_url(&template.id).await;
        template
    }

    /// A saved template; its previews are those of the original.
    async fn saved(&self) -> Template {
        let (status, clone) =
            self.app.send(Method::POST, &format!("/v1/templates/{}/clone", self.original)).await;
        assert_eq!(status, 200, "{clone}");
        let id = clone["newTemplateId"].as_str().unwrap().to_owned();
        Template {
            upload_url: None,
            archive_url: self.archive_url(&id).await,
            previews: self.previews.clone(),
            older_content: NOBODY.to_owned(),
            content: id.clone(),
            id,
        }
    }

    /// A template that was saved by itself, so that there was an address for its upload.
    async fn saved_with_address(&self) -> Template {
        let template = self.unzipped().await;
        let previews = self.app.previews(&template.id).await;
        let path = format!("/v1/templates/{}", template.id);
        assert_eq!(self.app.post(&path, &save_request("T", &previews)).await.0, 204);
        Template { previews, ..template }
    }

    /// A template that was saved, and updated twice; and what became of the second one's draft.
    async fn updated(&self) -> (Template, Template) {
        let mut template = self.saved().await;
        let mut used = self.begun().await;
        for _ in 0..2 {
            let draft = self.unzipped().await;
            let previews = self.app.previews(&draft.id).await;
            let update = self.update(&self.app.token, &template, &draft.id, &previews);
            assert_eq!(update.send().await.unwrap().status(), 200);
            template.older_content = std::mem::replace(&mut template.content, draft.id.clone());
            template.previews = previews;
            used = draft;
        }
        template.archive_url = self.archive_url(&template.id).await;
        (template, used)
    }

    /// A draft that nothing has used.
    async fn draft(&self) -> (String, Previews) {
        let id = self.app.unzipped(page("draft")).await;
        let previews = self.app.previews(&id).await;
        (id, previews)
    }

    async fn archive_url(&self, id: &str) -> Option<String> {
        let (_, answer) = self.app.get(&format!("/v1/templates/{id}/presigned-url")).await;
        answer["presignedUrl"].as_str().map(str::to_owned)
    }

    /// A template in this state.
    async fn template_in(&self, state: &str) -> Template {
        match state {
            "begun" => self.begun().await,
            "uploaded" => self.uploaded().await,
            "unzipped" => self.unzipped().await,
            "saved" => self.saved().await,
            "public" => {
                let template = self.saved().await;
                let mut body = save_request("T", &template.previews);
                body["templateInfo"]["permissions"] = json!("public");
                assert_eq!(self.app.post(&format!("/v1/templates/{}", template.id), &body).await.0, 204);
                template
            }
            "updated" => self.updated().await.0,
            "used up" => self.updated().await.1,
            "deleted" => {
                let template = self.unzipped().await;
                let delete = self.on(&self.app.token, Method::DELETE, &template, "");
                assert_eq!(delete.send().await.unwrap().status(), 200);
                template
            }
            "unknown" => Template { id: NOBODY.to_owned(), upload_url: None, ..self.begun().await },
            _ => panic!("no such state: {state}"),
        }
    }

    /// What a caller sees of the template.
    async fn observed(&self, template: &Template) -> String {
        let path = format!("/v1/templates/{}", template.id);
        let (status, answer) = self.app.get(&path).await;
        match (status, code(&answer)) {
            (200, _) if answer["contentId"] == template.content.as_str() => "saved".to_owned(),
            (200, _) => "saved, with other content".to_owned(),
            (404, _) => "not there".to_owned(),
            (422, "template_unfinished") => {
                let (status, _) = self.app.get(&format!("{path}/presigned-url")).await;
                if status == 200 { "with files".to_owned() } else { "without files".to_owned() }
            }
            _ => panic!("{status} {answer}"),
        }
    }
}

/// An answer in a few words.
async fn shown(name: &str, answer: Response, template: &Template) -> String {
    let status = answer.status().as_u16();
    // Archives are bytes.
    let bytes = answer.bytes().await.unwrap();
    let text = String::from_utf8_lossy(&bytes);
    let body: Value = serde_json::from_str(&text).unwrap_or_default();
    let more = match name {
        "listTemplates" if is_listed(&body, "uuid", &template.id) => "with it",
        "listTemplates" => "without it",
        _ => code(&body),
    };
    format!("{status} {more}").trim_end().to_owned()
}

/// All operations on a template of this state, those of another account first.
async fn try_state(bench: &mut Bench, other: &str, state: &str) -> Vec<String> {
    let (mut lines, mut present): (Vec<String>, Option<Template>) = (Vec::new(), None);
    let nobody = bench.template_in("unknown").await;
    let owner = bench.app.token.clone();
    for (name, send) in OPERATIONS {
        let mut template = match present.take() {
            Some(template) => template,
            None => bench.template_in(state).await,
        };
        if name == "saveTemplate" && state == "unzipped" {
            template.previews = bench.app.previews(&template.id).await;
        }
        if name == "upload of content" && state == "saved" {
            template = bench.saved_with_address().await;
        }
        if bench.draft.is_none() {
            bench.draft = Some(bench.draft().await);
        }
        let before = bench.observed(&template).await;
        let mut answer = "no address".to_owned();
        if let Some(request) = send(bench, &owner, &template) {
            let others = by_another(bench, (name, send), other, (state, &template, &nobody)).await;
            lines.extend(others.iter().map(|answer| line(["public, another's", name, answer, &before])));
            assert_eq!(
                bench.observed(&template).await,
                before,
                "{name} by another account changes what is {state}"
            );
            answer = shown(name, request.send().await.unwrap(), &template).await;
            if let Some(operation) = operation_of(&bench.operations, name) {
                others.iter().chain([&answer]).for_each(|answer| operation.assert_documents(answer));
            }
        }
        let afterwards = bench.observed(&template).await;
        if name.ends_with("a new contentId") && answer.starts_with("200") {
            bench.draft = None;
        }
        lines.push(line([state, name, &answer, &afterwards]));
        let is_hidden = name == "upload of content" || name == "setIndexHtml" && answer.starts_with("204");
        if before == afterwards && !is_hidden {
            present = Some(template);
        }
    }
    lines
}

/// The same request by another account: for a public template its answer in a few words. One for a private template is the
/// one for an id that nothing has.
async fn by_another(
    bench: &Bench,
    (name, send): (&str, Operation),
    other: &str,
    (state, template, nobody): (&str, &Template, &Template),
) -> Option<String> {
    // Addresses are their holder's.
    if name.contains("load of") {
        return None;
    }
    let ask = |template: &Template| send(bench, other, template).unwrap();
    if state == "public" {
        return Some(shown(name, ask(template).send().await.unwrap(), template).await);
    }
    if name == "listTemplates" {
        let list = ask(template).send().await.unwrap().text().await.unwrap();
        assert!(!list.contains(&template.id), "{list}");
        return None;
    }
    let theirs = bytes_of(ask(template).send().await.unwrap(), &template.id).await;
    // Whatever else the request names is the same.
    let unknown = Template {
        id: nobody.id.clone(),
        upload_url: None,
        archive_url: None,
        previews: template.previews.clone(),
        older_content: template.older_content.clone(),
        content: template.content.clone(),
    };
    assert_eq!(theirs, bytes_of(ask(&unknown).send().await.unwrap(), &unknown.id).await, "{name}, {state}");
    assert!(!theirs.starts_with("20"), "{name}, {state}: {theirs}");
    None
}

#[actix::test]
async fn every_operation_on_a_template_is_answered_as_the_table_says_in_every_state() {
    let mut app = TestApp::on_disk(&[]).await;
    let wanted =
        |operation: &Described| operation.path.contains("{templateId}") || operation.id == "listTemplates";
    let operations = described(&app).await;
    assert_all_tried(&operations, wanted, OPERATIONS.iter().map(|(name, _)| *name));
    let other = other_account(&app);
    let owner = std::mem::replace(&mut app.token, other.clone());
    let foreign = app.unzipped(page("foreign")).await;
    app.token = owner;
    let original = app.unzipped(page("one")).await;
    let previews = app.previews(&original).await;
    let body = save_request("One", &previews);
    assert_eq!(app.post(&format!("/v1/templates/{original}"), &body).await.0, 204);
    let mut bench = Bench { app, operations, original, previews, draft: None, foreign };
    let mut lines = Vec::new();
    for state in STATES {
        lines.extend(try_state(&mut bench, &other, state).await);
    }
    assert_committed("template_states.txt", &lines, COMMITTED);
}
