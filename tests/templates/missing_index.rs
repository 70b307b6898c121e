//! A new index beside a store with templates: hazard is a sweep that deletes every object the index does not know.

use std::collections::BTreeSet;

use crate::prepared_folder::{FolderCopy, PreparedFolder};
use crate::rebuild::{entries, rebuild_by_command};
use crate::service;
use crate::state::Places;

/// More points than a rebuild of a few templates has.
const POINTS_LIMIT: u64 = 60;
const REFUSED: &str = "the index is new and knows nothing of the templates saved in the store";

async fn objects(copy: &FolderCopy) -> BTreeSet<String> {
    let places = Places::open(&copy.data()).await;
    let objects = places.objects().await;
    places.index.close().await;
    objects
}

/// Whether the new index has taken the old one's place.
fn is_replaced(copy: &FolderCopy) -> bool {
    let mut names = std::fs::read_dir(copy.data()).unwrap().map(|entry| entry.unwrap().file_name());
    let is_aside = names.any(|name| name.to_string_lossy().starts_with("index.damaged-"));
    is_aside && copy.data().join("index").exists()
}

#[tokio::test]
async fn an_index_discarded_by_half_costs_no_template() {
    let prepared = PreparedFolder::build().await;
    let whole = prepared.copy();
    let (before, stored) = (entries(&whole).await, objects(&whole).await);
    let (mut refusals, mut replaced) = (Vec::new(), 0);
    for number in 1..POINTS_LIMIT {
        let copy = prepared.copy();
        std::fs::write(copy.data().join("index/db"), "no database").unwrap();
        copy.arm(number);
        let ended = rebuild_by_command(&copy, true);
        if ended.is_err() && is_replaced(&copy) {
            let found = entries(&copy).await;
            let is_marked = found.iter().any(|entry| entry.key == "rebuilding/templates");
            assert!(is_marked || found == before, "killed at point {number}");
            replaced += 1;
        }
        if let Some(refusal) = service::refusal(&copy.data()) {
            assert!(ended.is_err(), "{refusal}");
            refusals.push(refusal);
        } else {
            // What the service does two hours later.
            let places = Places::open(&copy.data()).await;
            places.sweep().await;
            places.index.close().await;
        }
        if ended.is_err() {
            rebuild_by_command(&copy, false).unwrap();
            assert!(!copy.data().join("index.new").exists());
        }
        assert_eq!(entries(&copy).await, before, "killed at point {number}");
        assert_eq!(objects(&copy).await, stored, "killed at point {number}");
        if ended.is_ok() {
            for reason in ["cannot be opened", REFUSED, "did not end; run it again"] {
                assert!(refusals.iter().any(|refusal| refusal.contains(reason)), "{reason}: {refusals:#?}");
            }
            assert!(replaced >= 4, "the new index was in place {replaced} times only");
            return;
        }
    }
    panic!("the rebuild does not end");
}

#[tokio::test]
async fn a_start_without_its_index_is_refused_until_it_was_rebuilt() {
    let prepared = PreparedFolder::build().await;
    let before = entries(&prepared.copy()).await;
    for is_account_made in [false, true] {
        let copy = prepared.copy();
        let (data, aside) = (copy.data(), copy.data().join("../index.aside"));
        std::fs::rename(data.join("index"), &aside).unwrap();
        if is_account_made {
            service::command(&data, &["account", "create", "another"]).unwrap();
        }
        for _ in 0..2 {
            let refusal = service::refusal(&data).unwrap();
            assert!(refusal.contains(REFUSED) && refusal.contains("`platen index rebuild`"), "{refusal}");
        }
        rebuild_by_command(&copy, false).unwrap();
        assert_eq!(service::refusal(&data), None);
        assert_eq!(entries(&copy).await, before);
        // The former index is valid as before.
        std::fs::remove_dir_all(data.join("index")).unwrap();
        std::fs::rename(&aside, data.join("index")).unwrap();
        assert_eq!(service::refusal(&data), None);
    }
}

#[tokio::test]
async fn unsaved_templates_do_not_prevent_a_start_with_a_new_index() {
    let prepared = PreparedFolder::build().await;
    let copy = prepared.copy();
    std::fs::remove_dir_all(copy.data().join("index")).unwrap();
    std::fs::remove_dir_all(copy.data().join("objects/templates")).unwrap();
    let kept = ["outputs", "unfinished"].map(|folder| copy.data().join("objects").join(folder));
    assert!(kept.iter().all(|folder| folder.read_dir().unwrap().next().is_some()));
    assert_eq!(service::refusal(&copy.data()), None);
}
