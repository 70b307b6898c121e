//! The ways by which a template and its data come to the service, and what a reader sees of the file that is made of them.

use std::io::{Cursor, Read as _};

use serde_json::{Value, json};

use crate::app::{TestApp, read};
use crate::service::text_of;
use crate::template::{Previews, save_request};

/// One way. `Body` and `Header` take texts only.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Route {
    /// The data with init, the template uploaded.
    Init,
    /// Both uploaded.
    Uploads,
    /// Both in the JSON of an immediate render.
    Body,
    /// Both in a form, the data as a text.
    Form,
    /// Both as files of a form.
    FormFiles,
    /// A template that was saved; the data also came with its previews and as its sample data.
    Saved,
    /// The PDF of a template's previews.
    Preview,
    /// The template is the header of a page, whose footer it is as well.
    Header,
}

/// What is sent by a route; `data` is the text of a JSON object.
#[derive(Clone, Copy)]
pub struct Sent<'a> {
    pub kind: &'a str,
    pub target: &'a str,
    pub template: &'a [u8],
    pub data: &'a str,
}

impl Sent<'_> {
    fn text(&self) -> &str {
        str::from_utf8(self.template).expect("this route takes texts")
    }

    fn value(&self) -> Value {
        serde_json::from_str(self.data).unwrap()
    }
}

/// The file that is made; otherwise the answer or the view that says why there is none.
pub async fn made(app: &TestApp, route: Route, sent: &Sent<'_>) -> Result<Vec<u8>, String> {
    let Sent { kind, target, data, .. } = sent;
    match route {
        Route::Init => {
            job(app, format!(r#"{{"type":"{kind}","target":"{target}","data":{data}}}"#), sent, false).await
        }
        Route::Uploads => job(app, format!(r#"{{"type":"{kind}","target":"{target}"}}"#), sent, true).await,
        Route::Header => {
            let header = json!(sent.text());
            let body = format!(
                r#"{{"type":"{kind}","target":"pdf","data":{data},"formatOpts":{{"headerTemplate":{header},"footerTemplate":{header}}}}}"#
            );
            job(app, body, &Sent { template: b"<p>page", ..*sent }, false).await
        }
        Route::Body => {
            let template = json!(sent.text());
            let body =
                format!(r#"{{"type":"{kind}","target":"{target}","template":{template},"data":{data}}}"#);
            immediate(app, "application/json", body.into_bytes()).await
        }
        Route::Form | Route::FormFiles => {
            immediate(app, "multipart/form-data; boundary=b", form(route == Route::FormFiles, sent)).await
        }
        Route::Saved => saved(app, sent).await,
        Route::Preview => {
            let template = unzipped(app, sent.template.to_vec()).await?;
            Ok(app.fetch(&previewed(app, &template, sent).await?["pdfPreview"]["url"]).await.1)
        }
    }
}

async fn job(app: &TestApp, init: String, sent: &Sent<'_>, uploads: bool) -> Result<Vec<u8>, String> {
    let request = app.request(reqwest::Method::POST, "/v1/documents/init").body(init);
    let (status, job) = read(request.send().await.unwrap()).await;
    if status != 200 {
        return Err(format!("init {status}: {job}"));
    }
    if uploads {
        assert_eq!(app.put(job["presignedDataUploadUrl"].as_str().unwrap(), sent.data.to_owned()).await, 200);
    }
    let url = job["presignedTemplateUploadUrl"].as_str().unwrap();
    let (status, problem) =
        read(app.client.put(url).body(sent.template.to_vec()).send().await.unwrap()).await;
    let view = app.finish(job["jobId"].as_str().unwrap()).await;
    match view["output"]["data"].get("url") {
        Some(_) if status != 200 => panic!("made although its upload was refused: {problem}"),
        Some(url) => Ok(app.fetch(url).await.1),
        None if status != 200 => Err(format!("upload {status}: {problem} {view}")),
        None => Err(view.to_string()),
    }
}

async fn immediate(app: &TestApp, kind: &str, body: Vec<u8>) -> Result<Vec<u8>, String> {
    let request = app.request(reqwest::Method::POST, "/v1/documents/immediate-render");
    let (status, answer) = read(request.header("content-type", kind).body(body).send().await.unwrap()).await;
    // It answers early where a job takes long.
    if status == 202 {
        let view = app.ended(answer["jobId"].as_str().unwrap()).await;
        let url = view["output"]["data"].get("url").ok_or_else(|| view.to_string())?;
        return Ok(app.fetch(url).await.1);
    }
    let url = answer.get("url").ok_or_else(|| format!("immediate {status}: {answer}"))?;
    Ok(app.fetch(url).await.1)
}

fn form(as_files: bool, sent: &Sent<'_>) -> Vec<u8> {
    let file_of_data = if as_files { "; filename=\"data.json\"" } else { "" };
    let extension = if sent.kind == "latex" { "tex" } else { sent.kind };
    let mut body = Vec::new();
    let mut part = |head: &str, content: &[u8]| {
        body.extend(format!("--b\r\ncontent-disposition: form-data; name={head}\r\n\r\n").into_bytes());
        body.extend([content, b"\r\n"].concat());
    };
    part("\"type\"", sent.kind.as_bytes());
    part("\"target\"", sent.target.as_bytes());
    part(&format!("\"data\"{file_of_data}"), sent.data.as_bytes());
    part(&format!("\"files\"; filename=\"index.{extension}\""), sent.template);
    body.extend(b"--b--\r\n");
    body
}

async fn unzipped(app: &TestApp, template: Vec<u8>) -> Result<String, String> {
    let begun = app.begin().await;
    let uploaded = app.put(&begun.upload_url, template).await;
    let path = format!("/v1/templates/{}/unzip", begun.id);
    let (status, answer) = app.send(reqwest::Method::PATCH, &path).await;
    if uploaded == 200 && status == 204 { Ok(begun.id) } else { Err(format!("unzip {status}: {answer}")) }
}

async fn previewed(app: &TestApp, template: &str, sent: &Sent<'_>) -> Result<Value, String> {
    let body = json!({"type": sent.kind, "data": sent.value()});
    let (status, answer) = app.post(&format!("/v1/templates/{template}/render-previews"), &body).await;
    if status == 200 { Ok(answer) } else { Err(format!("previews {status}: {answer}")) }
}

async fn saved(app: &TestApp, sent: &Sent<'_>) -> Result<Vec<u8>, String> {
    let template = unzipped(app, sent.template.to_vec()).await?;
    let answer = previewed(app, &template, sent).await?;
    let job = |member: &str| answer[member]["jobId"].as_str().unwrap().to_owned();
    let previews = Previews { png: job("pngPreview"), pdf: job("pdfPreview") };
    let mut body = save_request("Hostile", &previews);
    body["templateInfo"]["type"] = json!(sent.kind);
    body["templateInfo"]["sampleData"] = sent.value();
    assert_eq!(app.post(&format!("/v1/templates/{template}"), &body).await, (204, Value::Null));
    let Sent { kind, target, data, .. } = sent;
    let body = format!(r#"{{"type":"{kind}","target":"{target}","templateId":"{template}","data":{data}}}"#);
    immediate(app, "application/json", body.into_bytes()).await
}

/// The text of a file without blanks: of a PDF what it shows, of an Office file that of all its parts, of a page what stands between its tags.
pub fn words(file: &[u8]) -> String {
    let text = if file.starts_with(b"%PDF") {
        text_of(file)
    } else if file.starts_with(b"PK") {
        parts(file).iter().map(|(_, content)| shown(&String::from_utf8_lossy(content))).collect()
    } else {
        shown(&String::from_utf8_lossy(file))
    };
    text.split_whitespace().collect()
}

/// The text of XML or HTML, without its tags.
fn shown(markup: &str) -> String {
    let text: String =
        markup.split('<').map(|part| part.split_once('>').map_or(part, |(_, text)| text)).collect();
    text.replace("&lt;", "<")
        .replace("&gt;", ">")
        .replace("&quot;", "\"")
        .replace("&apos;", "'")
        .replace("&#39;", "'")
        .replace("&amp;", "&")
}

/// The entries of an archive: names and contents.
pub fn parts(file: &[u8]) -> Vec<(String, Vec<u8>)> {
    let mut archive = zip::ZipArchive::new(Cursor::new(file)).unwrap();
    let part = |at| {
        let mut part = archive.by_index(at).unwrap();
        let (name, mut content) = (part.name().unwrap().into_owned(), Vec::new());
        part.read_to_end(&mut content).unwrap();
        (name, content)
    };
    let count = zip::ZipArchive::new(Cursor::new(file)).unwrap().len();
    (0..count).map(part).collect()
}
