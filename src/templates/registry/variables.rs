//! The data that a template reads: told when it is saved, kept in its info object.

use std::sync::{Arc, OnceLock};
use std::time::Duration;

use async_trait::async_trait;
use serde::{Deserialize, Serialize};

use super::context::Deps;
use crate::domain::ids::AccountId;
use crate::domain::kinds::TemplateKind;
use crate::domain::site::Site;

/// A longer one is counted and not kept.
const PATH_CHARACTERS: usize = 120;

/// What a template reads of its data.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Variables {
    /// `customer.name`, `items[].price`, in order.
    pub paths: Vec<String>,
    /// How many there are beside these.
    pub more: usize,
}

impl Variables {
    /// Of all paths the first `limit`, and no long ones.
    fn bounded(all: Vec<String>, limit: u64) -> Self {
        let (count, limit) = (all.len(), usize::try_from(limit).unwrap_or(usize::MAX));
        let short = all.into_iter().filter(|path| path.chars().count() <= PATH_CHARACTERS);
        let paths: Vec<_> = short.take(limit).collect();
        Self { more: count - paths.len(), paths }
    }
}

/// What a reader tells of a template.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Reading {
    /// All paths that it reads.
    Paths(Vec<String>),
    /// They cannot be told: it has a fault, or its kind no reader.
    Untellable,
    /// They could not be told within the limit; later they may be.
    NotInTime,
}

/// What is known of what a template reads.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(in crate::templates) enum Told {
    Variables(Variables),
    /// They cannot be told.
    Untellable,
    /// Nobody has told them so far.
    NotYet,
}

/// Who can tell what templates read. Their code is for the engines, which stand above templates.
#[async_trait(?Send)]
pub trait VariableReader: Send + Sync {
    /// All paths of a template of this kind, told within `limit`.
    async fn variables(
        &self,
        account: AccountId,
        template: (TemplateKind, &Site),
        limit: Duration,
    ) -> Reading;
}

/// The place of the reader, who comes later than the templates. Without one nothing is told.
#[derive(Clone, Default)]
pub struct ReaderPlace(Arc<OnceLock<Arc<dyn VariableReader>>>);

impl ReaderPlace {
    /// The reader is there; the first one stays.
    pub fn take(&self, reader: Arc<dyn VariableReader>) {
        let _ = self.0.set(reader);
    }
}

impl Deps {
    /// What a template with these files reads, if that is told in time.
    pub(in crate::templates) async fn variables(
        &self,
        account: AccountId,
        template: (TemplateKind, &Site),
    ) -> Told {
        let limit = Duration::from_millis(self.limits.variables_timeout_ms);
        let Some(reader) = self.reader.0.get() else {
            return Told::NotYet;
        };
        match reader.variables(account, template, limit).await {
            Reading::Paths(all) => Told::Variables(Variables::bounded(all, self.limits.variables_limit)),
            Reading::Untellable => Told::Untellable,
            Reading::NotInTime => Told::NotYet,
        }
    }

    /// Whether it is worth the while to load a template for its variables.
    pub(in crate::templates) fn has_reader(&self) -> bool {
        self.reader.0.get().is_some()
    }

    /// Where the reader goes.
    #[must_use]
    pub fn reader(&self) -> ReaderPlace {
        self.reader.clone()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_too_much_or_too_long_is_counted() {
        let all = vec!["a".to_owned(), "b".repeat(PATH_CHARACTERS + 1), "c".to_owned(), "d".to_owned()];
        let kept = |limit| Variables::bounded(all.clone(), limit);
        assert_eq!((kept(9).paths.join(" "), kept(9).more), ("a c d".to_owned(), 1));
        assert_eq!((kept(1).paths.join(" "), kept(1).more), ("a".to_owned(), 3));
    }
}
