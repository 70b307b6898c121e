//! What is done to a template while a fault comes.

use platen::domain::ids::TemplateId;
use platen::failpoint::Fault;
use platen::problem::Code;
use platen::templates::registry::messages::InitTemplate;
use platen::templates::registry::record::Permissions::{Private, Public};

use crate::prepared_folder::archive;
use crate::test_registry::{RegistryResult, TestRegistry};

/// Longer than an unfinished template is kept.
const LONG_MS: u64 = 25 * 3_600_000;

/// A change of a template, or a look at one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, strum::VariantArray)]
pub enum Change {
    Init,
    Upload,
    UploadAgain,
    Unzip,
    RewriteDraft,
    RewriteSaved,
    Save,
    Rename,
    Update,
    Clone,
    DeleteDraft,
    DeleteSaved,
    Sweep,
    Get,
    Render,
}

/// The templates that were there before.
#[derive(Clone, Copy, Debug)]
pub struct Case {
    /// Saved; none of the changes of drafts touches it.
    pub saved: TemplateId,
    /// Not saved: begun, uploaded or unzipped, as the change needs it.
    pub draft: TemplateId,
}

impl Change {
    /// The fewest steps at which the fault can meet it: before and after each object that it writes or deletes, and each
    /// change of the index; before each read of the store.
    pub fn fewest_steps(self, fault: Fault) -> u64 {
        let (index, written, deleted, read) = match self {
            Self::Init => (1, 0, 0, 0),
            Self::Upload | Self::UploadAgain => (1, 1, 0, 0),
            Self::Unzip => (1, 1, 1, 3),
            Self::RewriteDraft => (2, 1, 1, 0),
            // Package and info.
            Self::RewriteSaved => (2, 2, 2, 1),
            // Package, info, previews; then the unfinished package and the upload go, and of an update all four former parts.
            Self::Save => (2, 4, 2, 0),
            Self::Update => (2, 4, 6, 0),
            // Info and previews.
            Self::Rename => (2, 3, 3, 0),
            Self::Clone => (1, 4, 0, 1),
            Self::DeleteDraft | Self::Sweep => (2, 0, 2, 0),
            Self::DeleteSaved => (2, 0, 4, 0),
            Self::Get | Self::Render => (0, 0, 0, 1),
        };
        match fault {
            Fault::Abort | Fault::ClockBack => 2 * (index + written + deleted),
            Fault::DiskFull | Fault::DiskFullOnce => 2 * (index + written),
            Fault::StoreFails | Fault::StoreFailsOnce => 2 * (written + deleted) + read,
            Fault::Slow => 2 * (index + written + deleted) + read,
        }
    }

    /// The state before it.
    pub async fn prepare(self, fixture: &TestRegistry) -> Case {
        let saved = fixture.saved("saved", Private).await;
        let draft = match self {
            Self::Init | Self::Upload => fixture.begun().await,
            Self::UploadAgain | Self::Unzip => fixture.uploaded("draft").await,
            Self::RewriteDraft
            | Self::RewriteSaved
            | Self::Save
            | Self::Rename
            | Self::Update
            | Self::Clone
            | Self::DeleteDraft
            | Self::DeleteSaved
            | Self::Sweep
            | Self::Get
            | Self::Render => fixture.unzipped("draft").await,
        };
        if self == Self::Sweep {
            fixture.clock.advance_ms(LONG_MS);
        }
        Case { saved, draft }
    }

    /// Does it once. A sweep answers nobody.
    pub async fn act(self, fixture: &mut TestRegistry, Case { saved, draft }: Case) -> RegistryResult<()> {
        match self {
            Self::Init => fixture.ask(InitTemplate { account: fixture.account }).await.map(drop),
            Self::Upload | Self::UploadAgain => fixture.upload(draft, archive("another, and longer")).await,
            Self::Unzip => fixture.unzip(draft).await,
            Self::RewriteDraft => fixture.rewrite(draft, "<p>rewritten <%= name %></p>").await,
            Self::RewriteSaved => fixture.rewrite(saved, "<p>rewritten <%= name %></p>").await,
            Self::Save => fixture.save(draft, "draft", Public).await,
            Self::Rename => fixture.save(saved, "renamed", Public).await,
            Self::Update => fixture.update(saved, draft, "updated").await,
            Self::Clone => fixture.copy(saved).await.map(drop),
            Self::DeleteDraft => fixture.delete(draft).await,
            Self::DeleteSaved => fixture.delete(saved).await,
            Self::Sweep => {
                // What fails is done by the next sweep.
                drop(fixture.collector.sweep().await);
                Ok(())
            }
            Self::Get => {
                let view = fixture.get(saved).await?;
                assert_eq!(view.sample_data.get(), r#"{"name": "Ann"}"#);
                Ok(())
            }
            Self::Render => {
                let page = fixture.page(saved).await?;
                assert!(page.contains("saved"), "{page}");
                Ok(())
            }
        }
    }

    /// Whether a change that failed may have been done all the same, and is then refused when it is repeated.
    pub fn may_be_done(self, code: Code) -> bool {
        matches!(self, Self::DeleteDraft | Self::DeleteSaved) && code == Code::TemplateNotFound
    }
}
