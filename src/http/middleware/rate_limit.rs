//! Rate limit of a token: a steady rate with a burst allowance.

use std::num::NonZeroU32;
use std::sync::atomic::{AtomicUsize, Ordering};

use governor::clock::Clock;
use governor::middleware::NoOpMiddleware;
use governor::state::keyed::HashMapStateStore;
use governor::{Quota, RateLimiter};
use sha2::{Digest, Sha256};

use crate::config::HttpConfig;
use crate::problem::{Code, Problem};

/// Entries held before idle ones are evicted.
const TOKENS_AT_FIRST: usize = 1_024;

/// A token as the limit knows it: its SHA-256.
pub(in crate::http) type TokenName = [u8; 32];

/// Counts the recent requests of every token. Only valid tokens have an entry, and an entry is evicted once its burst
/// is whole again, so memory is bounded by the tokens used in the last seconds.
#[derive(Debug)]
pub struct RateLimit {
    limiter: RateLimiter<
        TokenName,
        HashMapStateStore<TokenName>,
        RuntimeClock,
        NoOpMiddleware<std::time::Instant>,
    >,
    rate: NonZeroU32,
    /// Number of entries at which idle ones are evicted next.
    evicts_at: AtomicUsize,
}

/// The runtime's monotonic clock, which tests move.
#[derive(Clone, Debug)]
struct RuntimeClock;

impl Clock for RuntimeClock {
    type Instant = std::time::Instant;

    fn now(&self) -> Self::Instant {
        tokio::time::Instant::now().into_std()
    }
}

impl RateLimit {
    /// The limit of `http.rate_limit_per_s` and `http.rate_burst_limit`.
    pub fn new(config: &HttpConfig) -> Self {
        let rate = at_least_one(config.rate_limit_per_s);
        let quota = Quota::per_second(rate).allow_burst(at_least_one(config.rate_burst_limit));
        let limiter = RateLimiter::new(quota, HashMapStateStore::default(), RuntimeClock);
        Self { limiter, rate, evicts_at: AtomicUsize::new(TOKENS_AT_FIRST) }
    }

    pub(in crate::http) fn name(token: &str) -> TokenName {
        Sha256::digest(token).into()
    }

    /// Counts a request of the token.
    ///
    /// # Errors
    /// `rate_limited` when it is one too many; that one does not count.
    pub(in crate::http) fn admit(&self, token: TokenName) -> Result<(), Problem> {
        self.evict_idle();
        let Err(refused) = self.limiter.check_key(&token) else { return Ok(()) };
        let wait = refused.wait_time_from(RuntimeClock.now());
        let detail = format!(
            "This token sent more than {} requests a second (http.rate_limit_per_s); slow down, and wait for a \
             job with GET /v1/jobs/{{jobId}}?wait=20 instead of asking often.",
            self.rate
        );
        Err(Problem::new(Code::RateLimited, detail).retry_after(wait.as_secs() + 1))
    }

    /// Looking for idle entries takes as long as there are entries, so it happens only when their number has doubled.
    fn evict_idle(&self) {
        if self.limiter.len() >= self.evicts_at.load(Ordering::Relaxed) {
            self.limiter.retain_recent();
            self.evicts_at.store((self.limiter.len() * 2).max(TOKENS_AT_FIRST), Ordering::Relaxed);
        }
    }
}

fn at_least_one(number: u64) -> NonZeroU32 {
    u32::try_from(number)
        .ok()
        .map_or(NonZeroU32::MAX, |number| NonZeroU32::new(number).unwrap_or(NonZeroU32::MIN))
}

#[cfg(test)]
mod tests {
    use actix_web::http::Method;
    use std::time::Duration;

    use tokio::time::advance;

    use super::*;
    use crate::config::Config;
    use crate::http::testing::TestServer;

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
    async fn idle_tokens_are_evicted() {
        let limit = RateLimit::new(&Config::default().http);
        for number in 0..100_000 {
            limit.admit(RateLimit::name(&number.to_string())).unwrap();
            advance(Duration::from_millis(1)).await;
        }
        let held = limit.limiter.len();
        assert!(held <= TOKENS_AT_FIRST, "{held} tokens are held");
    }

    #[actix_web::test]
    async fn a_presigned_url_has_no_rate_limit() {
        let server = TestServer::with(|config| {
            (config.http.rate_limit_per_s, config.http.rate_burst_limit) = (1, 2);
        })
        .await;
        let (_, upload) = server.begin_template().await;
        for _ in 0..5 {
            assert_eq!(server.request(Method::PUT, &upload, "<p>1</p>").await.status(), 200);
        }
    }
}
