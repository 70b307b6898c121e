//! What pages get from an allowed host over http and https, and certificates that end the connection.

use bytes::Bytes;
use platen::browser::{PageOutput, PageTask};
use platen::config::{Config, OutboundConfig};

use crate::host::{Host, HostRequest, Reply};
use crate::support::{TestPool, asking, scripted, static_page, text_of, with_files};

/// A configuration that allows `entries`.
pub fn allowing(entries: &[String], variables: &[(&str, &str)]) -> OutboundConfig {
    let allow = ("PLATEN__OUTBOUND__ALLOW".to_owned(), format!("[{}]", entries.join(",")));
    let further = variables.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned()));
    Config::load(None, further.chain([allow])).unwrap().outbound
}

const FONT: &str = "/usr/share/fonts/truetype/dejavu/DejaVuSans.ttf";

fn serve(asked: &HostRequest) -> Reply {
    match asked.path().split('?').next().unwrap_or_default() {
        "/a.css" => {
            Reply::ok("text/css", "p::after{content:' styled'} @font-face{font-family:far;src:url(far.ttf)}")
        }
        "/a.js" => Reply::ok("text/javascript", "document.body.append(' scripted')"),
        "/m.mjs" => Reply::ok("text/javascript", "export const word = ' imported'"),
        "/far.ttf" => Reply::ok("font/ttf", std::fs::read(FONT).unwrap()),
        "/a.svg" => Reply::picture(),
        "/data" => Reply::ok("application/json", r#"{"word":" fetched"}"#),
        "/echo" => Reply::ok("text/plain", asked.body.clone()),
        "/frame" => Reply::ok("text/html", "<p>framed"),
        "/events" => Reply::ok("text/event-stream", "data: told\n\n").hanging(),
        _ => Reply::status("404 Not Found"),
    }
}

const PAGE: &str = "<link rel=stylesheet href=BASE/a.css crossorigin><p>page</p><script src=BASE/a.js></script>\
    <img src=BASE/a.svg id=i><iframe src=BASE/frame></iframe><script type=module>\
    const say = word => document.body.append(' ' + word);\
    say((await (await fetch('BASE/data?key=secret')).json()).word);\
    say((await (await fetch('BASE/echo', {method: 'POST', body: 'sent'})).text()));\
    say((await import('BASE/m.mjs')).word);\
    say('image ' + i.naturalWidth);\
    await document.fonts.load('12px far'); say([...document.fonts].map(font => font.status).join());\
    say(await new Promise(done => { const s = new WebSocket('SOCKET/ws'); \
      s.onmessage = event => done(event.data); s.onerror = () => done('no socket') }));\
    say(await new Promise(done => { const s = new EventSource('BASE/events'); \
      s.onmessage = event => { s.close(); done(event.data) } }));\
    document.body.id = 'done'</script>";

/// Everything in the page that a host can serve, in the order of the page.
async fn shown(host: &Host, scheme: &str) -> (String, Vec<String>) {
    let pool = TestPool::with_outbound(allowing(&[host.entry()], &[]), |config| {
        config.trusted_keys = host.key.iter().cloned().collect();
    });
    let base = format!("{scheme}://127.0.0.1:{}", host.port);
    let page = PAGE.replace("BASE", &base).replace("SOCKET", &base.replace("http", "ws"));
    let rendered = pool.render(&asking(r##"{"waitForSelector":"#done"}"##, scripted(&page))).await.unwrap();
    pool.finish().await;
    (text_of(&rendered.bytes), rendered.warnings)
}

#[actix::test]
async fn an_allowed_host_gives_everything_over_http_and_https() {
    for host in [Host::http(serve).await, Host::https("127.0.0.1", serve).await] {
        let scheme = if host.key.is_some() { "https" } else { "http" };
        let (text, warnings) = shown(&host, scheme).await;
        assert_eq!(
            text, "page styled framed scripted fetched sent imported image 9 loaded hello told",
            "{scheme} {warnings:?}"
        );
        assert_eq!(warnings, [""; 0], "{scheme}");
        let expected = [
            "/a.css",
            "/a.js",
            "/a.svg",
            "/data?key=secret",
            "/echo",
            "/events",
            "/far.ttf",
            "/frame",
            "/m.mjs",
            "/ws",
        ];
        assert_eq!(host.hits().keys().collect::<Vec<_>>(), expected, "{scheme}");
        for asked in host.requests() {
            let head = asked.head.to_lowercase();
            for word in ["proxy-", "forwarded", "via:", "platen", "rust", "hyper"] {
                assert!(!head.contains(word), "{scheme}: {}", asked.head);
            }
            assert_eq!(asked.header("host"), Some(format!("127.0.0.1:{}", host.port).as_str()));
        }
    }
}

#[actix::test]
async fn an_unknown_certificate_ends_the_connection() {
    let host = Host::https("127.0.0.1", serve).await;
    let pool = TestPool::with_outbound(allowing(&[host.entry()], &[]), |_| {});
    let page = format!("<p>page<img src=https://127.0.0.1:{}/a.svg>", host.port);
    assert_eq!(text_of(&pool.render(&scripted(&page)).await.unwrap().bytes), "page");
    assert!(host.connections() > 0 && host.hits().is_empty(), "TLS is Chromium's own, up to the host");
    pool.finish().await;
}

#[actix::test]
async fn a_page_without_script_reaches_an_allowed_host() {
    let host = Host::http(serve).await;
    let pool = TestPool::with_outbound(allowing(&[host.entry()], &[]), |_| {});
    let base = format!("http://127.0.0.1:{}", host.port);
    let page = format!("<link rel=stylesheet href={base}/a.css><p>page</p><img src={base}/a.svg>");
    let rendered = pool.render(&static_page(&page)).await.unwrap();
    assert_eq!((text_of(&rendered.bytes).as_str(), rendered.warnings), ("page styled", Vec::new()));
    assert_eq!(host.hits().keys().collect::<Vec<_>>(), ["/a.css", "/a.svg"]);
    assert!(
        platen::engines::page::references::has_references(page.as_bytes()),
        "such a page is not put into the tab without an origin"
    );
    pool.finish().await;
}

#[actix::test]
async fn addresses_of_an_allowed_host_stay_in_a_document_as_written() {
    let host = Host::http(serve).await;
    let pool = TestPool::with_outbound(allowing(&[host.entry()], &[]), |_| {});
    let base = format!("http://127.0.0.1:{}", host.port);
    let page =
        format!("<link rel=stylesheet href={base}/a.css><p>page</p><img src={base}/a.svg><img src=own.svg>");
    let files = [("own.svg", "<svg xmlns='http://www.w3.org/2000/svg' width='3' height='3'/>")];
    let task = PageTask { output: PageOutput::Html, ..with_files(&page, &files) };
    let html = String::from_utf8(pool.render(&task).await.unwrap().bytes).unwrap();
    for part in [format!("{base}/a.css"), format!("src=\"{base}/a.svg\""), "data:image/svg+xml".to_owned()] {
        assert!(html.contains(&part), "{part} in {html}");
    }
    pool.finish().await;
}

#[actix::test]
async fn a_page_of_an_allowed_host_does_not_get_the_data() {
    let host = Host::http(|asked| match asked.path() {
        "/frame" => Reply::ok(
            "text/html",
            "<script>new Image().src = '/told?' + JSON.stringify([window.__PLATEN_DATA__])</script>",
        ),
        _ => Reply::ok("text/plain", ""),
    })
    .await;
    let pool = TestPool::with_outbound(allowing(&[host.entry()], &[]), |_| {});
    for page in ["<iframe src=URL></iframe>", "<script>location.href = 'URL'</script>"] {
        let page = page.replace("URL", &format!("http://127.0.0.1:{}/frame", host.port));
        let task = PageTask { data: Bytes::from_static(b"{\"secret\":1}"), ..scripted(&page) };
        pool.render(&task).await.unwrap();
    }
    let messages: Vec<_> = host
        .requests()
        .iter()
        .map(|asked| asked.path().to_owned())
        .filter(|it| it.starts_with("/told"))
        .collect();
    assert_eq!(messages, ["/told?[null]", "/told?[null]"]);
    pool.finish().await;
}
