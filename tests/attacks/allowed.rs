//! What an allowed host is good for, over http and https, and what ends it.

use platen::config::{Config, OutboundConfig};

use crate::host::{Asked, Host, Reply};
use crate::support::{TestPool, scripted, text_of};

/// A configuration that allows `entries`.
pub fn allowing(entries: &[String], variables: &[(&str, &str)]) -> OutboundConfig {
    let allow = ("PLATEN__OUTBOUND__ALLOW".to_owned(), format!("[{}]", entries.join(",")));
    let further = variables.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned()));
    Config::load(None, further.chain([allow])).unwrap().outbound
}

const FONT: &str = "/usr/share/fonts/truetype/dejavu/DejaVuSans.ttf";

fn serve(asked: &Asked) -> Reply {
    match asked.path().split('?').next().unwrap_or_default() {
        "/a.css" => {
            Reply::ok("text/css", "p::after{content:' styled'} @font-face{font-family:far;src:url(far.ttf)}")
        }
        "/a.js" => Reply::ok("text/javascript", "document.body.append(' scripted')"),
        "/m.mjs" => Reply::ok("text/javascript", "export const word = ' imported'"),
        "/far.ttf" => Reply::ok("font/ttf", std::fs::read(FONT).unwrap()),
        "/a.svg" => {
            Reply::ok("image/svg+xml", "<svg xmlns='http://www.w3.org/2000/svg' width='9' height='7'/>")
        }
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
    say((await (await fetch('BASE/data')).json()).word);\
    say((await (await fetch('BASE/echo', {method: 'POST', body: 'sent'})).text()));\
    say((await import('BASE/m.mjs')).word);\
    say('image ' + i.naturalWidth);\
    await document.fonts.load('12px far'); say([...document.fonts].map(font => font.status).join());\
    say(await new Promise(done => { const s = new WebSocket('SOCKET/ws'); \
      s.onmessage = event => done(event.data); s.onerror = () => done('no socket') }));\
    say(await new Promise(done => { const s = new EventSource('BASE/events'); \
      s.onmessage = event => { s.close(); done(event.data) } }));</script>";

#[actix::test]
async fn an_allowed_host_works_over_http() {
    let host = Host::http(serve).await;
    let pool = TestPool::with_outbound(allowing(&[host.entry()], &[]), |_| {});
    let base = format!("http://127.0.0.1:{}", host.port);
    let page = PAGE.replace("BASE", &base).replace("SOCKET", &base.replace("http", "ws"));
    let rendered = pool.render(&scripted(&page)).await.unwrap();
    let text = text_of(&rendered.bytes);
    eprintln!("{text} {:?} {:#?}", rendered.warnings, host.hits());
    pool.finish().await;
}

#[actix::test]
async fn an_allowed_host_works_over_https() {
    let host = Host::https("127.0.0.1", serve).await;
    let pool = TestPool::with_outbound(allowing(&[host.entry()], &[]), |config| {
        config.trusted_keys = vec![host.key.clone().unwrap()];
    });
    let base = format!("https://127.0.0.1:{}", host.port);
    let page = PAGE.replace("BASE", &base).replace("SOCKET", &base.replace("http", "ws"));
    let rendered = pool.render(&scripted(&page)).await.unwrap();
    let text = text_of(&rendered.bytes);
    eprintln!("{text} {:?} {:#?}", rendered.warnings, host.hits());
    pool.finish().await;
}
