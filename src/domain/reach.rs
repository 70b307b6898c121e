//! What a page may reach beside its own files.

/// Whether the hosts of `outbound.allow` are open to a page.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Reach {
    /// Its own files. So it is for a public template that another account renders: with hosts it could
    /// send that account's data to whoever wrote it.
    #[default]
    OwnFiles,
    /// The allowed hosts as well.
    AllowedHosts,
}
