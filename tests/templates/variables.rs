//! When the variables of a template are told.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use async_trait::async_trait;
use platen::domain::ids::{AccountId, TemplateId};
use platen::domain::kinds::TemplateKind;
use platen::domain::site::Site;
use platen::templates::registry::record::Permissions::Private;
use platen::templates::registry::variables::{Reading, VariableReader};
use tokio::sync::Semaphore;

use crate::house::House;
use crate::service::PATIENCE;

/// Tells the page's text as the one variable, as engines do: not while they are busy.
struct Reader {
    is_busy: AtomicBool,
    /// How many may be told, and how many wait for that.
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
    async fn variables(&self, _: AccountId, (_, site): (TemplateKind, &Site), _: Duration) -> Reading {
        self.asked.add_permits(1);
        if self.is_busy.load(Ordering::Relaxed) {
            return Reading::NotInTime;
        }
        self.places.acquire().await.unwrap().forget();
        let text = String::from_utf8(site.page().unwrap().to_vec()).unwrap();
        if text.contains("fault") { Reading::Unreadable } else { Reading::Paths(vec![text]) }
    }
}

impl House {
    async fn variables(&self, template: TemplateId) -> Option<Vec<String>> {
        self.get(template).await.unwrap().variables.map(|variables| variables.paths)
    }
}

#[actix::test]
async fn what_nobody_had_time_to_tell_is_told_to_who_reads_it() {
    let house = House::build(|_| {}).await;
    let reader = Reader::new(100);
    house.context.set_variable_reader(Arc::clone(&reader) as Arc<dyn VariableReader>);
    let template = house.saved("one", Private).await;
    let told = house.variables(template).await.unwrap();
    reader.is_busy.store(true, Ordering::Relaxed);
    assert_eq!(house.variables(template).await, Some(told), "they are kept");
    house.rewrite(template, "two").await.unwrap();
    assert_eq!(house.variables(template).await, None);
    reader.is_busy.store(false, Ordering::Relaxed);
    assert_eq!(house.variables(template).await, Some(vec!["two".to_owned()]));
    let copy = house.copy(template).await.unwrap();
    assert_eq!(house.variables(copy).await, Some(vec!["two".to_owned()]));
    house.rewrite(template, "fault").await.unwrap();
    let asked = reader.asked.available_permits();
    assert_eq!(house.variables(template).await, None);
    assert_eq!(reader.asked.available_permits(), asked, "that they cannot be told is kept as well");
}

#[actix::test]
async fn nobody_waits_for_a_place_to_pack_while_variables_are_told() {
    let house = House::build(|config| {
        config.templates.unpacking_limit = 1;
        config.templates.unpacking_timeout_ms = 2_000;
    })
    .await;
    let (template, other) = (house.saved("one", Private).await, house.uploaded("other").await);
    let reader = Reader::new(0);
    house.context.set_variable_reader(Arc::clone(&reader) as Arc<dyn VariableReader>);
    let unzip = async {
        reader.asked.acquire().await.unwrap().forget();
        let unzipped = house.unzip(other).await;
        reader.places.add_permits(1);
        unzipped
    };
    let both = futures_util::future::join(house.rewrite(template, "two"), unzip);
    assert_eq!(tokio::time::timeout(PATIENCE, both).await.unwrap(), (Ok(()), Ok(())));
    assert_eq!(house.variables(template).await, Some(vec!["two".to_owned()]));
}

#[actix::test]
async fn without_a_reader_nothing_is_loaded_for_it_and_a_later_one_tells() {
    let house = House::build(|_| {}).await;
    let template = house.saved("one", Private).await;
    let before = house.hits_and_misses();
    assert_eq!(house.variables(template).await, None);
    assert_eq!(house.hits_and_misses(), before, "nothing was loaded in vain");
    house.context.set_variable_reader(Reader::new(1) as Arc<dyn VariableReader>);
    let told = house.variables(template).await.expect("it is told");
    assert!(told[0].contains("one"), "{told:?}");
}
