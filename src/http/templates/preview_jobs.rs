//! `previewIds`: the jobs whose documents are to be a template's previews.

use json_members::Members;

use crate::domain::ids::{AccountId, JobId};
use crate::domain::kinds::Target;
use crate::domain::shown::shortened;
use crate::http::actors;
use crate::http::state::HttpState;
use crate::jobs::messages::WatchJob;
use crate::jobs::view::JobView;
use crate::problem::{Code, Problem};
use crate::templates::registry::messages::{PreviewJob, PreviewJobs, PreviewSource};

/// The two ids as they were sent.
#[derive(Debug)]
pub(in crate::http) struct PreviewIds {
    png: String,
    pdf: String,
}

/// Reads `previewIds`; errors are with the members.
pub(super) fn read(members: &mut Members<'_>) -> Option<PreviewIds> {
    const IDS: (&str, &str) = ("previewIds", "The jobs of `render-previews`.");
    members.require(IDS);
    let read = |sent: &mut Members<'_>| {
        let names =
            [("pngJobId", "The job that made the picture."), ("pdfJobId", "The job that made the PDF.")];
        for name in names {
            sent.require(name);
        }
        names.map(|name| sent.text(name))
    };
    let [png, pdf] = members.object(IDS, ("PreviewIds", "an object"), read)?;
    Some(PreviewIds { png: png?, pdf: pdf? })
}

/// Looks up both jobs. Why one is no preview is passed on to the registry, which knows whether it matters.
///
/// # Errors
/// `preview_not_usable` for what is no job id; `overloaded` when the registry cannot be asked.
pub(super) async fn look_up(
    state: &HttpState,
    account: AccountId,
    ids: &PreviewIds,
) -> Result<PreviewJobs, Problem> {
    Ok(PreviewJobs {
        png: look_up_one(state, account, (&ids.png, Target::Png)).await?,
        pdf: look_up_one(state, account, (&ids.pdf, Target::Pdf)).await?,
    })
}

async fn look_up_one(
    state: &HttpState,
    account: AccountId,
    (id, target): (&str, Target),
) -> Result<PreviewJob, Problem> {
    let shown = shortened(id);
    let job: JobId = id.parse().map_err(|_| unusable(shown, "is no job id (a UUID)"))?;
    let preview_of = match actors::ask(state, account, &state.jobs, WatchJob { account, job }).await {
        Ok(watched) => check(&watched.borrow(), target).map_err(|why| unusable(shown, &why)),
        Err(problem) if problem.code == Code::JobNotFound => Err(unusable(shown, "is no job of yours")),
        Err(problem) => return Err(problem),
    };
    Ok(PreviewJob { job, source: preview_of })
}

/// What the job's document is a preview of.
fn check(job: &JobView, target: Target) -> Result<PreviewSource, String> {
    let wanted = target.name();
    let template = job.template.ok_or("belongs to another template: to one that came with the job")?;
    if job.target != target {
        return Err(format!("makes {}, and {wanted} is wanted", job.target.name()));
    }
    if !job.is_done() {
        return Err("is not done yet; save when it is".to_owned());
    }
    if let Some(error) = &job.error {
        return Err(format!("failed: {}", error.message));
    }
    if job.file() != target.file() {
        let made = job.file().name();
        return Err(format!("became a {made}, of several pictures, and one {wanted} is wanted"));
    }
    let output = job.output.as_ref().ok_or("has no document any more")?;
    Ok(PreviewSource { template, version: output.content })
}

fn unusable(id: &str, why: &str) -> Problem {
    let detail =
        format!("The preview '{id}' {why}. Use the jobIds that render-previews answered for this template.");
    Problem::new(Code::PreviewNotUsable, detail)
}
