//! Make: the steps of the job's plan, one after the other, whatever they are.

use bytes::Bytes;

use super::publish::job_fault;
use super::{PipelineContext, Progress, RunInput, Step};
use crate::domain::fault::{FaultCode, JobFault, Warnings};
use crate::engines::catalog::Unplanned;
use crate::engines::document::Document;
use crate::engines::plan::Plan;
use crate::engines::requirement::Lack;
use crate::engines::runner::{Outlet, StepContext};
use crate::engines::step;
use crate::engines::step_error::StepError;
use crate::templates::cache::source::Loaded;

/// The plan of a job.
///
/// # Errors
/// `engine_unavailable` when an engine is gone since the job was created.
pub(super) fn plan(context: &PipelineContext, input: &RunInput) -> Result<Plan, JobFault> {
    let planned = context.catalog.plan(input.kind, input.target, &input.options);
    planned.map_err(|unplanned| match unplanned {
        Unplanned::Lacking(lack) => unavailable(lack),
        // Init refuses such a pair; a job of a version that could do it may still be in the journal.
        Unplanned::Impossible(_) => {
            let (kind, target) = (input.kind.name(), input.target.name());
            JobFault::new(FaultCode::Internal, format!("this version cannot make {target} of {kind}"))
        }
        // As above: what the file would not be is not published as if it were.
        Unplanned::Unkept(key, keepers) => {
            let sentence = format!("formatOpts.{key} promises what cannot be kept {keepers}");
            JobFault::new(FaultCode::OptionsInvalid, sentence)
        }
    })
}

/// The file that the plan's steps make of the template and the data.
pub(super) async fn make(
    context: &PipelineContext,
    (input, plan): (&RunInput, &Plan),
    (template, data): (Loaded, Bytes),
    (progress, warnings): (&Progress<'_>, &mut Warnings),
) -> Result<Document, JobFault> {
    let Loaded { site, reach, .. } = template;
    let mut job = StepContext {
        meter: &input.meter,
        data: &data,
        options: &input.options,
        reach,
        plan,
        outlet: Outlet::Work(&context.work),
        warnings,
    };
    let mut document = Document::template(input.kind, site);
    for (at, step) in plan.steps().iter().enumerate() {
        let is_last = at + 1 == plan.steps().len();
        if is_last {
            job.outlet = Outlet::Store(context.store.as_ref(), context.limits.output_limit_bytes);
        }
        document = progress.step(Step::Make(step.kind), run_step(context, step, &mut job, document)).await?;
        if document.kind == step.to {
            continue;
        }
        let Some(behind) = plan.steps().get(at + 1) else { break };
        // Several pictures come as an archive. What is asked for and would be done to a single one may be a protection,
        // so that nothing is published without it.
        let is_finishing = behind.from == behind.to;
        return Err(if is_finishing {
            inapplicable(behind, &document)
        } else {
            unexpected_kind(step, &document)
        });
    }
    Ok(document)
}

/// Takes one step.
async fn run_step(
    context: &PipelineContext,
    step: &step::Step,
    job: &mut StepContext<'_>,
    input: Document,
) -> Result<Document, JobFault> {
    // What it needs may have gone while the steps before it were taken.
    if let Some(lack) = context.catalog.lack(step.engine) {
        return Err(unavailable(lack));
    }
    let Some(runner) = context.runners.of(step.engine) else {
        return Err(JobFault::new(FaultCode::Internal, format!("nobody takes the steps of {}", step.engine)));
    };
    runner.run(step, job, input).await.map_err(|fault| match fault {
        StepError::NotStarted(cause) => not_started(context, step, &cause),
        StepError::Job(_) | StepError::Store(_) => job_fault(fault),
    })
}

/// What it needs may be gone; otherwise only the log can say why.
fn not_started(context: &PipelineContext, step: &step::Step, cause: &str) -> JobFault {
    tracing::error!(engine.name = step.engine, error = cause, "an engine could not be started");
    context.catalog.look_again(step.engine).map_or_else(
        || {
            let sentence = format!(
                "the engine '{}', which the job needs, could not be started; the service's log has the cause",
                step.engine
            );
            JobFault::new(FaultCode::EngineUnavailable, sentence)
        },
        unavailable,
    )
}

fn unavailable(lack: Lack) -> JobFault {
    JobFault::new(FaultCode::EngineUnavailable, lack.to_string())
}

/// What was asked for cannot be done to it.
fn inapplicable(step: &step::Step, document: &Document) -> JobFault {
    let (made, wanted, told) = (document.kind.name(), step.to.name(), step.name());
    let sentence = format!(
        "the document became a {made}, and what formatOpts asks for ({told}) can be done to a {wanted} only; ask for one \
         page, or leave that option out"
    );
    JobFault::new(FaultCode::OptionsInvalid, sentence)
}

/// The next step could not work on it.
fn unexpected_kind(step: &step::Step, document: &Document) -> JobFault {
    let (wanted, made) = (step.to.name(), document.kind.name());
    tracing::error!(engine.name = step.engine, "a step was to make a {wanted} and made a {made}");
    JobFault::new(FaultCode::Internal, format!("the step '{}' made something else", step.kind.name()))
}
