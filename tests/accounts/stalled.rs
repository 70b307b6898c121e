//! A disk that does not answer for a while.

use std::sync::Arc;
use std::time::Duration;

use actix::Actor;
use async_trait::async_trait;
use platen::accounts::AccountStore;
use platen::accounts::actor::{Accounts, Administer, Authenticate};
use platen::accounts::admin::{AdminReply, AdminRequest};
use platen::clock::Clock;
use platen::storage::index::{Entry, Index, IndexError, WriteBatch};
use tokio::sync::Semaphore;

use super::DataFolder;

/// The real index, on a disk that takes a batch for each permit.
struct StalledIndex {
    index: Arc<dyn Index>,
    permits: Arc<Semaphore>,
}

#[async_trait]
impl Index for StalledIndex {
    async fn commit(&self, change: WriteBatch) -> Result<(), IndexError> {
        self.permits.acquire().await.unwrap().forget();
        self.index.commit(change).await
    }

    async fn write_unsynced(&self, change: WriteBatch) -> Result<(), IndexError> {
        self.index.write_unsynced(change).await
    }

    async fn sync(&self) -> Result<(), IndexError> {
        self.index.sync().await
    }

    async fn get(&self, key: &str) -> Result<Option<Vec<u8>>, IndexError> {
        self.index.get(key).await
    }

    async fn scan(&self, prefix: &str, after: Option<&str>, limit: usize) -> Result<Vec<Entry>, IndexError> {
        self.index.scan(prefix, after, limit).await
    }

    async fn scan_back(
        &self,
        prefix: &str,
        before: Option<&str>,
        limit: usize,
    ) -> Result<Vec<Entry>, IndexError> {
        self.index.scan_back(prefix, before, limit).await
    }

    async fn counter(&self, key: &str) -> Result<i64, IndexError> {
        self.index.counter(key).await
    }

    async fn close(&self) {
        self.index.close().await;
    }
}

fn new_account(name: &str) -> AdminRequest {
    AdminRequest::CreateAccount { name: name.to_owned(), plan: None, documents_per_month: None, id: None }
}

#[actix::test]
async fn tokens_are_verified_while_a_change_waits_for_the_disk_and_changes_keep_their_order() {
    let folder = DataFolder::new();
    let service = folder.service().await;
    let (account, token) = service.account("one", None).await;
    let permits = Arc::new(Semaphore::new(0));
    let index = Arc::new(StalledIndex { index: service.index.clone(), permits: permits.clone() });
    let clock: Arc<dyn Clock> = service.clock.clone();
    let store = AccountStore::load(index, clock, &folder.config.accounts).await.unwrap();
    let accounts = Accounts::new(store, 16).start();

    let first = accounts.send(Administer(new_account("two")));
    let second = accounts.send(Administer(new_account("two")));
    let asked = tokio::time::timeout(Duration::from_secs(30), accounts.send(Authenticate { token }));
    assert_eq!(asked.await.expect("a token waits for no order").unwrap().unwrap(), account);
    permits.add_permits(1);
    assert!(matches!(first.await.unwrap(), Ok(AdminReply::Account(view)) if view.account.name == "two"));
    let refused = second.await.unwrap().unwrap_err().to_string();
    assert!(refused.contains("account 'two' exists already"), "{refused}");
    service.stop().await;
}
