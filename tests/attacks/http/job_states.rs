//! Every operation on a job in every state of a job: what is answered, and the state afterwards. For another account's job
//! the answer is that for an id which nothing has, byte for byte.

use std::sync::Arc;

use platen::config::Config;
use platen::domain::ids::AccountId;
use platen::jobs::store::journal::Journal;
use platen::storage::data_dir::DataDir;
use platen::storage::index::{Index, SledIndex, WriteBatch};
use reqwest::{Method, RequestBuilder, Response};
use serde_json::{Value, json};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;

use super::committed::{assert_committed, line};
use super::{
    Described, NOBODY, assert_all_tried, bytes_of, code, described, is_listed, operation_of, other_account,
    sent_by,
};
use crate::app::{TestApp, read};
use crate::template::{Previews, page, save_request};

const COMMITTED: &str = include_str!("job_states.txt");
const ENDLESS: &str = "<% for (;;) {} %>";
/// So many bytes of an upload are in a file already.
const UPLOADED: usize = 300_000;
const DATA: &str = r#"{"name": "Ann"}"#;

/// The states of a job that need no running job beside them, nor a clock that runs faster.
const STATES: [&str; 8] =
    ["initialized", "uploading", "uploaded", "succeeded", "failed", "cancelled", "erased", "unknown"];

/// Settings under which each state can be had: one job runs at a time, and as long as it likes.
const SETTINGS: [(&str, &str); 4] = [
    ("jobs.concurrency", "1"),
    ("jobs.run_timeout_s", "600"),
    ("assemble.timeout_ms", "600000"),
    ("http.wait_default_s", "1"),
];

/// One job in one state.
struct Job {
    id: String,
    data_url: Option<String>,
    template_url: Option<String>,
    output_url: Option<String>,
    /// The key of its init.
    key: String,
    /// An upload in progress.
    upload: Option<TcpStream>,
}

/// What operations need beside the job.
struct Bench {
    app: TestApp,
    operations: Vec<Described>,
    /// A template with files, not saved.
    template: String,
}

type Operation = fn(&Bench, &str, &Job) -> Option<RequestBuilder>;

/// Every operation on a job. The first word is the `operationId`, where the OpenAPI document has one.
const OPERATIONS: [(&str, Operation); 15] = [
    ("listJobs", |bench, token, _| Some(sent_by(&bench.app, token, Method::GET, "/v1/jobs?limit=100"))),
    ("getJob", |bench, token, job| {
        Some(sent_by(&bench.app, token, Method::GET, &format!("/v1/jobs/{}", job.id)))
    }),
    ("getJob, waiting", |bench, token, job| {
        Some(sent_by(&bench.app, token, Method::GET, &format!("/v1/jobs/{}?wait=1", job.id)))
    }),
    ("initDocument with its key", |bench, token, job| {
        let request = sent_by(&bench.app, token, Method::POST, "/v1/documents/init");
        Some(request.header("idempotency-key", &job.key).body(init_body().to_string()))
    }),
    ("saveTemplate with it as a preview", |bench, token, job| {
        let previews = Previews { png: job.id.clone(), pdf: job.id.clone() };
        let request = sent_by(&bench.app, token, Method::POST, &format!("/v1/templates/{}", bench.template));
        Some(request.body(save_request("T", &previews).to_string()))
    }),
    ("read of its upload address", |bench, _, job| Some(bench.app.client.get(job.data_url.as_ref()?))),
    ("download of its document", |bench, _, job| Some(bench.app.client.get(job.output_url.as_ref()?))),
    ("upload of data", |bench, _, job| Some(bench.app.client.put(job.data_url.as_ref()?).body(DATA))),
    ("upload of a template", |bench, _, job| {
        Some(bench.app.client.put(job.template_url.as_ref()?).body("<p>later"))
    }),
    ("renderDocument with a broken body", |bench, token, job| Some(start(bench, token, job, "{"))),
    ("renderDocument with a wrong body", |bench, token, job| {
        Some(start(bench, token, job, r#"{"shouldWaitForRenderCompletion": 1}"#))
    }),
    ("renderDocument, delivering to the loopback", |bench, token, job| {
        Some(start(bench, token, job, r#"{"uploadPresignedStorageUrl": "http://127.0.0.1:9/x"}"#))
    }),
    ("renderDocument", |bench, token, job| Some(start(bench, token, job, ""))),
    ("renderDocument, waiting", |bench, token, job| {
        Some(start(bench, token, job, r#"{"shouldWaitForRenderCompletion": true}"#))
    }),
    ("deleteJob", |bench, token, job| {
        Some(sent_by(&bench.app, token, Method::DELETE, &format!("/v1/jobs/{}", job.id)))
    }),
];

fn init_body() -> Value {
    json!({"type": "html", "target": "html"})
}

fn start(bench: &Bench, token: &str, job: &Job, body: &str) -> RequestBuilder {
    sent_by(&bench.app, token, Method::POST, &format!("/v1/documents/{}/render", job.id))
        .body(body.to_owned())
}

impl Bench {
    /// A job with both inputs to be uploaded.
    async fn initialized(&self) -> Job {
        let key = platen::clock::new_id().to_string();
        let request = self.app.request(Method::POST, "/v1/documents/init").header("idempotency-key", &key);
        let (status, answer) = read(request.body(init_body().to_string()).send().await.unwrap()).await;
        assert_eq!(status, 200, "{answer}");
        let text = |member: &str| answer[member].as_str().map(str::to_owned);
        Job {
            id: text("jobId").unwrap(),
            data_url: text("presignedDataUploadUrl"),
            template_url: text("presignedTemplateUploadUrl"),
            output_url: None,
            key,
            upload: None,
        }
    }

    async fn uploaded(&self, template: &str) -> Job {
        let job = self.initialized().await;
        for (url, body) in [(&job.data_url, DATA), (&job.template_url, template)] {
            assert_eq!(self.app.put(url.as_ref().unwrap(), body.to_owned()).await, 200);
        }
        job
    }

    async fn started(&self, template: &str) -> Job {
        let job = self.uploaded(template).await;
        let (status, answer) = self.app.post(&format!("/v1/documents/{}/render", job.id), &json!({})).await;
        assert!(matches!(status, 200 | 202), "{answer}");
        job
    }

    async fn ended(&self, template: &str) -> Job {
        let mut job = self.started(template).await;
        let view = self.app.ended(&job.id).await;
        job.output_url = view["output"]["data"]["url"].as_str().map(str::to_owned);
        job
    }

    async fn delete(&self, job: &Job) -> u16 {
        let request = self.app.request(Method::DELETE, &format!("/v1/jobs/{}", job.id));
        request.send().await.unwrap().status().as_u16()
    }

    /// A job in this state.
    async fn job_in(&self, state: &str) -> Job {
        match state {
            "initialized" => self.initialized().await,
            "uploading" => {
                let mut job = self.initialized().await;
                job.upload = Some(self.begin_upload(job.template_url.as_ref().unwrap()).await);
                job
            }
            "uploaded" => self.uploaded("<p><%= name %>").await,
            "queued" => self.started("<p><%= name %>").await,
            "running" => {
                let job = self.started(ENDLESS).await;
                self.app
                    .until("it runs", async || self.app.metric_of("platen_jobs_running ").await == 1)
                    .await;
                job
            }
            "succeeded" => self.ended("<p><%= name %>").await,
            "failed" => self.ended("<%= nobody %>").await,
            "cancelled" => {
                let job = self.uploaded("<p>").await;
                assert_eq!(self.delete(&job).await, 200);
                job
            }
            "erased" => {
                let job = self.ended("<p>").await;
                assert_eq!(self.delete(&job).await, 204);
                job
            }
            "unknown" => Job {
                id: NOBODY.to_owned(),
                data_url: None,
                template_url: None,
                output_url: None,
                key: platen::clock::new_id().to_string(),
                upload: None,
            },
            _ => panic!("no such state: {state}"),
        }
    }

    /// Sends half of an upload, and waits until the service has it.
    async fn begin_upload(&self, url: &str) -> TcpStream {
        let staging = self.app.data_dir().join("objects/.staging");
        let staged = || std::fs::read_dir(&staging).unwrap().count();
        let before = staged();
        let path = url.strip_prefix(&self.app.base).unwrap();
        let mut stream = TcpStream::connect(self.app.base.strip_prefix("http://").unwrap()).await.unwrap();
        let head = format!("PUT {path} HTTP/1.1\r\nHost: x\r\nContent-Length: {}\r\n\r\n", UPLOADED + 3);
        stream.write_all(head.as_bytes()).await.unwrap();
        stream.write_all(&vec![b'x'; UPLOADED]).await.unwrap();
        self.app.until("the upload has begun", async || staged() > before).await;
        stream
    }

    /// What a caller sees of the job, once it is at rest.
    async fn observed(&self, job: &mut Job) -> String {
        if let Some(mut upload) = job.upload.take() {
            upload.write_all(b"end").await.unwrap();
            let mut answer = String::new();
            upload.read_to_string(&mut answer).await.unwrap();
            let status = answer.split(' ').nth(1).unwrap().to_owned();
            let body: Value =
                serde_json::from_str(answer.split_once("\r\n\r\n").unwrap().1).unwrap_or_default();
            return format!("{}; its upload {status} {}", self.status(job).await, code(&body))
                .trim_end()
                .to_owned();
        }
        self.status(job).await
    }

    async fn status(&self, job: &Job) -> String {
        let (status, view) = self.app.get(&format!("/v1/jobs/{}", job.id)).await;
        match (status, view["status"].as_str(), view["success"].as_bool(), view["errorCode"].as_str()) {
            (200, Some("done"), Some(true), None) => "succeeded".to_owned(),
            (200, Some("done"), Some(false), Some(error)) => error.to_owned(),
            (200, Some(status), None, None) => status.to_owned(),
            (404, ..) => "not there".to_owned(),
            _ => panic!("{status} {view}"),
        }
    }

    /// Waits for the end of a started job, unless the only slot is held.
    async fn settle(&self, job: &Job, holds_slot: bool) {
        if !holds_slot && self.status(job).await == "in-progress" {
            self.app.ended(&job.id).await;
        }
    }
}

/// An answer in a few words.
async fn shown(name: &str, answer: Response, job: &Job) -> String {
    let status = answer.status().as_u16();
    let text = answer.text().await.unwrap();
    let body: Value = serde_json::from_str(&text).unwrap_or_default();
    let more = match name {
        "listJobs" if is_listed(&body, "jobId", &job.id) => "with it",
        "listJobs" => "without it",
        "initDocument with its key" if body["jobId"] == job.id.as_str() => "the same job",
        "initDocument with its key" if status == 200 => "another job",
        _ => code(&body),
    };
    format!("{status} {more}").trim_end().to_owned()
}

/// All operations on a job of this state, and those of another account first.
async fn try_state(bench: &Bench, other: &str, state: &str, job: Option<Job>) -> Vec<String> {
    let (mut lines, mut present) = (Vec::new(), job);
    let nobody = bench.job_in("unknown").await;
    let is_held = matches!(state, "queued" | "running");
    for (name, send) in OPERATIONS {
        let mut job = match present.take() {
            Some(job) => job,
            None => bench.job_in(state).await,
        };
        let before = bench.status(&job).await;
        let mut answer = "no address".to_owned();
        if let Some(request) = send(bench, &bench.app.token, &job) {
            assert_as_unknown(bench, (name, send), other, (&job, &nobody)).await;
            assert_eq!(bench.status(&job).await, before, "{name} by another account changes a job {state}");
            answer = shown(name, request.send().await.unwrap(), &job).await;
            if let Some(operation) = operation_of(&bench.operations, name) {
                operation.assert_documents(&answer);
            }
        }
        bench.settle(&job, is_held).await;
        // Whether a started job has ended by the time of the answer, depends on the moment.
        if matches!(answer.as_str(), "200" | "202") && name == "renderDocument" && before == "initialized" {
            "200 or 202".clone_into(&mut answer);
        }
        let afterwards = bench.observed(&mut job).await;
        lines.push(line([state, name, &answer, &afterwards]));
        // Uploads are seen by their effect only.
        if before == afterwards && before != "initialized" {
            present = Some(job);
        }
    }
    lines
}

/// The same request by another account is answered as one for an id that nothing has.
async fn assert_as_unknown(
    bench: &Bench,
    (name, send): (&str, Operation),
    other: &str,
    (job, nobody): (&Job, &Job),
) {
    // Keys are each account's own; addresses are their holder's.
    if name.starts_with("initDocument") || name.contains("load of") || name.starts_with("read of") {
        return;
    }
    let [theirs, unknown] = [job, nobody].map(|job| async move {
        bytes_of(send(bench, other, job).unwrap().send().await.unwrap(), &job.id).await
    });
    let (theirs, unknown) = (theirs.await, unknown.await);
    assert_eq!(theirs, unknown, "{name}");
    assert!(name == "listJobs" || !theirs.starts_with("200"), "{name}: {theirs}");
}

#[actix::test]
async fn every_operation_on_a_job_is_answered_as_the_table_says_in_every_state() {
    let app = TestApp::on_disk(&SETTINGS).await;
    let others = |operation: &Described| operation.path.contains("{jobId}") || operation.id == "listJobs";
    let operations = described(&app).await;
    assert_all_tried(&operations, others, OPERATIONS.iter().map(|(name, _)| *name));
    let other = other_account(&app);
    let template = app.unzipped(page("one")).await;
    let mut bench = Bench { app, operations, template };
    let mut lines = Vec::new();
    for state in STATES {
        lines.extend(try_state(&bench, &other, state, None).await);
    }
    // It takes the only slot, so others wait in the queue.
    let running = bench.job_in("running").await;
    lines.extend(try_state(&bench, &other, "queued", None).await);
    lines.extend(try_state(&bench, &other, "running", Some(running)).await);
    let expired = expired(&mut bench).await;
    lines.extend(try_state(&bench, &other, "expired", Some(expired)).await);
    assert_committed("job_states.txt", &lines, COMMITTED);
}

/// A job whose start window is over: its record is made older while the service is down.
async fn expired(bench: &mut Bench) -> Job {
    const LONG_MS: u64 = 2 * 86_400_000;
    let job = bench.uploaded("<p>").await;
    let former = bench.app.base.clone();
    bench.app.stop();
    let config = Config::default();
    let data = DataDir::open(&bench.app.data_dir()).unwrap();
    let index: Arc<dyn Index> = Arc::new(SledIndex::open(&data.index(), &config.storage).await.unwrap());
    let journal = Journal::new(Arc::clone(&index), &config.jobs);
    let entries = index.scan("job/", None, usize::MAX).await.unwrap();
    let key = entries.iter().find(|entry| entry.key.ends_with(&job.id)).unwrap().key.clone();
    let account: AccountId = key.split('/').nth(1).unwrap().parse().unwrap();
    let mut record = journal.read(account, job.id.parse().unwrap()).await.unwrap().unwrap();
    record.created_at.0 -= LONG_MS;
    journal.commit(&record, WriteBatch::new()).await.unwrap();
    index.close().await;
    drop((journal, index, data));
    bench.app.launch();
    bench.app.until_ready().await;
    let (status, answer) = bench.app.post(&format!("/v1/documents/{}/render", job.id), &json!({})).await;
    assert_eq!((status, &answer["errorCode"]), (200, &json!("expired")), "{answer}");
    let moved = |url: Option<String>| url.map(|url| url.replace(&former, &bench.app.base));
    Job { data_url: moved(job.data_url), template_url: moved(job.template_url), ..job }
}
