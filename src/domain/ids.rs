//! The identifiers of everything that is stored.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};
use uuid::Uuid;

use crate::clock::{self, Timestamp};

macro_rules! id {
    ($(#[$doc:meta])* $name:ident) => {
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
        #[serde(transparent)]
        pub struct $name(pub Uuid);

        impl $name {
            /// A new identifier that sorts by the time it was made.
            pub fn generate() -> Self {
                Self(clock::new_id())
            }

            /// When it was made (RFC 9562, section 5.7); the Unix epoch for a UUID without a time.
            pub fn made_at(self) -> Timestamp {
                let (seconds, nanoseconds) = self.0.get_timestamp().map_or((0, 0), |made| made.to_unix());
                Timestamp(seconds.saturating_mul(1_000) + u64::from(nanoseconds / 1_000_000))
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
    /// One stored object of a template; a change of the template makes new ones.
    ObjectId
);
id!(
    /// One access token (the public part: it names the token in lists and grants nothing).
    TokenId
);
