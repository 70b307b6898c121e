//! Fuzzes what a page sends to its proxy.

#![no_main]

#[path = "../../tests/any/proxy_request.rs"]
mod proxy_request;

use std::cell::RefCell;

use proxy_request::Proxy;

thread_local! {
    static PROXY: RefCell<Proxy> = RefCell::new(Proxy::new());
}

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| PROXY.with_borrow_mut(|proxy| proxy.check(bytes)));
