//! What holds of any bytes, whoever sent them: archives, presigned URLs, `formatOpts`, and requests of pages.
//!
//! The function `check` of each file is the body of a fuzz target (`fuzz/`) as well. Here it runs over the kept corpus, and
//! over what fuzzing found.

#![expect(clippy::expect_used, clippy::panic, reason = "a test fails by panicking")]

mod archive;
mod format_opts;
#[path = "../../fuzz/kept.rs"]
mod kept;
mod presigned_url;
mod proxy_request;

use std::path::Path;

/// Runs `check` over the kept inputs of the target.
fn check_kept(target: &str, mut check: impl FnMut(&[u8])) {
    for input in kept::inputs(Path::new(env!("CARGO_MANIFEST_DIR")), target) {
        check(&input);
    }
}

#[test]
fn what_is_accepted_as_an_archive_has_safe_paths_and_keeps_the_limits() {
    check_kept("archive", archive::check);
}

#[test]
fn what_a_presigned_url_allows_is_what_was_signed() {
    check_kept("presigned_url", presigned_url::check);
}

#[test]
fn errors_of_format_opts_name_a_key_and_show_no_secret() {
    check_kept("format_opts", format_opts::check);
}

#[test]
fn a_request_of_a_page_reaches_its_host_as_one_request() {
    let mut proxy = proxy_request::Proxy::new();
    check_kept("proxy_request", |input| proxy.check(input));
    // What fuzzing found: it was passed on as HTTP/1.0, whose requests have other rules for where they end.
    proxy.check(b"HEAD http://open.example:80/ HTTP/1.0\r\n\r\n");
}
