//! The variables of a template: the paths of its data that it reads. They are found when it is saved, and kept in its info
//! object.

use std::time::Duration;

use async_trait::async_trait;
use serde::{Deserialize, Serialize};

use crate::config::as_count;
use crate::domain::ids::AccountId;
use crate::domain::kinds::TemplateKind;
use crate::domain::site::Site;

/// A longer path is counted and not stored.
const PATH_CHARACTERS: usize = 120;

/// The variables of a template, as they are kept.
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
    pub(in crate::templates) fn bounded(all: Vec<String>, limit: u64) -> Self {
        let (count, limit) = (all.len(), as_count(limit));
        let short = all.into_iter().filter(|path| path.chars().count() <= PATH_CHARACTERS);
        let paths: Vec<_> = short.take(limit).collect();
        Self { more: count - paths.len(), paths }
    }
}

/// What is known of the variables of a template.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum KnownVariables<T = Variables> {
    /// These.
    Found(T),
    /// They cannot be found, however often they are looked for: the template has an error, or its kind no reader.
    Unreadable,
    /// They have not been looked for, or there was no time.
    NotYet,
}

/// Finds the variables of templates. That takes an engine, and templates must not import engines.
#[async_trait(?Send)]
pub trait VariableReader: Send + Sync {
    /// All paths of a template of this kind, if they are found within `limit`.
    async fn variables(
        &self,
        account: AccountId,
        template: (TemplateKind, &Site),
        limit: Duration,
    ) -> KnownVariables<Vec<String>>;
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_beyond_the_limit_and_long_ones_are_only_counted() {
        let all = vec!["a".to_owned(), "b".repeat(PATH_CHARACTERS + 1), "c".to_owned(), "d".to_owned()];
        let bounded = |limit| Variables::bounded(all.clone(), limit);
        assert_eq!((bounded(9).paths.join(" "), bounded(9).more), ("a c d".to_owned(), 1));
        assert_eq!((bounded(1).paths.join(" "), bounded(1).more), ("a".to_owned(), 3));
    }
}
