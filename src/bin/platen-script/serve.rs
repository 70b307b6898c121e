//! `platen-script assemble-child`: template and data in, document out, inside the tightest cage we have.
//!
//! ```text
//! warm up ─► give up everything but to compute ─► ready ─► job ─► answer ─► ready …
//!                                                   └ a machine waits
//! ```

use std::ffi::OsString;
use std::io::{self, Write as _};
use std::process::ExitCode;

use nix::sys::prctl;
use platen::workers::assemble::{AssembleLimits, COMMAND, Compiled, Order};
use platen::workers::child::{self, FrameError, Saying};
use serde::Serialize;

use crate::ejs::{Job, ready, renew, warm_up};
use crate::lint;
use crate::memory::Memory;
use crate::office::{Office, unfilled};

/// A child that needed so much more memory at any time is not kept for a further job.
const KEPT_GROWTH_BYTES: u64 = 64 << 20;

/// The longest sentence of an answer.
const SENTENCE_LIMIT_BYTES: usize = 8 << 10;

/// Runs `platen-script assemble-child <limits>`.
pub fn run(arguments: &[OsString]) -> ExitCode {
    match serve(arguments) {
        // The process ends here: taking the machine apart first would only cost time.
        Ok(()) => std::process::exit(0),
        Err(fault) => {
            let _ = writeln!(io::stderr(), "platen-script {COMMAND}: {fault}");
            ExitCode::FAILURE
        }
    }
}

fn serve(arguments: &[OsString]) -> Result<(), String> {
    let [limits] = arguments else {
        return Err("wants one argument, its limits; the service calls it, not you".to_owned());
    };
    let limits: AssembleLimits = serde_json::from_slice(limits.as_encoded_bytes())
        .map_err(|error| format!("its argument is not a set of limits: {error}"))?;
    // No process of the same user may trace it or look into its memory.
    prctl::set_dumpable(false).map_err(|errno| format!("cannot hide its memory: {errno}"))?;
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
        say(&Saying::<()>::Ready, b"")?;
        let (order, body) = match child::read::<Order<'static>>(io::stdin().lock()) {
            Ok(order) => order,
            // Nobody wants anything any more.
            Err(FrameError::Broken(_)) => return Ok(()),
            Err(error) => return Err(error.to_string()),
        };
        runs_scripts = matches!(order, Order::Assemble(_));
        let mut is_machine_used = true;
        match order {
            Order::Assemble(job) => {
                let (answer, page) =
                    Job { limits: &limits, memory: &memory, order: &job }.assemble(&mut engine, body)?;
                say(&Saying::Done(answer), page.as_bytes())?;
            }
            Order::Compile(job) => {
                let (compiled, scripts) = match ready(&mut engine).compile(&job, &body) {
                    Ok(scripts) => (Compiled::Scripts, scripts),
                    Err(thrown) => (Compiled::Nothing(bounded(thrown.0)), String::new()),
                };
                say(&Saying::Done(compiled), scripts.as_bytes())?;
            }
            Order::Fill(job) => {
                let done = office.fill(&ready(&mut engine).machine, &memory, (&job, body));
                is_machine_used = done.is_machine_used;
                say(&Saying::Done(done.filled), &done.file)?;
            }
            Order::Unfilled(job) => {
                is_machine_used = false;
                let (taken, file) = unfilled(&job, body);
                say(&Saying::Done(taken), &file)?;
            }
            Order::Lint(job) => {
                let (linted, report) = lint::lint(ready(&mut engine), &memory, (&job, body))?;
                say(&Saying::Done(linted), report.as_bytes())?;
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

/// A sentence as long as an answer may have it. A template may have made it, whatever cuts it before.
pub fn bounded(mut sentence: String) -> String {
    sentence.truncate(sentence.floor_char_boundary(SENTENCE_LIMIT_BYTES));
    sentence
}

/// Says something to the service.
pub fn say<R: Serialize>(saying: &Saying<R>, body: &[u8]) -> Result<(), String> {
    let said = child::write(io::stdout().lock(), saying, body);
    said.map_err(|error| format!("cannot speak: {error}"))
}
