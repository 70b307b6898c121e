//! `multipart/form-data` (RFC 7578) of an immediate render: the page, the files beside it, data and options as parts.
//!
//! Hazard: a form may be as large as any body and must become one template without being in memory twice. So its files are
//! written into an uncompressed archive as they arrive, and that archive is checked like every uploaded one. Text fields are
//! copied into a JSON body and have the limits of options. Work that grows with the form is in [`Form::read`], which runs on
//! a blocking thread where the form is large.

mod fields;
mod files;

use std::cell::Cell;
use std::rc::Rc;

use actix_multipart::{Field, Multipart, MultipartError};
use actix_web::error::PayloadError;
use actix_web::http::header::{CONTENT_TYPE, Charset, ContentDisposition};
use actix_web::web::{Data, Payload};
use actix_web::{HttpMessage as _, HttpRequest};
use bytes::{Bytes, BytesMut};
use futures_util::StreamExt as _;

use self::fields::Fields;
use self::files::Files;
use crate::domain::encoding;
use crate::domain::office_format::OfficeFormat;
use crate::http::body;
use crate::http::body::permits::BodyMemory;
use crate::http::middleware::auth;
use crate::http::state::HttpState;
use crate::problem::{Code, FieldError, Problem};

pub(super) struct Form {
    fields: Fields,
    /// The template, where it is files.
    files: Option<Bytes>,
    /// The template, where it is a text.
    text: Option<Bytes>,
    data: Option<Bytes>,
}

/// The parts of a form by what they are.
pub(super) struct FormContent {
    /// All text fields as the JSON body that means the same.
    pub(super) members: Bytes,
    /// The template, if one came with it.
    pub(super) template: Option<Bytes>,
    /// The template is files, not text.
    pub(super) has_files: bool,
    /// The data, as they were sent.
    pub(super) data: Option<Bytes>,
    /// Errors in its parts.
    pub(super) errors: Vec<FieldError>,
}

impl Form {
    /// Bytes of all parts.
    pub(super) fn bytes(&self) -> usize {
        let parts = [&self.files, &self.text, &self.data];
        self.fields.bytes + parts.into_iter().flatten().map(Bytes::len).sum::<usize>()
    }

    /// The content of the parts, with their errors.
    ///
    /// # Errors
    /// `malformed_json` where `formatOpts` is not JSON.
    pub(super) fn read(self, depth_limit: u64) -> Result<FormContent, Problem> {
        let Self { mut fields, files, text, data } = self;
        let has_files = files.is_some();
        if has_files && text.is_some() {
            fields.error("template", "and files cannot both be given; leave one out");
        }
        let text = text.filter(|text| !text.is_empty()).map(encoding::with_bom_if_misleading);
        let (members, errors) = fields.finish(depth_limit)?;
        Ok(FormContent { members, template: files.or(text), has_files, data, errors })
    }
}

pub(super) fn is_form(request: &HttpRequest) -> bool {
    let sent = request.headers().get(CONTENT_TYPE).and_then(|value| value.to_str().ok());
    sent.is_some_and(|sent| body::media_type(sent) == body::FORM)
}

/// Receives the form.
///
/// # Errors
/// `payload_too_large`, those of [`BodyMemory`], `bad_request` for what is no form, `validation_failed` for too many text
/// fields, `template_archive_invalid`.
pub(super) async fn receive(
    request: &HttpRequest,
    payload: Payload,
    state: &Data<HttpState>,
) -> Result<Form, Problem> {
    let limit = body::limit(request, state)?;
    let (received, is_json) = (Rc::new(Cell::new(0)), Cell::new(false));
    let memory = state.shared.bodies.begin(auth::caller(request)?.0);
    let mut body = Box::pin(bounded(payload, limit, Rc::clone(&received)).peekable());
    let form = async {
        // A type without a boundary is refused before anything is read, so the body is looked at first.
        let first = body.as_mut().peek().await;
        is_json.set(matches!(first, Some(Ok(chunk)) if chunk.trim_ascii_start().starts_with(b"{")));
        parts(Multipart::new(request.headers(), body), &memory, state).await
    };
    let form = memory.receive(Box::pin(form)).await;
    request.extensions_mut().insert(memory);
    form.map_err(|error| match error {
        FormError::Problem(problem) => problem,
        FormError::Broken(_) if received.get() > limit => body::too_large(limit),
        FormError::Broken(_) if is_json.get() => Problem::new(Code::BadRequest, SENT_AS_FORM),
        FormError::Broken(error) => {
            let detail =
                format!("The form cannot be read: {error}. Send multipart/form-data as RFC 7578 has it.");
            Problem::new(Code::BadRequest, detail)
        }
    })
}

/// What is said of a body that is JSON by its first byte.
const SENT_AS_FORM: &str = "The body is JSON, but it was sent with the Content-Type multipart/form-data; send it as \
                            application/json, or its members as parts of a form.";

/// Bytes counted for a part beside its content and names: its entry in the archive or the JSON body.
const PART_BYTES: usize = 256;

/// Why a form cannot be read.
enum FormError {
    Problem(Problem),
    /// It is no form, or did not arrive whole; also where the body was cut off at its limit.
    Broken(MultipartError),
}

impl From<Problem> for FormError {
    fn from(problem: Problem) -> Self {
        Self::Problem(problem)
    }
}

impl From<MultipartError> for FormError {
    fn from(error: MultipartError) -> Self {
        Self::Broken(error)
    }
}

/// The body, cut off at its limit.
fn bounded(
    payload: Payload,
    limit: usize,
    received: Rc<Cell<usize>>,
) -> impl futures_util::Stream<Item = Result<Bytes, PayloadError>> {
    payload.map(move |chunk| {
        let chunk = chunk?;
        received.set(received.get() + chunk.len());
        if received.get() > limit { Err(PayloadError::Overflow) } else { Ok(chunk) }
    })
}

async fn parts(mut form: Multipart, memory: &BodyMemory, state: &HttpState) -> Result<Form, FormError> {
    let mut files = Files::new(state.config.templates.archive_entries_limit);
    let mut fields = Fields::of(&state.config);
    let (mut text, mut data) = (None, None);
    while let Some(part) = form.next().await {
        let mut part = part?;
        let name = part.name().unwrap_or_default().to_owned();
        let file = part.content_disposition().and_then(file_name);
        memory.take(PART_BYTES + name.len() + file.as_ref().map_or(0, String::len))?;
        match (name.as_str(), file) {
            // Some clients send every part with a file name. An option stays an option then: as a file of the page, a
            // password would be ignored and the document left unprotected.
            (name, Some(_)) if fields::is_field(name) => {
                receive_field(&mut part, name, &mut fields, memory).await?;
            }
            ("data", _) => {
                let sent = receive_whole(&mut part, memory).await?;
                fields.note_repeated("data", data.replace(sent).is_some());
            }
            // A browser sends this for a file input that is empty.
            (_, Some(path)) if path.is_empty() => {
                fields.count()?;
                receive_whole(&mut part, memory).await?;
            }
            (_, Some(path)) => {
                files.begin(&path)?;
                while let Some(chunk) = part.next().await {
                    let chunk = chunk?;
                    memory.take(chunk.len())?;
                    files.write(&chunk)?;
                }
            }
            ("template", None) => {
                let sent = receive_whole(&mut part, memory).await?;
                fields.note_repeated("template", text.replace(sent).is_some());
            }
            (name, None) => receive_field(&mut part, name, &mut fields, memory).await?,
        }
    }
    let named = files.office_kind();
    let files = files.finish()?;
    // Some programs write HTML into files named .doc or .xls. Such a page needs no type.
    let is_office = files.as_ref().is_some_and(|file| OfficeFormat::may_begin_with(file));
    if let Some(kind) = named.filter(|_| is_office) {
        fields.require_type(kind);
    }
    Ok(Form { fields, files, text, data })
}

/// The file's name. `filename*` (RFC 8187, UTF-8) wins: clients that send it put a lossy name into `filename`.
fn file_name(disposition: &ContentDisposition) -> Option<String> {
    let extended = disposition.get_filename_ext();
    let extended =
        extended.filter(|name| matches!(&name.charset, Charset::Ext(charset) if charset == "UTF-8"));
    let extended = extended.and_then(|name| String::from_utf8(name.value.clone()).ok());
    extended.or_else(|| disposition.get_filename().map(str::to_owned))
}

async fn receive_field(
    part: &mut Field,
    name: &str,
    fields: &mut Fields,
    memory: &BodyMemory,
) -> Result<(), FormError> {
    fields.count()?;
    let mut value = BytesMut::new();
    while let Some(chunk) = part.next().await {
        let chunk = chunk?;
        memory.take(chunk.len())?;
        fields.take(name, chunk.len())?;
        value.extend_from_slice(&chunk);
    }
    fields.add(name, &value);
    Ok(())
}

async fn receive_whole(part: &mut Field, memory: &BodyMemory) -> Result<Bytes, FormError> {
    let mut bytes = BytesMut::new();
    while let Some(chunk) = part.next().await {
        let chunk = chunk?;
        memory.take(chunk.len())?;
        bytes.extend_from_slice(&chunk);
    }
    Ok(bytes.freeze())
}
