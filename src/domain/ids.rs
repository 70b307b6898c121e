//! The identifiers of everything that is stored.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};
use uuid::Uuid;

use crate::clock;

macro_rules! id {
    ($(#[$doc:meta])* $name:ident) => {
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
        #[serde(transparent)]
        pub struct $name(pub Uuid);

        impl $name {
            /// A new identifier that sorts by the time it was made.
            #[must_use]
            pub fn generate() -> Self {
                Self(clock::new_id())
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
                self.0.fmt(formatter)
            }
        }

        impl FromStr for $name {
            type Err = uuid::Error;

            fn from_str(text: &str) -> Result<Self, Self::Err> {
                text.parse().map(Self)
            }
        }
    };
}

id!(
    /// One render job.
    JobId
);
id!(
    /// One account: who owns jobs, templates and tokens.
    AccountId
);
id!(
    /// One template.
    TemplateId
);
id!(
    /// One access token (the public part: it names the token in lists, it opens nothing).
    TokenId
);
