//! The OpenAPI document against the real program: every member of it is met, and a generated client works.

use std::collections::{BTreeMap, BTreeSet};
use std::process::Command;

use reqwest::Method;
use serde_json::{Value, json};

use crate::app::TestApp;
use crate::objects::tools::tool;
use crate::template;

#[tokio::test]
async fn a_generated_client_does_the_flow() {
    let app = TestApp::start().await;
    let document = app.scratch().join("openapi.json");
    std::fs::write(&document, app.get("/openapi.json").await.1.to_string()).unwrap();
    let generated = app.scratch().join("client");
    let output = Command::new(tool("python/bin/openapi-python-client"))
        .args(["generate", "--meta", "none", "--path"])
        .arg(&document)
        .arg("--output-path")
        .arg(generated.join("platen_client"))
        .output()
        .unwrap();
    let save_request = String::from_utf8_lossy(&output.stdout).into_owned();
    assert!(output.status.success() && !save_request.contains("unsupported"), "{save_request}");
    let script = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/api/generated_client.py");
    let mut python = Command::new(tool("python/bin/python"));
    python.args(["-B", script, &app.base, &app.token]).env("PYTHONPATH", &generated);
    let output = tokio::task::spawn_blocking(move || python.output().unwrap()).await.unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    assert_eq!(String::from_utf8_lossy(&output.stdout).trim(), "the generated client did the flow");
}

#[tokio::test]
async fn every_member_of_the_answers_is_described_and_met() {
    let app = TestApp::start().await;
    let (_, document) = app.get("/openapi.json").await;
    let mut met = SeenMembers { schemas: &document["components"]["schemas"], members: BTreeSet::new() };

    let page = "<p>1</p><script>nobody()</script>";
    let init = json!({"type": "html", "target": "pdf", "data": {}, "formatOpts": {"colour": 1}});
    let (_, new) = app.post("/v1/documents/init", &init).await;
    met.check("NewJob", &new);
    let job = new["jobId"].as_str().unwrap();
    app.put(new["presignedTemplateUploadUrl"].as_str().unwrap(), page).await;
    let waiting = json!({"shouldWaitForRenderCompletion": true});
    let (_, started) = app.post(&format!("/v1/documents/{job}/render"), &waiting).await;
    met.check("StartedJob", &started);
    met.check("Job", &app.ended(job).await);
    let text = |template: &str| json!({"type": "html", "target": "html", "template": template, "data": {}});
    let (status, made) = app.post("/v1/documents/immediate-render", &text("<p>")).await;
    assert_eq!(status, 200, "{made}");
    met.check("Document", &made);
    let (status, failed) = app.post("/v1/documents/immediate-render", &text("<%= nobody %>")).await;
    assert_eq!(status, 422);
    met.check("Problem", &failed);
    let (_, wrong) = app.post("/v1/documents/init", &json!({"type": "html"})).await;
    met.check("Problem", &wrong);
    templates(&app, &mut met).await;
    app.command(&["account", "set", "test", "--documents-per-month", "0"]);
    let (status, exceeded) = app.post("/v1/documents/init", &init).await;
    assert_eq!(status, 402, "{exceeded}");
    met.check("Problem", &exceeded);
    let (_, list) = app.get("/v1/jobs?limit=1").await;
    met.check("JobPage", &list);

    for answer in [
        "NewJob",
        "StartedJob",
        "Job",
        "JobPage",
        "Document",
        "Problem",
        "Fault",
        "Output",
        "OutputData",
        "OutputMetadata",
        "NewTemplate",
        "Previews",
        "RenderedPreview",
        "Template",
        "TemplatePreviews",
        "TemplatePreview",
        "TemplateSource",
        "TemplateFile",
        "TemplateSummary",
        "TemplatePage",
        "ClonedTemplate",
        "UpdatedTemplate",
        "ArchiveAddress",
        "IndexHtml",
        "DeletedTemplate",
    ] {
        for part in met.parts(answer) {
            for member in part["properties"].as_object().unwrap().keys() {
                let was_met = met.members.contains(&(answer.to_owned(), member.clone()));
                assert!(was_met, "{answer}.{member} was never answered");
            }
        }
    }
}

/// Every answer about a template.
async fn templates(app: &TestApp, met: &mut SeenMembers<'_>) {
    met.check("NewTemplate", &app.get("/v1/templates/init").await.1);
    let id = app.saved("One", template::page("one")).await;
    let at = |path: &str| format!("/v1/templates/{id}{path}");
    let body = json!({"type": "html", "data": {"name": "Ann"}});
    met.check("Previews", &app.post(&at("/render-previews"), &body).await.1);
    met.check("Template", &app.get(&at("")).await.1);
    met.check("TemplatePage", &app.get("/v1/templates").await.1);
    met.check("ClonedTemplate", &app.post(&at("/clone"), &json!({})).await.1);
    met.check("ArchiveAddress", &app.get(&at("/presigned-url")).await.1);
    met.check("IndexHtml", &app.get(&at("/index-html")).await.1);
    let content = app.unzipped(template::page("two")).await;
    let mut save_request = template::save_request("Two", &app.previews(&content).await);
    save_request["contentId"] = json!(content);
    met.check("UpdatedTemplate", &app.update(&at(""), &save_request).await.1);
    met.check("DeletedTemplate", &app.send(Method::DELETE, &at("")).await.1);
}

/// Whoever changes names or types writes the list anew with `PLATEN_UPDATE_DOCS=1`: then the change is seen in it.
#[tokio::test]
async fn names_and_types_change_on_purpose_only() {
    let app = TestApp::start().await;
    let document = app.scratch().join("openapi.json");
    std::fs::write(&document, app.get("/openapi.json").await.1.to_string()).unwrap();
    let script = concat!(env!("CARGO_MANIFEST_DIR"), "/scripts/compare-openapi");
    let output =
        Command::new(tool("python/bin/python")).args(["-B", script]).arg(&document).output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let listed = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/api/openapi_names.txt");
    let names = String::from_utf8(output.stdout).unwrap();
    if std::env::var_os("PLATEN_UPDATE_DOCS").is_some() {
        std::fs::write(listed, &names).unwrap();
    }
    let before = std::fs::read_to_string(listed).unwrap();
    let [before, names] = [&before, &names].map(|text| text.lines().collect::<BTreeSet<_>>());
    let (went, came): (Vec<_>, Vec<_>) =
        (before.difference(&names).collect(), names.difference(&before).collect());
    assert!(went.is_empty() && came.is_empty(), "went: {went:#?}\ncame: {came:#?}");
}

/// As Swagger UI sends them, which fills its fields with them.
#[tokio::test]
async fn every_example_works_as_it_stands() {
    let app = TestApp::start().await;
    let (_, document) = app.get("/openapi.json").await;
    let template = app.saved("One", template::page("one")).await;
    let mut tried = 0;
    for (path, item) in document["paths"].as_object().unwrap() {
        for (method, operation) in item.as_object().unwrap() {
            for (media, body) in operation["requestBody"]["content"].as_object().into_iter().flatten() {
                let name = reference(&body["schema"]).unwrap();
                let example = &document["components"]["schemas"][&name]["example"];
                if example.is_null() {
                    assert!(
                        ["SaveRequest", "UpdateRequest"].contains(&name.as_str()),
                        "{name} has no example"
                    );
                    continue;
                }
                let job = app.prepared("html", "<p>", json!({})).await;
                let path = format!("/v1{path}").replace("{templateId}", &template).replace("{jobId}", &job);
                let sent = app.request(method.to_uppercase().parse().unwrap(), &path);
                let sent = if media == "multipart/form-data" {
                    let parts = example.as_object().unwrap().iter();
                    let parts = parts.map(|(name, value)| {
                        let value = value.as_str().unwrap();
                        format!("--b\r\nContent-Disposition: form-data; name=\"{name}\"\r\n\r\n{value}\r\n")
                    });
                    let form = format!("{}--b--\r\n", parts.collect::<String>());
                    sent.header("content-type", format!("{media}; boundary=b")).body(form)
                } else {
                    sent.json(example)
                };
                let answer = sent.send().await.unwrap();
                let status = answer.status();
                assert!(status.is_success(), "{name}: {status} {}", answer.text().await.unwrap());
                tried += 1;
            }
        }
    }
    assert_eq!(tried, 6);
}

#[tokio::test]
async fn every_media_type_that_is_answered_is_described() {
    let app = TestApp::start().await;
    let (_, document) = app.get("/openapi.json").await;
    let answer = &document["paths"]["/documents/immediate-render"]["post"]["responses"]["200"]["content"];
    let described: BTreeSet<_> = answer.as_object().unwrap().keys().map(String::as_str).collect();
    let body = json!({"type": "html", "target": "html", "template": "<p>", "data": {}});
    for target in document["components"]["schemas"]["Target"]["enum"].as_array().unwrap() {
        let media = platen::domain::kinds::Target::from_name(target.as_str().unwrap()).unwrap().file().mime();
        assert!(described.contains(media.split(';').next().unwrap()), "{target}: {media}");
    }
    let answer = app.request(Method::POST, "/v1/documents/immediate-render").header("accept", "text/html");
    let answer = answer.json(&body).send().await.unwrap();
    assert_eq!(answer.headers()["content-type"], "text/html; charset=utf-8");
}

#[tokio::test]
async fn every_member_of_the_requests_is_taken() {
    let app = TestApp::start().await;
    let (_, document) = app.get("/openapi.json").await;
    let names = |schema: &str| -> Vec<String> {
        document["components"]["schemas"][schema]["properties"].as_object().unwrap().keys().cloned().collect()
    };
    for name in names("FormatOpts") {
        let mut options = json!({name.as_str(): value_of(&name, &document["components"]["schemas"])});
        // By itself it protects nothing.
        if name == "ownerPassword" {
            options["password"] = json!("another");
        }
        // Pages conform to nothing yet.
        let kind = if name.starts_with("pdf") { "docx" } else { "html" };
        let body = json!({"type": kind, "target": "pdf", "formatOpts": options});
        let (status, answer) = app.post("/v1/documents/init", &body).await;
        assert_eq!(status, 200, "{name}: {answer}");
    }
    for (path, schema) in [("init", "InitRequest"), ("immediate-render", "ImmediateRequest")] {
        for name in names(schema) {
            let mut body = json!({"type": "html", "target": "html"});
            body[&name] = json!(0);
            let (status, answer) = app.post(&format!("/v1/documents/{path}"), &body).await;
            let pointers: Vec<_> =
                answer["errors"].as_array().unwrap().iter().map(|fault| &fault["pointer"]).collect();
            assert!(
                status == 422 && pointers.contains(&&json!(format!("/{name}"))),
                "{path} does not read {name}: {answer}"
            );
        }
    }
    let id = app.unzipped(template::page("one")).await;
    let save_request = template::save_request("One", &app.previews(&id).await);
    for (path, schema, part) in [
        ("/render-previews", "PreviewsRequest", ""),
        ("/index-html", "IndexHtmlRequest", ""),
        ("", "SaveRequest", ""),
        ("", "TemplateInfo", "templateInfo"),
        ("", "PreviewIds", "previewIds"),
    ] {
        for name in names(schema) {
            let mut body = save_request.clone();
            body["type"] = json!("html");
            let whole = if part.is_empty() { &mut body } else { &mut body[part] };
            whole[&name] = json!(0);
            let (status, answer) = app.post(&format!("/v1/templates/{id}{path}"), &body).await;
            let wanted = json!(format!("/{part}/{name}").replace("//", "/"));
            let faults = answer["errors"].as_array().unwrap_or_else(|| panic!("{schema}.{name}: {answer}"));
            let found = faults.iter().any(|fault| fault["pointer"] == wanted);
            assert!(status == 422 && found, "{schema} does not read {name}: {answer}");
        }
    }
    for name in names("UpdateRequest") {
        let mut body = save_request.clone();
        body["contentId"] = json!(id);
        body[&name] = json!(0);
        let (status, answer) = app.update(&format!("/v1/templates/{id}"), &body).await;
        assert!(status == 422 && answer["errors"][0]["pointer"] == format!("/{name}"), "{name}: {answer}");
    }
    let job = app.prepared("html", "<p>", json!({})).await;
    for name in names("StartRequest") {
        let (status, answer) =
            app.post(&format!("/v1/documents/{job}/render"), &json!({name.as_str(): 0})).await;
        assert!(status == 422 && answer["errors"][0]["pointer"] == format!("/{name}"), "{name}: {answer}");
    }
}

/// A value that the option takes: by its schema, where that says enough.
fn value_of(option: &str, schemas: &Value) -> Value {
    let schema = &schemas["FormatOpts"]["properties"][option];
    match option {
        "width" | "height" | "margin" => json!("20mm"),
        "headerTemplate" | "footerTemplate" => json!("<b class=title></b>"),
        "metadata" => json!({"title": "t"}),
        "baseUrl" => json!("https://example.com/docs/"),
        "selector" | "waitForSelector" => json!("p"),
        "viewport" => json!({"width": 300, "height": 200, "deviceScaleFactor": 2}),
        "fileName" => json!("invoice"),
        "requests" => json!({"api.example": {"headers": {"X-Key": "1"}, "cookies": {"a": "b"}}}),
        "mediaFeatures" => json!({"color-gamut": "p3"}),
        "timezone" => json!("Europe/Berlin"),
        "locale" => json!("de-DE"),
        "waitForExpression" => json!("true"),
        "pages" => json!("all"),
        "delimiters" => json!({"start": "{", "end": "}"}),
        "failOn" => json!(["missing"]),
        "password" | "userPassword" | "ownerPassword" => json!("secret"),
        "permissions" => json!({"print": "low"}),
        "pdfa" => json!("2b"),
        _ if schema["type"][0] == "boolean" => json!(true),
        _ if schema["type"][0] == "integer" || schema["type"][0] == "number" => {
            json!(schema["minimum"].as_f64().unwrap().max(1.0))
        }
        _ => schema["examples"].get(0).cloned().unwrap_or_else(|| panic!("give '{option}' a value here")),
    }
}

/// The members of each schema that were seen.
struct SeenMembers<'a> {
    schemas: &'a Value,
    members: BTreeSet<(String, String)>,
}

impl SeenMembers<'_> {
    /// The schema, or all of those that it consists of.
    fn parts(&self, schema: &str) -> Vec<Value> {
        let described = &self.schemas[schema];
        let whole =
            |part: &Value| reference(part).map_or_else(|| part.clone(), |name| self.schemas[&name].clone());
        described["allOf"]
            .as_array()
            .map_or_else(|| vec![described.clone()], |parts| parts.iter().map(whole).collect())
    }

    /// Fails for a member that is not described, and for a required one that is not there.
    fn check(&mut self, schema: &str, answer: &Value) {
        let parts = self.parts(schema);
        let properties: BTreeMap<_, _> =
            parts.iter().flat_map(|part| part["properties"].as_object().unwrap()).collect();
        for name in parts.iter().flat_map(|part| part["required"].as_array().into_iter().flatten()) {
            assert!(answer.get(name.as_str().unwrap()).is_some(), "{schema} has no {name}: {answer}");
        }
        for (member, value) in answer.as_object().unwrap() {
            let property =
                properties.get(member).unwrap_or_else(|| panic!("{schema}.{member} is not described"));
            self.members.insert((schema.to_owned(), member.clone()));
            let part = reference(property).or_else(|| reference(&property["items"]));
            let values = value.as_array().map_or_else(|| vec![value], |items| items.iter().collect());
            if let Some(part) =
                part.filter(|part| self.parts(part).iter().all(|part| part["properties"].is_object()))
            {
                values
                    .into_iter()
                    .filter(|value| value.is_object())
                    .for_each(|value| self.check(&part, value));
            }
        }
    }
}

/// The schema that a property refers to, directly or as one that may be null.
fn reference(property: &Value) -> Option<String> {
    let choices = property["oneOf"].as_array().into_iter().flatten();
    let mut named = std::iter::once(property).chain(choices).filter_map(|choice| choice["$ref"].as_str());
    Some(named.next()?.rsplit('/').next()?.to_owned())
}
