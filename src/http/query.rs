//! Parses the query of a list: filters, page size and cursor.

use std::collections::BTreeSet;

use actix_web::HttpRequest;
use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use url::form_urlencoded;
use uuid::Uuid;

use crate::domain::error::Warnings;
use crate::domain::shown::{shortened, shown};
use crate::problem::{FieldError, Problem};

/// Items of a page when the caller does not say how many.
const LIMIT_DEFAULT: usize = 20;
const LIMIT_MOST: usize = 100;
/// Most unknown names of a query that are told.
const NAMED: usize = 10;
/// First byte of a cursor: the version of its format, so that a cursor of another version is refused, not misread.
const CURSOR_VERSION: u8 = 1;

/// Which page of a list is wanted.
pub(super) struct QueriedPage {
    pub(super) limit: usize,
    pub(super) before: Option<Uuid>,
    /// What is to be told of the query.
    pub(super) warnings: Warnings,
}

/// The pairs of a query, the errors found in them, and the names that were asked for: any other is warned of.
pub(super) struct Query {
    pairs: Vec<(String, String)>,
    errors: Vec<FieldError>,
    asked: Vec<&'static str>,
}

impl Query {
    pub(super) fn of(request: &HttpRequest) -> Self {
        let pairs = form_urlencoded::parse(request.query_string().as_bytes()).into_owned().collect();
        Self { pairs, errors: Vec::new(), asked: Vec::new() }
    }

    /// The value of `name`; an empty one counts as none.
    pub(super) fn read<T>(
        &mut self,
        name: &'static str,
        wanted: &str,
        read: impl FnOnce(&str) -> Option<T>,
    ) -> Option<T> {
        self.asked.push(name);
        let mut sent = self.pairs.iter().filter(|(key, value)| key == name && !value.is_empty());
        let (_, text) = sent.next()?;
        if sent.next().is_some() {
            self.errors.push(FieldError::new(format!("/{name}"), "is given twice; give it once"));
            return None;
        }
        let value = read(text);
        if value.is_none() {
            let shown = shortened(text);
            self.errors
                .push(FieldError::new(format!("/{name}"), format!("'{shown}' is wrong; give {wanted}")));
        }
        value
    }

    /// One of the words `known`, converted by `from_name`.
    pub(super) fn word<T>(
        &mut self,
        name: &'static str,
        known: &[&str],
        from_name: impl FnOnce(&str) -> Option<T>,
    ) -> Option<T> {
        self.read(name, &format!("one of {}", known.join(", ")), from_name)
    }

    /// The page's size, the id that it continues after, and what is to be told of the query.
    ///
    /// # Errors
    /// Every error found so far: call this last.
    pub(super) fn page(mut self) -> Result<QueriedPage, Problem> {
        let limit = self.read("limit", &format!("a number from 1 to {LIMIT_MOST}"), read_limit);
        let before = self.read("cursor", "nextCursor of an earlier page, as it was", read_cursor);
        if !self.errors.is_empty() {
            return Err(Problem::validation(self.errors));
        }
        let warnings = self.warnings();
        Ok(QueriedPage { limit: limit.unwrap_or(LIMIT_DEFAULT), before, warnings })
    }

    /// Names that nobody asked for: a misspelt filter would list everything.
    fn warnings(&self) -> Warnings {
        let mut warnings = Warnings::default();
        let names: BTreeSet<_> = self.pairs.iter().map(|(name, _)| name.as_str()).collect();
        let unknown = names.into_iter().filter(|name| !name.is_empty() && !self.asked.contains(name));
        for name in unknown.take(NAMED) {
            let near = json_members::nearest(name, self.asked.iter().copied());
            let hint = near.map(|near| format!("; did you mean {near}?")).unwrap_or_default();
            let told = format!("the query's {} is not known to this call and was ignored{hint}", shown(name));
            warnings.push(&told);
        }
        warnings
    }
}

/// The cursor of the page that continues after `last`. It needs no owner check: only the caller's own items are listed,
/// whatever the cursor names.
pub(super) fn cursor(last: Uuid) -> String {
    let mut bytes = vec![CURSOR_VERSION];
    bytes.extend_from_slice(last.as_bytes());
    URL_SAFE_NO_PAD.encode(bytes)
}

fn read_limit(text: &str) -> Option<usize> {
    text.parse().ok().filter(|limit| (1..=LIMIT_MOST).contains(limit))
}

fn read_cursor(text: &str) -> Option<Uuid> {
    let bytes = URL_SAFE_NO_PAD.decode(text).ok()?;
    let (&CURSOR_VERSION, id) = bytes.split_first()? else { return None };
    Uuid::from_slice(id).ok()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::ids::JobId;

    #[test]
    fn a_cursor_comes_back_as_it_was() {
        let last = JobId::generate().0;
        assert_eq!(read_cursor(&cursor(last)), Some(last));
        assert!(cursor(last).bytes().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_')));
    }
}
