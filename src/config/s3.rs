//! Where objects live when they live in an S3-compatible store.

use std::fmt;

use serde::Deserialize;
use url::Url;

use super::Faults;

/// One PUT, and one copy, may have so many bytes at most: the protocol's own limit (5 GiB).
pub(super) const OBJECT_LIMIT_BYTES: u64 = 5 << 30;
const KEYS: [&str; 3] = ["AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY", "AWS_SESSION_TOKEN"];

/// A text that is never shown.
#[derive(Clone, Default, PartialEq, Eq, Deserialize)]
#[serde(transparent)]
pub struct Secret(String);

impl Secret {
    /// The text itself, for who has to prove that he knows it.
    pub fn expose(&self) -> &str {
        &self.0
    }

    /// Whether there is none.
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
    /// Where the store answers; empty: Amazon's address for `region`.
    pub endpoint: String,
    /// Where callers reach the store, when that is another address; empty: `endpoint`.
    pub public_endpoint: String,
    /// The region that signatures are made for.
    pub region: String,
    /// The bucket; it must be there.
    pub bucket: String,
    /// Everything lies below it in the bucket; empty or ending with a slash.
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
    /// Until a connection is made.
    pub connect_timeout_ms: u64,
    /// Until the store has answered what has no body to speak of.
    pub answer_timeout_ms: u64,
    /// A body of which nothing moves for so long is given up.
    pub stall_timeout_ms: u64,
    /// Until `/health/ready`, or a start, knows whether the store works.
    pub probe_timeout_ms: u64,
    /// How often a request is repeated when the store fails or is not there; once when it is silent.
    pub retries: u64,
    /// Before the first repetition; each further one waits twice as long.
    pub retry_pause_ms: u64,
    /// An object being made is held in memory up to this size, then in a file of the data folder.
    pub spool_bytes: u64,
}

impl S3Config {
    /// Takes what the file leaves open from the variables that all programs for such stores know.
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

    pub(super) fn validate(&self, is_used: bool, faults: &mut Faults) {
        faults.within("s3.connect_timeout_ms", self.connect_timeout_ms, 100, 60_000);
        faults.within("s3.answer_timeout_ms", self.answer_timeout_ms, 500, 600_000);
        faults.within("s3.stall_timeout_ms", self.stall_timeout_ms, 500, 600_000);
        faults.within("s3.probe_timeout_ms", self.probe_timeout_ms, 100, 60_000);
        faults.within("s3.retries", self.retries, 0, 20);
        faults.within("s3.retry_pause_ms", self.retry_pause_ms, 10, 10_000);
        faults.within("s3.spool_bytes", self.spool_bytes, 65_536, 1 << 30);
        for (key, endpoint) in
            [("s3.endpoint", &self.endpoint), ("s3.public_endpoint", &self.public_endpoint)]
        {
            if !endpoint.is_empty() && !is_endpoint(endpoint) {
                faults.add(key, "is no address of a store; write https://HOST or https://HOST:PORT");
            }
        }
        if !is_prefix(&self.prefix) {
            let detail = format!(
                "'{}' cannot stand before keys; write words of letters, digits, '_', '-' and '.', each followed by \
                 '/', at most 128 characters, or nothing",
                self.prefix
            );
            faults.add("s3.prefix", detail);
        }
        if is_used {
            self.validate_used(faults);
        }
    }

    fn validate_used(&self, faults: &mut Faults) {
        if !is_bucket(&self.bucket) {
            let detail = format!(
                "'{}' is no bucket's name; write 3 to 63 small letters, digits, '-' and '.' (storage.objects is s3)",
                self.bucket
            );
            faults.add("s3.bucket", detail);
        }
        if self.bucket.contains('.') && !self.path_style && !self.endpoint.starts_with("http://") {
            faults.add(
                "s3.path_style",
                "must be true for a bucket with a point in its name: no certificate covers it",
            );
        }
        let is_word = |letter: char| letter.is_ascii_alphanumeric() || letter == '-';
        if self.region.is_empty() || !self.region.chars().all(is_word) {
            faults.add("s3.region", format!("'{}' is no region; most stores take us-east-1", self.region));
        }
        for (key, variable, value) in
            [("s3.access_key", KEYS[0], &self.access_key), ("s3.secret_key", KEYS[1], &self.secret_key)]
        {
            if value.is_empty() {
                faults.add(
                    key,
                    format!("is empty, and so is {variable}; set both keys here or both variables"),
                );
            } else if value.expose().chars().any(|letter| letter.is_whitespace() || letter.is_control()) {
                faults.add(key, "has a blank in it; copy the key anew");
            }
        }
    }
}

fn is_endpoint(text: &str) -> bool {
    let Ok(url) = Url::parse(text) else { return false };
    let has_more = url.query().is_some() || url.fragment().is_some();
    let names_somebody = !url.username().is_empty() || url.password().is_some();
    matches!(url.scheme(), "http" | "https") && url.has_host() && !has_more && !names_somebody
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

    fn load(changes: &[(&str, &str)]) -> Result<Config, Faults> {
        let given = GOOD.iter().chain(changes).map(|(name, value)| ((*name).to_owned(), (*value).to_owned()));
        Config::load(None, given)
    }

    fn keys(changes: &[(&str, &str)]) -> Vec<String> {
        load(changes).unwrap_err().0.into_iter().map(|fault| fault.key).collect()
    }

    #[test]
    fn every_fault_is_named_at_once_and_only_where_the_section_is_used() {
        let faults = keys(&[
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
        assert_eq!(faults, expected);
        assert!(load(&[]).is_ok());
        assert!(Config::load(None, []).is_ok(), "nothing of it is needed for the disk");
        assert_eq!(keys(&[("PLATEN__STORAGE__OBJECTS", "tape")]), ["storage.objects"]);
    }

    #[test]
    fn both_keys_come_from_one_place() {
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
        let told = Config::load(Some(file.path()), []).unwrap_err().to_string();
        assert!(told.contains("line 2") && !told.contains("wJalr"), "{told}");
        std::fs::write(&file, "[s3]\nsecret_key = [\"wJalrXUtnFEMI\"]\n").unwrap();
        let told = Config::load(Some(file.path()), []).unwrap_err().to_string();
        assert!(told.contains("s3.secret_key: must be a string") && !told.contains("wJalr"), "{told}");
    }

    #[test]
    fn names_that_no_store_takes_are_refused() {
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
