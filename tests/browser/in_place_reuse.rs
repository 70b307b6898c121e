//! In-place reuse: a page that is written into the document of the one before must look as in a fresh tab.

use std::time::Duration;

use platen::browser::{Delivery, PageTask};
use platen::domain::ids::AccountId;
use platen::engines::page::document_state::leaves_document_state;

use crate::support::{TestPool, asking, put_page, text_of, without_dates_and_ids};

/// Pages that may leave state in the document beside its elements.
const BEFORE: [&str; 34] = [
    "<table><tr><td>quirks<p>x",
    "<!DOCTYPE html PUBLIC '-//W3C//DTD XHTML 1.0 Transitional//EN' 'x.dtd'><p>nearly",
    "<?xml version='1.0'?><html xmlns='http://www.w3.org/1999/xhtml'><p>a",
    "<!doctype html><title>left</title><p>a",
    "<!doctype html><html lang=ja><p>直<p style='hyphens:auto;width:40px' lang=de>Donaudampfschifffahrt",
    "<!doctype html><meta charset=shift_jis><p>a",
    "<!doctype html><meta http-equiv=content-language content=ja><p>直",
    "<!doctype html><meta name=color-scheme content=dark><p>a",
    "<!doctype html><meta name=viewport content='width=300,initial-scale=3'><p>a",
    "<!doctype html><meta name=referrer content=no-referrer><p>a",
    "<!doctype html><meta name=text-scale content=scale><meta name=theme-color content=red><p>a",
    "<!doctype html><style title=a>p{color:red}</style><style title=b>p{color:blue}</style><p>a",
    "<!doctype html><input autofocus><form><input name=a value=b checked></form>",
    "<!doctype html><style>@property --x{syntax:'<length>';inherits:false;initial-value:40px}</style><p>a",
    "<!doctype html><style>@font-face{font-family:Probe;src:local('DejaVu Sans Mono')}p{font-family:Probe}</style><p>a",
    "<!doctype html><style>@page{size:A5;margin:2cm}</style><p>a",
    "<!doctype html><style>@counter-style c{system:cyclic;symbols:X}li{list-style:c}</style><li>a",
    "<!doctype html><style>@layer a,b;@layer b{p{color:red}}@layer a{p{color:blue}}</style><p>a",
    "<!doctype html><style>body{container:x/inline-size}@container x (width>1px){p{color:red}}</style><p>a",
    "<!doctype html><style>@view-transition{navigation:auto}p{view-transition-name:x}</style><p>a",
    "<!doctype html><style>@keyframes k{from{opacity:0}}p{animation:k 9s}</style><p>a",
    "<!doctype html><style>html{scroll-behavior:smooth;scroll-snap-type:y mandatory}p{height:3000px}</style><p>a",
    "<!doctype html><style>:root{--ink:red;font:40px serif;zoom:2}</style><p id=p class=q>a",
    "<!doctype html><html dir=rtl><body bgcolor=red text=blue link=green style='writing-mode:vertical-rl'><p>a",
    "<!doctype html><dialog open>a</dialog><div popover>b</div><details open name=d><summary>s</summary>d</details>",
    "<!doctype html><a name=p href=#p>t</a><map name=m><area href=#p></map>",
    "<!doctype html><svg><defs><linearGradient id=g><stop stop-color=red /></linearGradient></defs></svg>",
    "<!doctype html><div><template shadowrootmode=open><style>p{color:red}</style><p>a</p></template></div>",
    "<!doctype html><p>a<!-- without end",
    "<!doctype html><style>p{color:red}",
    "<!doctype html><title>without end",
    "<!doctype html><textarea>without end",
    "<!doctype html><xmp><b></xmp><plaintext>without end",
    "<!doctype html><table><b><i><u>x<select><svg><math>",
];

/// Pages that look different wherever state of another page is left.
const AFTER: [&str; 4] = [
    "<!doctype html><style>p{border:1px solid}</style><p>Probe 直 骨<table><tr><td width=50%>x<p>y</table><ol><li>i\
        </ol><details name=d><summary>s</summary>hidden</details><p class=q id=p style='width:var(--x,20px)'>w\
        <p style='font-family:Probe'>font<p style='font-size:2rem;color:var(--ink,green)'>rem\
        <p style='hyphens:auto;width:40px'>Donaudampfschifffahrt<li style='list-style:c'>c\
        <svg width=9 height=9><rect width=9 height=9 fill='url(#g)'/></svg>",
    "<table width=300><tr><td>x<p>y</table><font size=5>t</font><p>p<ul><li>x",
    "<!doctype html><style title=b>p{color:green}</style><style title=c>p{color:blue}</style>\
        <style>input:focus{outline:9px solid red}</style><p>styled<input autofocus>",
    "<!doctype html><style>:root{color-scheme:light dark}p{color:CanvasText;background:Canvas}\
        @media (prefers-color-scheme:dark){p{color:red}}@media (min-width:500px){p{margin:9px}}\
        @layer a{p{color:lime}}p{animation:k 1s}</style><p>media",
];

fn put(html: &str) -> PageTask {
    PageTask {
        delivery: if leaves_document_state(html.as_bytes()) { Delivery::Put } else { Delivery::PutInPlace },
        ..put_page(html)
    }
}

#[actix::test]
async fn the_next_page_in_place_comes_out_as_in_a_new_tab() {
    let fresh = TestPool::start(|config| config.reuse_documents = 0);
    let mut wanted = Vec::new();
    for page in AFTER {
        wanted.push(without_dates_and_ids(&fresh.render(&put(page)).await.unwrap().bytes));
    }
    fresh.finish().await;
    let pool = TestPool::start(|config| config.reuse_documents = 1_000);
    let account = AccountId::generate();
    for before in BEFORE {
        for (after, wanted) in AFTER.iter().zip(&wanted) {
            pool.render_for(account, &put(before)).await.unwrap();
            let next = pool.render_for(account, &put(after)).await.unwrap();
            assert!(without_dates_and_ids(&next.bytes) == *wanted, "{before}\nthen\n{after}");
        }
    }
    assert_eq!(pool.reused() + 1, 2 * (BEFORE.len() * AFTER.len()) as u64, "all in one tab");
    pool.finish().await;
}

#[actix::test]
async fn the_probe_finds_traces_that_outlast_a_page() {
    let pool = TestPool::start(|_| {});
    for (before, after) in [(BEFORE[6], 0), (BEFORE[7], 0), (BEFORE[11], 2)] {
        let [account, other] = [AccountId::generate(), AccountId::generate()];
        let wanted = without_dates_and_ids(&pool.render_for(other, &put(AFTER[after])).await.unwrap().bytes);
        pool.render_for(account, &PageTask { delivery: Delivery::PutInPlace, ..put(before) }).await.unwrap();
        let next = pool.render_for(account, &put(AFTER[after])).await.unwrap();
        assert!(without_dates_and_ids(&next.bytes) != wanted, "{before}");
    }
    pool.finish().await;
}

#[actix::test]
async fn a_tab_for_in_place_reuse_is_reset_soon() {
    let leave = asking(r#"{"waitForExpression":"(window.left = 1)"}"#, put("<!doctype html><p>a"));
    let look = r#"{"waitForExpression":"(document.body.textContent = typeof left, true)"}"#;
    let look = asking(look, put("<!doctype html><p>a"));
    let account = AccountId::generate();
    let pool = TestPool::start(|config| config.ping_interval_ms = 600_000);
    for (task, text) in [(&leave, "a"), (&look, "number")] {
        assert_eq!(text_of(&pool.render_for(account, task).await.unwrap().bytes), text);
    }
    pool.finish().await;
    let pool = TestPool::start(|config| config.ping_interval_ms = 100);
    pool.render_for(account, &leave).await.unwrap();
    let emptied = async {
        while text_of(&pool.render_for(account, &look).await.unwrap().bytes) != "undefined" {
            // A leased tab is not reset.
            tokio::time::sleep(Duration::from_millis(150)).await; // poll
        }
    };
    tokio::time::timeout(Duration::from_mins(1), emptied).await.unwrap();
    assert_eq!(pool.metrics.leases.of(["static", "fresh"]).get(), 1, "in the same tab");
    pool.finish().await;
}
