//! A presigned URL allows what was signed, until it expires; no other URL allows anything.

use platen::clock::Timestamp;
use platen::domain::ids::{AccountId, JobId, ObjectId, TemplateId};
use platen::domain::kinds::FileKind;
use platen::storage::presigned_urls::{Operation, PATH_PREFIX, PresignError, PresignedAccess, Signer};
use platen::storage::{StorageKey, TemplatePart, Upload};
use uuid::Uuid;

const SECRET: [u8; 32] = [7; 32];
/// The bytes of an input that are numbers; what follows is a file name, or a URL.
const NUMBERS_BYTES: usize = 1 + 1 + 16 + 16 + 8 + 8 + 2 + 1;

/// Signs what the bytes say and verifies the URL, whole and with a byte changed; and verifies the bytes as a URL.
pub fn check(bytes: &[u8]) {
    check_foreign(bytes);
    if let Some((numbers, name)) = bytes.split_at_checked(NUMBERS_BYTES) {
        check_signed(numbers, name);
    }
}

/// A URL that somebody made up.
fn check_foreign(bytes: &[u8]) {
    let url = String::from_utf8_lossy(bytes);
    let url = url.strip_prefix(PATH_PREFIX).unwrap_or(&url);
    let Some((path, query)) = url.split_once('?') else { return };
    for operation in [Operation::Put, Operation::Get] {
        assert_invalid(operation, path, query);
    }
}

fn assert_invalid(operation: Operation, path: &str, query: &str) {
    let verified = Signer::new(&SECRET).verify(operation, path, query, Timestamp(0));
    assert_eq!(verified, Err(PresignError::Invalid), "{path}?{query}");
}

fn check_signed(mut numbers: &[u8], name: &[u8]) {
    let (operation, other) = match byte(&mut numbers) % 2 {
        0 => (Operation::Put, Operation::Get),
        _ => (Operation::Get, Operation::Put),
    };
    let kind = byte(&mut numbers);
    let ids = [take(&mut numbers), take(&mut numbers)].map(Uuid::from_bytes);
    let expires_at = Timestamp(u64::from_le_bytes(take(&mut numbers)).max(1));
    let limit_bytes = u64::from_le_bytes(take(&mut numbers));
    let file_name = std::str::from_utf8(name).ok().filter(|name| !name.is_empty()).map(str::to_owned);
    let access = PresignedAccess { operation, key: key(kind, ids), expires_at, limit_bytes, file_name };
    let signer = Signer::new(&SECRET);
    let url = signer.sign(&access);
    assert!(url.bytes().all(|byte| byte.is_ascii_graphic()), "{url} is no URL");
    let (path, query) =
        url.strip_prefix(PATH_PREFIX).and_then(|rest| rest.split_once('?')).expect("a URL of ours");
    let before = Timestamp(expires_at.0 - 1);
    assert_eq!(signer.verify(operation, path, query, before), Ok(access));
    assert_eq!(signer.verify(operation, path, query, expires_at), Err(PresignError::Expired));
    assert_eq!(signer.verify(other, path, query, before), Err(PresignError::Invalid));
    assert_eq!(Signer::new(&[8; 32]).verify(operation, path, query, before), Err(PresignError::Invalid));

    let at = usize::from(u16::from_le_bytes(take(&mut numbers))) % url.len();
    let changed = byte(&mut numbers) % 0x80;
    let mut wrong = url.clone().into_bytes();
    wrong[at] = changed;
    if wrong != url.as_bytes() {
        check_foreign(&wrong);
    }
}

fn key(kind: u8, [owner, id]: [Uuid; 2]) -> StorageKey {
    let (account, job, template) = (AccountId(owner), JobId(id), TemplateId(id));
    let object = ObjectId(Uuid::from_u128(owner.as_u128() ^ id.as_u128()));
    match kind % 16 {
        0 => StorageKey::JobData(account, job),
        1 => StorageKey::JobTemplate(account, job),
        2 => StorageKey::JobSecret(account, job),
        3 => StorageKey::JobOutput(account, job, FileKind::Pdf),
        4 => StorageKey::JobOutput(account, job, FileKind::Zip),
        5 => StorageKey::JobOutput(account, job, FileKind::Html),
        6 => StorageKey::TemplateUpload(account, template),
        7 => StorageKey::UnfinishedPackage(account, template, object),
        8 => StorageKey::Upload(account, Upload::Data(job)),
        9 => StorageKey::Upload(account, Upload::Template(job)),
        10 => StorageKey::Upload(account, Upload::Content(template)),
        11 => StorageKey::Probe(account),
        other => StorageKey::Template(account, template, object, TemplatePart::ALL[usize::from(other % 4)]),
    }
}

fn byte(numbers: &mut &[u8]) -> u8 {
    let [byte] = take(numbers);
    byte
}

fn take<const WIDTH: usize>(numbers: &mut &[u8]) -> [u8; WIDTH] {
    let (taken, rest) = numbers.split_first_chunk().expect("there are as many bytes as numbers need");
    *numbers = rest;
    *taken
}
