//! Where the links of a PDF lead.
//!
//! Hazard: a page is shown under a host of the renderer's own, and Chromium writes each link with its whole address. Readers of
//! the file could follow none of them, and see a name that nobody should. So a relative link leads to `baseUrl`, or nowhere.

use serde::Deserialize;
use serde_json::json;

use crate::browser::page::error::StepError;
use crate::browser::page::open_page::OpenPage;
use crate::domain::format_opts::PageOptions;
use crate::domain::lane::Lane;

const LINKS: &str = include_str!("../../../assets/links.js");
/// Stands for the address of a page that was written into its tab.
const NO_ADDRESS: &str = "http://page.invalid/";

/// The links that lead nowhere because they are relative.
#[derive(Deserialize)]
struct Unled {
    first: Option<String>,
    count: u32,
}

/// Settles the links of the page, as the last thing before it is measured and printed; answers a warning of those that lead
/// nowhere.
pub(super) async fn settle(page: &OpenPage, options: &PageOptions) -> Result<Option<String>, StepError> {
    if !page.may_have_links {
        return Ok(None);
    }
    let address = page.session.as_ref().map_or_else(|| NO_ADDRESS.to_owned(), |session| session.address());
    let (base, is_scripted) = (&options.base_url, page.lane == Lane::Scripted);
    let question = format!("({LINKS})({},{},{is_scripted})", json!(address), json!(base));
    let answer = page.ask(question, page.limits.call).await?;
    let unled = answer.and_then(|answer| serde_json::from_str(&answer).ok());
    Ok(unled.and_then(|unled: Unled| Some(warning(&unled.first?, unled.count))))
}

fn warning(first: &str, count: u32) -> String {
    let others = match count {
        0 | 1 => String::new(),
        2 => " and one more".to_owned(),
        count => format!(" and {} more", count - 1),
    };
    format!(
        "relative links lead nowhere in a PDF: '{first}'{others}; write whole addresses, or say by formatOpts.baseUrl where \
         the page will be, such as https://example.com/docs/"
    )
}
