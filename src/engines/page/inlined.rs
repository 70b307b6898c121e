//! Pages without script whose files are inlined as `data:` addresses: then they are written into their tab, which costs half
//! of what a navigation and a request for each file do.
//!
//! The address of a file is made once for all jobs of a package. What is decided about the page (its lane, limits, scans for
//! rules and fonts) is decided on the text without inlined files: base64 may spell any word.

use std::sync::Arc;

use page_inliner::{BaseUrl, Files, Role, inline, sheet_address};
use quick_cache::Weighter;
use quick_cache::sync::Cache;

use super::document_state::leaves_document_state;
use super::references::has_references;
use crate::browser::{self, Delivery};
use crate::config::BrowserConfig;
use crate::domain::encoding;
use crate::domain::site::{FilesId, Site};

/// What an entry takes beside its address.
const FIXED_BYTES: u64 = 256;
const EXPECTED_FILES: usize = 256;
/// Longest chain of sheets that import each other; a page with a longer one is served.
const IMPORTS_LIMIT: u32 = 8;
/// For longer pages parsing takes as long as inlining saves.
const PAGE_LIMIT_BYTES: usize = 1 << 20;

/// Inlines files into pages. Clones share the cache.
#[derive(Clone)]
pub struct Inliner {
    addresses: Arc<Cache<Key, Address, Weight>>,
    limit_bytes: usize,
}

/// A file of a package.
type Key = (FilesId, String);
/// None where it cannot be inlined.
type Address = Option<Arc<str>>;

/// A page with its files in it.
#[derive(Debug)]
pub struct InlinedPage {
    /// The page.
    pub html: String,
    /// How it comes into its tab.
    pub delivery: Delivery,
}

#[derive(Clone)]
struct Weight;

impl Weighter<Key, Address> for Weight {
    fn weight(&self, (_, path): &Key, address: &Address) -> u64 {
        FIXED_BYTES + (path.len() + address.as_ref().map_or(0, |address| address.len())) as u64
    }
}

impl Inliner {
    /// An inliner with the configured limits.
    pub fn new(config: &BrowserConfig) -> Self {
        let addresses = Arc::new(Cache::with_weighter(EXPECTED_FILES, config.inlined_cache_bytes, Weight));
        Self { addresses, limit_bytes: usize::try_from(config.inlined_limit_bytes).unwrap_or(usize::MAX) }
    }

    /// Whether the page of `site` may be inlined.
    pub fn may_inline(&self, site: &Site) -> bool {
        let is_short = site.page().is_some_and(|page| page.len() <= PAGE_LIMIT_BYTES);
        self.limit_bytes > 0 && site.has_assets() && is_short
    }

    /// The page of `site` with its files inlined; none where it would look different, or would still refer to something.
    pub fn inlined(&self, site: &Site) -> Option<InlinedPage> {
        let page = encoding::without_bom(site.page()?.clone());
        let page = std::str::from_utf8(&page).ok()?;
        let folder = site.folder();
        let base = BaseUrl::of(&if folder.is_empty() { String::new() } else { format!("{folder}/") })?;
        let files = SiteFiles { inliner: self, site, id: site.files_id(), imports: 0 };
        let inlined = inline(page, &base, &files, self.limit_bytes)?;
        // The text without inlined files is scanned as that of any page.
        let rest = inlined.skeleton().as_bytes();
        if has_references(rest) {
            return None;
        }
        let delivery = if leaves_document_state(rest) { Delivery::Put } else { Delivery::PutInPlace };
        Some(InlinedPage { html: inlined.whole(), delivery })
    }
}

/// The files beside a page, or beside a sheet that is `imports` sheets away from it.
struct SiteFiles<'a> {
    inliner: &'a Inliner,
    site: &'a Site,
    id: FilesId,
    imports: u32,
}

impl Files for SiteFiles<'_> {
    fn address(&self, role: Role, path: &str) -> Option<Arc<str>> {
        let essence = browser::media_type(path);
        let (path, content) = self.site.find(path).filter(|_| role_of(&essence) == Some(role))?;
        if path == self.site.entry() {
            return None;
        }
        let key = (self.id.clone(), path.to_owned());
        if let Some(known) = self.inliner.addresses.get(&key) {
            return known;
        }
        let limit = self.inliner.limit_bytes;
        let address = match role {
            _ if content.len() > limit => None,
            Role::Sheet => self.sheet(path, content),
            Role::Picture | Role::Font => page_inliner::data_address(role, &essence, content),
        };
        let address = address.filter(|address| address.len() <= limit).map(Arc::from);
        self.inliner.addresses.insert(key, address.clone());
        address
    }
}

impl SiteFiles<'_> {
    fn sheet(&self, path: &str, content: &[u8]) -> Option<String> {
        let imports = self.imports + 1;
        if imports > IMPORTS_LIMIT {
            return None;
        }
        // A sheet that is UTF-8 is served as such, whatever it declares; others are left to the browser.
        let text = std::str::from_utf8(content).ok()?;
        let text = text.strip_prefix('\u{feff}').unwrap_or(text);
        let beside = SiteFiles { inliner: self.inliner, site: self.site, id: self.id.clone(), imports };
        sheet_address(text, &BaseUrl::of(path)?, &beside, self.inliner.limit_bytes)
    }
}

/// What a file of a type is wanted for.
fn role_of(essence: &str) -> Option<Role> {
    match essence.split_once('/')? {
        ("text", "css") => Some(Role::Sheet),
        ("image", _) => Some(Role::Picture),
        ("font", _) => Some(Role::Font),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use bytes::Bytes;

    use super::*;
    use crate::config::Config;
    use crate::domain::site::Files as SiteFiles;

    const DOT: &[u8] = include_bytes!("../../../tests/browser/dot.png");

    fn site(page: &str, sheet: &str) -> Site {
        let files: [(&str, &[u8]); 10] = [
            ("f/index.html", page.as_bytes()),
            ("f/a.css", sheet.as_bytes()),
            ("f/latin.css", b"@charset \"latin1\"; p{content:'\xe4'}"),
            ("f/loop.css", b"@import 'loop.css';"),
            ("f/dot.png", DOT),
            ("f/e\u{301}.png", DOT),
            ("f/damaged.png", &DOT[..DOT.len() - 1]),
            ("f/dot.jpg", DOT),
            ("f/dot.txt", DOT),
            ("f/drawing.svg", b"<svg xmlns='http://www.w3.org/2000/svg'><use href='other.svg#a'/></svg>"),
        ];
        let files = files.map(|(path, content)| (path.to_owned(), Bytes::copy_from_slice(content)));
        Site::new("f/index.html", SiteFiles::from(files))
    }

    fn inliner(change: impl FnOnce(&mut BrowserConfig)) -> Inliner {
        let mut config = Config::default().browser;
        change(&mut config);
        Inliner::new(&config)
    }

    fn delivery(page: &str, sheet: &str) -> Option<Delivery> {
        inliner(|_| {}).inlined(&site(page, sheet)).map(|inlined| inlined.delivery)
    }

    #[test]
    fn a_page_whose_files_are_all_known_is_put_in_place() {
        let sheet = "p{background:url(dot.png)}";
        for page in [
            "<link rel=stylesheet href=a.css><p>x",
            "\u{feff}<!doctype html><img src=dot.png><img src=/f/dot.png?v=1>",
            "<img src=\u{e9}.png><img src=e\u{301}.png><img src=e%CC%81.png>",
            "<style>p::after{content:'\\201C'}</style><p>no file, but an escape",
        ] {
            assert_eq!(delivery(page, sheet), Some(Delivery::PutInPlace), "{page}");
        }
        // It leaves something, whatever is put in.
        let page = "<meta name=color-scheme content=dark><img src=dot.png>";
        assert_eq!(delivery(page, ""), Some(Delivery::Put));
    }

    #[test]
    fn a_page_with_anything_else_is_served() {
        for page in [
            "<img src=missing.png>",
            "<img src=damaged.png>",
            "<img src=dot.jpg>",
            "<img src=dot.txt>",
            "<img src=drawing.svg>",
            "<img src=index.html>",
            "<img src='.'>",
            "<img src=dot.png srcset='dot.png 2x'>",
            "<img src=dot.png><img src=https://h.example/dot.png>",
            "<picture><source srcset=dot.png><img src=dot.png></picture>",
            "<svg><use href='drawing.svg#a'/></svg>",
            "<svg><image href=dot.png /></svg>",
            "<svg><rect fill='url(drawing.svg#a)'/></svg>",
            "<table background=dot.png>",
            "<link rel=icon href=dot.png><link rel=stylesheet href=a.css>",
            "<link rel=stylesheet href=missing.css>",
            "<link rel=stylesheet href=latin.css>",
            "<link rel=stylesheet href=loop.css>",
            "<link rel=stylesheet href=dot.png>",
            "<link rel=stylesheet integrity=sha256-AA href=a.css>",
            "<link rel='alternate stylesheet' title=b href=a.css>",
            "<style>@import 'missing.css';</style>",
            "<p style='mask:url(drawing.svg#a)'>",
        ] {
            assert_eq!(delivery(page, "p{color:red}"), None, "{page}");
        }
        for sheet in [
            "p{background:url(missing.png)}",
            "p{background:url(damaged.png)}",
            "@font-face{font-family:a;src:url(dot.png)}",
            "@namespace svg url(http://www.w3.org/2000/svg);",
            "@import 'missing.css';",
            "p{filter:url(drawing.svg#a)}",
        ] {
            assert_eq!(delivery("<link rel=stylesheet href=a.css>", sheet), None, "{sheet}");
        }
    }

    #[test]
    fn the_address_of_a_file_is_made_once_for_a_package_and_within_the_limit() {
        let first = site("<img src=dot.png>", "");
        let inliner = inliner(|config| config.inlined_limit_bytes = 200);
        assert!(inliner.may_inline(&first) && !inliner.may_inline(&Site::single("a", Bytes::new())));
        let kept = |inliner: &Inliner| {
            inliner.addresses.iter().map(|(_, address)| address.unwrap()).collect::<Vec<_>>()
        };
        inliner.inlined(&first).unwrap();
        let address = kept(&inliner);
        let other = first.clone().with_page(Bytes::from_static(b"<p><img src=dot.png><img src=dot.png>"));
        assert!(inliner.inlined(&other).is_none(), "twice is more than the limit");
        let other = first.clone().with_page(Bytes::from_static(b"<p>again<img src=dot.png>"));
        let html = inliner.inlined(&other).unwrap().html;
        assert_eq!(html, format!("<p>again<img src=\"{}\">", address[0]));
        assert!(Arc::ptr_eq(&kept(&inliner)[0], &address[0]), "made once");
        // Another package has files of its own under the same names.
        inliner.inlined(&site("<img src=dot.png>", "")).unwrap();
        assert_eq!(kept(&inliner).len(), 2);
        let none = self::inliner(|config| config.inlined_limit_bytes = 0);
        assert!(!none.may_inline(&first));
    }
}
