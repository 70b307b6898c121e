//! An account's subscription, the periods in which its documents are counted, and the checks of both.
//!
//! A subscription is good while its status is `active` and `renews_at`, if it has one, lies ahead; the billing system moves
//! that on. Documents are counted in periods of a calendar month that begin at the day and time of `renews_at`, else of the
//! account's creation (in shorter months on the last day). So a renewal by a month begins a new period exactly then. A renewal
//! to another day moves the end of the current period, not its beginning, and its documents stay counted. Hazard: if every
//! renewal could move the end on, a period would never end for an account that pays by the week or by 30 days. So a period
//! has a longest length.

#[cfg(test)]
mod tests;

use serde::{Deserialize, Serialize};
use time::{Date, Duration, Month, OffsetDateTime, UtcDateTime};

use crate::clock::Timestamp;
use crate::domain::ids::AccountId;
use crate::problem::{Code, Problem};

/// Longest period in milliseconds: 45 days.
const LONGEST_MS: u64 = 45 * 86_400_000;

/// Whether the subscription is paid for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[derive(strum::EnumString, strum::IntoStaticStr, strum::VariantNames)]
#[strum(serialize_all = "snake_case")]
pub enum Status {
    /// Paid; documents are made.
    Active,
    /// A payment is missing; no documents are made.
    PastDue,
    /// Ended; no documents are made.
    Canceled,
}

impl Status {
    /// The name on the wire.
    pub fn name(self) -> &'static str {
        self.into()
    }
}

/// Who owns jobs, templates and tokens, with its subscription.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Account {
    /// The account's id.
    pub id: AccountId,
    /// Its name, unique on this service.
    pub name: String,
    /// The plan it subscribed to: a word for people, nothing is derived from it.
    pub plan: String,
    /// Whether it is paid for.
    pub status: Status,
    /// Documents in a period; `None`: no limit.
    pub documents_per_month: Option<u64>,
    /// End of the time paid for; `None`: paid for ever.
    pub renews_at: Option<Timestamp>,
    /// When the account was made.
    pub created_at: Timestamp,
    /// Bytes that it may store, 0: no limit; `None`: `accounts.stored_bytes_limit`.
    #[serde(default)]
    pub stored_bytes_limit: Option<u64>,
    /// Jobs that may be initialized and not started, 0: no limit; `None`: `accounts.open_jobs_limit`.
    #[serde(default)]
    pub open_jobs_limit: Option<u64>,
    /// The current period where a renewal to another day has changed its end, until it is over.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub moved: Option<Period>,
}

impl Account {
    /// Whether the subscription is good at this moment.
    ///
    /// # Errors
    /// `subscription_required` with the reason.
    pub fn check_subscription(&self, now: Timestamp) -> Result<(), Problem> {
        let reason = match self.status {
            Status::Active => match self.renews_at.filter(|&end| now >= end) {
                None => return Ok(()),
                Some(end) => format!("expired at {}", end.rfc3339()),
            },
            Status::PastDue => "is past due".to_owned(),
            Status::Canceled => "was canceled".to_owned(),
        };
        let detail = format!(
            "The subscription of account '{}' {reason}. Renew it, or ask the operator of this service.",
            self.name
        );
        Err(Problem::new(Code::SubscriptionRequired, detail))
    }

    /// Whether one more document fits into a period in which `used` are counted.
    ///
    /// # Errors
    /// `quota_exceeded` with what is used, the limit, and when documents are counted anew.
    pub fn check_quota(&self, used: u64, period: Period) -> Result<(), Problem> {
        let Some(limit) = self.documents_per_month.filter(|&limit| used >= limit) else { return Ok(()) };
        let renews_at = period.end.rfc3339();
        let detail = format!(
            "Account '{}' has used {used} of its {limit} documents; they are counted anew from {renews_at}.",
            self.name
        );
        Err(Problem::new(Code::QuotaExceeded, detail)
            .with("used", used)
            .with("limit", limit)
            .with("renewsAt", renews_at))
    }

    /// The period around this moment.
    pub fn period(&self, now: Timestamp) -> Period {
        self.moved.filter(|moved| moved.holds(now)).unwrap_or_else(|| self.regular_period(now))
    }

    /// Sets `renews_at`. The documents of the current period stay counted: it now ends at the new day of a month, or, where
    /// that would make it too long, at its previous end.
    pub fn renew(&mut self, renews_at: Option<Timestamp>, now: Timestamp) {
        let present = self.period(now);
        self.renews_at = renews_at;
        self.moved = None;
        let regular = self.regular_period(now);
        if regular.name() == present.name() {
            return;
        }
        let is_too_long = regular.end > present.start.plus_ms(LONGEST_MS);
        let mut end = if is_too_long { regular.end.min(present.end) } else { regular.end };
        let mut following = self.regular_period(end);
        // A period's counter is named by the day on which it begins. Two periods that begin on one day would share a counter,
        // and one that begins on an earlier day could continue an old one.
        while following.name() <= present.name() {
            end = following.end;
            following = self.regular_period(end);
        }
        self.moved = Some(Period { start: present.start, end });
    }

    fn regular_period(&self, now: Timestamp) -> Period {
        Period::around(self.renews_at.unwrap_or(self.created_at), now)
    }
}

/// The time in which documents are counted: a calendar month, or more where the renewal was moved.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Period {
    /// Its first moment.
    pub start: Timestamp,
    /// The first moment of the next one.
    pub end: Timestamp,
}

impl Period {
    /// The period around `now` of those that begin whole months before and after `anchor`.
    pub fn around(anchor: Timestamp, now: Timestamp) -> Self {
        let (first, present) = (moment(anchor), moment(now));
        let passed = months(present) - months(first);
        let passed = if months_after(first, passed) > present { passed - 1 } else { passed };
        Self {
            start: timestamp(months_after(first, passed)),
            end: timestamp(months_after(first, passed + 1)),
        }
    }

    fn holds(self, moment: Timestamp) -> bool {
        self.start <= moment && moment < self.end
    }

    /// Its name among the account's periods: the day on which it begins.
    pub fn name(self) -> String {
        self.start.rfc3339().chars().take("2026-01-31".len()).collect()
    }
}

/// Parses an operator's date (`2026-01-31`: its beginning in UTC) or RFC 3339 date and time; `None` before 1970.
pub fn parse_moment(text: &str) -> Option<Timestamp> {
    if let Ok(moment) = OffsetDateTime::parse(text, &time::format_description::well_known::Rfc3339) {
        return (moment.unix_timestamp() >= 0).then(|| timestamp(moment.to_utc()));
    }
    let mut parts = text.split('-');
    let year = parts.next().filter(|year| year.len() == 4)?.parse().ok()?;
    let month: u8 = parts.next().filter(|month| month.len() == 2)?.parse().ok()?;
    let day = parts.next().filter(|day| day.len() == 2)?.parse().ok()?;
    let date = Date::from_calendar_date(year, Month::try_from(month).ok()?, day).ok()?;
    let known = parts.next().is_none() && year >= 1970;
    known.then(|| timestamp(date.midnight().as_utc()))
}

fn moment(timestamp: Timestamp) -> UtcDateTime {
    let elapsed = Duration::milliseconds(i64::try_from(timestamp.0).unwrap_or(i64::MAX));
    UtcDateTime::UNIX_EPOCH.checked_add(elapsed).unwrap_or(UtcDateTime::MAX)
}

fn timestamp(moment: UtcDateTime) -> Timestamp {
    Timestamp(u64::try_from(moment.unix_timestamp_nanos() / 1_000_000).unwrap_or(0))
}

/// Whole months since the year zero.
fn months(moment: UtcDateTime) -> i32 {
    moment.year() * 12 + i32::from(u8::from(moment.month())) - 1
}

/// `first` plus so many months; the last day of a month that is too short.
fn months_after(first: UtcDateTime, count: i32) -> UtcDateTime {
    let total = months(first) + count;
    let (year, month) = (total.div_euclid(12), total.rem_euclid(12) + 1);
    let month =
        u8::try_from(month).ok().and_then(|month| Month::try_from(month).ok()).unwrap_or(Month::January);
    let day = first.day().min(month.length(year));
    Date::from_calendar_date(year, month, day).map_or(first, |date| UtcDateTime::new(date, first.time()))
}
