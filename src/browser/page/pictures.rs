//! Pictures that came and cannot be decoded: a warning each.
//!
//! Only the page knows which. It answers along with a question that is asked anyway (readiness without script, fonts with
//! script); a call more is made only for pictures in doubt.

use serde::Deserialize;
use serde_json::json;

use super::error::StepError;
use super::open_page::OpenPage;
use crate::browser::tab::failed_requests;
use crate::browser::tab::own_host;
use crate::domain::error::WarningKind;

/// A function that answers [`Pictures`], or null.
pub(super) const SEEN: &str = include_str!("../../../assets/pictures.js");
/// A function that answers which of some pictures cannot be decoded. It needs no animation frame, which static tabs never get
/// (tried).
const DECODED: &str = "async addresses => {
    const decode = async address => {
        const image = new Image();
        image.src = address;
        return image.decode().then(() => [], () => [address]);
    };
    return JSON.stringify((await Promise.all(addresses.map(decode))).flat());
}";

/// What a page answers of its pictures.
#[derive(Debug, Default, Deserialize)]
pub(super) struct Pictures {
    /// They are shown broken, for whatever reason.
    broken: Vec<String>,
    /// They may be.
    doubtful: Vec<String>,
}

/// Warns of those that came and cannot be decoded.
pub(super) async fn check(page: &mut OpenPage, seen: Pictures) -> Result<(), StepError> {
    let Pictures { mut broken, doubtful } = seen;
    if !doubtful.is_empty() {
        let question = format!("({DECODED})({})", json!(doubtful));
        let answer = page.ask_for_warning(question).await?;
        let undecodable = answer.and_then(|answer| serde_json::from_str::<Vec<String>>(&answer).ok());
        broken.extend(undecodable.unwrap_or_default());
    }
    for address in &broken {
        // Where its request failed, that has a warning already.
        if page.state.borrow().failures.mentions(address) {
            continue;
        }
        page.warnings.push_kind(WarningKind::Missing, &sentence(address));
    }
    Ok(())
}

fn sentence(address: &str) -> String {
    let shown = failed_requests::redacted_url(address);
    if own_host::own_path(address).is_some() || address.starts_with("data:") {
        return format!("picture cannot be decoded: {shown} (it is damaged, or no picture)");
    }
    // A redirect may have failed: then the failed request has the address that it led to.
    format!("picture cannot be shown: {shown} (nothing came, or what came is damaged, or no picture)")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_blob_of_the_page_is_shown_as_its_own_file() {
        let own = "0123456789abcdef0123456789abcdef.ab12.localhost";
        let text = sentence(&format!("blob:http://{own}/1-2"));
        assert_eq!(text, "picture cannot be decoded: /1-2 (it is damaged, or no picture)");
        assert!(
            sentence("blob:http://h.test/1-2")
                .starts_with("picture cannot be shown: blob:http://h.test/1-2 (")
        );
    }
}
