//! The quota check at init: which accounts may make one more document, and how jobs without a document are not counted.

use platen::accounts::Reservation;
use platen::accounts::actor::ReserveDocument;
use platen::accounts::ledger::UsageKey;
use platen::accounts::subscription::Status;
use platen::domain::ids::AccountId;
use platen::problem::{Code, Problem};
use platen::storage::index::WriteBatch;

use super::{DataFolder, TestService, documents, renewal, status};

impl TestService {
    async fn reserve(&self, account: AccountId) -> Result<Reservation, Problem> {
        self.accounts.send(ReserveDocument { account, counts: true }).await.unwrap()
    }

    /// What the job registry does at init: reserve, write with the job's record, confirm.
    async fn init(&self, account: AccountId, job: &str) -> Result<UsageKey, Problem> {
        let reservation = self.reserve(account).await?;
        let batch = WriteBatch::new().put(format!("job/{job}"), "{}").and(reservation.batch());
        self.index.commit(batch).await.unwrap();
        let usage = reservation.usage().unwrap().clone();
        reservation.confirm();
        Ok(usage)
    }

    /// What a job does that ends without output.
    async fn fail(&self, usage: UsageKey, job: &str) {
        let batch = WriteBatch::new().put(format!("job/{job}"), "{}").and(usage.give_back());
        self.index.commit(batch).await.unwrap();
        self.document_returns.give_back(usage);
    }
}

fn code<T>(outcome: Result<T, Problem>) -> Code {
    outcome.err().unwrap().code
}

#[actix::test]
async fn of_many_concurrent_inits_exactly_as_many_pass_as_documents_are_left() {
    let data = DataFolder::new();
    let service = data.service().await;
    let (account, _) = service.account("acme", Some(10)).await;
    let names: Vec<String> = (0..50).map(|number| number.to_string()).collect();
    let tries = names.iter().map(|name| service.init(account, name));
    let outcomes = futures_util::future::join_all(tries).await;
    assert_eq!(outcomes.iter().filter(|outcome| outcome.is_ok()).count(), 10);
    for refused in outcomes.into_iter().filter_map(Result::err) {
        assert_eq!(refused.code, Code::QuotaExceeded);
        assert!(refused.detail.contains("used 10 of its 10"), "{}", refused.detail);
        assert!(refused.detail.contains("2026-02-10T00:00:00Z"), "{}", refused.detail);
    }
    assert_eq!(service.index.scan("job/", None, 100).await.unwrap().len(), 10);
}

#[actix::test]
async fn a_reservation_that_is_not_written_returns_and_a_written_one_outlives_a_restart() {
    let data = DataFolder::new();
    let service = data.service().await;
    let (account, token) = service.account("acme", Some(2)).await;
    let first = service.reserve(account).await.unwrap();
    let second = service.reserve(account).await.unwrap();
    assert_eq!(code(service.reserve(account).await), Code::QuotaExceeded);
    drop(first);
    let third = service.reserve(account).await.unwrap();
    drop((second, third));
    assert_eq!(service.used("acme").await, 0);
    service.init(account, "1").await.unwrap();
    let unwritten = service.reserve(account).await.unwrap();
    service.stop().await;
    drop(unwritten);

    let service = data.service().await;
    assert_eq!(service.authenticate(&token).await.unwrap(), account);
    assert_eq!(service.used("acme").await, 1);
    service.init(account, "2").await.unwrap();
    assert_eq!(code(service.reserve(account).await), Code::QuotaExceeded);
    service.stop().await;
}

#[actix::test]
async fn a_job_without_output_gives_its_document_back_once() {
    let data = DataFolder::new();
    let service = data.service().await;
    let (account, _) = service.account("acme", Some(1)).await;
    let usage = service.init(account, "1").await.unwrap();
    assert_eq!(code(service.reserve(account).await), Code::QuotaExceeded);
    service.fail(usage, "1").await;
    assert_eq!(service.used("acme").await, 0);
    let usage = service.init(account, "2").await.unwrap();
    service.stop().await;

    let service = data.service().await;
    assert_eq!(code(service.reserve(account).await), Code::QuotaExceeded);
    service.fail(usage, "2").await;
    service.stop().await;
    let service = data.service().await;
    assert_eq!(service.used("acme").await, 0);
}

#[actix::test]
async fn a_new_period_counts_anew_and_an_old_job_gives_back_to_its_own() {
    let data = DataFolder::new();
    let service = data.service().await;
    let (account, _) = service.account("acme", Some(1)).await;
    let old = service.init(account, "1").await.unwrap();
    service.clock.advance_ms(32 * 86_400_000);
    let new = service.init(account, "2").await.unwrap();
    assert_ne!(old.counter(), new.counter());
    assert_eq!(code(service.reserve(account).await), Code::QuotaExceeded);
    service.fail(old.clone(), "1").await;
    assert_eq!(code(service.reserve(account).await), Code::QuotaExceeded);
    assert_eq!(service.index.counter(&old.counter()).await.unwrap(), 0);
    assert_eq!(service.index.counter(&new.counter()).await.unwrap(), 1);
}

#[actix::test]
async fn a_moved_renewal_keeps_the_count() {
    let data = DataFolder::new();
    let service = data.service().await;
    let (account, _) = service.account("acme", Some(2)).await;
    service.init(account, "1").await.unwrap();
    let failing = service.init(account, "2").await.unwrap();
    for date in ["2026-01-20", "2026-02-05", "2026-03-25"] {
        service.set("acme", renewal(date)).await;
        assert_eq!(service.used("acme").await, 2, "{date}");
        assert_eq!(code(service.reserve(account).await), Code::QuotaExceeded, "{date}");
    }
    let message = data.command("account list").await.unwrap();
    assert!(message.contains("documents=2/2  counted-until=2026-01-25T00:00:00Z"), "{message}");
    service.fail(failing, "2").await;
    assert_eq!(service.used("acme").await, 1, "a job begun before gives its document back");
    service.stop().await;

    let service = data.service().await;
    assert_eq!(service.used("acme").await, 1, "after a restart as well");
    service.clock.advance_ms(15 * 86_400_000);
    assert_eq!(service.used("acme").await, 0, "the period ends as the last renewal says");
    service.init(account, "3").await.unwrap();
    // As an operator's billing does every month.
    service.set("acme", renewal("2026-04-25")).await;
    assert_eq!(service.used("acme").await, 1);
}

#[actix::test]
async fn previews_need_a_subscription_with_a_document_left_and_count_nothing() {
    let data = DataFolder::new();
    let service = data.service().await;
    let (account, _) = service.account("acme", Some(2)).await;
    service.init(account, "1").await.unwrap();
    let preview = |counts| service.accounts.send(ReserveDocument { account, counts });
    let reservation = preview(false).await.unwrap().unwrap();
    assert!(reservation.batch().is_empty() && reservation.usage().is_none());
    reservation.confirm();
    assert_eq!(service.used("acme").await, 1);
    service.init(account, "2").await.unwrap();
    let refused = preview(false).await.unwrap().err().unwrap();
    assert_eq!(refused.code, Code::QuotaExceeded);
    assert!(refused.detail.contains("used 2 of its 2 documents"), "{refused}");
    service.set("acme", documents(3)).await;
    preview(false).await.unwrap().unwrap();
    service.set("acme", status(Status::Canceled)).await;
    assert_eq!(code(preview(false).await.unwrap()), Code::SubscriptionRequired);
}

#[actix::test]
async fn an_operators_change_holds_from_the_next_init() {
    let data = DataFolder::new();
    let service = data.service().await;
    let (account, _) = service.account("acme", Some(0)).await;
    assert_eq!(code(service.reserve(account).await), Code::QuotaExceeded);
    service.set("acme", documents(1)).await;
    service.init(account, "1").await.unwrap();
    for bad in [status(Status::PastDue), status(Status::Canceled)] {
        service.set("acme", bad).await;
        assert_eq!(code(service.reserve(account).await), Code::SubscriptionRequired);
    }
    service.set("acme", status(Status::Active)).await;
    assert_eq!(code(service.reserve(account).await), Code::QuotaExceeded);
    service.set("acme", renewal("2026-01-10")).await;
    assert_eq!(code(service.reserve(account).await), Code::SubscriptionRequired);
    service.set("acme", renewal("2026-02-10")).await;
    assert_eq!(code(service.reserve(account).await), Code::QuotaExceeded);
    service.set("acme", documents(2)).await;
    service.init(account, "2").await.unwrap();
    let stranger = AccountId::generate();
    assert_eq!(code(service.reserve(stranger).await), Code::SubscriptionRequired);
}
