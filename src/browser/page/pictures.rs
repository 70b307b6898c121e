//! Pictures that came and cannot be decoded, or not to their end: a warning each.
//!
//! Only the page knows which. It answers along with a question that is asked anyway (readiness without script, fonts with
//! script); a call more is made only for pictures in doubt. Which of the template's own may be cut off is known where they are
//! served.

use serde::Deserialize;
use serde_json::json;

use super::error::StepError;
use super::open_page::OpenPage;
use crate::browser::tab::failed_requests;
use crate::browser::tab::own_host;
use crate::domain::error::WarningKind;

/// A function that answers [`Pictures`], or null.
pub(super) const SEEN: &str = include_str!("../../../assets/pictures.js");
/// A function that answers [`Flawed`] of some pictures.
const DECODED: &str = include_str!("../../../assets/pictures_decoded.js");

/// What a page answers of its pictures.
#[derive(Debug, Default, Deserialize)]
pub(super) struct Pictures {
    /// They are shown broken, for whatever reason.
    broken: Vec<String>,
    /// They may be.
    doubtful: Vec<String>,
    /// Their ends may be missing.
    suspects: Vec<String>,
}

/// Those of doubtful pictures that are flawed.
#[derive(Debug, Default, Deserialize)]
struct Flawed {
    /// They cannot be decoded.
    broken: Vec<String>,
    /// Only their beginnings can.
    cut: Vec<String>,
}

/// Warns of those that came and cannot be decoded to their end.
pub(super) async fn check(page: &mut OpenPage, seen: Pictures) -> Result<(), StepError> {
    let Pictures { broken, doubtful, mut suspects } = seen;
    suspects.extend(page.session.iter().flat_map(|session| session.take_cut_pictures()));
    let mut flawed = Flawed::default();
    if !doubtful.is_empty() || !suspects.is_empty() {
        let question = format!("({DECODED})({},{})", json!(doubtful), json!(suspects));
        let answer = page.ask_for_warning(question).await?;
        flawed = answer.and_then(|answer| serde_json::from_str(&answer).ok()).unwrap_or_default();
    }
    let broken = broken.iter().chain(&flawed.broken).map(|address| (address, undecodable(address)));
    let cut = flawed.cut.iter().map(|address| (address, cut_off(address)));
    for (address, sentence) in broken.chain(cut) {
        // Where its request failed, that has a warning already.
        if !page.state.borrow().failures.mentions(address) {
            page.warnings.push_kind(WarningKind::Missing, &sentence);
        }
    }
    Ok(())
}

fn undecodable(address: &str) -> String {
    let shown = failed_requests::redacted_url(address);
    if own_host::own_path(address).is_some() || address.starts_with("data:") {
        return format!("picture cannot be decoded: {shown} (it is damaged, or no picture)");
    }
    // A redirect may have failed: then the failed request has the address that it led to.
    format!("picture cannot be shown: {shown} (nothing came, or what came is damaged, or no picture)")
}

fn cut_off(address: &str) -> String {
    let shown = failed_requests::redacted_url(address);
    format!("picture is cut off: {shown} (the end of the file is missing; only what came before it is shown)")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_blob_of_the_page_is_shown_as_its_own_file() {
        let own = "0123456789abcdef0123456789abcdef.ab12.localhost";
        let text = undecodable(&format!("blob:http://{own}/1-2"));
        assert_eq!(text, "picture cannot be decoded: /1-2 (it is damaged, or no picture)");
        assert!(
            undecodable("blob:http://h.test/1-2")
                .starts_with("picture cannot be shown: blob:http://h.test/1-2 (")
        );
    }
}
