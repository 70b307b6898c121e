//! Rate limit of a token: a steady rate with a burst allowance.

use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use sha2::{Digest, Sha256};
use tokio::time::Instant;

use crate::config::HttpConfig;
use crate::problem::{Code, Problem};

/// Entries held before idle ones are evicted.
const TOKENS_AT_FIRST: usize = 1_024;

/// A token as the limit knows it: its SHA-256.
pub(in crate::http) type TokenName = [u8; 32];

/// Requests of every token of late. Only valid tokens have an entry, and an entry is evicted once its burst is whole again, so
/// memory is bounded by the tokens used in the last seconds.
#[derive(Debug)]
pub struct RateLimit {
    interval: Duration,
    burst: Duration,
    rate: u64,
    tokens: Mutex<Tokens>,
}

/// For each token the moment at which all its requests would have been spent at the steady rate.
#[derive(Debug)]
struct Tokens {
    spent_at: HashMap<TokenName, Instant>,
    tidied_at: usize,
}

impl RateLimit {
    /// The limit of `http.rate_limit_per_s` and `http.rate_burst_limit`.
    #[must_use]
    pub fn new(config: &HttpConfig) -> Self {
        let rate = config.rate_limit_per_s.max(1);
        let interval = Duration::from_nanos(1_000_000_000 / rate);
        let burst = interval.saturating_mul(u32::try_from(config.rate_burst_limit).unwrap_or(u32::MAX));
        let tokens = Tokens { spent_at: HashMap::new(), tidied_at: TOKENS_AT_FIRST };
        Self { interval, burst, rate, tokens: Mutex::new(tokens) }
    }

    /// The name of a token.
    pub(in crate::http) fn name(token: &str) -> TokenName {
        Sha256::digest(token).into()
    }

    /// Counts a request of the token.
    ///
    /// # Errors
    /// `rate_limited` when it is one too many; that one does not count.
    pub(in crate::http) fn admit(&self, token: TokenName) -> Result<(), Problem> {
        let now = Instant::now();
        let mut tokens = self.tokens.lock().unwrap_or_else(PoisonError::into_inner);
        tokens.tidy(now);
        let spent_at = tokens.spent_at.entry(token).or_insert(now);
        let next = (*spent_at).max(now) + self.interval;
        let allowed = now + self.burst;
        if next > allowed {
            return Err(self.refusal(next - allowed));
        }
        *spent_at = next;
        Ok(())
    }

    fn refusal(&self, wait: Duration) -> Problem {
        let detail = format!(
            "This token sent more than {} requests a second (http.rate_limit_per_s); slow down, and wait for a \
             job with GET /v1/jobs/{{jobId}}?wait=20 instead of asking often.",
            self.rate
        );
        Problem::new(Code::RateLimited, detail).retry_after(wait.as_secs() + 1)
    }
}

impl Tokens {
    fn tidy(&mut self, now: Instant) {
        if self.spent_at.len() >= self.tidied_at {
            self.spent_at.retain(|_, spent_at| *spent_at > now);
            self.tidied_at = (self.spent_at.len() * 2).max(TOKENS_AT_FIRST);
        }
    }
}

#[cfg(test)]
mod tests {
    use actix_web::http::Method;
    use tokio::time::advance;

    use super::*;
    use crate::config::Config;
    use crate::http::testing::{TestServer, read};

    fn admitted(limit: &RateLimit, token: &str) -> usize {
        std::iter::repeat_with(|| limit.admit(RateLimit::name(token))).take_while(Result::is_ok).count()
    }

    #[tokio::test(start_paused = true)]
    async fn a_burst_and_then_the_steady_rate() {
        let limit = RateLimit::new(&Config::default().http);
        assert_eq!(admitted(&limit, "one"), 1_000);
        assert_eq!(admitted(&limit, "two"), 1_000, "another token has its own");
        advance(Duration::from_millis(500)).await;
        assert_eq!(admitted(&limit, "one"), 50);
        let refused = limit.admit(RateLimit::name("one")).unwrap_err();
        assert_eq!((refused.code, refused.retry_after_s), (Code::RateLimited, Some(1)));
        advance(Duration::from_hours(1)).await;
        assert_eq!(admitted(&limit, "one"), 1_000);
    }

    #[tokio::test(start_paused = true)]
    async fn polling_twenty_times_a_second_is_never_refused() {
        let limit = RateLimit::new(&Config::default().http);
        for _ in 0..10_000 {
            limit.admit(RateLimit::name("poller")).unwrap();
            advance(Duration::from_millis(50)).await;
        }
    }

    #[tokio::test(start_paused = true)]
    async fn quiet_tokens_are_forgotten() {
        let limit = RateLimit::new(&Config::default().http);
        for number in 0..100_000 {
            limit.admit(RateLimit::name(&number.to_string())).unwrap();
            advance(Duration::from_millis(1)).await;
        }
        let held = limit.tokens.lock().unwrap().spent_at.len();
        assert!(held <= TOKENS_AT_FIRST, "{held} tokens are held");
    }

    #[actix_web::test]
    async fn one_request_too_many_is_told_when_to_come_again() {
        let server = TestServer::with(|config| {
            (config.http.rate_limit_per_s, config.http.rate_burst_limit) = (1, 2);
        })
        .await;
        let (job, answer) = server.init().await;
        let path = format!("/v1/jobs/{job}");
        assert_eq!(server.request(Method::GET, &path, "").await.status(), 200);
        let refused = server.request(Method::GET, &path, "").await;
        assert_eq!(refused.status(), 429);
        assert_eq!(refused.headers().get("retry-after").unwrap(), "1");
        let (_, problem) = read(refused).await;
        assert_eq!(problem["code"], "rate_limited");
        assert!(problem["detail"].as_str().unwrap().contains("http.rate_limit_per_s"), "{problem}");
        // Presigned addresses need no token and have no such limit.
        let upload = server.local(&answer["presignedTemplateUploadUrl"]);
        for _ in 0..5 {
            assert_eq!(server.request(Method::PUT, &upload, "<p>1</p>").await.status(), 200);
        }
    }
}
