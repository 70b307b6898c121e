//! `platen-script assemble-child`: template and data in, document out, in the tightest sandbox that there is.
//!
//! ```text
//! warm up ─► give up all system calls but those to compute ─► ready, with a fresh machine ─► job ─► answer ─► ready …
//! ```

use std::ffi::OsString;
use std::process::ExitCode;
use std::sync::Arc;

use platen::workers::assemble::{AssembleLimits, COMMAND, ScriptError, ScriptRequest};
use platen::workers::child::{self, ChildMessage, Memory};
use serde::Serialize;

use crate::ejs::{Job, ready, replace_engine, warm_up};
use crate::error::{Failure, bounded};
use crate::lint::lint;
use crate::office::{Office, unfilled};

/// A child whose memory ever grew by more than this ends after its job: it would hold that memory while idle.
const KEPT_GROWTH_BYTES: u64 = 64 << 20;

/// Runs `platen-script assemble-child <limits>`.
pub fn run(arguments: &[OsString]) -> ExitCode {
    // `exit` skips tearing down the machine, which only costs time.
    let ended = |limits| serve(&limits).map(|()| std::process::exit(0));
    child::run(&format!("platen-script {COMMAND}"), arguments, ended)
}

fn serve(limits: &AssembleLimits) -> Result<(), String> {
    child::hide()?;
    warm_up().map_err(|thrown| format!("the script engine does not start: {}", thrown.0))?;
    let mut engine = None;
    replace_engine(&mut engine);
    let memory = Arc::new(Memory::bound(limits.memory_bytes)?);
    abort_without_memory(&memory);
    child::compute_only()?;
    // Jobs repeat: the engine is prepared for the kind of the last job while the child is idle.
    let mut runs_scripts = true;
    let mut office = Office::default();
    loop {
        if runs_scripts {
            ready(&mut engine).prepare()?;
        }
        let Some((request, body)) = child::next_job::<ScriptRequest<'static>>()? else { return Ok(()) };
        runs_scripts = matches!(request, ScriptRequest::Assemble(_));
        let mut is_machine_used = true;
        match request {
            ScriptRequest::Assemble(job) => {
                let job = Job { limits, memory: &memory, request: &job };
                let (done, page) = job.assemble(&mut engine, body)?;
                child::send(&ChildMessage::Done(done), page.as_bytes())?;
            }
            ScriptRequest::Compile(job) => {
                let scripts = ready(&mut engine).compile(&job, &body);
                answer(scripts.map(|scripts| ((), scripts)).map_err(|thrown| bounded(thrown.0)))?;
            }
            ScriptRequest::Fill(job) => {
                let filled = office.fill(&ready(&mut engine).machine, &memory, (&job, body));
                is_machine_used = filled.1;
                answer(or_refused(filled.0, &memory, ScriptError::Code)?)?;
            }
            ScriptRequest::Unfilled(job) => {
                is_machine_used = false;
                answer(or_refused(unfilled(&job, body), &memory, ScriptError::Broken)?)?;
            }
            ScriptRequest::Lint(job) => {
                let report = lint(ready(&mut engine), job, body).map(|report| ((), report));
                answer(or_refused(report, &memory, ScriptError::Broken)?)?;
            }
        }
        if memory.has_grown(KEPT_GROWTH_BYTES) {
            return Ok(());
        }
        if is_machine_used {
            replace_engine(&mut engine);
        }
    }
}

/// Hazard: a library that takes an allocation for granted panics where memory is used up, and the service would blame the engine.
/// So the process then ends as it does where our own code gets none.
fn abort_without_memory(memory: &Arc<Memory>) {
    let (memory, usual) = (Arc::clone(memory), std::panic::take_hook());
    std::panic::set_hook(Box::new(move |panic| {
        if memory.is_short() {
            std::process::abort();
        }
        usual(panic);
    }));
}

/// The result or the author's error; the outer error is a broken pipe.
fn or_refused<T>(
    done: Result<T, Failure>,
    memory: &Memory,
    otherwise: fn(String) -> ScriptError,
) -> Result<Result<T, ScriptError>, String> {
    done.map_or_else(|failure| failure.explain(memory, otherwise).map(Err), |done| Ok(Ok(done)))
}

/// Sends a job's result with its body, or its error.
fn answer<T: Serialize, E: Serialize>(done: Result<(T, impl AsRef<[u8]>), E>) -> Result<(), String> {
    match done {
        Ok((done, body)) => child::send(&ChildMessage::Done(Ok::<_, E>(done)), body.as_ref()),
        Err(error) => child::send(&ChildMessage::Done(Err::<T, _>(error)), b""),
    }
}
