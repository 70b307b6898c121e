//! Pictures that came and cannot be decoded: a warning each.
//!
//! Only the page knows. One without script says so when it is asked whether it is ready, which it is asked anyway, the
//! others when they are looked at for their fonts; a further question is put only about pictures that are in doubt.

use serde::Deserialize;
use serde_json::json;

use super::error::StepError;
use super::inspect::ASKING_LIMIT;
use super::load;
use super::open::OpenPage;
use crate::browser::tab::console;
use crate::browser::tab::failed_requests;
use crate::domain::fault::WarningKind;

/// A function that answers [`Pictures`], or null.
pub(in crate::browser) const SEEN: &str = include_str!("../../../assets/pictures.js");
/// Those of some pictures that cannot be decoded. It takes no frame, of which some tabs have none (tried).
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
pub(in crate::browser) struct Pictures {
    /// They are shown broken, for whatever reason.
    broken: Vec<String>,
    /// They may be.
    doubtful: Vec<String>,
}

impl OpenPage {
    /// Warns of those that came and cannot be decoded.
    pub(in crate::browser) async fn check_pictures(&mut self, seen: Pictures) -> Result<(), StepError> {
        let Pictures { mut broken, doubtful } = seen;
        if !doubtful.is_empty() {
            broken.extend(self.undecodable(&doubtful).await?);
        }
        for address in &broken {
            // Of one that did not come it is said why.
            if self.state.borrow().failures.mentions(address) {
                continue;
            }
            self.warnings.push_kind(WarningKind::Missing, &sentence(address));
        }
        Ok(())
    }

    async fn undecodable(&self, addresses: &[String]) -> Result<Vec<String>, StepError> {
        let question = format!("({DECODED})({})", json!(addresses));
        let asking = load::ask(self.tab()?, self.lane, question, ASKING_LIMIT);
        match self.within(ASKING_LIMIT, asking).await {
            Ok(Some(answer)) => Ok(serde_json::from_str(&answer).unwrap_or_default()),
            Ok(None) | Err(StepError::Fault(_) | StepError::Late) => Ok(Vec::new()),
            Err(trouble) => Err(trouble),
        }
    }
}

fn sentence(address: &str) -> String {
    let shown = failed_requests::shown(address);
    if console::own_path(address).is_some() || address.starts_with("data:") {
        return format!("picture cannot be decoded: {shown} (it is damaged, or no picture)");
    }
    // It may have led elsewhere, of which the failure is said there.
    format!("picture cannot be shown: {shown} (nothing came, or what came is damaged, or no picture)")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_picture_that_a_script_made_is_the_pages_own() {
        let own = "0123456789abcdef0123456789abcdef.ab12.localhost";
        let text = sentence(&format!("blob:http://{own}/1-2"));
        assert_eq!(text, "picture cannot be decoded: /1-2 (it is damaged, or no picture)");
        assert!(
            sentence("blob:http://h.test/1-2")
                .starts_with("picture cannot be shown: blob:http://h.test/1-2 (")
        );
    }
}
