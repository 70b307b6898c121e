//! `platen-script assemble-child`: template and data in, document out, inside the tightest cage we have.
//!
//! ```text
//! warm up ─► give up everything but to compute ─► ready ─► job ─► answer ─► ready …
//!                                                   └ a machine waits
//! ```

use std::ffi::OsString;
use std::process::ExitCode;

use platen::workers::assemble::{AssembleLimits, COMMAND, Order, ScriptError};
use platen::workers::child::{self, Memory, Saying};
use serde::Serialize;

use crate::ejs::{Job, ready, renew, warm_up};
use crate::error::{Failure, bounded};
use crate::lint::lint;
use crate::office::{Office, unfilled};

/// A child that needed so much more memory at any time is not kept for a further job.
const KEPT_GROWTH_BYTES: u64 = 64 << 20;

/// Runs `platen-script assemble-child <limits>`.
pub fn run(arguments: &[OsString]) -> ExitCode {
    // The process ends here: taking the machine apart first would only cost time.
    let ended = |limits| serve(&limits).map(|()| std::process::exit(0));
    child::run(&format!("platen-script {COMMAND}"), arguments, ended)
}

fn serve(limits: &AssembleLimits) -> Result<(), String> {
    child::hide()?;
    warm_up().map_err(|thrown| format!("the script engine does not start: {}", thrown.0))?;
    let mut engine = None;
    renew(&mut engine);
    let memory = Memory::bound(limits.memory_bytes)?;
    child::compute_only()?;
    // What the last job was, the next one is as a rule: it is made ready for while nobody waits.
    let mut runs_scripts = true;
    let mut office = Office::default();
    loop {
        if runs_scripts {
            ready(&mut engine).prepare()?;
        }
        let Some((order, body)) = child::next::<Order<'static>>()? else { return Ok(()) };
        runs_scripts = matches!(order, Order::Assemble(_));
        let mut is_machine_used = true;
        match order {
            Order::Assemble(job) => {
                let job = Job { limits, memory: &memory, order: &job };
                let (done, page) = job.assemble(&mut engine, body)?;
                child::say(&Saying::Done(done), page.as_bytes())?;
            }
            Order::Compile(job) => {
                let scripts = ready(&mut engine).compile(&job, &body);
                answer(scripts.map(|scripts| ((), scripts)).map_err(|thrown| bounded(thrown.0)))?;
            }
            Order::Fill(job) => {
                let filled = office.fill(&ready(&mut engine).machine, &memory, (&job, body));
                is_machine_used = filled.1;
                answer(or_refused(filled.0, &memory, ScriptError::Code)?)?;
            }
            Order::Unfilled(job) => {
                is_machine_used = false;
                answer(or_refused(unfilled(&job, body), &memory, ScriptError::Broken)?)?;
            }
            Order::Lint(job) => {
                let report = lint(ready(&mut engine), job, body).map(|report| ((), report));
                answer(or_refused(report, &memory, ScriptError::Broken)?)?;
            }
        }
        if memory.has_grown(KEPT_GROWTH_BYTES) {
            return Ok(());
        }
        if is_machine_used {
            renew(&mut engine);
        }
    }
}

fn or_refused<T>(
    done: Result<T, Failure>,
    memory: &Memory,
    otherwise: fn(String) -> ScriptError,
) -> Result<Result<T, ScriptError>, String> {
    done.map_or_else(|failure| failure.explain(memory, otherwise).map(Err), |done| Ok(Ok(done)))
}

/// Says what came of a job, with its body, or why nothing did.
fn answer<T: Serialize, E: Serialize>(done: Result<(T, impl AsRef<[u8]>), E>) -> Result<(), String> {
    match done {
        Ok((done, body)) => child::say(&Saying::Done(Ok::<_, E>(done)), body.as_ref()),
        Err(error) => child::say(&Saying::Done(Err::<T, _>(error)), b""),
    }
}
