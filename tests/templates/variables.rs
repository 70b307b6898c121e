//! When the variables of a template are found.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use async_trait::async_trait;
use platen::domain::ids::{AccountId, TemplateId};
use platen::domain::kinds::TemplateKind;
use platen::domain::site::Site;
use platen::problem::Code;
use platen::templates::registry::messages::WriteIndexHtml;
use platen::templates::registry::record::Permissions::Private;
use platen::templates::registry::variables::{KnownVariables, VariableReader};
use tokio::sync::Semaphore;

use crate::service::PATIENCE;
use crate::test_registry::TestRegistry;

/// Finds the page's text as the one variable; like an engine not while it is busy.
struct Reader {
    is_busy: AtomicBool,
    /// How many may be found, and how often they were looked for.
    places: Semaphore,
    asked: Semaphore,
}

impl Reader {
    fn new(places: usize) -> Arc<Self> {
        let (places, asked) = (Semaphore::new(places), Semaphore::new(0));
        Arc::new(Self { is_busy: AtomicBool::new(false), places, asked })
    }
}

#[async_trait(?Send)]
impl VariableReader for Reader {
    async fn variables(
        &self,
        _: AccountId,
        (_, site): (TemplateKind, &Site),
        _: Duration,
    ) -> KnownVariables<Vec<String>> {
        self.asked.add_permits(1);
        if self.is_busy.load(Ordering::Relaxed) {
            return KnownVariables::NotYet;
        }
        self.places.acquire().await.unwrap().forget();
        let text = String::from_utf8(site.page().unwrap().to_vec()).unwrap();
        if text.contains("fault") { KnownVariables::Unreadable } else { KnownVariables::Found(vec![text]) }
    }
}

impl TestRegistry {
    async fn variables(&self, template: TemplateId) -> Option<Vec<String>> {
        self.get(template).await.unwrap().variables.map(|variables| variables.paths)
    }
}

#[actix::test]
async fn variables_not_found_by_a_save_are_found_when_the_template_is_read() {
    let fixture = TestRegistry::build(|_| {}).await;
    let reader = Reader::new(100);
    fixture.context.set_variable_reader(Arc::clone(&reader) as Arc<dyn VariableReader>);
    let template = fixture.saved("one", Private).await;
    let found = fixture.variables(template).await.unwrap();
    reader.is_busy.store(true, Ordering::Relaxed);
    assert_eq!(fixture.variables(template).await, Some(found), "they are kept");
    fixture.rewrite(template, "two").await.unwrap();
    assert_eq!(fixture.variables(template).await, None);
    reader.is_busy.store(false, Ordering::Relaxed);
    assert_eq!(fixture.variables(template).await, Some(vec!["two".to_owned()]));
    let copy = fixture.copy(template).await.unwrap();
    assert_eq!(fixture.variables(copy).await, Some(vec!["two".to_owned()]));
    fixture.rewrite(template, "fault").await.unwrap();
    let asked = reader.asked.available_permits();
    assert_eq!(fixture.variables(template).await, None);
    assert_eq!(reader.asked.available_permits(), asked, "that they cannot be found is kept as well");
}

#[actix::test]
async fn other_archives_are_packed_while_variables_are_looked_for() {
    let fixture = TestRegistry::build(|config| {
        config.templates.unpacking_limit = 1;
        config.templates.unpacking_timeout_ms = 2_000;
    })
    .await;
    let (template, other) = (fixture.saved("one", Private).await, fixture.uploaded("other").await);
    let reader = Reader::new(0);
    fixture.context.set_variable_reader(Arc::clone(&reader) as Arc<dyn VariableReader>);
    let unzip = async {
        reader.asked.acquire().await.unwrap().forget();
        let unzipped = fixture.unzip(other).await;
        reader.places.add_permits(1);
        unzipped
    };
    let both = futures_util::future::join(fixture.rewrite(template, "two"), unzip);
    assert_eq!(tokio::time::timeout(PATIENCE, both).await.unwrap(), (Ok(()), Ok(())));
    assert_eq!(fixture.variables(template).await, Some(vec!["two".to_owned()]));
}

/// Any id may be sent as the `contentId`: naming another account's must neither wait for that template's lock nor take it.
#[actix::test]
async fn an_update_naming_another_accounts_template_takes_no_lock() {
    let mut fixture = TestRegistry::build(|_| {}).await;
    let theirs = fixture.saved("theirs", Private).await;
    let rewrite = WriteIndexHtml { of: fixture.of(theirs), text: "two".into() };
    fixture.account = AccountId::generate();
    let own = fixture.saved("own", Private).await;
    let reader = Reader::new(0);
    fixture.context.set_variable_reader(Arc::clone(&reader) as Arc<dyn VariableReader>);
    let update = async {
        // The rewrite has the lock of its template, and waits for the reader.
        reader.asked.acquire().await.unwrap().forget();
        let refused = fixture.update(own, theirs, "new").await;
        reader.places.add_permits(1);
        refused
    };
    let both = futures_util::future::join(fixture.registry.send(rewrite), update);
    let (rewritten, refused) = tokio::time::timeout(PATIENCE, both).await.unwrap();
    assert_eq!(refused, Err(Code::TemplateNotFound));
    rewritten.unwrap().unwrap();
}

#[actix::test]
async fn without_a_variable_reader_no_template_is_loaded_for_one_and_a_later_one_finds_variables() {
    let fixture = TestRegistry::build(|_| {}).await;
    let template = fixture.saved("one", Private).await;
    let before = fixture.hits_and_misses();
    assert_eq!(fixture.variables(template).await, None);
    assert_eq!(fixture.hits_and_misses(), before, "nothing was loaded in vain");
    fixture.context.set_variable_reader(Reader::new(1) as Arc<dyn VariableReader>);
    let found = fixture.variables(template).await.expect("it is found");
    assert!(found[0].contains("one"), "{found:?}");
}
