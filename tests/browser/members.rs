//! Every member that a page can reach in the installed Chromium is classified by name: harmless, undone between the jobs
//! of a tab, or a door to state that may stay.

use std::collections::{BTreeMap, BTreeSet};

use bytes::Bytes;
use platen::browser::PageTask;
use serde_json::json;

use crate::support::{TestPool, asking, scripted, text_of};

const MEMBERS: &str = include_str!("members.txt");

/// Shows members that are not in the data, but for those of every object and the service's own.
const PAGE: &str = r"<p id=shown>shown</p><script>
    const known = window.__PLATEN_DATA__;
    const own = ['__PLATEN_DATA__', '__POGODOC_DATA__', 'known', 'own', 'unknown', 'shown', 'constructor'];
    const unknown = {};
    for (const [name, root] of Object.entries({ window, navigator, document })) {
        for (let object = root; object && object !== Object.prototype; object = Object.getPrototypeOf(object)) {
            for (const key of Reflect.ownKeys(object)) {
                if (typeof key === 'string' && !/^\d+$/.test(key) && !known[name].includes(key) && !own.includes(key)) {
                    (unknown[name] ??= []).push(key);
                }
            }
        }
    }
    shown.textContent = 'unknown: ' + JSON.stringify(unknown);
    document.body.id = 'done';
</script>";

/// The names under each object, and how each is classified.
fn members() -> BTreeMap<&'static str, BTreeMap<&'static str, &'static str>> {
    let mut members: BTreeMap<_, BTreeMap<_, _>> = BTreeMap::new();
    let mut section = ("", "");
    for line in MEMBERS.lines().filter(|line| !line.starts_with('#')) {
        if let Some((head, _)) = line.strip_prefix('[').and_then(|rest| rest.split_once(']')) {
            section = head.split_once(' ').unwrap();
            assert!(["harmless", "undone", "door"].contains(&section.1), "{line}");
            continue;
        }
        for name in line.split_whitespace() {
            let before = members.entry(section.0).or_default().insert(name, section.1);
            assert_eq!(before, None, "{name} of {} is classified twice", section.0);
        }
    }
    members
}

#[actix::test]
async fn every_member_that_a_page_finds_is_classified() {
    let members = members();
    let known: BTreeMap<_, BTreeSet<_>> =
        members.iter().map(|(object, names)| (*object, names.keys().collect())).collect();
    assert!(known.values().map(BTreeSet::len).sum::<usize>() > 1_000);
    let pool = TestPool::start(|_| {});
    let page = PageTask { data: Bytes::from(json!(known).to_string()), ..scripted(PAGE) };
    let page = asking(r##"{"waitForSelector":"#done"}"##, page);
    let text = text_of(&pool.render(&page).await.unwrap().bytes);
    pool.finish().await;
    assert_eq!(text, "unknown: {}", "tests/browser/members.txt does not classify them: until then, doors");
}
