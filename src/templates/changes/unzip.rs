//! The content of a template: unzipping what was uploaded, reading and replacing the entry's text.

use std::sync::Arc;

use actix::prelude::*;
use bytes::Bytes;

use super::commit::Changing;
use crate::domain::encoding;
use crate::domain::ids::ObjectId;
use crate::domain::kinds::TemplateKind;
use crate::domain::site::{Files, Site};
use crate::problem::{Code, Problem};
use crate::storage::{StorageKey, StoreError, TemplatePart};
use crate::templates::cache::source::{TemplateUse, load, present};
use crate::templates::package::{Package, PackageFault};
use crate::templates::registry::TemplateRegistry;
use crate::templates::registry::context::{Deps, by_size};
use crate::templates::registry::info_object::{InfoObject, files};
use crate::templates::registry::messages::{ReadIndexHtml, TemplateRef, UnzipTemplate, WriteIndexHtml};
use crate::templates::registry::record::{Content, TemplateRecord};
use crate::templates::registry::refusal;
use crate::templates::registry::variables::Told;

/// An archive of ours, and what its entry is.
struct Packed {
    archive: Bytes,
    entry: String,
    kind: TemplateKind,
}

impl Handler<UnzipTemplate> for TemplateRegistry {
    type Result = ResponseFuture<Result<(), Problem>>;

    fn handle(&mut self, message: UnzipTemplate, _: &mut Self::Context) -> Self::Result {
        let of = message.0;
        self.change(("unzip", of.account), move |deps| async move { unzip(&deps, of).await })
    }
}

impl Handler<ReadIndexHtml> for TemplateRegistry {
    type Result = ResponseFuture<Result<String, Problem>>;

    fn handle(&mut self, message: ReadIndexHtml, _: &mut Self::Context) -> Self::Result {
        let deps = Arc::clone(&self.deps);
        Box::pin(async move { read_entry(&deps, message.0).await })
    }
}

impl Handler<WriteIndexHtml> for TemplateRegistry {
    type Result = ResponseFuture<Result<(), Problem>>;

    fn handle(&mut self, message: WriteIndexHtml, _: &mut Self::Context) -> Self::Result {
        let name = ("index_html", message.of.account);
        self.change(name, move |deps| async move { write_entry(&deps, message).await })
    }
}

async fn unzip(deps: &Deps, of: TemplateRef) -> Result<(), Problem> {
    let (_turn, former) = deps.own_in_turn(of).await?;
    if !former.unfinished {
        // Saved, so it was unpacked: a repeated request is answered like the first one.
        return Ok(());
    }
    let _place = deps.room.pack(of.account).await?;
    let upload = deps.store.upload_staging().of(&StorageKey::TemplateUpload(of.account, of.template));
    // Where an address leads straight to the store, another upload may come at any moment.
    let read = deps.store.head(&upload).await.ok();
    let bytes = match deps.store.get(&upload, deps.upload_limit_bytes).await {
        Ok(bytes) => bytes,
        // The same.
        Err(StoreError::NotFound(_)) if former.content.is_some() => return Ok(()),
        Err(StoreError::NotFound(_)) => return Err(refusal::empty(of.template)),
        Err(StoreError::TooLarge { limit_bytes }) => return Err(too_large(limit_bytes)),
        Err(error) => return Err(error.into()),
    };
    let limits = deps.limits.clone();
    let packed = apart(move || pack(Package::read(&bytes, &limits)?)).await?;
    let Packed { archive, entry, kind } = packed.map_err(|fault| refused("upload", &fault))?;
    let replaced = former.content.as_ref().map(|content| former.package(content));
    let content = Content { id: of.template, object: ObjectId::generate(), entry, kind, copy_of: None };
    let mut changing = Changing::begin(deps, of.account, &[&former]);
    changing.put(former.package(&content), archive).await?;
    let record = TemplateRecord::unfinished(of.account, of.template, Some(content));
    changing.commit(&[&former], record, replaced.into_iter().collect()).await?;
    // Not marked as gone with the others: a later upload has the same name. One that came meanwhile stays.
    if deps.store.head(&upload).await.ok() != read {
        return Ok(());
    }
    if let Err(error) = deps.store.delete(&upload).await
        && !error.is_held()
    {
        tracing::warn!(storage.key = %upload, error = %error, "an unpacked upload stays until its template is saved");
    }
    Ok(())
}

async fn read_entry(deps: &Deps, TemplateRef { account, template }: TemplateRef) -> Result<String, Problem> {
    let _entered = deps.room.enter(account)?;
    let (content, loaded) = present(deps, TemplateUse { account, template, preview: true }).await?;
    check_text(&content)?;
    let length = loaded.site.page().map_or(0, Bytes::len);
    let limit = deps.text_limit_bytes;
    let text = by_size(length, move || entry_text(&loaded.site, &content)).await?;
    if text.len() as u64 > limit {
        let detail = format!(
            "The template's text is larger than {limit} bytes (http.json_limit_bytes); take it from the archive: GET \
             /templates/{template}/presigned-url."
        );
        return Err(Problem::new(Code::PayloadTooLarge, detail));
    }
    Ok(text)
}

/// The entry's characters, whatever its encoding and without a mark of it.
fn entry_text(site: &Site, content: &Content) -> Result<String, Problem> {
    // A LaTeX file says by a package what it is in, and the text that replaces it would be in something else.
    let is_latex = content.kind == TemplateKind::Latex;
    let text =
        if is_latex { site.page().cloned() } else { site.text(&content.entry).map(|text| text.content) };
    let text = text.map(encoding::unmarked).ok_or_else(|| no_text(content))?;
    String::from_utf8(text.to_vec()).map_err(|_| no_text(content))
}

async fn write_entry(deps: &Deps, WriteIndexHtml { of, text }: WriteIndexHtml) -> Result<(), Problem> {
    let (_turn, mut record) = deps.own_in_turn(of).await?;
    let before = record.clone();
    let former = record.content.clone().ok_or_else(|| refusal::empty(of.template))?;
    check_text(&former)?;
    // Before anything is unpacked: who waits must not hold an archive meanwhile.
    let place = deps.room.pack(of.account).await?;
    let site = load(deps, &record, &former).await.map_err(Problem::from)?.site.with_page(text);
    let files = files(&site);
    let package = Package { entry: former.entry.clone(), kind: former.kind, files: all(&site) };
    let packed = apart(move || pack(package)).await?;
    let Packed { archive, entry, kind } = packed.map_err(|fault| refused("text", &fault))?;
    // Others pack meanwhile: a process that tells the variables may be long in coming.
    drop(place);
    let variables =
        if record.unfinished { Told::NotYet } else { deps.variables(of.account, (former.kind, &site)).await };
    drop(site);
    let content = Content { id: former.id, object: ObjectId::generate(), entry, kind, copy_of: None };
    let mut changing = Changing::begin(deps, of.account, &[&before]);
    changing.put(record.package(&content), archive).await?;
    let mut gone = vec![record.package(&former)];
    if record.unfinished {
        record = TemplateRecord::unfinished(of.account, of.template, Some(content));
        record.upload_bytes = before.upload_bytes;
    } else {
        record.content = Some(content);
        record.updated_at = deps.clock.now();
    }
    if let Some(info) = &mut record.info {
        let key = StorageKey::Template(of.account, of.template, info.object, TemplatePart::Info);
        let told = InfoObject::fetch(deps, &key).await?;
        info.object = ObjectId::generate();
        changing.measure(&[&before], &mut record);
        InfoObject::new(&record, &told.sample_data, (files, variables)).write(&mut changing).await?;
        gone.push(key);
    }
    changing.commit(&[&before], record, gone).await
}

/// Packs a package and looks at the result: what is kept must open again, and its text decides what its entry is.
fn pack(package: Package) -> Result<Packed, PackageFault> {
    let archive = package.pack()?;
    drop(package);
    let Package { entry, kind, .. } = Package::reopen(&archive)?;
    Ok(Packed { archive, entry, kind })
}

/// Does work on archives where it keeps nobody waiting.
async fn apart<T: Send + 'static>(work: impl FnOnce() -> T + Send + 'static) -> Result<T, Problem> {
    tokio::task::spawn_blocking(work).await.map_err(Problem::internal)
}

fn all(site: &Site) -> Files {
    let file = |path: &str| (path.to_owned(), site.get(path).cloned().unwrap_or_default());
    site.paths().map(file).collect()
}

/// What a caller is told of what it sent.
fn refused(what: &str, fault: &PackageFault) -> Problem {
    Problem::new(Code::TemplateArchiveInvalid, format!("The {what} is refused: {fault}."))
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

fn no_text(content: &Content) -> Problem {
    let entry = &content.entry;
    Problem::new(
        Code::EntryNotText,
        format!("'{entry}' is no UTF-8 text; save it as UTF-8 and upload it anew."),
    )
}
