//! Office files that are taken as they are: the older and foreign kin of Word's, Excel's and `PowerPoint`'s.
//!
//! Hazard: a file whose tags are not filled prints them. Whoever sent it meant them to be filled, so every such document says
//! so: that it has tags, and that data came which nobody used.

use bytes::Bytes;

use super::Office;
use crate::domain::fault::{FaultCode, JobFault};
use crate::domain::no_data::is_no_data;
use crate::domain::office_format::OfficeFormat;
use crate::engines::error::EngineError;
use crate::engines::runner::StepContext;
use crate::engines::step::Step;
use crate::workers::assemble::{Order, Unfilled, UnfilledJob, UnfilledTags};

impl Office {
    /// The file as it is, without what no document keeps.
    pub(super) async fn unfilled(
        &self,
        step: &Step,
        job: &mut StepContext<'_>,
        (format, file): (OfficeFormat, &Bytes),
    ) -> Result<Bytes, EngineError> {
        let is_last = job.plan.steps().last() == Some(step);
        if is_last && !format.is_present() {
            return Err(JobFault::new(FaultCode::TemplateInvalid, not_anew(format)).into());
        }
        if !is_no_data(job.data) {
            job.warnings.push(&format!("the data was not used: {}", why(format)));
        }
        // The oldest ones are no container that could be looked into.
        if !matches!(format, OfficeFormat::Odt | OfficeFormat::Ods | OfficeFormat::Odp) {
            return Ok(file.clone());
        }
        self.script.check_size(file.len())?;
        let (order, body) = (Order::Unfilled(UnfilledJob { limits: self.limits }), [file.clone()]);
        // It asks for none.
        let no_files = |_: &str| None;
        let (unfilled, file): (Unfilled, _) = self.script.run(job.meter, (&order, &body), &no_files).await?;
        let UnfilledTags { count, first, warnings } = unfilled.map_err(|error| self.script.refused(error))?;
        job.warnings.push_all(first.map(|first| printed(count, self.limits.tags, &first, format)));
        job.warnings.push_all(warnings);
        Ok(file)
    }
}

/// Why its tags stay.
fn why(format: OfficeFormat) -> String {
    let what = match format {
        OfficeFormat::Odt | OfficeFormat::Doc | OfficeFormat::Rtf => "; save it as .docx",
        OfficeFormat::Odp | OfficeFormat::Ppt => "; save it as .pptx",
        OfficeFormat::Ods | OfficeFormat::Xls => "; save it as .xlsx",
        OfficeFormat::Docx | OfficeFormat::Xlsx | OfficeFormat::Pptx => ", and was taken as it is",
    };
    format!("the template is {}, which is not filled{what}", format.described())
}

/// That tags are in the document as their author wrote them; of more than `limit` they are not counted.
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

/// A file of an older or foreign format is not written anew in the format of its younger kin.
fn not_anew(format: OfficeFormat) -> String {
    let kind = format.kind().name();
    format!(
        "the template is {}, which becomes pages and pictures, and not a .{kind}; save it as .{kind} in its program",
        format.described()
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_format_says_what_becomes_of_its_tags_in_one_line() {
        for format in OfficeFormat::ALL.into_iter().filter(|format| !format.is_present()) {
            let told = printed(12, 12, "{customer.name}", format);
            assert!(told.starts_with("12 tags are not filled") && told.len() < 300, "{told}");
            assert!(printed(1, 9, "{a}", format).starts_with("the tag {a} is not filled"));
            assert!(printed(14, 12, "{a}", format).starts_with("more than 12 tags are not filled"));
            let anew = not_anew(format);
            assert!(anew.contains(format.described()) && anew.len() < 300, "{anew}");
        }
    }
}
