//! Suite G: HTTP itself. Every operation in every state, operations at the same moment, requests that end anywhere, and
//! requests whose length, depth or shape is a lie.

mod committed;
mod cut_requests;
mod cut_samples;
mod job_states;
mod limits;
mod races;
mod raw;
mod smuggled;
mod template_races;
mod template_states;

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use reqwest::{RequestBuilder, Response};
use serde_json::Value;

use crate::app::TestApp;

/// A well-formed id that nothing has.
const NOBODY: &str = "01900000-0000-7000-8000-000000000000";

/// An operation of the OpenAPI document.
struct Described {
    id: String,
    /// With the names of ids in braces.
    path: String,
    has_body: bool,
    /// By status.
    responses: Value,
}

impl Described {
    /// Fails for an answer (its status, and its code or a remark) that the document does not name.
    fn assert_documents(&self, answer: &str) {
        let (status, code) = answer.split_once(' ').unwrap_or((answer, ""));
        let described = self.responses[status]["description"].as_str();
        let is_problem = status.starts_with('4');
        let is_named = described.is_some_and(|text| !is_problem || text.contains(&format!("`{code}`")));
        assert!(is_named, "{} does not document '{answer}' but {:#}", self.id, self.responses);
    }
}

/// Every operation that the service describes.
async fn described(app: &TestApp) -> Vec<Described> {
    let (status, document) = app.get("/openapi.json").await;
    assert_eq!(status, 200);
    let operations = document["paths"].as_object().unwrap().iter().flat_map(|(path, item)| {
        item.as_object().unwrap().values().map(|operation| Described {
            id: operation["operationId"].as_str().unwrap().to_owned(),
            path: path.clone(),
            has_body: operation["requestBody"].is_object(),
            responses: operation["responses"].clone(),
        })
    });
    operations.collect()
}

/// The operation of a row; the first word of its name is an `operationId`, where the document has it.
fn operation_of<'a>(operations: &'a [Described], name: &str) -> Option<&'a Described> {
    let first_word = name.split([' ', ',']).next();
    operations.iter().find(|operation| Some(operation.id.as_str()) == first_word)
}

/// Fails unless the operations tried are those described that are `wanted`: a new route needs a row.
fn assert_all_tried<'a>(
    operations: &[Described],
    wanted: impl Fn(&Described) -> bool,
    tried: impl Iterator<Item = &'a str>,
) {
    let wanted: BTreeSet<_> = operations
        .iter()
        .filter(|operation| wanted(operation))
        .map(|operation| operation.id.as_str())
        .collect();
    let tried = tried.filter_map(|name| operation_of(operations, name));
    let tried: BTreeSet<_> = tried.map(|operation| operation.id.as_str()).collect();
    let missing: Vec<_> = wanted.difference(&tried).collect();
    assert!(missing.is_empty(), "add the operations {missing:?}");
}

/// Another account with a token.
fn other_account(app: &TestApp) -> String {
    app.command(&["account", "create", "other"]);
    app.command(&["token", "create", "--account", "other"])
}

/// A request as an account sends it.
fn sent_by(app: &TestApp, token: &str, method: reqwest::Method, path: &str) -> RequestBuilder {
    app.client.request(method, format!("{}{path}", app.base)).bearer_auth(token)
}

/// Documents that the account `test` has used.
fn documents_used(app: &TestApp) -> usize {
    let list = app.command(&["account", "list"]);
    let line = list.lines().find(|line| line.split_whitespace().any(|word| word == "test"));
    let line = line.unwrap_or_else(|| panic!("{list}"));
    let (_, used) = line.split_once("documents=").unwrap_or_else(|| panic!("{line}"));
    used.split('/').next().unwrap().parse().unwrap()
}

/// How many files there are of a folder of the store (`jobs`, `outputs`, `templates`, `unfinished`).
fn stored(app: &TestApp, folder: &str) -> usize {
    fn count(folder: &Path) -> usize {
        let entries = std::fs::read_dir(folder).into_iter().flatten().flatten();
        entries.map(|entry| if entry.path().is_dir() { count(&entry.path()) } else { 1 }).sum()
    }
    count(&app.data_dir().join("objects").join(folder))
}

/// Whether a page of a list has an item with this id.
fn is_listed(page: &Value, member: &str, id: &str) -> bool {
    page["items"].as_array().unwrap().iter().any(|item| item[member] == id)
}

/// The code of a problem; empty where it is none.
fn code(answer: &Value) -> &str {
    answer["code"].as_str().unwrap_or_default()
}

/// Headers and body without what differs between any two requests.
async fn bytes_of(answer: Response, id: &str) -> String {
    let request_id = answer.headers()["x-request-id"].to_str().unwrap().to_owned();
    let headers = answer.headers().iter().filter(|(name, _)| *name != "date");
    let headers: BTreeMap<_, _> =
        headers.map(|(name, value)| (name.to_string(), value.to_str().unwrap().to_owned())).collect();
    let text = format!("{} {headers:?} {}", answer.status(), answer.text().await.unwrap());
    text.replace(id, "ID").replace(&request_id, "REQUEST")
}
