//! The content of a template: unzipping what was uploaded, reading and replacing the entry's text.

use std::sync::Arc;

use actix::prelude::*;
use bytes::Bytes;

use super::change::{Changing, named};
use super::deps::Deps;
use super::index;
use super::info::{InfoObject, files};
use super::messages::{ReadIndexHtml, TemplateRef, UnzipTemplate, WriteIndexHtml};
use super::package::{Package, PackageFault};
use super::record::{Content, TemplateRecord};
use super::refusal;
use super::registry::TemplateRegistry;
use super::source::{TemplateUse, load, present, refused};
use crate::domain::ids::ObjectId;
use crate::domain::kinds::TemplateKind;
use crate::domain::site::{Files, Site};
use crate::problem::{Code, Problem};
use crate::storage::{StorageKey, StoreError, TemplatePart};

impl Handler<UnzipTemplate> for TemplateRegistry {
    type Result = ResponseFuture<Result<(), Problem>>;

    fn handle(&mut self, message: UnzipTemplate, _: &mut Self::Context) -> Self::Result {
        self.change("unzip", move |deps| async move { unzip(&deps, message.0).await })
    }
}

impl Handler<ReadIndexHtml> for TemplateRegistry {
    type Result = ResponseFuture<Result<String, Problem>>;

    fn handle(&mut self, message: ReadIndexHtml, _: &mut Self::Context) -> Self::Result {
        let deps = Arc::clone(&self.deps);
        Box::pin(async move {
            let TemplateRef { account, template } = message.0;
            let (content, loaded) = present(&deps, TemplateUse { account, template, preview: true }).await?;
            check_text(&content)?;
            let text = loaded.site.page().cloned().unwrap_or_default();
            String::from_utf8(text.to_vec()).map_err(|_| not_utf8(&content))
        })
    }
}

impl Handler<WriteIndexHtml> for TemplateRegistry {
    type Result = ResponseFuture<Result<(), Problem>>;

    fn handle(&mut self, message: WriteIndexHtml, _: &mut Self::Context) -> Self::Result {
        self.change("index_html", move |deps| async move { write_entry(&deps, message).await })
    }
}

async fn unzip(deps: &Deps, TemplateRef { account, template }: TemplateRef) -> Result<(), Problem> {
    let _turn = deps.turns.of(template).await;
    let record = deps.index.usable(account, template).await.map_err(Problem::internal)?;
    let mut record = refusal::own(record, account, template)?;
    let upload = deps.store.landing().of(&StorageKey::TemplateUpload(account, template));
    if !record.unfinished && record.content.is_some() {
        // Its upload was closed when it was saved; an address of the store itself does not know that.
        return Ok(());
    }
    let bytes = match deps.store.get(&upload, deps.upload_limit_bytes).await {
        Ok(bytes) => bytes,
        // It was unpacked already: a repeated request is answered like the first one.
        Err(StoreError::NotFound(_)) if record.content.is_some() => return Ok(()),
        Err(StoreError::NotFound(_)) => return Err(refusal::empty(template)),
        Err(StoreError::TooLarge { limit_bytes }) => return Err(too_large(limit_bytes)),
        Err(error) => return Err(error.into()),
    };
    let limits = deps.limits.clone();
    let repack = move || {
        let package = Package::read(&bytes, &limits)?;
        let archive = package.pack()?;
        Ok((package, archive))
    };
    let (package, archive) = packing(deps, repack).await?;
    let former = record.content.take().map(|content| record.package(&content));
    let Package { entry, kind, .. } = package;
    let content = Content { id: template, object: ObjectId::generate(), entry, kind };
    let mut changing = Changing::begin(deps);
    changing.put(record.package(&content), archive).await?;
    record.content = Some(content);
    record.updated_at = deps.clock.now();
    let change = index::writing(&record).map_err(Problem::internal)?;
    changing.commit(change, former.into_iter().collect()).await?;
    // Not marked as gone with the others: a later upload has the same name.
    if let Err(error) = deps.store.delete(&upload).await {
        tracing::warn!(storage.key = %upload, error = %error, "an unpacked upload stays until its template is saved");
    }
    Ok(())
}

async fn write_entry(deps: &Deps, WriteIndexHtml { of, text }: WriteIndexHtml) -> Result<(), Problem> {
    let TemplateRef { account, template } = of;
    let _turn = deps.turns.of(template).await;
    let record = deps.index.usable(account, template).await.map_err(Problem::internal)?;
    let mut record = refusal::own(record, account, template)?;
    let former = record.content.clone().ok_or_else(|| refusal::empty(template))?;
    check_text(&former)?;
    let site = load(deps, &record, &former).await.map_err(Problem::from)?.site.with_page(text);
    let content = Content { object: ObjectId::generate(), ..former.clone() };
    let archive = packing(deps, {
        let (site, entry, kind) = (site.clone(), content.entry.clone(), content.kind);
        move || Package { entry, kind, files: all(&site) }.pack()
    });
    let archive = archive.await?;
    let mut changing = Changing::begin(deps);
    changing.put(record.package(&content), archive).await?;
    let mut gone = vec![record.package(&former)];
    record.content = Some(content);
    record.updated_at = deps.clock.now();
    gone.extend(rewrite_info(deps, &mut record, &site, &mut changing).await?);
    changing.commit(index::writing(&record).map_err(Problem::internal)?, gone).await
}

/// Writes the info of a saved template anew, with what it said before; answers the former object.
async fn rewrite_info(
    deps: &Deps,
    record: &mut TemplateRecord,
    site: &Site,
    changing: &mut Changing<'_>,
) -> Result<Option<StorageKey>, Problem> {
    let Some(former) = record.info.as_ref().map(|info| record.key(info.object, TemplatePart::Info)) else {
        return Ok(None);
    };
    let mut object = InfoObject::read(&named(deps, &former).await?)?;
    if let Some(info) = &mut record.info {
        info.object = ObjectId::generate();
    }
    object.record = record.clone();
    object.files = files(site);
    object.write(changing).await?;
    Ok(Some(former))
}

/// Runs work on archives where it keeps nobody waiting.
async fn packing<T: Send + 'static>(
    deps: &Deps,
    work: impl FnOnce() -> Result<T, PackageFault> + Send + 'static,
) -> Result<T, Problem> {
    // It is never closed, so there is always a permit to wait for.
    let _permit = deps.unpacking.acquire().await.ok();
    let done = tokio::task::spawn_blocking(work).await.map_err(Problem::internal)?;
    done.map_err(|fault| refused(&fault))
}

fn all(site: &Site) -> Files {
    let file = |path: &str| (path.to_owned(), site.get(path).cloned().unwrap_or_else(Bytes::new));
    site.paths().map(file).collect()
}

/// # Errors
/// `entry_not_text` when the entry is an Office file.
fn check_text(content: &Content) -> Result<(), Problem> {
    match content.kind {
        TemplateKind::Framework | TemplateKind::Html | TemplateKind::Ejs | TemplateKind::Latex => Ok(()),
        TemplateKind::Docx | TemplateKind::Xlsx | TemplateKind::Pptx => {
            let entry = &content.entry;
            let detail = format!(
                "The template's entry is the Office file '{entry}', which has no text to read or replace; upload the \
                 changed file under a new id and update the template."
            );
            Err(Problem::new(Code::EntryNotText, detail))
        }
    }
}

/// Only an address of the store itself takes as much as comes.
fn too_large(limit_bytes: u64) -> Problem {
    let detail = format!(
        "The upload is larger than {limit_bytes} bytes (http.upload_limit_bytes); upload a smaller one, and unzip again."
    );
    Problem::new(Code::PayloadTooLarge, detail)
}

fn not_utf8(content: &Content) -> Problem {
    let entry = &content.entry;
    Problem::new(
        Code::EntryNotText,
        format!("'{entry}' is no UTF-8 text; save it as UTF-8 and upload it anew."),
    )
}
