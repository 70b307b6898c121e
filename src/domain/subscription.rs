//! What an account may do: its subscription, the periods in which it counts documents, the check.
//!
//! A subscription is good while its status is `active` and, where it has a `renews_at`, until that
//! moment: whoever bills moves it on, or it has expired. Documents are counted in periods of a
//! calendar month, whose day and time are those of `renews_at`, without one those of the account's
//! creation (on shorter months the last day). So a subscription that is renewed by a month begins to
//! count anew exactly then. A renewal that is moved to another day moves the end of the present period,
//! not its beginning: what was counted in it stays counted until then. A period that could be moved on with
//! every renewal would never end for who pays by the week or by 30 days, so it has a longest length.

#[cfg(test)]
mod tests;

use serde::{Deserialize, Serialize};
use time::{Date, Duration, Month, OffsetDateTime, UtcDateTime};

use super::ids::AccountId;
use crate::clock::Timestamp;
use crate::problem::{Code, Problem};

/// To how many milliseconds from its beginning a period can be lengthened: 45 days, one month and a half.
const LONGEST_MS: u64 = 45 * 86_400_000;

/// Whether the subscription is paid for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Status {
    /// It is; documents are made.
    Active,
    /// A payment is missing; no documents are made.
    PastDue,
    /// It was ended; no documents are made.
    Canceled,
}

impl Status {
    /// All of them.
    pub const ALL: [Self; 3] = [Self::Active, Self::PastDue, Self::Canceled];

    /// The name on the wire.
    pub fn name(self) -> &'static str {
        match self {
            Self::Active => "active",
            Self::PastDue => "past_due",
            Self::Canceled => "canceled",
        }
    }
}

/// Who owns jobs, templates and tokens, with its subscription.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Account {
    /// Which account.
    pub id: AccountId,
    /// Its name, one of its own on this service.
    pub name: String,
    /// The plan it subscribed to: a word for people, nothing is derived from it.
    pub plan: String,
    /// Whether it is paid for.
    pub status: Status,
    /// Documents in a period; without a number as many as it likes.
    pub documents_per_month: Option<u64>,
    /// Until when it is paid for; without it for ever.
    pub renews_at: Option<Timestamp>,
    /// When the account was made.
    pub created_at: Timestamp,
    /// Bytes that it may have stored, zero for any number; without it `accounts.stored_bytes_limit`.
    #[serde(default)]
    pub stored_bytes_limit: Option<u64>,
    /// Jobs that may be initialized and not started, zero for any number; without it `accounts.open_jobs_limit`.
    #[serde(default)]
    pub open_jobs_limit: Option<u64>,
    /// The period in which the renewal was moved to another day, until it is over.
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

    /// The period that this moment lies in.
    pub fn period(&self, now: Timestamp) -> Period {
        self.moved.filter(|moved| moved.holds(now)).unwrap_or_else(|| self.regular_period(now))
    }

    /// Makes it paid for until `renews_at`, for ever without one. The documents of the present period stay counted:
    /// it ends at the first such day of a month, and where that would make it too long, when it was to end before.
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
        // A period is known by the day of its beginning: two of one day would count together, and one that has an
        // earlier day than this one might find what was counted before it.
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

    /// What tells it apart from the account's other periods: the day it begins.
    pub fn name(self) -> String {
        self.start.rfc3339().chars().take("2026-01-31".len()).collect()
    }
}

/// The moment that an operator means by a date (`2026-01-31`, its beginning in UTC) or by a date and
/// time of RFC 3339.
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

/// So many months later, on the last day where the month is too short.
fn months_after(first: UtcDateTime, count: i32) -> UtcDateTime {
    let total = months(first) + count;
    let (year, month) = (total.div_euclid(12), total.rem_euclid(12) + 1);
    let month =
        u8::try_from(month).ok().and_then(|month| Month::try_from(month).ok()).unwrap_or(Month::January);
    let day = first.day().min(month.length(year));
    Date::from_calendar_date(year, month, day).map_or(first, |date| UtcDateTime::new(date, first.time()))
}
