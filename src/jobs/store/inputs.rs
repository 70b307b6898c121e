//! Where the inputs lie that came with a request: small ones in the journal, written with the record in
//! one batch (a file each would cost four synced writes a job); large ones in the store, as uploads do.

use bytes::Bytes;

use crate::domain::ids::{AccountId, JobId};
use crate::jobs::context::JobContext;
use crate::jobs::messages::InputPart;
use crate::jobs::registry::delete;
use crate::jobs::store::journal::Journal;
use crate::jobs::store::record::JobRecord;
use crate::pipeline::InlineInputs;
use crate::problem::{Code, Problem};
use crate::storage::index::{Change, IndexError};
use crate::storage::{Landing, ObjectStore, StorageKey, StoreError, landing};

/// Both parts.
const PARTS: [InputPart; 2] = [InputPart::Data, InputPart::Template];

/// Where an input that came with the request is written.
pub(in crate::jobs) struct Placed {
    /// The batch of the record, with the small inputs.
    pub change: Change,
    /// The large inputs.
    pub objects: Vec<(StorageKey, Bytes)>,
}

/// Finds a place for every input that is `inline`, and says in `record` which are in the journal.
pub(in crate::jobs) fn place(
    record: &mut JobRecord,
    inline: &InlineInputs,
    change: Change,
    limit_bytes: u64,
) -> Placed {
    let mut placed = Placed { change, objects: Vec::new() };
    for part in PARTS {
        let Some(bytes) = inline_part(inline, part) else { continue };
        if bytes.len() as u64 <= limit_bytes {
            match part {
                InputPart::Data => record.journaled.data = true,
                InputPart::Template => record.journaled.template = true,
            }
            placed.change = placed.change.put(key(record.id, part), bytes.to_vec());
        } else {
            placed.objects.push((object(record.account, record.id, part), bytes.clone()));
        }
    }
    placed
}

/// The part of `inline` that may stay in memory until the job ends, as copies: a slice would hold the
/// whole body that it came in.
pub(in crate::jobs) fn small(inline: &InlineInputs, limit_bytes: u64) -> InlineInputs {
    let copy = |bytes: &Bytes| (bytes.len() as u64 <= limit_bytes).then(|| Bytes::copy_from_slice(bytes));
    InlineInputs {
        data: inline.data.as_ref().and_then(copy),
        template: inline.template.as_ref().and_then(copy),
    }
}

/// Deletes objects of a job; what cannot be deleted stays for the sweep.
pub(in crate::jobs) async fn delete(store: &dyn ObjectStore, keys: &[StorageKey]) {
    if let Err(error) = store.delete_all(keys).await
        && !error.is_held()
    {
        tracing::warn!(error = %error, "inputs of a job stay behind");
    }
}

/// The inputs that are in the journal, unless they are `inline` still.
///
/// # Errors
/// When the index fails.
pub(in crate::jobs) async fn load(
    journal: &Journal,
    record: &JobRecord,
    mut inline: InlineInputs,
) -> Result<InlineInputs, IndexError> {
    if record.journaled.data && inline.data.is_none() {
        inline.data = journal.value(&key(record.id, InputPart::Data)).await?.map(Bytes::from);
    }
    if record.journaled.template && inline.template.is_none() {
        inline.template = journal.value(&key(record.id, InputPart::Template)).await?.map(Bytes::from);
    }
    Ok(inline)
}

/// The part of a job's last batch that removes its inputs from the journal.
pub(in crate::jobs) fn removal(record: &JobRecord) -> Change {
    let journaled = PARTS.into_iter().filter(|part| is_journaled(record, *part));
    journaled.fold(Change::new(), |change, part| change.delete(key(record.id, part)))
}

/// The objects that may be left of a job that has ended, and that its record does not name.
pub(in crate::jobs) fn leftovers(record: &JobRecord, landing: Landing) -> Vec<StorageKey> {
    let mut keys = objects(record, landing);
    if record.output.is_none() {
        keys.push(delete::output(record));
    }
    keys
}

/// The objects that may hold inputs of the job, its passwords among them.
pub(in crate::jobs) fn objects(record: &JobRecord, landing: Landing) -> Vec<StorageKey> {
    // A saved template is no input: nobody gives one with the job, and nobody has an address for one.
    let is_input =
        |part: &InputPart| *part == InputPart::Data || record.given.template || record.template.is_none();
    let stored = PARTS.into_iter().filter(|part| !is_journaled(record, *part) && is_input(part));
    let mut keys: Vec<_> = stored.map(|part| object(record.account, record.id, part)).collect();
    let uploads = uploads(record).map(|key| landing.of(&key));
    let apart: Vec<_> = uploads.filter(|upload| !keys.contains(upload)).collect();
    keys.extend(apart);
    if record.secret.is_some() {
        keys.push(StorageKey::JobSecret(record.account, record.id));
    }
    keys
}

/// The objects that uploads become.
fn uploads(record: &JobRecord) -> impl Iterator<Item = StorageKey> {
    uploaded_parts(record).map(|part| object(record.account, record.id, part))
}

/// The inputs that are uploaded.
pub(in crate::jobs) fn uploaded_parts(record: &JobRecord) -> impl Iterator<Item = InputPart> {
    let is_uploaded = |part: &InputPart| match part {
        InputPart::Data => !record.given.data,
        InputPart::Template => !record.given.template && record.template.is_none(),
    };
    PARTS.into_iter().filter(is_uploaded)
}

/// Makes what was uploaded the inputs that the job runs with; what is uploaded later changes nothing.
///
/// # Errors
/// `payload_too_large`, `storage_exceeded`, and what the store says.
pub(in crate::jobs) async fn take_uploads(
    context: &JobContext,
    record: &JobRecord,
    limit_bytes: u64,
) -> Result<(), Problem> {
    let taken = uploaded_parts(record).map(|part| take_upload(context, record, part, limit_bytes));
    futures_util::future::try_join_all(taken).await.map(drop)
}

async fn take_upload(
    context: &JobContext,
    record: &JobRecord,
    part: InputPart,
    limit_bytes: u64,
) -> Result<(), Problem> {
    let (store, key) = (context.pipeline.store.as_ref(), object(record.account, record.id, part));
    let taken = landing::take(store, &key, limit_bytes).await.map_err(|error| match error {
        StoreError::TooLarge { limit_bytes } => too_large(&key, limit_bytes),
        StoreError::NotFound(_) | StoreError::Range { .. } | StoreError::Failed(_) => error.into(),
    });
    let Some(bytes) = taken? else { return Ok(()) };
    // The store took it itself, so nobody counted it until now.
    let counted = context.stored.count_upload(record, part, bytes);
    if counted.is_err() {
        delete(store, &[key]).await;
    }
    counted
}

fn too_large(key: &StorageKey, limit_bytes: u64) -> Problem {
    let name = key.file_name();
    let detail = format!(
        "The upload of '{name}' is larger than {limit_bytes} bytes (http.upload_limit_bytes); upload a smaller one, and \
         start the job again."
    );
    Problem::new(Code::PayloadTooLarge, detail)
}

/// The object that an upload of this part becomes.
pub(in crate::jobs) fn object(account: AccountId, job: JobId, part: InputPart) -> StorageKey {
    match part {
        InputPart::Data => StorageKey::JobData(account, job),
        InputPart::Template => StorageKey::JobTemplate(account, job),
    }
}

fn inline_part(inline: &InlineInputs, part: InputPart) -> Option<&Bytes> {
    match part {
        InputPart::Data => inline.data.as_ref(),
        InputPart::Template => inline.template.as_ref(),
    }
}

fn is_journaled(record: &JobRecord, part: InputPart) -> bool {
    match part {
        InputPart::Data => record.journaled.data,
        InputPart::Template => record.journaled.template,
    }
}

/// The entries that inputs of a job may have.
pub(in crate::jobs) fn keys(job: JobId) -> [String; 2] {
    [InputPart::Data, InputPart::Template].map(|part| key(job, part))
}

fn key(job: JobId, part: InputPart) -> String {
    let name = match part {
        InputPart::Data => "data",
        InputPart::Template => "template",
    };
    format!("input/{job}/{name}")
}
