//! The hostile accounts: clients that ask again as soon as their job has ended.

use std::cell::Cell;
use std::collections::BTreeMap;
use std::io;
use std::rc::Rc;
use std::time::{Duration, Instant};

use reqwest::{Method, RequestBuilder, StatusCode};
use tokio::task::JoinHandle;

use super::bodies::Flood;
use crate::common::program::{Program, read, text};
use crate::common::request::Body;

/// Of each account.
const CLIENTS: usize = 8;
/// A client that is refused waits so long: refusals by the thousand would take the processor from what is measured.
const PAUSE: Duration = Duration::from_millis(100);

/// Under way until it is ended, or dropped.
pub struct Hostile<'a> {
    program: &'a Program,
    tokens: &'a [String],
    clients: Vec<JoinHandle<()>>,
    /// Requests that made no job.
    refused: Rc<Cell<usize>>,
    begun: Instant,
}

impl<'a> Hostile<'a> {
    /// Begins the flood, with a token of each account.
    pub fn begin(flood: &Flood, program: &'a Program, tokens: &'a [String]) -> Self {
        let refused = Rc::<Cell<_>>::default();
        let client = |token: &String, at: usize| {
            let asking = program.request_as(token, Method::POST, "/v1/documents/immediate-render");
            let (bodies, refused) = (flood.bodies.clone(), Rc::clone(&refused));
            tokio::task::spawn_local(
                async move { ask(&asking, bodies.iter().cycle().skip(at), &refused).await },
            )
        };
        let clients = tokens.iter().flat_map(|token| (0..CLIENTS).map(|at| client(token, at))).collect();
        Self { program, tokens, clients, refused, begun: Instant::now() }
    }

    /// Ends it, and cancels the jobs that nobody waits for any more; tells how many had ended a minute, and how.
    pub async fn end(self) -> io::Result<(f64, String)> {
        self.clients.iter().for_each(JoinHandle::abort);
        let minutes = self.begun.elapsed().as_secs_f64() / 60.0;
        let (mut ends, mut ended) = (BTreeMap::<String, usize>::new(), 0_u32);
        for token in self.tokens {
            for job in self.program.jobs(token).await? {
                let is_done = job["status"] == "done";
                ended += u32::from(is_done);
                let why = job["errorCode"].as_str().unwrap_or("made");
                *ends.entry(if is_done { why } else { "under way" }.to_owned()).or_default() += 1;
                if !is_done {
                    let path = format!("/v1/jobs/{}", text(&job, "/jobId")?);
                    // One that has ended meanwhile is erased by this.
                    let cancelled = read(self.program.request_as(token, Method::DELETE, &path)).await;
                    if let Err(error) = cancelled {
                        *ends.entry(format!("not cancelled ({error})")).or_default() += 1;
                    }
                }
            }
        }
        if self.refused.get() > 0 {
            ends.insert("refused".to_owned(), self.refused.get());
        }
        let told = ends.iter().map(|(end, count)| format!("{count} x {end}"));
        Ok((f64::from(ended) / minutes, told.collect::<Vec<_>>().join("; ")))
    }
}

impl Drop for Hostile<'_> {
    fn drop(&mut self) {
        self.clients.iter().for_each(JoinHandle::abort);
    }
}

async fn ask<'a>(asking: &RequestBuilder, bodies: impl Iterator<Item = &'a Body>, refused: &Cell<usize>) {
    for body in bodies {
        let Some(request) = asking.try_clone() else { return };
        let answer = body.on(request).send().await;
        let status = answer.map_or(StatusCode::SERVICE_UNAVAILABLE, |answer| answer.status());
        if [StatusCode::TOO_MANY_REQUESTS, StatusCode::SERVICE_UNAVAILABLE].contains(&status) {
            refused.set(refused.get() + 1);
            tokio::time::sleep(PAUSE).await;
        }
    }
}
