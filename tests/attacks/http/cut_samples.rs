//! One request of every route, as bytes.

use reqwest::Method;
use serde_json::{Value, json};

use crate::app::TestApp;
use crate::template::{Previews, page, save_request};

/// A request, and what it is answered when it arrives whole.
pub struct Sample {
    /// Its operation; the first word is the `operationId`, where the OpenAPI document has one.
    pub name: &'static str,
    pub bytes: Vec<u8>,
    pub head: usize,
    pub status: u16,
}

/// What the requests are about.
pub struct Fixture {
    pub waiting: String,
    pub data_url: String,
    pub template_url: String,
    pub document_url: String,
    pub ended: String,
    pub begun: String,
    pub upload_url: String,
    pub draft: (String, Previews),
    pub content: (String, Previews),
}

impl Fixture {
    /// Jobs and templates, each for one of the requests.
    pub async fn build(app: &TestApp) -> Self {
        let waiting = app.init(json!({"type": "html", "target": "html"})).await;
        let (view, _) = app.render("html", "<p>1", json!({})).await;
        let begun = app.begin().await;
        let draft = app.unzipped(page("draft")).await;
        let content = app.unzipped(page("content")).await;
        let [draft_previews, content_previews] = [app.previews(&draft).await, app.previews(&content).await];
        Self {
            waiting: waiting.id,
            data_url: waiting.data_url.unwrap(),
            template_url: waiting.template_url.unwrap(),
            document_url: view["output"]["data"]["url"].as_str().unwrap().to_owned(),
            ended: view["jobId"].as_str().unwrap().to_owned(),
            begun: begun.id,
            upload_url: begun.upload_url,
            draft: (draft, draft_previews),
            content: (content, content_previews),
        }
    }

    /// The requests, in an order in which each finds what it is about.
    #[expect(clippy::too_many_lines, reason = "a table")]
    pub fn samples(&self, app: &TestApp) -> Vec<Sample> {
        let with = Requests { base: &app.base, token: &app.token };
        let (draft, previews) = &self.draft;
        let at = |path: &str| format!("/v1/templates/{draft}{path}");
        let job = |path: &str| format!("/v1/documents/{}{path}", self.waiting);
        let init = json!({"type": "html", "target": "html", "data": {"name": "Zoë"}});
        let immediate =
            json!({"type": "html", "target": "html", "template": "<p><%= name %>", "data": {"name": "Ö"}});
        let mut update = save_request("Updated", &self.content.1);
        update["contentId"] = json!(self.content.0);
        let no_body = json!(null);
        vec![
            with.get("version", "/v1/"),
            with.get("live", "/health/live"),
            with.get("ready", "/health/ready"),
            with.get("metrics", "/metrics"),
            with.get("openapi", "/openapi.json"),
            with.json(("initDocument", 200), &Method::POST, "/v1/documents/init", &init),
            with.chunked(
                "initDocument in chunks",
                &Method::POST,
                "/v1/documents/init",
                init.to_string().as_bytes(),
            ),
            with.bytes("upload of data", &Method::PUT, &self.data_url, br#"{"name": "Ann"}"#),
            with.chunked(
                "upload of a template in chunks",
                &Method::PUT,
                &self.template_url,
                b"<p><%= name %>",
            ),
            with.bytes("upload of content", &Method::PUT, &self.upload_url, &page("uploaded")),
            with.json(
                ("renderDocument", 200),
                &Method::POST,
                &job("/render"),
                &json!({"shouldWaitForRenderCompletion": true}),
            ),
            with.json(("immediateRender", 200), &Method::POST, "/v1/documents/immediate-render", &immediate),
            with.form("immediateRender by a form"),
            with.get("listJobs", "/v1/jobs?limit=1"),
            with.get("getJob", &format!("/v1/jobs/{}?wait=20", self.ended)),
            with.get("download", &self.document_url),
            with.json(("deleteJob", 204), &Method::DELETE, &format!("/v1/jobs/{}", self.ended), &no_body),
            with.get("initTemplate", "/v1/templates/init"),
            with.json(
                ("unzipTemplate", 204),
                &Method::PATCH,
                &format!("/v1/templates/{}/unzip", self.begun),
                &no_body,
            ),
            with.json(
                ("renderPreviews", 200),
                &Method::POST,
                &at("/render-previews"),
                &json!({"type": "html", "data": {"name": "A"}}),
            ),
            with.json(("saveTemplate", 204), &Method::POST, &at(""), &save_request("Saved", previews)),
            with.json(("updateTemplate", 200), &Method::PUT, &at(""), &update),
            with.get("getTemplate", &at("")),
            with.get("listTemplates", "/v1/templates?q=Updated"),
            with.get("getTemplateArchive", &at("/presigned-url")),
            with.get("getIndexHtml", &at("/index-html")),
            with.json(
                ("setIndexHtml", 204),
                &Method::POST,
                &at("/index-html"),
                &json!({"indexHtml": "<p>rewritten"}),
            ),
            with.json(("cloneTemplate", 200), &Method::POST, &at("/clone"), &no_body),
            with.json(("deleteTemplate", 200), &Method::DELETE, &at(""), &no_body),
        ]
    }
}

/// Writes requests.
struct Requests<'a> {
    base: &'a str,
    token: &'a str,
}

impl Requests<'_> {
    fn sample(
        &self,
        (name, status): (&'static str, u16),
        (method, url): (&Method, &str),
        headers: &str,
        body: &[u8],
    ) -> Sample {
        let path = url.strip_prefix(self.base).unwrap_or(url);
        let token = self.token;
        let head = format!(
            "{method} {path} HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer {token}\r\n{headers}Connection: close\r\n\r\n"
        );
        Sample { name, bytes: [head.as_bytes(), body].concat(), head: head.len(), status }
    }

    fn get(&self, name: &'static str, path: &str) -> Sample {
        self.sample((name, 200), (&Method::GET, path), "", b"")
    }

    fn json(&self, name: (&'static str, u16), method: &Method, path: &str, body: &Value) -> Sample {
        let body = if body.is_null() { String::new() } else { body.to_string() };
        let headers =
            if body.is_empty() { String::new() } else { format!("Content-Length: {}\r\n", body.len()) };
        self.sample(name, (method, path), &headers, body.as_bytes())
    }

    fn bytes(&self, name: &'static str, method: &Method, url: &str, body: &[u8]) -> Sample {
        let headers = format!("Content-Length: {}\r\nExpect: 100-continue\r\n", body.len());
        self.sample((name, 200), (method, url), &headers, body)
    }

    fn chunked(&self, name: &'static str, method: &Method, url: &str, body: &[u8]) -> Sample {
        let (first, rest) = body.split_at(body.len() / 2);
        let chunk = |bytes: &[u8]| [format!("{:x};a=b\r\n", bytes.len()).as_bytes(), bytes, b"\r\n"].concat();
        let chunks = [chunk(first), chunk(rest), b"0\r\nX-Trailer: 1\r\n\r\n".to_vec()].concat();
        self.sample((name, 200), (method, url), "Transfer-Encoding: chunked\r\n", &chunks)
    }

    fn form(&self, name: &'static str) -> Sample {
        let part = |disposition: &str, text: &str| {
            format!("--b\r\nContent-Disposition: form-data; {disposition}\r\n\r\n{text}\r\n")
        };
        let parts = [
            part("name=\"target\"", "html"),
            part("name=\"files\"; filename=\"index.html\"", "<p><%= name %><link rel=stylesheet href=a.css>"),
            part(
                "name=\"files\"; filename=\"a.css\"",
                &format!("p {{ color: red }}/*{}*/", "x".repeat(1_500)),
            ),
            part("name=\"data\"", r#"{"name": "Ann"}"#),
            part("name=\"landscape\"", "true"),
        ];
        let body = format!("{}--b--\r\n", parts.concat());
        let headers =
            format!("Content-Type: multipart/form-data; boundary=b\r\nContent-Length: {}\r\n", body.len());
        self.sample((name, 200), (&Method::POST, "/v1/documents/immediate-render"), &headers, body.as_bytes())
    }
}

impl Sample {
    /// Where it is cut: everywhere, or of a long body at the ends of its parts and every 97th byte.
    pub fn cuts(&self) -> Vec<usize> {
        const LONG: usize = 1_500;
        const STEP: usize = 97;
        let body = &self.bytes[self.head..];
        let is_cut = |at: usize| {
            let behind = at - self.head;
            body.len() <= LONG
                || behind.is_multiple_of(STEP)
                || body.len() - behind < 4
                || body[..behind].ends_with(b"\n")
                || body[behind..].starts_with(b"\r\n")
                || body[behind..].starts_with(b"PK")
        };
        (0..self.bytes.len()).filter(|at| *at < self.head || is_cut(*at)).collect()
    }
}
