//! Where the links of a PDF lead.
//!
//! Hazard: a page is shown under a host of the renderer's own, and Chromium writes each link with its whole address. Readers of
//! the file could follow none of them, and would see a name that means nothing to them. So a relative link leads to `baseUrl`,
//! or nowhere.

use bytes::{Bytes, BytesMut};
use memchr::memmem;
use serde::Deserialize;
use serde_json::json;
use url::Url;

use crate::browser::page::error::StepError;
use crate::browser::page::open_page::OpenPage;
use crate::domain::format_opts::PageOptions;
use crate::domain::lane::Lane;

const LINKS: &str = include_str!("../../../assets/links.js");
/// Stands for the address of a page that was written into its tab.
const NO_ADDRESS: &str = "http://page.invalid/";

/// How the address of a link begins in a file of Chromium's.
const LINK: &str = "/URI (";
/// Takes the place of an own host; it is shorter.
const NOWHERE: &[u8] = b"about:blank#";

/// Erases the page's own host from the links of a PDF while it passes. Hazard: no script of ours looks into a frame with
/// `sandbox`, so the links there are settled by nobody else. The file stays as long as it is, for its table counts bytes.
pub(super) struct LinkEraser {
    own: Vec<u8>,
    /// The end of the last piece, where that may begin such a link.
    held: Vec<u8>,
}

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
    let base = options.base_url.as_ref().map(Url::as_str);
    let is_scripted = page.lane == Lane::Scripted;
    let question = format!("({LINKS})({},{},{is_scripted})", json!(address), json!(base));
    let answer = page.ask(question, page.limits.call).await?;
    let unled = answer.and_then(|answer| serde_json::from_str(&answer).ok());
    Ok(unled.and_then(|unled: Unled| Some(warning(&unled.first?, unled.count))))
}

impl LinkEraser {
    /// `None` where the page has no host, or no links.
    pub(super) fn of(page: &OpenPage) -> Option<Self> {
        let session = page.session.as_ref().filter(|_| page.may_have_links)?;
        Some(Self::of_host(session.host()))
    }

    fn of_host(host: &str) -> Self {
        Self { own: format!("{LINK}http://{host}").into_bytes(), held: Vec::new() }
    }

    /// The piece, with the bytes before it that were held; holds some of its own, unless it is the last.
    pub(super) fn pass(&mut self, piece: Bytes, is_last: bool) -> Bytes {
        let held = std::mem::take(&mut self.held);
        let mut whole = if held.is_empty() { piece } else { Bytes::from([held.as_slice(), &piece].concat()) };
        let links: Vec<_> = memmem::find_iter(&whole, &self.own).collect();
        if !links.is_empty() {
            let mut erased = BytesMut::from(&whole[..]);
            for at in links {
                let address = &mut erased[at + LINK.len()..at + self.own.len()];
                address.fill(b'0');
                address[..NOWHERE.len()].copy_from_slice(NOWHERE);
            }
            whole = erased.freeze();
        }
        // One byte at least is given: nothing would be taken for the end.
        let lengths = 1..if is_last { 0 } else { self.own.len().min(whole.len()) };
        let begun = lengths.rev().find(|&length| whole.ends_with(&self.own[..length])).unwrap_or(0);
        self.held = whole.split_off(whole.len() - begun).to_vec();
        whole
    }
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_own_host_is_erased_whatever_the_borders_of_pieces() {
        let host = "0123456789abcdef0123456789abcdef.ab12.localhost";
        let file =
            format!("/URI (http://{host}/a.pdf) /URI (https://h.test/) ({host}) /URI (http://{host}/b)/UR");
        let nowhere = format!("about:blank#{}", "0".repeat("http://".len() + host.len() - NOWHERE.len()));
        let own = format!("http://{host}");
        let wanted = file.replace(&format!("({own}"), &format!("({nowhere}"));
        for piece in [65, 70, 99, 1_000] {
            let mut eraser = LinkEraser::of_host(host);
            let pieces: Vec<_> = file.as_bytes().chunks(piece).collect();
            let passed = pieces.iter().enumerate().map(|(at, piece)| {
                let part = eraser.pass(Bytes::copy_from_slice(piece), at + 1 == pieces.len());
                assert!(!part.is_empty());
                part
            });
            let passed: Vec<_> = passed.collect();
            assert_eq!(String::from_utf8(passed.concat()).unwrap(), wanted, "{piece}");
        }
    }

    #[test]
    fn the_warning_names_the_first_link_and_counts_the_others() {
        for (count, part) in
            [(1, "PDF: 'a.pdf'; write"), (2, "'a.pdf' and one more;"), (9, "'a.pdf' and 8 more;")]
        {
            assert!(warning("a.pdf", count).contains(part), "{count}");
        }
    }
}
