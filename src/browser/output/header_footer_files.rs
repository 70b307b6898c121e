//! Files that header and footer name: Chromium shows them in a document that loads nothing, and says nothing of it.

use serde_json::json;

use crate::browser::page::error::StepError;
use crate::browser::page::inspect::ASKING_LIMIT;
use crate::browser::page::load;
use crate::browser::page::open::OpenPage;
use crate::browser::tab::failed_requests;
use crate::domain::fault::WarningKind;
use crate::domain::format_opts::{Extras, PageOptions};

const SCRIPT: &str = include_str!("../../../assets/template_files.js");
/// Who names a file has one of these words, in small letters.
const NAMING: [&str; 6] = ["src", "url(", "href", "poster", "background", "data="];

impl OpenPage {
    /// Warns of the pictures that header and footer name and do not show.
    pub(in crate::browser) async fn check_header_footer(
        &mut self,
        options: &PageOptions,
    ) -> Result<(), StepError> {
        let Extras { header, footer, .. } = &options.extras;
        if !header.iter().chain(footer).any(|html| may_name_file(html)) {
            return Ok(());
        }
        let templates = json!({
            "headerTemplate": header.as_deref().unwrap_or_default(),
            "footerTemplate": footer.as_deref().unwrap_or_default(),
        });
        let asking = load::ask(self.tab()?, self.lane, format!("({SCRIPT})({templates})"), ASKING_LIMIT);
        let answer = match self.within(ASKING_LIMIT, asking).await {
            Ok(answer) => answer,
            Err(StepError::Fault(_) | StepError::Late) => None,
            Err(trouble) => return Err(trouble),
        };
        let named = answer.and_then(|answer| serde_json::from_str::<Vec<(String, String)>>(&answer).ok());
        for (option, address) in named.unwrap_or_default() {
            let shown = failed_requests::shown(&address);
            let text = format!(
                "not loaded: {shown} ({option} reaches no file: write pictures into it as data: addresses)"
            );
            self.warnings.push_kind(WarningKind::Missing, &text);
        }
        Ok(())
    }
}

fn may_name_file(html: &str) -> bool {
    let html = html.to_ascii_lowercase();
    NAMING.iter().any(|word| html.contains(word))
}
