//! `multipart/form-data` (RFC 7578) of an immediate render: the page, the files beside it, data and options as parts.
//!
//! Hazard: a form is as large as any body, and what is read of it must become one template. So its files go into an
//! archive as their bytes arrive, stored as they are, and nothing of the form is in memory twice; the archive is then
//! read by the rules of every uploaded one.

mod fields;
mod files;

use std::cell::Cell;
use std::rc::Rc;
use std::time::Duration;

use actix_multipart::{Field, Multipart, MultipartError};
use actix_web::error::PayloadError;
use actix_web::http::header::CONTENT_TYPE;
use actix_web::web::{Data, Payload};
use actix_web::{HttpMessage as _, HttpRequest};
use bytes::{Bytes, BytesMut};
use futures_util::StreamExt as _;
use tokio::time::timeout;

use self::fields::Fields;
use self::files::Files;
use super::body::{self, Room};
use super::state::HttpState;
use crate::domain::encoding;
use crate::problem::{Code, Fault, Problem};

/// What was sent as a form.
pub(super) struct Form {
    /// Everything that is said in words, as the JSON body that says the same.
    pub(super) members: Bytes,
    /// The template, if one came with it.
    pub(super) template: Option<Bytes>,
    /// The template is files, not text.
    pub(super) has_files: bool,
    /// The data, as they were sent.
    pub(super) data: Option<Bytes>,
    /// What is wrong with its parts.
    pub(super) faults: Vec<Fault>,
}

/// Whether the request's body is a form.
pub(super) fn is_form(request: &HttpRequest) -> bool {
    let sent = request.headers().get(CONTENT_TYPE).and_then(|value| value.to_str().ok());
    let essence = sent.and_then(|sent| sent.split(';').next()).unwrap_or_default();
    essence.trim().eq_ignore_ascii_case("multipart/form-data")
}

/// Receives the form.
///
/// # Errors
/// `payload_too_large`, `overloaded` where other bodies fill the room, `bad_request` for what is no form or comes too
/// slowly, `malformed_json`, `template_archive_invalid`.
pub(super) async fn receive(
    request: &HttpRequest,
    payload: Payload,
    state: &Data<HttpState>,
) -> Result<Form, Problem> {
    let limit = body::limit(request, state)?;
    let received = Rc::new(Cell::new(0));
    let mut room = Room::of(state);
    let form = Multipart::new(request.headers(), bounded(payload, limit, Rc::clone(&received)));
    let longest_s = state.config.http.upload_timeout_s;
    let arrival = timeout(Duration::from_secs(longest_s), parts(form, &mut room, state)).await;
    let form = arrival.unwrap_or_else(|_| Err(Stop::Problem(body::too_slow(longest_s))));
    request.extensions_mut().insert(room);
    form.map_err(|stop| match stop {
        Stop::Problem(problem) => problem,
        Stop::Broken(_) if received.get() > limit => body::too_large(limit),
        Stop::Broken(error) => {
            let detail =
                format!("The form cannot be read: {error}. Send multipart/form-data as RFC 7578 has it.");
            Problem::new(Code::BadRequest, detail)
        }
    })
}

/// What a part takes beside its content and its names: its place in the archive, or among the words.
const PART_BYTES: usize = 256;

/// Why a form is not read on.
enum Stop {
    Problem(Problem),
    Broken(MultipartError),
}

impl From<Problem> for Stop {
    fn from(problem: Problem) -> Self {
        Self::Problem(problem)
    }
}

impl From<MultipartError> for Stop {
    fn from(error: MultipartError) -> Self {
        Self::Broken(error)
    }
}

/// The body up to its limit.
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

async fn parts(mut form: Multipart, room: &mut Room, state: &HttpState) -> Result<Form, Stop> {
    let mut files = Files::new(state.config.templates.archive_entries_limit);
    let mut fields = Fields::default();
    let (mut template, mut data) = (None, None);
    while let Some(part) = form.next().await {
        let mut part = part?;
        let name = part.name().unwrap_or_default().to_owned();
        let file = part.content_disposition().and_then(|it| it.get_filename()).map(str::to_owned);
        room.take(PART_BYTES + name.len() + file.as_ref().map_or(0, String::len))?;
        match (name.as_str(), file) {
            ("data", _) => {
                let sent = whole(&mut part, room).await?;
                fields.once("data", data.replace(sent).is_some());
            }
            // What a browser sends of a choice of files that nobody made.
            (_, Some(path)) if path.is_empty() => drop(whole(&mut part, room).await?),
            (_, Some(path)) => {
                files.begin(&path)?;
                while let Some(chunk) = part.next().await {
                    let chunk = chunk?;
                    room.take(chunk.len())?;
                    files.write(&chunk)?;
                }
            }
            ("template", None) => {
                let text = whole(&mut part, room).await?;
                fields.once("template", template.replace(text).is_some());
            }
            (_, None) => {
                let value = whole(&mut part, room).await?;
                fields.add(&name, &value);
            }
        }
    }
    let files = files.finish()?;
    let has_files = files.is_some();
    if has_files && template.is_some() {
        fields.fault("template", "and files cannot both be given; leave one out");
    }
    let text = template.filter(|text: &Bytes| !text.is_empty()).map(encoding::marked);
    let (members, faults) = fields.finish(state.config.http.json_depth_limit)?;
    Ok(Form { members, template: files.or(text), has_files, data, faults })
}

async fn whole(part: &mut Field, room: &mut Room) -> Result<Bytes, Stop> {
    let mut bytes = BytesMut::new();
    while let Some(chunk) = part.next().await {
        let chunk = chunk?;
        room.take(chunk.len())?;
        bytes.extend_from_slice(&chunk);
    }
    Ok(bytes.freeze())
}
