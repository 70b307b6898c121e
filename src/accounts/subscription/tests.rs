//! Periods, renewals, and who may make a document.

use super::*;

fn at(text: &str) -> Timestamp {
    parse_moment(text).unwrap()
}

fn account() -> Account {
    Account {
        id: AccountId::generate(),
        name: "acme".to_owned(),
        plan: "small".to_owned(),
        status: Status::Active,
        documents_per_month: Some(2),
        renews_at: None,
        created_at: at("2026-01-31T10:00:00Z"),
        stored_bytes_limit: None,
        open_jobs_limit: None,
        moved: None,
    }
}

#[test]
fn periods_are_calendar_months_from_the_day_of_creation() {
    let account = account();
    let cases = [
        ("2026-01-31T10:00:00Z", "2026-01-31T10:00:00Z", "2026-02-28T10:00:00Z"),
        ("2026-02-28T09:59:59Z", "2026-01-31T10:00:00Z", "2026-02-28T10:00:00Z"),
        ("2026-02-28T10:00:00Z", "2026-02-28T10:00:00Z", "2026-03-31T10:00:00Z"),
        ("2026-12-31T12:00:00Z", "2026-12-31T10:00:00Z", "2027-01-31T10:00:00Z"),
        ("2028-03-01", "2028-02-29T10:00:00Z", "2028-03-31T10:00:00Z"),
        ("2025-12-01", "2025-11-30T10:00:00Z", "2025-12-31T10:00:00Z"),
    ];
    for (now, start, end) in cases {
        assert_eq!(account.period(at(now)), Period { start: at(start), end: at(end) }, "{now}");
    }
    assert_eq!(account.period(at("2026-02-27")).name(), "2026-01-31");
}

#[test]
fn a_renewal_by_a_month_begins_a_period_at_that_very_moment() {
    let mut account = account();
    account.renews_at = Some(at("2026-03-15"));
    let before = account.period(at("2026-03-14"));
    assert_eq!(before, Period { start: at("2026-02-15"), end: at("2026-03-15") });
    account.renews_at = Some(at("2026-04-15"));
    assert_eq!(account.period(at("2026-03-14")), before);
    assert_eq!(account.period(at("2026-03-15")), Period { start: at("2026-03-15"), end: at("2026-04-15") });
}

#[test]
fn a_renewal_that_is_moved_lengthens_or_shortens_the_present_period() {
    let now = at("2026-02-10");
    let present = account().period(now).name();
    for (renews_at, end, next) in [
        ("2026-02-20", "2026-02-20", "2026-02-20"),
        ("2026-03-05", "2026-03-05", "2026-03-05"),
        ("2026-05-15", "2026-02-15", "2026-02-15"),
        ("2026-02-01", "2026-03-01", "2026-03-01"),
        // The same day: nothing moves.
        ("2026-01-31T10:00:00Z", "2026-02-28T10:00:00Z", "2026-02-28"),
    ] {
        let mut account = account();
        account.renew(Some(at(renews_at)), now);
        let period = account.period(now);
        assert_eq!((period.name(), period.end), (present.clone(), at(end)), "{renews_at}");
        let following = account.period(at(end));
        assert_eq!((following.start, following.name()), (at(end), next.to_owned()), "{renews_at}");
        account.renew(None, now);
        assert_eq!((account.moved, account.period(now).name()), (None, present.clone()), "and back again");
    }
}

#[test]
fn renewals_by_weeks_or_days_count_anew_all_the_same() {
    const DAY_MS: u64 = 86_400_000;
    for days in [1, 7, 14, 28, 30, 31, 35] {
        // Some pay before the end, some at it, some late.
        for (paid_before, paid_after) in [(days.min(2), 0), (1, 0), (0, 0), (0, 1), (0, 3)] {
            let mut account = account();
            account.created_at = at("2025-11-08");
            let mut end = at("2025-12-08");
            account.renew(Some(end), account.created_at);
            let mut counted = account.period(account.created_at);
            let (mut began, mut periods) = (counted.start, 1);
            let mut now = began;
            let last = began.plus_ms(500 * DAY_MS);
            while now < last {
                if now.plus_ms(paid_before * DAY_MS) >= end.plus_ms(paid_after * DAY_MS) {
                    end = end.max(now).plus_ms(days * DAY_MS);
                    let before = account.period(now).name();
                    account.renew(Some(end), now);
                    assert_eq!(account.period(now).name(), before, "a renewal resets nothing");
                }
                let present = account.period(now);
                if present.name() != counted.name() {
                    assert!(present.name() > counted.name(), "{present:?} after {counted:?}");
                    (counted, began, periods) = (present, now, periods + 1);
                }
                let context =
                    format!("{days} days, paid {paid_before} before or {paid_after} after: {present:?}");
                assert!(now.since_ms(began) <= 46 * DAY_MS, "since {}: {context}", began.rfc3339());
                assert!(present.end.since_ms(present.start) <= 46 * DAY_MS, "{context}");
                now = now.plus_ms(DAY_MS / 4);
            }
            // 500 days are 16 months and a half; a late renewal may end a period soon after it began.
            let most = 500 / days.min(15);
            assert!(
                (12..=most).contains(&periods),
                "{periods} periods with {days} days, {paid_before}, {paid_after}"
            );
        }
    }
}

#[test]
fn a_period_that_is_much_too_long_ends_with_the_next_renewal() {
    let mut account = account();
    account.renews_at = Some(at("2026-04-29"));
    account.moved = Some(Period { start: at("2025-12-08"), end: at("2026-05-29") });
    account.renew(Some(at("2026-05-06")), at("2026-04-28"));
    let period = account.period(at("2026-04-28"));
    assert_eq!(period, Period { start: at("2025-12-08"), end: at("2026-05-06") });
}

#[test]
fn a_period_never_has_the_name_of_the_one_before() {
    let mut account = account();
    let now = at("2026-01-31T11:00:00Z");
    // The next one would begin an hour later, on the day on which the present one began.
    account.renew(Some(at("2026-01-31T12:00:00Z")), now);
    let mut names = vec![account.period(now).name()];
    let mut end = account.period(now).end;
    for _ in 0..3 {
        names.push(account.period(end).name());
        end = account.period(end).end;
    }
    let expected = names.clone();
    names.dedup();
    assert_eq!(names, expected);
}

#[test]
fn periods_follow_each_other_without_a_gap() {
    for anchor in ["2024-02-29T23:59:59Z", "2026-01-01", "2025-08-31T01:02:03.456Z"] {
        let mut now = at("2023-01-01");
        let mut period = Period::around(at(anchor), now);
        for _ in 0..60 {
            assert!(period.start <= now && now < period.end, "{anchor}: {period:?}");
            now = period.end;
            let next = Period::around(at(anchor), now);
            assert_eq!(next.start, period.end, "{anchor}");
            assert_eq!(Period::around(at(anchor), Timestamp(next.end.0 - 1)), next);
            period = next;
        }
    }
}

#[test]
fn only_an_active_subscription_that_has_not_expired_is_good() {
    let now = at("2026-02-01");
    let reason = |account: &Account| account.check_subscription(now).unwrap_err();
    let mut account = account();
    account.check_subscription(now).unwrap();
    account.status = Status::PastDue;
    assert!(reason(&account).detail.contains("'acme' is past due"));
    account.status = Status::Canceled;
    assert!(reason(&account).detail.contains("was canceled"));
    account.status = Status::Active;
    account.renews_at = Some(now.plus_ms(1));
    account.check_subscription(now).unwrap();
    account.renews_at = Some(now);
    assert!(reason(&account).detail.contains("expired at 2026-02-01T00:00:00Z"));
    assert_eq!(reason(&account).code, Code::SubscriptionRequired);
}

#[test]
fn the_last_document_passes_and_the_next_names_used_limit_and_renewal() {
    let (mut account, now) = (account(), at("2026-02-01"));
    let period = account.period(now);
    account.check_quota(1, period).unwrap();
    let refused = account.check_quota(2, period).unwrap_err();
    assert_eq!(refused.code, Code::QuotaExceeded);
    assert!(refused.detail.contains("used 2 of its 2"), "{}", refused.detail);
    assert!(refused.detail.contains("2026-02-28T10:00:00Z"), "{}", refused.detail);
    account.documents_per_month = None;
    account.check_quota(u64::MAX, period).unwrap();
}

#[test]
fn moments_are_dates_or_rfc_3339() {
    assert_eq!(at("2026-01-31"), at("2026-01-31T01:00:00+01:00"));
    for wrong in ["", "tomorrow", "2026-02-30", "2026-1-1", "2026-01-01-01", "1969-01-01", "31.01.2026"] {
        assert_eq!(parse_moment(wrong), None, "{wrong}");
    }
}
