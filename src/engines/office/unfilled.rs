//! Office files that are passed on unfilled: older and foreign formats, such as `.doc` and `.odt`.
//!
//! Hazard: their tags are printed as they are, and the data is ignored, which the author does not expect. So both give a warning.

use bytes::Bytes;

use crate::domain::error::{ErrorCode, JobError};
use crate::domain::no_data::is_no_data;
use crate::domain::office_format::OfficeFormat;
use crate::engines::error::EngineError;
use crate::engines::runner::StepContext;
use crate::engines::script::TemplateCodePool;
use crate::engines::step::Step;
use crate::thread;
use crate::workers::assemble::{FillLimits, ScriptRequest, Unfilled, UnfilledJob, UnfilledTags};

/// The file; one of OpenDocument is checked in a child of `script`, and written again without parts that are not kept.
pub(super) async fn unfilled(
    (script, limits): (&TemplateCodePool, FillLimits),
    step: &Step,
    job: &mut StepContext<'_>,
    (format, file): (OfficeFormat, &Bytes),
) -> Result<Bytes, EngineError> {
    let is_last = job.plan.steps().last() == Some(step);
    if is_last && !format.is_current() {
        return Err(JobError::new(ErrorCode::TemplateInvalid, not_anew(format)).into());
    }
    let data = job.data.clone();
    if !thread::by_size(data.len(), move || is_no_data(&data)).await? {
        job.warnings.push(&format!("the data was not used: {}", why(format)));
    }
    // The oldest formats are no archives that could be searched for tags.
    if !matches!(format, OfficeFormat::Odt | OfficeFormat::Ods | OfficeFormat::Odp) {
        return Ok(file.clone());
    }
    script.check_size(file.len())?;
    let (request, body) = (ScriptRequest::Unfilled(UnfilledJob { limits }), [file.clone()]);
    let no_files = |_: &str| None;
    let (unfilled, file): (Unfilled, _) = script.run(job.meter, (&request, &body), &no_files).await?;
    let UnfilledTags { count, first, warnings } = unfilled.map_err(|error| script.refused(error))?;
    job.warnings.push_all(first.map(|first| printed(count, limits.tags, &first, format)));
    job.warnings.push_all(warnings);
    Ok(file)
}

/// Why its tags are not filled.
fn why(format: OfficeFormat) -> String {
    let what = match format {
        OfficeFormat::Odt | OfficeFormat::Doc | OfficeFormat::Rtf => "; save it as .docx",
        OfficeFormat::Odp | OfficeFormat::Ppt => "; save it as .pptx",
        OfficeFormat::Ods | OfficeFormat::Xls => "; save it as .xlsx",
        OfficeFormat::Docx | OfficeFormat::Xlsx | OfficeFormat::Pptx => ", and was taken as it is",
    };
    format!("the template is {}, which is not filled{what}", format.described())
}

/// The warning for unfilled tags; they are counted up to `limit`.
fn printed(tags: usize, limit: u64, first: &str, format: OfficeFormat) -> String {
    let why = why(format);
    let many = if tags as u64 > limit { format!("more than {limit}") } else { tags.to_string() };
    match tags {
        0 | 1 => format!("the tag {first} is not filled and stands in the document as it is: {why}"),
        _ => format!(
            "{many} tags are not filled and stand in the document as they are, the first is {first}: {why}"
        ),
    }
}

/// The error where an unfilled file is asked for in its modern format: files are not converted to that.
fn not_anew(format: OfficeFormat) -> String {
    let kind = format.kind().name();
    format!(
        "the template is {}, which becomes pages and pictures, and not a .{kind}; save it as .{kind} in its program",
        format.described()
    )
}

#[cfg(test)]
mod tests {
    use strum::VariantArray as _;

    use super::*;

    #[test]
    fn each_format_has_a_short_warning_for_its_tags() {
        for &format in OfficeFormat::VARIANTS.iter().filter(|format| !format.is_current()) {
            let warning = printed(12, 12, "{customer.name}", format);
            assert!(warning.starts_with("12 tags are not filled") && warning.len() < 300, "{warning}");
            assert!(printed(1, 9, "{a}", format).starts_with("the tag {a} is not filled"));
            assert!(printed(14, 12, "{a}", format).starts_with("more than 12 tags are not filled"));
            let anew = not_anew(format);
            assert!(anew.contains(format.described()) && anew.len() < 300, "{anew}");
        }
    }
}
