//! Which hosts a page may reach besides its own files.

/// Whether the hosts of `outbound.allow` are open to a page.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Reach {
    /// Only its own files. A public template rendered by another account gets this: with hosts it could send that account's
    /// data to its author.
    #[default]
    OwnFiles,
    /// The allowed hosts as well.
    AllowedHosts,
}
