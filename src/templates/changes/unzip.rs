//! The content of a template: what was uploaded is unzipped, the entry's text is read and replaced.

use std::sync::Arc;

use actix::prelude::*;
use bytes::Bytes;

use super::commit::PendingChange;
use crate::domain::encoding;
use crate::domain::ids::ObjectId;
use crate::domain::kinds::TemplateKind;
use crate::domain::site::{Files, Site};
use crate::problem::{Code, Problem};
use crate::storage::{StorageKey, StoreError, TemplatePart};
use crate::templates::cache::source::{TemplateUse, load, load_current};
use crate::templates::package::{Package, PackageError};
use crate::templates::registry::context::TemplateContext;
use crate::templates::registry::info_object::{InfoObject, files};
use crate::templates::registry::messages::{ReadIndexHtml, TemplateRef, UnzipTemplate, WriteIndexHtml};
use crate::templates::registry::record::{Content, TemplateRecord};
use crate::templates::registry::variables::KnownVariables;
use crate::templates::registry::writer::TemplateWriter;
use crate::templates::registry::{TemplateRegistry, problems};
use crate::thread;

/// An archive as the store keeps it, and what its entry is.
struct Packed {
    archive: Bytes,
    entry: String,
    kind: TemplateKind,
}

impl Handler<UnzipTemplate> for TemplateRegistry {
    type Result = ResponseFuture<Result<(), Problem>>;

    fn handle(&mut self, message: UnzipTemplate, ctx: &mut Self::Context) -> Self::Result {
        let of = message.0;
        self.change(ctx, ("unzip", of.account), move |writer| async move { unzip(&writer, of).await })
    }
}

/// A read, and a message all the same: it holds an unpacked template and its text in memory, so it counts as one of the
/// account's changes under way (`templates.changes_account_limit`), which only the registry counts.
impl Handler<ReadIndexHtml> for TemplateRegistry {
    type Result = ResponseFuture<Result<String, Problem>>;

    fn handle(&mut self, message: ReadIndexHtml, _: &mut Self::Context) -> Self::Result {
        let admitted = self.locks.admit(message.0.account);
        let templates = Arc::clone(&self.context);
        Box::pin(async move {
            let _admitted = admitted?;
            read_entry(&templates, message.0).await
        })
    }
}

impl Handler<WriteIndexHtml> for TemplateRegistry {
    type Result = ResponseFuture<Result<(), Problem>>;

    fn handle(&mut self, message: WriteIndexHtml, ctx: &mut Self::Context) -> Self::Result {
        let name = ("index_html", message.of.account);
        self.change(ctx, name, move |writer| async move { write_entry(&writer, message).await })
    }
}

async fn unzip(writer: &TemplateWriter, of: TemplateRef) -> Result<(), Problem> {
    let templates = &writer.context;
    let (lock, former) = writer.lock_own(of).await?;
    if !former.unfinished {
        // Saved, so it was unpacked: a repeated request is answered like the first one.
        return Ok(());
    }
    let _slot = templates.unpacking.for_change(of.account).await?;
    let upload = templates.store.upload_staging().of(&StorageKey::TemplateUpload(of.account, of.template));
    // Hazard: callers upload to a bucket without the service, so a new upload may replace this one at any moment. What the
    // store says of it now is compared before the upload is deleted, or the new one would be lost.
    let read = templates.store.head(&upload).await.ok();
    let bytes = match templates.store.get(&upload, templates.upload_limit_bytes).await {
        Ok(bytes) => bytes,
        // A repeated request too: the first one deleted the upload that it had unpacked.
        Err(StoreError::NotFound(_)) if former.content.is_some() => return Ok(()),
        Err(StoreError::NotFound(_)) => return Err(problems::empty(of.template)),
        // Only for an upload to a bucket: the service ends its own at the limit.
        Err(StoreError::TooLarge { limit_bytes }) => {
            let detail = format!(
                "The upload is larger than {limit_bytes} bytes (http.upload_limit_bytes); upload a smaller one, and unzip again."
            );
            return Err(Problem::new(Code::PayloadTooLarge, detail));
        }
        Err(error) => return Err(error.into()),
    };
    let limits = templates.limits.clone();
    let packed = thread::on_blocking_thread(move || pack(Package::read(&bytes, &limits)?)).await?;
    let Packed { archive, entry, kind } = packed.map_err(|error| refused("upload", &error))?;
    let replaced = former.content.as_ref().map(|content| former.package(content));
    let content = Content { id: of.template, object: ObjectId::generate(), entry, kind, copy_of: None };
    let mut change = PendingChange::begin(writer, lock.clone(), of.account, &[&former]);
    change.put(former.package(&content), archive).await?;
    let record = TemplateRecord::unfinished(of.account, of.template, Some(content));
    change.commit(&[&former], record, replaced.into_iter().collect()).await?;
    // The upload is not one of the commit's obsolete keys: a later upload has the same key, and a replay of the deletion log
    // would delete that one. An upload that replaced this one meanwhile stays. The lock is held until here, so that the service
    // closes no upload between the comparison and the deletion.
    if templates.store.head(&upload).await.ok() != read {
        return Ok(());
    }
    if let Err(error) = templates.store.delete(&upload).await
        && !error.is_held()
    {
        tracing::warn!(storage.key = %upload, error = %error, "an unpacked upload stays until its template is saved");
    }
    drop(lock);
    Ok(())
}

async fn read_entry(
    templates: &TemplateContext,
    TemplateRef { account, template }: TemplateRef,
) -> Result<String, Problem> {
    let (content, loaded) = load_current(templates, TemplateUse { account, template, preview: true }).await?;
    problems::text_entry(&content)?;
    let length = loaded.site.page().map_or(0, Bytes::len);
    let limit = templates.text_limit_bytes;
    let text = thread::by_size(length, move || entry_text(&loaded.site, &content)).await??;
    if text.len() as u64 > limit {
        let detail = format!(
            "The template's text is larger than {limit} bytes (http.json_limit_bytes); take it from the archive: GET \
             /templates/{template}/presigned-url."
        );
        return Err(Problem::new(Code::PayloadTooLarge, detail));
    }
    Ok(text)
}

/// The entry's text, whatever its encoding is, without a byte order mark.
fn entry_text(site: &Site, content: &Content) -> Result<String, Problem> {
    // A LaTeX file names its encoding by a package. Its text is replaced as UTF-8, so it is read only where it is that.
    let is_latex = content.kind == TemplateKind::Latex;
    let text =
        if is_latex { site.page().cloned() } else { site.text(&content.entry).map(|text| text.content) };
    let text = text.map(encoding::without_bom).ok_or_else(|| no_text(content))?;
    String::from_utf8(text.to_vec()).map_err(|_| no_text(content))
}

async fn write_entry(
    writer: &TemplateWriter,
    WriteIndexHtml { of, text }: WriteIndexHtml,
) -> Result<(), Problem> {
    let templates = &writer.context;
    let (lock, before) = writer.lock_own(of).await?;
    let former = before.content.as_ref().ok_or_else(|| problems::empty(of.template))?;
    problems::text_entry(former)?;
    // Acquired before anything is unpacked: no archive is in memory while this waits.
    let slot = templates.unpacking.for_change(of.account).await?;
    let loaded = load(templates, before.account, (former, before.package(former))).await;
    let site = loaded.map_err(Problem::from)?.site.with_page(text);
    let files = files(&site);
    let package = Package { entry: former.entry.clone(), kind: former.kind, files: all(&site) };
    let packed = thread::on_blocking_thread(move || pack(package)).await?;
    let Packed { archive, entry, kind } = packed.map_err(|error| refused("text", &error))?;
    // Finding the variables may wait for a process; other changes use the slot meanwhile.
    drop(slot);
    let variables = if before.unfinished {
        KnownVariables::NotYet
    } else {
        templates.variables(of.account, (former.kind, &site)).await
    };
    drop(site);
    let content = Content { id: former.id, object: ObjectId::generate(), entry, kind, copy_of: None };
    let mut change = PendingChange::begin(writer, lock, of.account, &[&before]);
    change.put(before.package(&content), archive).await?;
    let mut obsolete_keys = vec![before.package(former)];
    let mut record = before.clone();
    if before.unfinished {
        record = TemplateRecord::unfinished(of.account, of.template, Some(content));
        record.upload_bytes = before.upload_bytes;
    } else {
        record.content = Some(content);
        record.changed(templates.clock.now());
    }
    if let Some(info) = &mut record.info {
        let key = StorageKey::Template(of.account, of.template, info.object, TemplatePart::Info);
        let sample_data = InfoObject::fetch(templates.store.as_ref(), &key).await?.sample_data;
        info.object = ObjectId::generate();
        change.fill_in_sizes(&[&before], &mut record);
        let object = InfoObject::new(&record, &sample_data, (files, variables));
        let (new, bytes) = object.encode().await?;
        change.put(new, bytes).await?;
        obsolete_keys.push(key);
    }
    change.commit(&[&before], record, obsolete_keys).await
}

/// Packs a package and opens the result: what is kept must open again, and its content decides what its entry is.
fn pack(package: Package) -> Result<Packed, PackageError> {
    let archive = package.pack()?;
    drop(package);
    let Package { entry, kind, .. } = Package::reopen(&archive)?;
    Ok(Packed { archive, entry, kind })
}

fn all(site: &Site) -> Files {
    let file = |path: &str| (path.to_owned(), site.get(path).cloned().unwrap_or_default());
    site.paths().map(file).collect()
}

fn refused(what: &str, error: &PackageError) -> Problem {
    Problem::new(Code::TemplateArchiveInvalid, format!("The {what} is refused: {error}."))
}

fn no_text(content: &Content) -> Problem {
    let entry = &content.entry;
    Problem::new(
        Code::EntryNotText,
        format!("'{entry}' is no UTF-8 text; save it as UTF-8 and upload it anew."),
    )
}
