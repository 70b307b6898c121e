//! Files that a template asks for while it is filled: its own, and pictures at URLs that the operator allows.
//!
//! Hazard: names come from the template and its data. So a name is never a path of this machine but looked up among the
//! uploaded files. A URL must be allowed by `outbound.allow`, checked again at each redirect. A public template of another
//! account fetches nothing: it could send the data that it is filled with to its author.

use std::time::Duration;

use async_trait::async_trait;
use bytes::Bytes;
use parking_lot::Mutex;
use tokio::time::{Instant, timeout};
use tracing::Instrument as _;

use crate::config::OfficeConfig;
use crate::domain::reach::Reach;
use crate::domain::shown::redact_url;
use crate::domain::site::Site;
use crate::outbound::{FetchError, Outbound};
use crate::telemetry::Counters;
use crate::workers::{FileSource, SuppliedFile};

/// Longest name or URL in an error, in characters.
const SHOWN_LIMIT_CHARS: usize = 100;

/// The files of one template while one document is made of it.
pub(super) struct TemplateFiles<'a> {
    site: &'a Site,
    reach: Reach,
    outbound: &'a Outbound,
    config: &'a OfficeConfig,
    picture_fetches: &'a Counters<1>,
    budget: Mutex<FetchBudget>,
}

/// How many pictures may still be fetched, and for how long. A child asks for one file at a time.
struct FetchBudget {
    pictures: u64,
    time: Duration,
}

impl<'a> TemplateFiles<'a> {
    pub(super) fn new(
        site: &'a Site,
        reach: Reach,
        (outbound, config, picture_fetches): (&'a Outbound, &'a OfficeConfig, &'a Counters<1>),
    ) -> Self {
        let time = Duration::from_millis(config.pictures_timeout_ms);
        let budget = Mutex::new(FetchBudget { pictures: config.pictures_limit, time });
        Self { site, reach, outbound, config, picture_fetches, budget }
    }

    /// Fetches a URL.
    ///
    /// # Errors
    /// A sentence that names the URL without its secrets.
    async fn fetch(&self, address: &str) -> Result<Bytes, String> {
        let shown = shortened_name(&redact_url(address));
        let refused = |why: &str| format!("refused address: {shown} ({why})");
        if self.reach == Reach::OwnFiles {
            let why =
                "a public template reaches no hosts in a document of another account; a clone of it does";
            return Err(refused(why));
        }
        let time = self.begin()?;
        let begun = Instant::now();
        let fetching = self.outbound.fetch(address, self.config.picture_limit_bytes);
        let fetched = timeout(time, fetching).await;
        self.budget.lock().time = time.saturating_sub(begun.elapsed());
        self.picture_fetches.of([outcome(fetched.as_ref().ok())]).inc();
        match fetched {
            Ok(Ok(file)) => Ok(file),
            Ok(Err(FetchError::Refused(refusal))) => Err(refused(&refusal.to_string())),
            Ok(Err(FetchError::Failed(why))) => Err(format!("{shown} cannot be fetched: {why}")),
            Ok(Err(error @ FetchError::TooLong(_))) => {
                Err(format!("{shown} cannot be fetched: {error} (office.picture_limit_bytes)"))
            }
            Err(_) => Err(self.late()),
        }
    }

    /// Counts a fetch, and returns how long it may take.
    fn begin(&self) -> Result<Duration, String> {
        let mut left = self.budget.lock();
        let limit = self.config.pictures_limit;
        left.pictures = left.pictures.checked_sub(1).ok_or_else(|| {
            format!("the document fetches more than {limit} pictures (office.pictures_limit)")
        })?;
        if left.time.is_zero() { Err(self.late()) } else { Ok(left.time) }
    }

    fn late(&self) -> String {
        let limit = self.config.pictures_timeout_ms;
        format!("the document's pictures were not fetched within {limit} ms (office.pictures_timeout_ms)")
    }
}

/// The metric's label for the end of a fetch; `None`: not in time.
fn outcome(fetched: Option<&Result<Bytes, FetchError>>) -> &'static str {
    match fetched {
        Some(Ok(_)) => "fetched",
        Some(Err(FetchError::Refused(_))) => "refused",
        Some(Err(FetchError::Failed(_))) => "failed",
        Some(Err(FetchError::TooLong(_))) => "too_long",
        None => "late",
    }
}

#[async_trait]
impl FileSource for TemplateFiles<'_> {
    async fn file(&self, name: &str) -> Result<SuppliedFile, String> {
        let content = if is_address(name) {
            self.fetch(name).instrument(tracing::info_span!("fetch")).await
        } else {
            beside(self.site, name)
        };
        content.map(|content| SuppliedFile { content, made: None })
    }

    fn is_remote(&self, name: &str) -> bool {
        self.reach != Reach::OwnFiles && is_address(name)
    }
}

/// A file beside the template; `name` is relative to its folder.
///
/// # Errors
/// A sentence with the remedy.
pub(in crate::engines) fn beside(site: &Site, name: &str) -> Result<Bytes, String> {
    let shown = shortened_name(name);
    let segments: Vec<_> = name.split('/').filter(|segment| !segment.is_empty() && *segment != ".").collect();
    if name.starts_with('/') || segments.contains(&"..") {
        return Err(format!(
            "'{shown}' leads out of the template's folder; name a file by its path inside of it"
        ));
    }
    let folder = Some(site.folder()).filter(|folder| !folder.is_empty());
    let path: Vec<_> = folder.into_iter().chain(segments).collect();
    site.get(&path.join("/")).cloned().ok_or_else(|| {
        let remedy = if site.has_assets() {
            "the archive has none of this name"
        } else {
            "upload a zip archive with the document as index.docx, and the file in it"
        };
        format!("there is no file '{shown}' beside the template; {remedy}")
    })
}

/// Whether a name begins as a URL: with a scheme (RFC 3986, 3.1), or `//` and a host.
fn is_address(name: &str) -> bool {
    let is_scheme = |scheme: &str| {
        let is_letter = |letter: char| letter.is_ascii_alphanumeric() || matches!(letter, '+' | '-' | '.');
        scheme.starts_with(|letter: char| letter.is_ascii_alphabetic()) && scheme.chars().all(is_letter)
    };
    name.starts_with("//") || name.split_once(':').is_some_and(|(scheme, _)| is_scheme(scheme))
}

fn shortened_name(name: &str) -> String {
    let mut letters = name.chars().filter(|letter| !letter.is_control());
    let mut shown: String = letters.by_ref().take(SHOWN_LIMIT_CHARS).collect();
    if letters.next().is_some() {
        shown.push('…');
    }
    shown
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;
    use crate::config::Config;
    use crate::domain::site::Files;
    use crate::outbound::SystemResolver;
    use crate::telemetry::metrics::Metrics;

    fn site() -> Site {
        let files =
            ["index.docx", "logo.png", "img/a b.png"].map(|path| (path.to_owned(), Bytes::from(path)));
        Site::new("index.docx", Files::from(files))
    }

    async fn ask(site: &Site, names: &[&str]) -> Vec<String> {
        let config = Config::default();
        let outbound = Outbound::new(config.outbound.clone(), &[], Arc::new(SystemResolver));
        let metrics = Metrics::new().office_pictures;
        let files = TemplateFiles::new(site, Reach::OwnFiles, (&outbound, &config.office, &metrics));
        let mut answers = Vec::new();
        for name in names {
            let file = files.file(name).await.map(|file| String::from_utf8(file.content.to_vec()).unwrap());
            answers.push(file.unwrap_or_else(|why| why));
        }
        answers
    }

    #[tokio::test]
    async fn files_are_those_that_were_uploaded_by_their_paths() {
        let site = site();
        let names = ["logo.png", "./logo.png", "img//a b.png"];
        assert_eq!(ask(&site, &names).await, ["logo.png", "logo.png", "img/a b.png"]);
        let outside = ["../logo.png", "img/../logo.png", "/logo.png", "/etc/passwd"];
        for why in ask(&site, &outside).await {
            assert!(why.contains("leads out of the template's folder"), "{why}");
        }
        for why in ask(&site, &["Logo.png", "img", "", r"img\a b.png"]).await {
            assert!(why.starts_with("there is no file '") && why.contains("archive has none"), "{why}");
        }
        let deeper = [("a/index.docx".to_owned(), Bytes::new()), ("a/logo.png".to_owned(), Bytes::from("a"))];
        let deeper = Site::new("a/index.docx", Files::from(deeper));
        assert_eq!(ask(&deeper, &["logo.png"]).await, ["a"]);
        let alone = Site::single("template.docx", Bytes::new());
        assert!(ask(&alone, &["logo.png"]).await[0].contains("upload a zip archive"));
    }

    #[tokio::test]
    async fn a_public_template_fetches_nothing_and_the_secrets_of_an_address_are_not_shown() {
        let errors = ask(&site(), &["https://a.example/x.png?signature=secret"]).await;
        assert!(
            errors[0].starts_with("refused address: https://a.example/x.png (a public template"),
            "{errors:?}"
        );
    }
}
