//! An allowed host that answers with an error instead of a file: the status is reported, over http and https, in every lane.

use platen::browser::PageTask;
use platen::domain::error::ErrorCode;
use platen::domain::lane::Lane;
use serde_json::json;

use crate::allowed::allowing;
use crate::app::TestApp;
use crate::host::{Host, HostRequest, Reply};
use crate::support::{TestPool, scripted, static_page, text_of};

fn serve(asked: &HostRequest) -> Reply {
    match asked.path() {
        "/here.css" => Reply::ok("text/css", "p::after{content:' styled'}"),
        "/closed.css" => {
            Reply::ok("text/css", "@font-face{font-family:f;src:url(closed.ttf)} p{font-family:f}")
        }
        "/moved" => Reply::redirect(302, "/gone.png?key=secret"),
        path if path.contains("500") => Reply::status("500 Oops"),
        _ => Reply::status("404 Not Found"),
    }
}

const PAGE: &str = "<link rel=stylesheet href=BASE/here.css><link rel=stylesheet href=BASE/500.css>\
    <style>@font-face{font-family:far;src:url(BASE/far.ttf)} p{font-family:far}</style><p>page</p>\
    <img src=BASE/gone.png?key=secret><img src=BASE/moved>";
const SCRIPTS: &str = "<script src=BASE/gone.js></script><iframe src=BASE/500-frame></iframe>\
    <script>fetch('BASE/data', {mode: 'no-cors'})</script>";

fn pool_of(host: &Host) -> (TestPool, String) {
    let pool = TestPool::with_outbound(allowing(&[host.entry()], &[]), |config| {
        config.trusted_keys = host.key.iter().cloned().collect();
    });
    let scheme = if host.key.is_some() { "https" } else { "http" };
    (pool, format!("{scheme}://127.0.0.1:{}", host.port))
}

#[actix::test]
async fn missing_files_of_an_allowed_host_are_reported_with_the_status() {
    for host in [Host::http(serve).await, Host::https("127.0.0.1", serve).await] {
        let (pool, base) = pool_of(&host);
        let page = PAGE.replace("BASE", &base);
        let scripts = format!("{page}{}", SCRIPTS.replace("BASE", &base));
        let messages = ["404: BASE/gone.png", "500: BASE/500.css"].map(str::to_owned).to_vec();
        let more = ["404: BASE/data", "404: BASE/gone.js", "500: BASE/500-frame"].map(str::to_owned);
        for (task, messages) in
            [(static_page(&page), messages.clone()), (scripted(&scripts), [messages, more.to_vec()].concat())]
        {
            let rendered = pool.render(&task).await.unwrap();
            assert_eq!(text_of(&rendered.bytes), "page styled");
            let mut warnings = rendered.warnings;
            warnings.sort();
            let mut messages: Vec<_> =
                messages.iter().map(|it| format!("answered with {}", it.replace("BASE", &base))).collect();
            // CORS refuses a font of another origin first, with a warning of its own.
            let font =
                warnings.iter().position(|it| it.starts_with("not loaded: Access to font at")).unwrap();
            assert!(warnings.remove(font).contains("far.ttf"), "{base}");
            warnings.retain(|it| !it.starts_with("font not available: 'far'"));
            let moved = warnings.iter().position(|it| it.starts_with("picture cannot be shown: ")).unwrap();
            assert!(warnings.remove(moved).contains(&format!("{base}/moved (nothing came")), "{base}");
            messages.sort();
            assert_eq!(warnings, messages, "{base} {:?}", task.lane);
        }
        pool.finish().await;
    }
}

#[actix::test]
async fn a_page_that_goes_to_an_error_of_an_allowed_host_fails_with_the_status() {
    for host in [Host::http(serve).await, Host::https("127.0.0.1", serve).await] {
        let (pool, base) = pool_of(&host);
        for (path, status) in [("/500-page", 500), ("/gone?key=secret", 404)] {
            for going in ["location.href='TO'", "setTimeout(() => location.href='TO', 30)"] {
                let going = going.replace("TO", &format!("{base}{path}"));
                let page = format!("<p>here<script>{going}</script>");
                let failed = pool.render(&scripted(&page)).await.unwrap_err().error;
                let shown = path.split('?').next().unwrap();
                let messages = format!(
                    "the page went to {base}{shown}, which was answered with {status}: there is nothing to print"
                );
                assert_eq!((failed.code, failed.message), (ErrorCode::PageFailed, messages));
            }
        }
        pool.finish().await;
    }
}

#[actix::test]
async fn requests_refused_by_the_proxy_or_for_their_certificate_are_reported_once() {
    let host = Host::https("127.0.0.1", serve).await;
    let pool = TestPool::with_outbound(allowing(&[host.entry()], &[]), |_| {});
    let page = format!(
        "<p>page<img src=https://127.0.0.1:{}/a.png><img src=https://h.test/b.png><img src=http://h.test/c.png>",
        host.port
    );
    for lane in [Lane::Static, Lane::Scripted] {
        let mut warnings = pool.render(&PageTask { lane, ..static_page(&page) }).await.unwrap().warnings;
        warnings.sort();
        let messages = [
            format!("not loaded: https://127.0.0.1:{}/a.png (net::ERR_CERT_AUTHORITY_INVALID)", host.port),
            "refused address: h.test:443 (a page reaches".to_owned(),
            "refused address: http://h.test/c.png (a page reaches".to_owned(),
        ];
        assert_eq!(warnings.len(), 3, "{warnings:#?}");
        assert!(
            warnings.iter().zip(&messages).all(|(warning, messages)| warning.starts_with(messages)),
            "{warnings:#?}"
        );
    }
    pool.finish().await;
}

#[tokio::test]
async fn a_sheet_of_an_allowed_host_prints_no_fallback() {
    let sheet = "@media (scripting: none) {p::after{content:' FALLBACK'}} p::before{content:'styled '}";
    let host = Host::http(move |_| Reply::ok("text/css", sheet)).await;
    let allow = format!("[{}]", host.entry());
    let app = TestApp::with(&[("outbound.allow", allow.as_str())]).await;
    let address = format!("http://127.0.0.1:{}/a.css", host.port);
    for link in
        [format!("<link rel=stylesheet href={address}>"), format!("<style>@import '{address}';</style>")]
    {
        let (view, pdf) = app.render("pdf", &format!("{link}<p>text</p>"), json!({})).await;
        assert_eq!(view["warnings"], json!([]), "{view}");
        assert_eq!(app.text_of(&pdf).trim(), "styled text", "{link}");
    }
}
