//! Limits of a page's requests to an allowed host: time, bytes, number, and the warnings.

use std::time::{Duration, Instant};

use platen::config::BrowserConfig;

use crate::allowed::allowing;
use crate::host::{Host, HostRequest, Reply};
use crate::support::{Rendered, TestPool, scripted, static_page, text_of};

const MIB: usize = 1 << 20;

fn serve(asked: &HostRequest) -> Reply {
    match asked.path().split('?').next().unwrap_or_default() {
        "/slow" => Reply::ok("text/plain", "begun").hanging(),
        "/silent" => Reply::never(),
        "/large" => Reply::ok("text/plain", vec![b'x'; 3 * MIB]),
        "/proxy" => {
            Reply::status("407 Proxy Authentication Required\r\nProxy-Authenticate: Basic realm=\"x\"")
        }
        "/broken" => Reply::status("200 OK\r\nContent-Length: 5\r\nContent-Length: 7"),
        _ => Reply::ok("text/plain", vec![b'x'; MIB]),
    }
}

const ASK: &str = "<p>page<script type=module>for (const path of PATHS) {\
    const word = await fetch('BASE/' + path).then(it => it.text()).then(() => 'yes', () => 'no');\
    document.body.append(' ' + word) }</script>";

/// A page that asks for `paths`, one after the other.
async fn ask(host: &Host, paths: &[&str], variables: &[(&str, &str)]) -> Rendered {
    let quick = |config: &mut BrowserConfig| config.trusted_keys = host.key.iter().cloned().collect();
    let pool = TestPool::with_outbound(allowing(&[host.entry()], variables), quick);
    let scheme = if host.key.is_some() { "https" } else { "http" };
    let page = ASK.replace("BASE", &format!("{scheme}://127.0.0.1:{}", host.port));
    let rendered = pool.render(&scripted(&page.replace("PATHS", &format!("{paths:?}")))).await.unwrap();
    pool.finish().await;
    rendered
}

fn check(rendered: &Rendered, text: &str, warnings: &[&str]) {
    assert_eq!(text_of(&rendered.bytes), text, "{:#?}", rendered.warnings);
    for warning in warnings {
        let is_warned = rendered.warnings.iter().any(|line| line.contains(warning));
        assert!(is_warned, "{warning} is not in {:#?}", rendered.warnings);
    }
    assert_eq!(rendered.warnings.len(), warnings.len(), "{:#?}", rendered.warnings);
}

#[actix::test]
async fn a_slow_host_ends_at_its_own_deadline() {
    let deadline = ("PLATEN__OUTBOUND__PAGE_TIMEOUT_S", "1");
    for host in [Host::http(serve).await, Host::https("127.0.0.1", serve).await] {
        for path in ["slow?key=secret", "silent?key=secret"] {
            let rendered = ask(&host, &[path, "quick"], &[deadline]).await;
            check(&rendered, "page no yes", &["was not done within 1 s (outbound.page_timeout_s)"]);
            assert!(!rendered.warnings[0].contains("secret"), "{:?}", rendered.warnings);
        }
    }
}

#[actix::test]
async fn a_slow_picture_costs_its_page_no_more_than_the_deadline() {
    let host = Host::http(serve).await;
    let config = allowing(&[host.entry()], &[("PLATEN__OUTBOUND__PAGE_TIMEOUT_S", "1")]);
    let pool = TestPool::with_outbound(config, |_| {});
    let page = format!("<p>page<img src=http://127.0.0.1:{}/silent>", host.port);
    let rendered = pool.render(&static_page(&page)).await.unwrap();
    check(&rendered, "page", &["/silent (it was not done within 1 s (outbound.page_timeout_s))"]);
    pool.finish().await;
}

#[actix::test]
async fn bytes_are_counted_for_one_and_for_all() {
    let one = ("PLATEN__OUTBOUND__PAGE_LIMIT_BYTES", "2097152");
    let all = ("PLATEN__OUTBOUND__PAGE_TOTAL_LIMIT_BYTES", "2200000");
    let host = Host::http(serve).await;
    let rendered = ask(&host, &["quick", "large", "quick"], &[one]).await;
    check(
        &rendered,
        "page yes no yes",
        &["/large (it has more than 2097152 bytes (outbound.page_limit_bytes))"],
    );
    let rendered = ask(&host, &["one", "two", "three"], &[all]).await;
    check(
        &rendered,
        "page yes yes no",
        &["takes more than 2200000 bytes of others (outbound.page_total_limit_bytes)"],
    );
    // Through a tunnel both directions count, and what TLS adds.
    let host = Host::https("127.0.0.1", serve).await;
    let rendered = ask(&host, &["quick", "large"], &[one]).await;
    check(&rendered, "page yes no", &["has more than 2097152 bytes (outbound.page_limit_bytes)"]);
}

#[actix::test]
async fn heads_are_counted_and_bounded() {
    let host = Host::http(|asked| match asked.path() {
        "/headed" => Reply::ok("text/plain", "").with(&format!("X-Long: {}", "x".repeat(30_000))),
        "/long" => Reply::ok("text/plain", "").with(&format!("X-Long: {}", "x".repeat(70_000))),
        _ => Reply::ok("text/plain", ""),
    })
    .await;
    let all = ("PLATEN__OUTBOUND__PAGE_TOTAL_LIMIT_BYTES", "65536");
    let full = "takes more than 65536 bytes of others (outbound.page_total_limit_bytes)";
    let asking = format!("?{}", "x".repeat(30_000));
    let rendered = ask(&host, &[&asking, &asking, &asking], &[all]).await;
    check(&rendered, "page yes yes no", &[full]);
    assert_eq!(host.requests().len(), 2, "what is too much is not sent");
    let rendered = ask(&host, &["headed", "headed", "headed"], &[all]).await;
    check(&rendered, "page yes yes no", &[full]);
    let rendered = ask(&host, &["long", "headed"], &[]).await;
    check(&rendered, "page no yes", &["its head has more than 65536 bytes (outbound.page_head_limit_bytes)"]);
}

#[actix::test]
async fn requests_of_a_page_are_limited() {
    let host = Host::http(serve).await;
    let limit = ("PLATEN__OUTBOUND__PAGE_REQUEST_LIMIT", "2");
    let rendered = ask(&host, &["1", "2", "3", "4"], &[limit]).await;
    let warnings =
        ["/3 (the page made 2 requests (outbound.page_request_limit))", "/4 (the page made 2 requests"];
    check(&rendered, "page yes yes no no", &warnings);
    assert_eq!(host.requests().len(), 2, "each of them once");
}

#[actix::test]
async fn requests_over_the_connection_limit_wait_and_succeed() {
    let host = Host::http(serve).await;
    let config = allowing(&[host.entry()], &[("PLATEN__OUTBOUND__PAGE_CONNECTION_LIMIT", "1")]);
    let pool = TestPool::with_outbound(config, |_| {});
    let page = "<p>page<script type=module>const all = [1, 2, 3, 4, 5, 6].map(i => fetch('BASE/' + i).then(it => it.text()));\
        document.body.append(' ' + (await Promise.all(all)).length)</script>";
    let page = page.replace("BASE", &format!("http://127.0.0.1:{}", host.port));
    check(&pool.render(&scripted(&page)).await.unwrap(), "page 6", &[]);
    pool.finish().await;
}

#[actix::test]
async fn a_page_of_many_hosts_waits_for_none_that_is_done() {
    // More than the connections that the proxy serves at once.
    let hosts =
        futures_util::future::join_all((0..80).map(|_| Host::https("127.0.0.1", |_| Reply::picture()))).await;
    let entries: Vec<String> = hosts.iter().map(Host::entry).collect();
    // What ends at its deadline would end long after the page.
    let variables =
        [("PLATEN__OUTBOUND__PAGE_CONNECTION_LIMIT", "32"), ("PLATEN__OUTBOUND__PAGE_TIMEOUT_S", "60")];
    let pool = TestPool::with_outbound(allowing(&entries, &variables), |config| {
        config.trusted_keys = hosts.iter().filter_map(|host| host.key.clone()).collect();
        config.load_timeout_ms = 60_000;
    });
    let pictures = hosts.iter().map(|host| format!("<img src=https://127.0.0.1:{}/a.svg>", host.port));
    let started = Instant::now();
    let rendered =
        pool.render(&static_page(&format!("<p>page{}", pictures.collect::<String>()))).await.unwrap();
    check(&rendered, "page", &[]);
    assert!(started.elapsed() < Duration::from_secs(30), "{:?}", started.elapsed());
    for host in &hosts {
        assert_eq!(host.hits().values().collect::<Vec<_>>(), [&1], "each gave its picture, once");
    }
    pool.finish().await;
}

#[actix::test]
async fn a_hosts_407_is_not_taken_for_the_proxys() {
    let host = Host::http(serve).await;
    let rendered = ask(&host, &["proxy", "broken", "quick"], &[]).await;
    check(&rendered, "page no no yes", &["it answered 407", "/broken (it gave no answer"]);
    assert_eq!(host.requests().len(), 3, "none is sent again");
}

#[actix::test]
async fn an_unreachable_host_is_reported() {
    let gone = std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
    let entry = format!("{{ host = \"{gone}\", private = true }}");
    let pool = TestPool::with_outbound(allowing(&[entry], &[]), |_| {});
    let page = format!("<p>page<img src=http://{gone}/a><img src=https://{gone}/a>");
    let rendered = pool.render(&static_page(&page)).await.unwrap();
    let plain = format!("refused address: http://{gone}/a (it cannot be reached: Connection refused");
    let tunnel = format!("refused address: {gone} (it cannot be reached: Connection refused");
    check(&rendered, "page", &[&plain, &tunnel]);
    pool.finish().await;
}

#[actix::test]
async fn a_refused_address_names_the_setting_that_allows_it() {
    let pool = TestPool::start(|_| {});
    let page = "<img src=http://a.example/x?key=secret><img src=https://a.example/x><img src=https://a.example:8443/x>\
        <img src=http://10.0.0.5:9000/x><img src=https://[fd00::1]/x><img src=http://localhost:81/x>";
    let mut warnings = pool.render(&static_page(page)).await.unwrap().warnings;
    warnings.sort();
    let why = "a page reaches its own files only; outbound.allow can open it";
    let expected = [
        format!("refused address: [fd00::1]:443 ({why}: {{ host = \"[fd00::1]:443\", private = true }})"),
        format!("refused address: a.example:443 ({why}: \"a.example\")"),
        format!("refused address: a.example:8443 ({why}: \"a.example:8443\")"),
        format!(
            "refused address: http://10.0.0.5:9000/x ({why}: {{ host = \"10.0.0.5:9000\", http = true, \
             private = true }})"
        ),
        format!("refused address: http://a.example/x ({why}: {{ host = \"a.example:80\", http = true }})"),
        format!(
            "refused address: http://localhost:81/x ({why}: {{ host = \"localhost:81\", http = true, \
             private = true }})"
        ),
    ];
    assert_eq!(warnings, expected);
    pool.finish().await;
}
