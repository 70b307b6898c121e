//! Header, footer, bookmarks, tags and metadata of a PDF.

use json_members::{Members, Shape};
use serde::{Deserialize, Serialize};

use super::Key;

/// Header, footer, bookmarks, tags and metadata of a PDF.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Extras {
    /// HTML at the top of every sheet.
    pub header: Option<String>,
    /// HTML at the bottom of every sheet.
    pub footer: Option<String>,
    /// Bookmarks, made of the headings.
    pub outline: bool,
    /// Whether the file is tagged (headings, tables, paragraphs), which makes it larger; `None`: up to
    /// `browser.tagged_pages_limit`.
    pub tagged: Option<bool>,
    /// Its metadata.
    pub metadata: Metadata,
}

/// The metadata of a PDF.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize, Serialize)]
pub struct Metadata {
    /// Overrides the page's own title.
    pub title: Option<String>,
    /// Who wrote it.
    pub author: Option<String>,
    /// What it is about.
    pub subject: Option<String>,
    /// Words to find it by.
    pub keywords: Option<String>,
}

impl Extras {
    /// Reads `headerTemplate`, `footerTemplate`, `outline`, `tagged` and `metadata`.
    pub(super) fn read(members: &mut Members<'_>) -> Self {
        let (outline, tagged) = (members.flag(Key::Outline).unwrap_or_default(), members.flag(Key::Tagged));
        if outline && tagged == Some(false) {
            let detail = "makes bookmarks out of the tags, and tagged is false; leave out one of them";
            members.fault(Key::Outline, detail);
        }
        Self {
            header: members.text(Key::HeaderTemplate),
            footer: members.text(Key::FooterTemplate),
            outline,
            tagged,
            metadata: read_metadata(members),
        }
    }

    /// Whether there is a header or footer.
    pub fn has_header_or_footer(&self) -> bool {
        self.header.is_some() || self.footer.is_some()
    }
}

fn read_metadata(members: &mut Members<'_>) -> Metadata {
    let wanted = "an object of title, author, subject, keywords";
    let read = |sent: &mut Members<'_>| Metadata {
        title: sent.text("title"),
        author: sent.text("author"),
        subject: sent.text("subject"),
        keywords: read_keywords(sent),
    };
    members.object(Key::Metadata, ("Metadata", wanted), read).unwrap_or_default()
}

/// One string, or a list of them.
fn read_keywords(sent: &mut Members<'_>) -> Option<String> {
    let shape =
        || Shape::OneOf { title: "Keywords", shapes: vec![Shape::Text, Shape::List(Box::new(Shape::Text))] };
    let value = sent.raw("keywords", shape)?;
    if !value.get().starts_with('[') {
        return sent.text("keywords");
    }
    let words = serde_json::from_str::<Vec<String>>(value.get());
    if words.is_err() {
        sent.fault("keywords", "must be a string or an array of strings");
    }
    words.ok().map(|words| words.join(", ")).filter(|words| !words.is_empty())
}

#[cfg(test)]
mod tests {
    use super::super::testing::{assert_error, options, unknown};

    #[test]
    fn header_and_footer_take_a_margin_where_none_is_given() {
        let near = |left: f64, right: f64| (left - right).abs() < 1e-9;
        let taken = options(r#"{"headerTemplate":"<b>","margin":{"left":"1in"}}"#).margin;
        assert!(near(taken.top_in, 15.0 / 25.4) && near(taken.left_in, 1.0), "{taken:?}");
        assert!(near(taken.bottom_in, 0.0));
        let taken = options(r#"{"footerTemplate":"<b>","margin":{"bottom":"1in"}}"#).margin;
        assert!(near(taken.bottom_in, 1.0) && near(taken.top_in, 0.0), "{taken:?}");
        assert!(near(options(r#"{"headerTemplate":"<b>","margin":0}"#).margin.top_in, 0.0));
        assert!(near(options(r#"{"headerTemplate":"","footerTemplate":null}"#).margin.top_in, 0.0));
        assert_error(r#"{"headerTemplate":{}}"#, "/formatOpts/headerTemplate", "must be a string");
        assert_error(r#"{"headerTemplate":"<b>","height":"10mm"}"#, "/formatOpts/margin", "takes 15mm");
    }

    #[test]
    fn metadata_are_texts() {
        let text = r#"{"metadata":{"title":"T","author":"A","keywords":["a","b"],"producer":"P"}}"#;
        let metadata = options(text).extras.metadata;
        assert_eq!(metadata.title.as_deref(), Some("T"));
        assert_eq!(metadata.keywords.as_deref(), Some("a, b"));
        assert_eq!(metadata.subject, None);
        assert_eq!(unknown(text), ["metadata.producer"]);
        assert_eq!(unknown(r#"{"margin":{"top":1,"unit":"mm"}}"#), ["margin.unit"]);
        assert_error(r#"{"metadata":"x"}"#, "/formatOpts/metadata", "must be an object of title");
        assert_error(r#"{"metadata":{"title":1}}"#, "/formatOpts/metadata/title", "must be a string");
        assert_error(r#"{"metadata":{"keywords":[1]}}"#, "/formatOpts/metadata/keywords", "array of strings");
        assert_error(r#"{"outline":true,"tagged":false}"#, "/formatOpts/outline", "out of the tags");
        assert_error(r#"{"outline":"h1"}"#, "/formatOpts/outline", "true or false");
    }
}
