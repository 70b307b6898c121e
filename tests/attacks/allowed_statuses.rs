//! What an allowed host answers instead of a file is said, over http and https, in every lane.

use platen::browser::PageTask;
use platen::domain::fault::FaultCode;
use platen::domain::lane::Lane;
use serde_json::json;

use crate::allowed::allowing;
use crate::app::TestApp;
use crate::host::{Asked, Host, Reply};
use crate::support::{TestPool, fixed, scripted, text_of};

fn serve(asked: &Asked) -> Reply {
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
async fn files_that_an_allowed_host_does_not_have_are_said_with_the_status() {
    for host in [Host::http(serve).await, Host::https("127.0.0.1", serve).await] {
        let (pool, base) = pool_of(&host);
        let page = PAGE.replace("BASE", &base);
        let scripts = format!("{page}{}", SCRIPTS.replace("BASE", &base));
        let told = ["404: BASE/gone.png", "500: BASE/500.css"].map(str::to_owned).to_vec();
        let more = ["404: BASE/data", "404: BASE/gone.js", "500: BASE/500-frame"].map(str::to_owned);
        for (task, told) in
            [(fixed(&page), told.clone()), (scripted(&scripts), [told, more.to_vec()].concat())]
        {
            let rendered = pool.render(&task).await.unwrap();
            assert_eq!(text_of(&rendered.bytes), "page styled");
            let mut warnings = rendered.warnings;
            warnings.sort();
            let mut told: Vec<_> =
                told.iter().map(|it| format!("answered with {}", it.replace("BASE", &base))).collect();
            // A font that is not there is not to be read from elsewhere either, which is said first.
            let font =
                warnings.iter().position(|it| it.starts_with("not loaded: Access to font at")).unwrap();
            assert!(warnings.remove(font).contains("far.ttf"), "{base}");
            warnings.retain(|it| !it.starts_with("font not available: 'far'"));
            let moved = warnings.iter().position(|it| it.starts_with("picture cannot be shown: ")).unwrap();
            assert!(warnings.remove(moved).contains(&format!("{base}/moved (nothing came")), "{base}");
            told.sort();
            assert_eq!(warnings, told, "{base} {:?}", task.lane);
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
                let failed = pool.render(&scripted(&page)).await.unwrap_err().fault;
                let shown = path.split('?').next().unwrap();
                let told = format!(
                    "the page went to {base}{shown}, which was answered with {status}: there is nothing to print"
                );
                assert_eq!((failed.code, failed.message), (FaultCode::PageFailed, told));
            }
        }
        pool.finish().await;
    }
}

#[actix::test]
async fn what_the_proxy_refused_is_said_once_and_a_certificate_that_nobody_knows_by_its_name() {
    let host = Host::https("127.0.0.1", serve).await;
    let pool = TestPool::with_outbound(allowing(&[host.entry()], &[]), |_| {});
    let page = format!(
        "<p>page<img src=https://127.0.0.1:{}/a.png><img src=https://h.test/b.png><img src=http://h.test/c.png>",
        host.port
    );
    for lane in [Lane::Static, Lane::Scripted] {
        let mut warnings = pool.render(&PageTask { lane, ..fixed(&page) }).await.unwrap().warnings;
        warnings.sort();
        let told = [
            format!("not loaded: https://127.0.0.1:{}/a.png (net::ERR_CERT_AUTHORITY_INVALID)", host.port),
            "refused address: h.test:443 (a page reaches".to_owned(),
            "refused address: http://h.test/c.png (a page reaches".to_owned(),
        ];
        assert_eq!(warnings.len(), 3, "{warnings:#?}");
        assert!(warnings.iter().zip(&told).all(|(warning, told)| warning.starts_with(told)), "{warnings:#?}");
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
