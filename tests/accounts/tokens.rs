//! Tokens: expiry, names, and the time of the last use.

use platen::accounts::admin::AdminRequest;
use platen::domain::ids::TokenId;
use platen::problem::Code;
use platen::storage::index::WriteBatch;

use super::DataFolder;

const DAY_MS: u64 = 86_400_000;

#[actix::test]
async fn a_token_has_a_name_an_expiry_and_a_last_use() {
    let mut data = DataFolder::new();
    data.config.accounts.token_limit = 2;
    let service = data.service().await;
    data.command("account create acme").await.unwrap();
    let create = "token create --account acme --name ci --expires 30d";
    let token = data.command(create).await.unwrap().trim().to_owned();
    let list = data.command("token list").await.unwrap();
    for words in ["  name=ci  ", "  expires 2026-02-09T00:00:00Z  last-used never  active\n"] {
        assert!(list.contains(words), "{list}");
    }
    service.clock.advance_ms(90 * 60_000);
    let account = service.authenticate(&token).await.unwrap();
    assert!(data.command("token list").await.unwrap().contains("last-used 2026-01-10T01:00:00Z"));
    service.clock.advance_ms(30 * DAY_MS - 90 * 60_000 - 1);
    assert_eq!(service.authenticate(&token).await.unwrap(), account);
    service.clock.advance_ms(1);
    let refused = service.authenticate(&token).await.unwrap_err();
    assert_eq!(refused.code, Code::Unauthorized);
    assert!(refused.detail.contains("expired at 2026-02-09T00:00:00Z"), "{}", refused.detail);
    let list = data.command("token list").await.unwrap();
    assert!(list.ends_with("last-used 2026-02-08T23:00:00Z  expired\n"), "{list}");

    // An expired token does not count against the limit; as many expired ones are kept as there may be active ones.
    for date in ["2026-02-10", "2026-02-11T00:00:00Z"] {
        data.command(&format!("token create --account acme --expires {date}")).await.unwrap();
    }
    let refused = data.command("token create --account acme").await.unwrap_err();
    assert!(refused.contains("2 active tokens"), "{refused}");
    service.clock.advance_ms(3 * DAY_MS + 20 * 60_000);
    let late = data.command("token create --account acme").await.unwrap();
    service.authenticate(late.trim()).await.unwrap();
    let list = data.command("token list").await.unwrap();
    let used = "created 2026-02-12T00:20:00Z  expires never  last-used 2026-02-12T00:20:00Z";
    assert!(list.contains(used), "never used before it was made: {list}");
    assert!(list.lines().count() == 3 && !list.contains("name=ci"), "the oldest is forgotten: {list}");
    for (expires, words) in [
        ("2026-01-01", "which is over"),
        ("0d", "give a time like 30d"),
        ("36501d", "give a time like 30d"),
        ("soon", "give a time like 30d"),
    ] {
        let refused = data.command(&format!("token create --account acme --expires {expires}")).await;
        assert!(refused.as_ref().is_err_and(|message| message.contains(words)), "{expires}: {refused:?}");
    }
    service.stop().await;
}

#[actix::test]
async fn a_token_that_expired_can_be_revoked_where_an_account_may_have_one() {
    let mut data = DataFolder::new();
    data.config.accounts.token_limit = 1;
    let service = data.service().await;
    data.command("account create acme").await.unwrap();
    data.command("token create --account acme --expires 1d").await.unwrap();
    service.clock.advance_ms(2 * DAY_MS);
    let list = data.command("token list").await.unwrap();
    let id = list.split_whitespace().next().unwrap();
    for _ in 0..2 {
        data.command(&format!("token revoke {id}")).await.unwrap();
        let list = data.command("token list").await.unwrap();
        assert!(list.starts_with(id) && list.contains("revoked"), "{list}");
    }
    service.stop().await;
}

/// The last use is written once an hour at most, and is known after a restart.
#[actix::test]
async fn the_last_use_is_known_after_a_restart() {
    let data = DataFolder::new();
    let service = data.service().await;
    let (_, token) = service.account("acme", None).await;
    for _ in 0..1_000 {
        service.authenticate(&token).await.unwrap();
    }
    let stale = WriteBatch::new().put(format!("seen/{}", TokenId::generate()), "2026-01-10T00:00:00Z");
    service.index.commit(stale).await.unwrap();
    service.stop().await;
    let service = data.service().await;
    assert!(data.command("token list").await.unwrap().contains("last-used 2026-01-10T00:00:00Z"));
    assert_eq!(service.index.scan("seen/", None, 9).await.unwrap().len(), 1, "that of no token is gone");
    // It goes with its account.
    let request = AdminRequest::DeleteAccount { name: "acme".to_owned() };
    service.administer(request).await.unwrap();
    assert!(service.index.scan("seen/", None, 9).await.unwrap().is_empty());
    assert!(data.command("token list").await.unwrap().is_empty());
    service.stop().await;
}
