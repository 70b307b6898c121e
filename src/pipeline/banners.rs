//! Assemble, the second part: header and footer of a PDF are templates like the page, of the same data.

use bytes::Bytes;

use super::{Parts, RunInput};
use crate::domain::fault::JobFault;
use crate::domain::format_opts::PageOptions;
use crate::domain::kinds::Target;
use crate::domain::site::Site;

/// The job's options, with its header and footer as they are to be shown.
pub(super) async fn assemble(
    parts: &Parts,
    input: &RunInput,
    site: &Site,
    data: &Bytes,
) -> Result<PageOptions, JobFault> {
    let mut options = input.options.clone();
    if input.target != Target::Pdf {
        return Ok(options);
    }
    let extras = &mut options.extras;
    for (name, banner) in [("headerTemplate", &mut extras.header), ("footerTemplate", &mut extras.footer)] {
        if let Some(template) = banner {
            let made = parts.assembler.assemble_banner(input.account, site, (name, template), data).await?;
            *template = made;
        }
    }
    Ok(options)
}
