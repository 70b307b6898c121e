//! The S3-compatible store of objects.

use std::fmt;

use serde::Deserialize;
use url::Url;

use super::SettingErrors;

/// One PUT, and one copy, may have so many bytes at most: the protocol's own limit (5 GiB).
pub(super) const OBJECT_LIMIT_BYTES: u64 = 5 << 30;
const KEYS: [&str; 3] = ["AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY", "AWS_SESSION_TOKEN"];

/// A text that `Debug` does not print.
#[derive(Clone, Default, PartialEq, Eq, Deserialize)]
#[serde(transparent)]
pub struct Secret(String);

impl Secret {
    /// The text itself, for making signatures.
    pub fn expose(&self) -> &str {
        &self.0
    }

    /// Whether it is not set.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

impl fmt::Debug for Secret {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(if self.is_empty() { "none" } else { "***" })
    }
}

/// Section `[s3]`.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct S3Config {
    /// The store, e.g. `https://store.example:9000`; empty: Amazon's endpoint for the region.
    pub endpoint: String,
    /// Where callers reach the store, if by another address; empty: `endpoint`.
    pub public_endpoint: String,
    /// Region of the signatures; most stores accept this one.
    pub region: String,
    /// Name of the bucket; it must exist.
    pub bucket: String,
    /// What all keys in the bucket begin with, e.g. `platen/`; empty, or ending with a slash.
    pub prefix: String,
    /// The access key; empty: `AWS_ACCESS_KEY_ID`.
    pub access_key: Secret,
    /// The secret key; empty: `AWS_SECRET_ACCESS_KEY`.
    pub secret_key: Secret,
    /// `AWS_SESSION_TOKEN`, where the keys come from the environment.
    #[serde(skip)]
    pub session_token: Secret,
    /// `https://host/bucket/key` instead of `https://bucket.host/key`.
    pub path_style: bool,
    /// Longest time to connect to the store.
    pub connect_timeout_ms: u64,
    /// Longest time for the store to answer, bodies apart; a copy of a large template takes seconds.
    pub answer_timeout_ms: u64,
    /// A body of which no byte moves for so long is given up.
    pub stall_timeout_ms: u64,
    /// Longest time for `/health/ready`, or a start, to find out whether the store works.
    pub probe_timeout_ms: u64,
    /// How often a request is repeated when the store fails or cannot be reached; only once when it does not answer
    /// in time.
    pub retries: u64,
    /// Pause before the first repetition; each further one is twice as long, at most 5 s.
    pub retry_pause_ms: u64,
    /// An object being made is held in memory up to this size, then in a file of `data_dir`.
    pub spool_bytes: u64,
}

impl S3Config {
    /// Takes keys that are not set from the `AWS_` variables. Only where neither is set: a half of one pair with a half of the
    /// other would fail at the store with a message that names neither.
    pub(super) fn take_environment(&mut self, environment: &[(String, String)]) {
        if !self.access_key.is_empty() || !self.secret_key.is_empty() {
            return;
        }
        let [access_key, secret_key, session_token] = KEYS.map(|wanted| {
            let found = environment.iter().find(|(name, _)| name == wanted);
            Secret(found.map(|(_, value)| value.clone()).unwrap_or_default())
        });
        (self.access_key, self.secret_key, self.session_token) = (access_key, secret_key, session_token);
    }

    pub(super) fn validate(&self, is_used: bool, errors: &mut SettingErrors) {
        errors.within("s3.connect_timeout_ms", self.connect_timeout_ms, 100, 60_000);
        errors.within("s3.answer_timeout_ms", self.answer_timeout_ms, 500, 600_000);
        errors.within("s3.stall_timeout_ms", self.stall_timeout_ms, 500, 600_000);
        errors.within("s3.probe_timeout_ms", self.probe_timeout_ms, 100, 60_000);
        errors.within("s3.retries", self.retries, 0, 20);
        errors.within("s3.retry_pause_ms", self.retry_pause_ms, 10, 10_000);
        errors.within("s3.spool_bytes", self.spool_bytes, 65_536, 1 << 30);
        for (key, endpoint) in
            [("s3.endpoint", &self.endpoint), ("s3.public_endpoint", &self.public_endpoint)]
        {
            if !endpoint.is_empty() && !is_endpoint(endpoint) {
                errors.add(key, "is no address of a store; write https://HOST or https://HOST:PORT");
            }
        }
        if !is_prefix(&self.prefix) {
            let detail = format!(
                "'{}' cannot stand before keys; write words of letters, digits, '_', '-' and '.', each followed by \
                 '/', at most 128 characters, or nothing",
                self.prefix
            );
            errors.add("s3.prefix", detail);
        }
        if is_used {
            self.validate_used(errors);
        }
    }

    fn validate_used(&self, errors: &mut SettingErrors) {
        if !is_bucket(&self.bucket) {
            let detail = format!(
                "'{}' is no bucket's name; write 3 to 63 small letters, digits, '-' and '.' (storage.objects is s3)",
                self.bucket
            );
            errors.add("s3.bucket", detail);
        }
        if self.bucket.contains('.') && !self.path_style && !self.endpoint.starts_with("http://") {
            errors.add(
                "s3.path_style",
                "must be true for a bucket with a point in its name: no certificate covers it",
            );
        }
        let is_word = |letter: char| letter.is_ascii_alphanumeric() || letter == '-';
        if self.region.is_empty() || !self.region.chars().all(is_word) {
            errors.add("s3.region", format!("'{}' is no region; most stores take us-east-1", self.region));
        }
        for (key, variable, value) in
            [("s3.access_key", KEYS[0], &self.access_key), ("s3.secret_key", KEYS[1], &self.secret_key)]
        {
            if value.is_empty() {
                errors.add(
                    key,
                    format!("is empty, and so is {variable}; set both keys here or both variables"),
                );
            } else if value.expose().chars().any(|letter| letter.is_whitespace() || letter.is_control()) {
                errors.add(key, "has a blank in it; copy the key anew");
            }
        }
    }
}

fn is_endpoint(text: &str) -> bool {
    let Ok(url) = Url::parse(text) else { return false };
    let has_more = url.query().is_some() || url.fragment().is_some();
    let has_user = !url.username().is_empty() || url.password().is_some();
    matches!(url.scheme(), "http" | "https") && url.has_host() && !has_more && !has_user
}

fn is_prefix(text: &str) -> bool {
    let is_plain = |letter: char| letter.is_ascii_alphanumeric() || matches!(letter, '_' | '-' | '.');
    let is_word = |word: &str| !matches!(word, "" | "." | "..") && word.chars().all(is_plain);
    let Some(words) = text.strip_suffix('/') else { return text.is_empty() };
    text.len() <= 128 && words.split('/').all(is_word)
}

fn is_bucket(text: &str) -> bool {
    let is_plain = |letter: char| letter.is_ascii_lowercase() || letter.is_ascii_digit();
    (3..=63).contains(&text.len())
        && text.chars().all(|letter| is_plain(letter) || matches!(letter, '-' | '.'))
        && text.starts_with(is_plain)
        && text.ends_with(is_plain)
}

#[cfg(test)]
mod tests {
    use super::super::Config;
    use super::*;

    const GOOD: [(&str, &str); 5] = [
        ("PLATEN__STORAGE__OBJECTS", "s3"),
        ("PLATEN__S3__ENDPOINT", "http://127.0.0.1:9000"),
        ("PLATEN__S3__BUCKET", "documents"),
        ("PLATEN__S3__ACCESS_KEY", "AKIAEXAMPLE"),
        ("PLATEN__S3__SECRET_KEY", "wJalrXUtnFEMI"),
    ];

    fn load(changes: &[(&str, &str)]) -> Result<Config, SettingErrors> {
        let given = GOOD.iter().chain(changes).map(|(name, value)| ((*name).to_owned(), (*value).to_owned()));
        Config::load(None, given)
    }

    fn keys(changes: &[(&str, &str)]) -> Vec<String> {
        load(changes).unwrap_err().0.into_iter().map(|error| error.key).collect()
    }

    #[test]
    fn all_errors_are_reported_at_once_and_only_where_the_section_is_used() {
        let errors = keys(&[
            ("PLATEN__S3__ENDPOINT", "minio:9000"),
            ("PLATEN__S3__BUCKET", "My_Documents"),
            ("PLATEN__S3__REGION", ""),
            ("PLATEN__S3__PREFIX", "/a"),
            ("PLATEN__S3__SECRET_KEY", ""),
            ("PLATEN__S3__RETRIES", "21"),
            ("PLATEN__STORAGE__OUTPUT_LIMIT_BYTES", "5368709121"),
        ]);
        let expected = [
            "storage.output_limit_bytes",
            "s3.retries",
            "s3.endpoint",
            "s3.prefix",
            "s3.bucket",
            "s3.region",
            "s3.secret_key",
        ];
        assert_eq!(errors, expected);
        assert!(load(&[]).is_ok());
        assert!(Config::load(None, []).is_ok(), "nothing of it is needed for the disk");
        assert_eq!(keys(&[("PLATEN__STORAGE__OBJECTS", "tape")]), ["storage.objects"]);
    }

    #[test]
    fn both_keys_come_from_the_same_layer() {
        let environment = [
            ("PLATEN__S3__ACCESS_KEY", ""),
            ("PLATEN__S3__SECRET_KEY", ""),
            ("AWS_ACCESS_KEY_ID", "other"),
            ("AWS_SECRET_ACCESS_KEY", "hidden"),
            ("AWS_SESSION_TOKEN", "passing"),
        ];
        let s3 = load(&environment).unwrap().s3;
        let taken = [&s3.access_key, &s3.secret_key, &s3.session_token].map(Secret::expose);
        assert_eq!(taken, ["other", "hidden", "passing"]);
        assert_eq!(load(&environment[1..]).unwrap_err().0[0].key, "s3.secret_key", "half of a pair is none");
        let s3 = load(&environment[2..]).unwrap().s3;
        assert_eq!((s3.access_key.expose(), s3.session_token.is_empty()), ("AKIAEXAMPLE", true));
    }

    #[test]
    fn no_secret_is_shown() {
        let shown = format!("{:?}", load(&[]).unwrap());
        assert!(shown.contains("***") && !shown.contains("AKIA") && !shown.contains("wJalr"), "{shown}");
        let file = tempfile::NamedTempFile::new().unwrap();
        std::fs::write(&file, "[s3]\nsecret_key = \"wJalrXUtnFEMI\n").unwrap();
        let message = Config::load(Some(file.path()), []).unwrap_err().to_string();
        assert!(message.contains("line 2") && !message.contains("wJalr"), "{message}");
        std::fs::write(&file, "[s3]\nsecret_key = [\"wJalrXUtnFEMI\"]\n").unwrap();
        let message = Config::load(Some(file.path()), []).unwrap_err().to_string();
        assert!(
            message.contains("s3.secret_key: must be a string") && !message.contains("wJalr"),
            "{message}"
        );
    }

    #[test]
    fn invalid_prefixes_buckets_and_endpoints_are_refused() {
        for (prefix, good) in
            [("", true), ("a/", true), ("a/b-1/", true), ("a", false), ("a//", false), ("../", false)]
        {
            assert_eq!(is_prefix(prefix), good, "{prefix}");
        }
        for (bucket, good) in [("abc", true), ("a.b-9", true), ("ab", false), ("Abc", false), ("-abc", false)]
        {
            assert_eq!(is_bucket(bucket), good, "{bucket}");
        }
        for endpoint in ["ftp://a", "https://u:p@a", "https://a?b", "a:9000"] {
            assert!(!is_endpoint(endpoint), "{endpoint}");
        }
    }
}
