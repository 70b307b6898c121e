//! The encoding of values in the database: small ones in one piece, larger ones split under further keys.
//!
//! Hazard: sled writes a page larger than about 128 KiB to a file of its own that it never syncs. It splits a leaf with more
//! than 16 entries, or an inner page with more than 256 keys, only at its next visit, and before that either may absorb
//! several neighbours. Pieces of 2 KiB leave room for 55 entries, keys of at most 190 bytes for 600, so pages stay in the
//! log.

use sha2::{Digest, Sha256};
use sled::{Batch, Db};

use super::{IndexError, KEY_LIMIT_BYTES, KeyWrite, VALUE_LIMIT_BYTES, WriteBatch};

/// Largest piece of a value under one key.
const PIECE_BYTES: usize = 2_048;
/// Most attempts of a reader while the value is replaced.
const READ_ATTEMPTS: usize = 16;
/// First byte of keys that the index makes itself.
const OWN: char = '~';

const WHOLE: u8 = 0;
const SPLIT: u8 = 1;
const COUNTER: u8 = 2;

/// The decoded entry of a key.
enum Head<'a> {
    /// The value, or a counter's number.
    Whole(&'a [u8]),
    /// The value is in so many pieces under keys with this tag.
    Split { pieces: u32, tag: [u8; 8] },
}

/// The content of a key.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Exported {
    /// A value.
    Value(Vec<u8>),
    /// A counter.
    Counter(i64),
    /// Nothing: the key was deleted.
    Deleted,
}

impl Exported {
    /// The batch that writes it under `key`.
    pub fn batch(self, key: String) -> WriteBatch {
        match self {
            Self::Value(value) => WriteBatch::new().put(key, value),
            Self::Counter(number) => WriteBatch::new().delete(key.clone()).add(key, number),
            Self::Deleted => WriteBatch::new().delete(key),
        }
    }
}

pub(super) fn check_key(key: &str) -> Result<(), IndexError> {
    let cause = if key.is_empty() || key.len() > KEY_LIMIT_BYTES {
        format!("it must have 1 to {KEY_LIMIT_BYTES} bytes")
    } else if key.starts_with(OWN) || !key.bytes().all(|byte| byte.is_ascii_graphic()) {
        format!("it must consist of printable ASCII and not begin with '{OWN}'")
    } else {
        return Ok(());
    };
    Err(IndexError::Refused { key: key.chars().take(80).collect(), cause })
}

pub(super) fn check_value(key: &str, value: &[u8]) -> Result<(), IndexError> {
    if value.len() <= VALUE_LIMIT_BYTES {
        return Ok(());
    }
    let cause = format!("its value has {} bytes, the limit is {VALUE_LIMIT_BYTES}", value.len());
    Err(IndexError::Refused { key: key.to_owned(), cause })
}

pub(super) fn add_step(db: &Db, batch: &mut Batch, key: &str, step: &KeyWrite) -> Result<(), IndexError> {
    if !matches!(step, KeyWrite::Add(_)) {
        remove_pieces(db, batch, key)?;
    }
    match step {
        KeyWrite::Put(value) if value.len() <= PIECE_BYTES => batch.insert(key, with_head(WHOLE, value)),
        KeyWrite::Put(value) => split(batch, key, value),
        KeyWrite::Delete => batch.remove(key),
        KeyWrite::Add(delta) => {
            let number = counter(db, key)?.saturating_add(*delta);
            batch.insert(key, with_head(COUNTER, &number.to_le_bytes()));
        }
        KeyWrite::Count(number) => batch.insert(key, with_head(COUNTER, &number.to_le_bytes())),
        KeyWrite::AddToValue => return Err(no_counter(key)),
    }
    Ok(())
}

/// Adds to `batch` a value in pieces.
fn split(batch: &mut Batch, key: &str, value: &[u8]) {
    let mut tag = [0_u8; 8];
    tag.copy_from_slice(&Sha256::digest(value)[..8]);
    let mut pieces = 0_u32;
    for piece in value.chunks(PIECE_BYTES) {
        batch.insert(piece_key(key, tag, pieces).as_str(), piece);
        pieces += 1;
    }
    batch.insert(key, with_head(SPLIT, &[&pieces.to_le_bytes()[..], &tag].concat()));
}

/// A key, and the bytes to store there, or `None` to remove it.
pub(super) type SingleWrite<'b> = (&'b str, Option<Vec<u8>>);

/// The only write of a batch; `None` if it touches more than one key or piece. Such a write is made without a batch of sled,
/// for sled writes each of its batches to the log by itself, and wakes all its threads for that.
pub(super) fn single_write<'b>(
    db: &Db,
    batch: &'b WriteBatch,
) -> Result<Option<SingleWrite<'b>>, IndexError> {
    let mut steps = batch.steps.iter();
    let (Some((key, step)), None) = (steps.next(), steps.next()) else { return Ok(None) };
    let stored = match step {
        KeyWrite::Put(value) if value.len() <= PIECE_BYTES => Some(with_head(WHOLE, value)),
        KeyWrite::Delete => None,
        KeyWrite::Put(_) | KeyWrite::Add(_) | KeyWrite::Count(_) | KeyWrite::AddToValue => return Ok(None),
    };
    if let Some(before) = db.get(key).map_err(failed)?
        && let Head::Split { .. } = parse(key, &before)?
    {
        return Ok(None);
    }
    Ok(Some((key, stored)))
}

/// The value of `key`; a counter's are the bytes of its number.
pub(super) fn get(db: &Db, key: &str) -> Result<Option<Vec<u8>>, IndexError> {
    Ok(match exported(db, key)? {
        Exported::Value(value) => Some(value),
        Exported::Counter(number) => Some(number.to_le_bytes().to_vec()),
        Exported::Deleted => None,
    })
}

/// The content of `key`, by its type.
pub(super) fn exported(db: &Db, key: &str) -> Result<Exported, IndexError> {
    for _ in 0..READ_ATTEMPTS {
        let Some(stored) = db.get(key).map_err(failed)? else { return Ok(Exported::Deleted) };
        if stored.first() == Some(&COUNTER) {
            return number(key, &stored).map(Exported::Counter);
        }
        if let Some(value) = assemble(db, key, &stored)? {
            return Ok(Exported::Value(value));
        }
    }
    Err(IndexError::Failed(format!("pieces of the value of '{key}' are missing")))
}

/// The value whose head is `stored`; `None` if a piece is missing: then the value has been replaced since.
pub(super) fn assemble(db: &Db, key: &str, stored: &[u8]) -> Result<Option<Vec<u8>>, IndexError> {
    let (pieces, tag) = match parse(key, stored)? {
        Head::Whole(value) => return Ok(Some(value.to_vec())),
        Head::Split { pieces, tag } => (pieces, tag),
    };
    let mut value = Vec::with_capacity(pieces as usize * PIECE_BYTES);
    for number in 0..pieces {
        match db.get(piece_key(key, tag, number)).map_err(failed)? {
            Some(piece) => value.extend_from_slice(&piece),
            None => return Ok(None),
        }
    }
    Ok(Some(value))
}

/// The number of the counter `key`; zero when there is none.
pub(super) fn counter(db: &Db, key: &str) -> Result<i64, IndexError> {
    db.get(key).map_err(failed)?.map_or(Ok(0), |stored| number(key, &stored))
}

fn number(key: &str, stored: &[u8]) -> Result<i64, IndexError> {
    match stored.split_first() {
        Some((&COUNTER, number)) => number.try_into().ok().map(i64::from_le_bytes),
        Some(_) | None => None,
    }
    .ok_or_else(|| no_counter(key))
}

/// The error of an addition to a value.
fn no_counter(key: &str) -> IndexError {
    IndexError::Failed(format!("'{key}' is not a counter"))
}

/// Converts an error of the database.
#[expect(clippy::needless_pass_by_value, reason = "it is what map_err hands over")]
pub(super) fn failed(error: sled::Error) -> IndexError {
    IndexError::Failed(error.to_string())
}

fn remove_pieces(db: &Db, batch: &mut Batch, key: &str) -> Result<(), IndexError> {
    let Some(stored) = db.get(key).map_err(failed)? else { return Ok(()) };
    if let Head::Split { pieces, tag } = parse(key, &stored)? {
        for number in 0..pieces {
            batch.remove(piece_key(key, tag, number).as_str());
        }
    }
    Ok(())
}

fn parse<'a>(key: &str, stored: &'a [u8]) -> Result<Head<'a>, IndexError> {
    let head = match stored.split_first() {
        Some((&(WHOLE | COUNTER), value)) => Some(Head::Whole(value)),
        Some((&SPLIT, rest)) => rest.split_first_chunk::<4>().and_then(|(pieces, tag)| {
            Some(Head::Split { pieces: u32::from_le_bytes(*pieces), tag: tag.try_into().ok()? })
        }),
        Some(_) | None => None,
    };
    head.ok_or_else(|| IndexError::Failed(format!("the value of '{key}' is of no known form")))
}

fn with_head(head: u8, rest: &[u8]) -> Vec<u8> {
    [&[head], rest].concat()
}

fn piece_key(key: &str, tag: [u8; 8], number: u32) -> String {
    format!("{OWN}{key}/{:016x}/{number:06}", u64::from_be_bytes(tag))
}
