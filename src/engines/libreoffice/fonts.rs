//! The installed fonts, listed once, and the warning for a document that names others.

use std::collections::{BTreeSet, HashSet};

use tokio::sync::OnceCell;

use crate::browser::installed_families;
use crate::workers::Starter;

/// The families of this machine's fonts.
pub(super) struct InstalledFonts {
    starter: Starter,
    families: OnceCell<HashSet<String>>,
}

impl InstalledFonts {
    pub fn of(starter: Starter) -> Self {
        Self { starter, families: OnceCell::new() }
    }

    /// The warning for a document with these fonts; none where each, or one of the same metrics, is installed.
    pub async fn warning(&self, named_fonts: &[String]) -> Option<String> {
        if named_fonts.is_empty() {
            return None;
        }
        let installed = self.families.get_or_try_init(|| self.list()).await;
        let installed = installed.inspect_err(|error| {
            tracing::warn!(error = %error, "which fonts are installed cannot be told");
        });
        let installed = installed.ok()?;
        let named_fonts: BTreeSet<String> = named_fonts.iter().cloned().collect();
        let missing =
            document_fonts::missing(&named_fonts, &|family| installed.contains(&family.to_lowercase()));
        document_fonts::warning(&missing)
    }

    /// Names in lower case; a family may have one for each language.
    async fn list(&self) -> std::io::Result<HashSet<String>> {
        let lines = installed_families(&self.starter, ":").await?;
        let names = lines.iter().flat_map(|line| line.split(','));
        Ok(names.map(|name| name.trim().to_lowercase()).filter(|name| !name.is_empty()).collect())
    }
}
