//! Make: the steps of the job's plan, one after the other. Nothing here depends on what a step does.

use bytes::Bytes;

use super::publish::store_error;
use super::{PipelineContext, Progress, RunInput, Stage};
use crate::domain::error::{ErrorCode, JobError, Warnings};
use crate::engines::catalog::PlanError;
use crate::engines::document::Document;
use crate::engines::error::EngineError;
use crate::engines::plan::Plan;
use crate::engines::requirement::UnmetRequirement;
use crate::engines::runner::{Outlet, StepContext};
use crate::engines::step::Step;
use crate::templates::cache::source::LoadedTemplate;

/// The plan of a job.
///
/// # Errors
/// `engine_unavailable` when an engine was removed since the job's init.
pub(super) fn plan(context: &PipelineContext, input: &RunInput) -> Result<Plan, JobError> {
    let planned = context.catalog.plan(input.kind, input.target, &input.options);
    planned.map_err(|unplanned| match unplanned {
        PlanError::Unmet(unmet) => unavailable(unmet),
        // Init refuses such a pair, but the journal may have a job of a version that could make it.
        PlanError::Impossible(_) => {
            let (kind, target) = (input.kind.name(), input.target.name());
            JobError::new(ErrorCode::Internal, format!("this version cannot make {target} of {kind}"))
        }
        // The same; a document without what was promised (a protection, say) must not be published.
        PlanError::Unkept(key, keepers) => {
            let sentence = format!("formatOpts.{key} promises what cannot be kept {keepers}");
            JobError::new(ErrorCode::OptionsInvalid, sentence)
        }
    })
}

/// Takes the plan's steps; answers the file of the last one. Where a program was killed from outside or hung, all steps are taken
/// once more, with a warning: that is not the document's doing. Nothing is kept of what the first attempt warned: it may not be
/// in the document.
pub(super) async fn make(
    context: &PipelineContext,
    job: (&RunInput, &Plan),
    (template, data): (LoadedTemplate, Bytes),
    (progress, warnings): (&Progress<'_>, &mut Warnings),
) -> Result<Document, JobError> {
    let mut own = Warnings::default();
    let again = (template.clone(), data.clone());
    let lost = match take_steps(context, job, (template, data), (progress, &mut own)).await {
        Err(error) if error.code == ErrorCode::EngineLost => error.message,
        made => {
            warnings.extend(&own);
            return made;
        }
    };
    tracing::warn!(error = lost, "the job is run again");
    warnings.push(&format!("{lost}, and the job was run again"));
    take_steps(context, job, again, (progress, warnings)).await.map_err(|error| {
        if error.code != ErrorCode::EngineLost {
            return error;
        }
        let sentence = format!(
            "{}; in the run before, {lost}; send the job again, and tell the operator, whose log has more",
            error.message
        );
        JobError::new(ErrorCode::EngineLost, sentence)
    })
}

async fn take_steps(
    context: &PipelineContext,
    (input, plan): (&RunInput, &Plan),
    (template, data): (LoadedTemplate, Bytes),
    (progress, warnings): (&Progress<'_>, &mut Warnings),
) -> Result<Document, JobError> {
    let LoadedTemplate { site, reach, .. } = template;
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
        let work = run_step(context, step, &mut job, document);
        document = progress.stage(Stage::of(step.kind), work).await?;
        if document.kind == step.to {
            continue;
        }
        let Some(behind) = plan.steps().get(at + 1) else { break };
        // Several pictures come as an archive, to which a step for a single picture cannot be applied. It may be a
        // protection, so the job fails instead of publishing the archive without it.
        let is_finishing = behind.from == behind.to;
        return Err(if is_finishing {
            inapplicable(behind, &document)
        } else {
            unexpected_kind(step, &document)
        });
    }
    Ok(document)
}

async fn run_step(
    context: &PipelineContext,
    step: &Step,
    job: &mut StepContext<'_>,
    input: Document,
) -> Result<Document, JobError> {
    // Its program may have been removed during the steps before.
    if let Some(unmet) = context.catalog.unmet(step.engine) {
        return Err(unavailable(unmet));
    }
    let Some(runner) = context.runners.of(step.engine) else {
        return Err(JobError::new(ErrorCode::Internal, format!("nobody takes the steps of {}", step.engine)));
    };
    runner.run(step, job, input).await.map_err(|error| match error {
        EngineError::NotStarted(cause) => not_started(context, step, &cause),
        EngineError::Job(error) => error,
        EngineError::Store(error) => store_error(&error),
    })
}

/// The error of an engine that could not be started: what it lacks, or else a hint at the log.
fn not_started(context: &PipelineContext, step: &Step, cause: &str) -> JobError {
    tracing::error!(engine.name = step.engine, error = cause, "an engine could not be started");
    context.catalog.check_now(step.engine).map_or_else(
        || {
            let sentence = format!(
                "the engine '{}', which the job needs, could not be started; the service's log has the cause",
                step.engine
            );
            JobError::new(ErrorCode::EngineUnavailable, sentence)
        },
        unavailable,
    )
}

fn unavailable(unmet: UnmetRequirement) -> JobError {
    JobError::new(ErrorCode::EngineUnavailable, unmet.to_string())
}

/// The error of an option that cannot be applied to what was made.
fn inapplicable(step: &Step, document: &Document) -> JobError {
    let (made, wanted, name) = (document.kind.name(), step.to.name(), step.name());
    let sentence = format!(
        "the document became a {made}, and what formatOpts asks for ({name}) can be done to a {wanted} only; ask for one \
         page, or leave that option out"
    );
    JobError::new(ErrorCode::OptionsInvalid, sentence)
}

/// The error of a step that made something else than the plan says.
fn unexpected_kind(step: &Step, document: &Document) -> JobError {
    let (wanted, made) = (step.to.name(), document.kind.name());
    tracing::error!(engine.name = step.engine, "a step was to make a {wanted} and made a {made}");
    JobError::new(ErrorCode::Internal, format!("the step '{}' made something else", step.kind.name()))
}
