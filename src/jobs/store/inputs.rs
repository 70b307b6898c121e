//! Where a job's inputs are stored. Small ones that came with a request are in the journal, in the batch of the record:
//! a file for each would cost four synced writes a job. Large ones and uploads are objects. [`objects`] names every
//! object that a job may have, so that none is left behind when it ends.

use bytes::Bytes;

use crate::domain::ids::JobId;
use crate::jobs::messages::InputPart;
use crate::jobs::store::record::JobRecord;
use crate::pipeline::InlineInputs;
use crate::storage::index::WriteBatch;
use crate::storage::{self, ObjectStore, StorageKey, UploadStaging};

const PARTS: [InputPart; 2] = [InputPart::Data, InputPart::Template];

/// Where the inputs that came with a request are to be written.
pub(in crate::jobs) struct Placed {
    /// The batch of the record, with the small inputs.
    pub batch: WriteBatch,
    /// The large inputs.
    pub objects: Vec<(StorageKey, Bytes)>,
}

/// Adds the small inputs to `batch`, and marks in `record` which those are.
pub(in crate::jobs) fn place(
    record: &mut JobRecord,
    inline: &InlineInputs,
    batch: WriteBatch,
    limit_bytes: u64,
) -> Placed {
    let mut placed = Placed { batch, objects: Vec::new() };
    for part in PARTS {
        let bytes = match part {
            InputPart::Data => inline.data.as_ref(),
            InputPart::Template => inline.template.as_ref(),
        };
        let Some(bytes) = bytes else { continue };
        if bytes.len() as u64 <= limit_bytes {
            match part {
                InputPart::Data => record.journaled.data = true,
                InputPart::Template => record.journaled.template = true,
            }
            placed.batch = placed.batch.put(key(record.id, part), bytes.to_vec());
        } else {
            placed.objects.push((part.storage_key(record.account, record.id), bytes.clone()));
        }
    }
    placed
}

/// The small inputs, which stay in memory until the job ends. Copies: a slice would keep the whole request in memory.
pub(in crate::jobs) fn copy_small(inline: &InlineInputs, limit_bytes: u64) -> InlineInputs {
    let copy = |bytes: &Bytes| (bytes.len() as u64 <= limit_bytes).then(|| Bytes::copy_from_slice(bytes));
    InlineInputs {
        data: inline.data.as_ref().and_then(copy),
        template: inline.template.as_ref().and_then(copy),
    }
}

/// Deletes objects of a job; the sweeper finds what cannot be deleted now.
pub(in crate::jobs) async fn delete(store: &dyn ObjectStore, keys: &[StorageKey]) {
    storage::delete_or_warn(store, keys, "inputs of a job stay behind").await;
}

/// The part of a job's final batch that removes its inputs from the journal.
pub(in crate::jobs) fn removal(record: &JobRecord) -> WriteBatch {
    let journaled = PARTS.into_iter().filter(|part| is_journaled(record, *part));
    journaled.fold(WriteBatch::new(), |batch, part| batch.delete(key(record.id, part)))
}

/// The objects that an ended job may have and its record does not name.
pub(in crate::jobs) fn unnamed_objects(record: &JobRecord, staging: UploadStaging) -> Vec<StorageKey> {
    let mut keys = objects(record, staging);
    if record.output.is_none() {
        keys.push(record.output_key());
    }
    keys
}

/// The objects that may hold inputs of the job, its secrets among them.
pub(in crate::jobs) fn objects(record: &JobRecord, staging: UploadStaging) -> Vec<StorageKey> {
    // A job that names a saved template has no URL to upload one.
    let is_input =
        |part: &InputPart| *part == InputPart::Data || record.given.template || record.template.is_none();
    let stored = PARTS.into_iter().filter(|part| !is_journaled(record, *part) && is_input(part));
    let mut keys: Vec<_> = stored.map(|part| part.storage_key(record.account, record.id)).collect();
    for part in uploaded_parts(record) {
        let staged = staging.of(&part.storage_key(record.account, record.id));
        if !keys.contains(&staged) {
            keys.push(staged);
        }
    }
    if record.secret.is_some() {
        keys.push(StorageKey::JobSecret(record.account, record.id));
    }
    keys
}

/// The inputs that the caller may upload.
pub(in crate::jobs) fn uploaded_parts(record: &JobRecord) -> impl Iterator<Item = InputPart> {
    let is_uploaded = |part: &InputPart| match part {
        InputPart::Data => !record.given.data,
        InputPart::Template => !record.given.template && record.template.is_none(),
    };
    PARTS.into_iter().filter(is_uploaded)
}

pub(in crate::jobs) fn is_journaled(record: &JobRecord, part: InputPart) -> bool {
    match part {
        InputPart::Data => record.journaled.data,
        InputPart::Template => record.journaled.template,
    }
}

/// The keys of the journal that inputs of a job may have.
pub(in crate::jobs) fn keys(job: JobId) -> [String; 2] {
    PARTS.map(|part| key(job, part))
}

/// The key of an input in the journal.
pub(in crate::jobs) fn key(job: JobId, part: InputPart) -> String {
    let name = match part {
        InputPart::Data => "data",
        InputPart::Template => "template",
    };
    format!("input/{job}/{name}")
}
