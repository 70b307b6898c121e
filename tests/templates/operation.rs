//! The operations that are killed between any two of their steps.

use reqwest::Method;
use serde_json::json;

use crate::prepared_folder::{PreparedFolder, archive, save_request};
use crate::service::Service;

/// One request that changes a template.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Operation {
    Upload,
    Unzip,
    IndexHtmlOfDraft,
    IndexHtmlOfSaved,
    Save,
    SaveAgain,
    Update,
    Clone,
    DeleteDraft,
    DeleteSaved,
}

impl Operation {
    /// Those with the most steps first, so that they do not end alone.
    pub const ALL: [Self; 10] = [
        Self::Update,
        Self::Save,
        Self::Clone,
        Self::DeleteSaved,
        Self::IndexHtmlOfSaved,
        Self::SaveAgain,
        Self::Unzip,
        Self::IndexHtmlOfDraft,
        Self::DeleteDraft,
        Self::Upload,
    ];

    /// The fewest points at which it can be killed: before and after each object that it writes or deletes, and
    /// before and after the commit.
    pub fn fewest_points(self) -> u64 {
        let changes = match self {
            // The object, and the record that tells its size.
            Self::Upload => 2,
            // What is new (a package or an info); the commit; what it replaces, or the upload.
            Self::Unzip | Self::IndexHtmlOfDraft | Self::SaveAgain | Self::DeleteDraft => 3,
            // Package and info, commit, both former ones; four parts, commit; commit, four parts.
            Self::IndexHtmlOfSaved | Self::Clone | Self::DeleteSaved => 5,
            // Four parts; commit; unfinished package, upload.
            Self::Save => 7,
            // Four parts; commit; four former parts, unfinished package, upload.
            Self::Update => 11,
        };
        2 * changes
    }

    /// Sends it; the status, if the service lives to answer.
    pub async fn send(self, service: &Service, prepared: &PreparedFolder) -> reqwest::Result<u16> {
        let (saved, draft, uploaded) = (&prepared.saved, &prepared.draft, &prepared.uploaded);
        let path = |id: &str, rest: &str| format!("/v1/templates/{id}{rest}");
        let (method, path, body) = match self {
            Self::Upload => return service.upload(&uploaded.upload_url, archive("anew")).await,
            Self::Unzip => (Method::PATCH, path(&uploaded.id, "/unzip"), None),
            Self::IndexHtmlOfDraft | Self::IndexHtmlOfSaved => {
                let id = if self == Self::IndexHtmlOfDraft { &draft.id } else { &saved.id };
                let body = json!({"indexHtml": "<p>rewritten <%= name %></p>"});
                (Method::POST, path(id, "/index-html"), Some(body))
            }
            Self::Save => (Method::POST, path(&draft.id, ""), Some(save_request("Draft", draft))),
            Self::SaveAgain => (Method::POST, path(&saved.id, ""), Some(save_request("Again", saved))),
            Self::Update => {
                let mut body = save_request("Updated", draft);
                body["contentId"] = json!(draft.id);
                (Method::PUT, path(&saved.id, ""), Some(body))
            }
            Self::Clone => (Method::POST, path(&saved.id, "/clone"), None),
            Self::DeleteDraft => (Method::DELETE, path(&draft.id, ""), None),
            Self::DeleteSaved => (Method::DELETE, path(&saved.id, ""), None),
        };
        service.try_send(method, &path, body.as_ref()).await.map(|(status, _)| status)
    }
}
