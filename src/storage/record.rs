//! The encoding of records in the index: a version byte, then JSON.

use serde::Serialize;
use serde::de::DeserializeOwned;

use super::index::IndexError;

/// The bytes of a record.
///
/// # Errors
/// `Failed` when the record cannot be written as JSON (a map with keys that are no text).
pub fn encode<T: Serialize>(version: u8, record: &T) -> Result<Vec<u8>, IndexError> {
    let mut bytes = vec![version];
    serde_json::to_writer(&mut bytes, record)
        .map_err(|error| IndexError::Failed(format!("a record cannot be encoded: {error}")))?;
    Ok(bytes)
}

/// The record in `bytes`, which must have been written as `version`.
///
/// # Errors
/// `Failed` with the key when the version is another one or the record cannot be read.
pub fn decode<T: DeserializeOwned>(version: u8, key: &str, bytes: &[u8]) -> Result<T, IndexError> {
    let failed = |cause: String| IndexError::Failed(format!("the record '{key}' cannot be read: {cause}"));
    match bytes.split_first() {
        Some((&written, json)) if written == version => {
            serde_json::from_slice(json).map_err(|error| failed(error.to_string()))
        }
        Some((&written, _)) => {
            Err(failed(format!("it has version {written}, this platen reads version {version}")))
        }
        None => Err(failed("it is empty".to_owned())),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_record_is_decoded_and_another_version_is_refused() {
        let bytes = encode(3, &("a", 1)).unwrap();
        assert_eq!(decode::<(String, u8)>(3, "job/1", &bytes).unwrap(), ("a".to_owned(), 1));
        let refused = decode::<(String, u8)>(4, "job/1", &bytes).unwrap_err().to_string();
        assert!(refused.contains("job/1") && refused.contains("version 3"), "{refused}");
        assert!(decode::<(String, u8)>(3, "job/1", &[]).is_err());
    }
}
