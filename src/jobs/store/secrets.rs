//! The secrets of a job (passwords, and what its page's requests carry) from its init to its end.
//!
//! Hazard: whatever was in a record stays in the log of the index until that is compacted, and in every copy of the data
//! folder. So no secret is ever in a record. The secrets are split into two halves, each random bytes by itself: one is in
//! the record, the other an object beside the job's inputs. The object is deleted with the inputs when the job ends,
//! however it ends (`inputs::objects`), and is in no backup. What the log keeps is random.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use bytes::Bytes;

use crate::clock;
use crate::domain::error::{ErrorCode, JobError};
use crate::domain::format_opts::{PASSWORD_LIMIT_BYTES, Password, Passwords, Requests, Secrets};
use crate::jobs::store::record::{JobRecord, SecretHalf};
use crate::storage::{ObjectStore, StorageKey, StoreError};

/// A password and its length.
const FIELD_BYTES: usize = PASSWORD_LIMIT_BYTES + 1;
/// Two passwords at full length: the length of a half does not show how long they are.
const BYTES: usize = 2 * FIELD_BYTES;
/// What requests carry is padded to a multiple of this, for the same reason.
const BLOCK_BYTES: usize = 1_024;

/// The halves of the secrets for record and object, if there are any.
///
/// # Errors
/// When the operating system has no random source to give.
pub(in crate::jobs) fn split(secrets: &Secrets) -> std::io::Result<(SecretHalf, Option<Bytes>)> {
    if secrets.is_empty() {
        return Ok((SecretHalf::None, None));
    }
    let Passwords { user, owner } = &secrets.passwords;
    let mut whole = [encode_password(user.as_ref()), encode_password(owner.as_ref())].concat();
    if !secrets.requests.is_empty() {
        let carried = serde_json::to_vec(&secrets.requests).map_err(std::io::Error::other)?;
        whole.extend(carried);
        // JSON may end with blanks.
        let padding = whole.len().next_multiple_of(BLOCK_BYTES) - whole.len();
        whole.extend(std::iter::repeat_n(b' ', padding));
    }
    let mut pad = Vec::with_capacity(whole.len());
    while pad.len() < whole.len() {
        pad.extend(clock::random_bytes::<BYTES>()?);
    }
    pad.truncate(whole.len());
    let half = xor(&pad, &whole).into();
    Ok((SecretHalf::Half(STANDARD.encode(pad)), Some(half)))
}

/// The secrets of the job, put together again; `given` says which there must be.
///
/// # Errors
/// When a half is gone: a document without its password must not be made.
pub(in crate::jobs) async fn load(
    store: &dyn ObjectStore,
    record: &JobRecord,
    given: &Secrets,
) -> Result<Secrets, JobError> {
    if given.is_empty() {
        return Ok(Secrets::default());
    }
    let SecretHalf::Half(pad) = &record.secret else { return Err(lost("its record has none")) };
    let pad = STANDARD.decode(pad).map_err(|_| lost("their halves do not fit"))?;
    let key = StorageKey::JobSecret(record.account, record.id);
    let half = store.get(&key, pad.len() as u64).await.map_err(|error| match error {
        StoreError::NotFound(_) => lost("they are not in the store"),
        StoreError::TooLarge { .. } | StoreError::Range { .. } | StoreError::Failed(_) => {
            tracing::error!(error = %error, "the secrets of a job cannot be read");
            let sentence = "the service could not read the job's passwords; render it again later";
            JobError::new(ErrorCode::Internal, sentence)
        }
    })?;
    if pad.len() != half.len() {
        return Err(lost("their halves do not fit"));
    }
    let whole = xor(&pad, &half);
    let secrets = whole.split_at_checked(BYTES).and_then(|(passwords, carried)| {
        let (user, owner) = passwords.split_at_checked(FIELD_BYTES)?;
        let passwords = Passwords { user: decode_password(user), owner: decode_password(owner) };
        let requests =
            if carried.is_empty() { Ok(Requests::default()) } else { serde_json::from_slice(carried) };
        Some(Secrets { passwords, requests: requests.ok()? })
    });
    let is_whole = |Secrets { passwords, requests }: &Secrets| {
        passwords.user.is_some() == given.passwords.user.is_some()
            && passwords.owner.is_some() == given.passwords.owner.is_some()
            && requests.is_empty() == given.requests.is_empty()
    };
    secrets.filter(is_whole).ok_or_else(|| lost("their halves do not fit"))
}

fn lost(cause: &str) -> JobError {
    tracing::error!(error = cause, "a job has lost its secrets");
    let sentence = "the passwords of the job, or what its requests carry, are not there any more (a backup has none); send the job again";
    JobError::new(ErrorCode::Internal, sentence)
}

fn encode_password(password: Option<&Password>) -> [u8; FIELD_BYTES] {
    let mut field = [0; FIELD_BYTES];
    let secret = password.map(Password::secret).unwrap_or_default().as_bytes();
    let bytes = [u8::try_from(secret.len()).unwrap_or_default()].into_iter().chain(secret.iter().copied());
    field.iter_mut().zip(bytes).for_each(|(slot, byte)| *slot = byte);
    field
}

fn decode_password(field: &[u8]) -> Option<Password> {
    let (length, text) = field.split_first()?;
    Password::new(String::from_utf8(text.get(..usize::from(*length))?.to_vec()).ok()?)
}

fn xor(one: &[u8], other: &[u8]) -> Vec<u8> {
    one.iter().zip(other).map(|(one, other)| one ^ other).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::clock::Timestamp;
    use crate::domain::ids::AccountId;
    use crate::domain::kinds::{Target, TemplateKind};
    use crate::jobs::messages::JobSpec;
    use crate::storage::disk::DiskStore;

    fn secrets(user: Option<&str>, owner: Option<&str>) -> Secrets {
        let password = |text: &str| Password::new(text.to_owned()).unwrap();
        let passwords = Passwords { user: user.map(password), owner: owner.map(password) };
        let carried = owner.map_or_else(
            || "[]".to_owned(),
            |owner| format!(r#"[{{"host":"a.example","port":443,"headers":[["X-Key","{owner}"]]}}]"#),
        );
        Secrets { passwords, requests: serde_json::from_str(&carried).unwrap() }
    }

    fn record(secret: SecretHalf, secrets: Secrets) -> JobRecord {
        let (kind, target) = (TemplateKind::Html, Target::Pdf);
        let spec = JobSpec { secrets, ..JobSpec::new(kind, target) };
        JobRecord { secret, ..JobRecord::new(AccountId::generate(), spec, Timestamp(0)) }
    }

    #[tokio::test]
    async fn passwords_come_back_from_both_halves_and_from_no_single_one() {
        let folder = tempfile::tempdir().unwrap();
        let store = DiskStore::open(folder.path().to_owned()).await.unwrap();
        let longest = "é".repeat(63) + "x";
        for (user, owner) in
            [(Some("s3cret-ä🔒"), None), (None, Some("x")), (Some(longest.as_str()), Some("own-s3cret"))]
        {
            let given = secrets(user, owner);
            let (secret, half) = split(&given).unwrap();
            let record = record(secret, given.clone());
            let half = half.unwrap();
            for text in [user, owner].into_iter().flatten().filter(|text| text.len() > 2) {
                let is_in = |bytes: &[u8]| bytes.windows(text.len()).any(|part| part == text.as_bytes());
                assert!(!is_in(&half) && !is_in(&serde_json::to_vec(&record).unwrap()));
            }
            let key = StorageKey::JobSecret(record.account, record.id);
            assert!(load(&store, &record, &given).await.unwrap_err().message.contains("send the job again"));
            store.put(&key, half).await.unwrap();
            assert_eq!(load(&store, &record, &given).await.unwrap(), given);
            let erased = JobRecord { secret: record.secret.erased(), ..record.clone() };
            assert!(
                load(&store, &erased, &given).await.is_err(),
                "the job fails instead of making a file without password"
            );
            let another = JobRecord { secret: split(&given).unwrap().0, ..record };
            assert!(load(&store, &another, &given).await.unwrap_or_default() != given);
        }
    }

    #[test]
    fn without_secrets_there_are_no_halves() {
        assert_eq!(split(&Secrets::default()).unwrap(), (SecretHalf::None, None));
        assert_eq!(
            (SecretHalf::None.erased(), SecretHalf::Half(String::new()).erased()),
            (SecretHalf::None, SecretHalf::Erased)
        );
    }
}
