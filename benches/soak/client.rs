//! A client of an account: one job after the other, each looked at until it has ended and its document is compared.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::io;
use std::time::{Duration, Instant};

use reqwest::Method;
use serde_json::{Value, json};

use crate::common::program::{Program, read, text};
use crate::documents::{Files, KINDS, Kind};
use crate::random::Random;
use crate::tally::{End, Job, Tally, UNANSWERED};

/// A job that has not ended by then is lost: longer than `jobs.run_timeout_s`, and a wait in the queue besides.
const LOST_AFTER: Duration = Duration::from_mins(4);
/// After a refusal.
const PAUSE: Duration = Duration::from_millis(200);
/// Room for the numbers of an account's jobs.
const NUMBERS: u64 = 1_000_000;

/// An account with a template that it has saved.
pub struct Account {
    pub number: usize,
    pub token: String,
    pub saved: String,
}

/// What the clients share.
pub struct Load<'a> {
    pub program: &'a Program,
    pub files: &'a Files,
    pub tally: &'a RefCell<Tally>,
    /// The number of the next job of each account.
    pub next: &'a RefCell<BTreeMap<usize, u64>>,
}

impl Load<'_> {
    /// Makes each kind of document once, without faults.
    pub async fn warm_up(&self, account: &Account) -> io::Result<()> {
        for kind in KINDS {
            self.make(account, kind).await?;
        }
        Ok(())
    }

    /// Makes documents of random kinds until that moment.
    pub async fn run(&self, account: &Account, mut random: Random, until: Instant) -> io::Result<()> {
        while Instant::now() < until {
            let Some(kind) = random.choose(&KINDS) else { return Ok(()) };
            self.make(account, kind).await?;
        }
        Ok(())
    }

    async fn make(&self, account: &Account, kind: Kind) -> io::Result<()> {
        let number = self.number(account);
        let asked = Instant::now();
        let path = "/v1/documents/immediate-render";
        let request = self.program.request_as(&account.token, Method::POST, path);
        let body = kind.body(number, self.files, &account.saved);
        let answer = read(body.on(request.header("prefer", "respond-async"))).await;
        let id = match answer.as_ref().map(|answer| text(answer, "/jobId")) {
            Ok(Ok(id)) => id.to_owned(),
            Ok(Err(error)) => return Err(error),
            Err(error) => {
                let problem: Value = serde_json::from_str(&error.to_string()).unwrap_or_default();
                let code = problem["code"].as_str().unwrap_or(UNANSWERED).to_owned();
                *self.tally.borrow_mut().refused.entry(code).or_default() += 1;
                tokio::time::sleep(PAUSE).await;
                return Ok(());
            }
        };
        let view = self.wait(account, &id).await;
        let end = self.end(kind, number, &view).await?;
        let (account, taken, view) = (account.number, asked.elapsed(), lasting(&view));
        self.tally.borrow_mut().jobs.insert(id, Job { kind, account, taken, end, view });
        Ok(())
    }

    fn number(&self, account: &Account) -> u64 {
        let mut next = self.next.borrow_mut();
        let number = next.entry(account.number).or_default();
        *number += 1;
        u64::try_from(account.number + 1).unwrap_or(0) * NUMBERS + *number
    }

    /// The job once it is done, or as it was last seen.
    async fn wait(&self, account: &Account, id: &str) -> Value {
        let (begun, mut view) = (Instant::now(), Value::Null);
        while view["status"] != "done" && begun.elapsed() < LOST_AFTER {
            let path = format!("/v1/jobs/{id}?wait=20");
            match read(self.program.request_as(&account.token, Method::GET, &path)).await {
                Ok(seen) => view = seen,
                Err(_) => tokio::time::sleep(PAUSE).await,
            }
        }
        view
    }

    async fn end(&self, kind: Kind, number: u64, view: &Value) -> io::Result<End> {
        if view["status"] != "done" {
            return Ok(End::Lost);
        }
        let Some(url) = view.pointer("/output/data/url").and_then(Value::as_str) else {
            let words = |member: &str| view[member].as_str().unwrap_or("none").to_owned();
            return Ok(End::Failed(words("errorCode"), words("error")));
        };
        let answer = self.program.client.get(url).send().await.map_err(io::Error::other)?;
        let file = answer.bytes().await.map_err(io::Error::other)?;
        Ok(kind.fault(&file, number).await?.map_or(End::Made, End::Wrong))
    }

    /// Compares what the service lists of an account's jobs with what its clients saw.
    pub async fn compare(&self, account: &Account) -> io::Result<()> {
        let mut listed = BTreeMap::<String, Vec<Value>>::new();
        for job in self.program.jobs(&account.token).await? {
            listed.entry(text(&job, "/jobId")?.to_owned()).or_default().push(lasting(&job));
        }
        let mut tally = self.tally.borrow_mut();
        let Tally { jobs, twice, lost, .. } = &mut *tally;
        for (id, job) in jobs.iter().filter(|(_, job)| job.account == account.number) {
            match listed.get(id).map(Vec::as_slice) {
                Some([view]) if view["status"] != "done" => lost.push(id.clone()),
                Some([view]) if *view == job.view => {}
                // It ended after its client had given it up.
                Some([_]) if matches!(job.end, End::Lost) => lost.push(id.clone()),
                Some(views) => twice.push(format!("twice: {id}: {} and then {views:?}", job.view)),
                None => lost.push(id.clone()),
            }
        }
        Ok(())
    }
}

/// What must not change any more once a job has ended.
fn lasting(view: &Value) -> Value {
    json!({"status": view["status"], "success": view["success"], "errorCode": view["errorCode"],
        "finishedAt": view["finishedAt"], "bytes": view.pointer("/output/data/bytes")})
}
