//! Suite B, the carriers: everything by which a page can ask for something, aimed at the loopback.

use futures_util::StreamExt as _;
use serde_json::json;

use crate::app::TestApp;
use crate::canary::Canary;
use crate::service::{Order, render};
use crate::table::{Outcome, report};

/// Carriers that need no script, by name.
const MARKUP: &[(&str, &str)] = &[
    ("img", "<img src=HTTP/x>"),
    ("img https", "<img src=https://127.0.0.1:PORT/x>"),
    ("img srcset", "<img srcset='HTTP/x 1x, HTTP/y 2x'>"),
    ("picture", "<picture><source srcset=HTTP/x><img src=x></picture>"),
    ("link stylesheet", "<link rel=stylesheet href=HTTP/x>"),
    ("link prefetch", "<link rel=prefetch href=HTTP/x>"),
    ("link preload", "<link rel=preload as=image href=HTTP/x>"),
    ("link modulepreload", "<link rel=modulepreload href=HTTP/x>"),
    ("link preconnect", "<link rel=preconnect href=HTTP><link rel=preconnect href=HTTP crossorigin>"),
    ("link dns-prefetch", "<link rel=dns-prefetch href=//localhost:PORT>"),
    ("link prerender", "<link rel=prerender href=HTTP/x>"),
    ("link icon", "<link rel=icon href=HTTP/x><link rel=apple-touch-icon href=HTTP/y>"),
    ("link manifest", "<link rel=manifest href=HTTP/x>"),
    ("link header of meta", "<meta http-equiv=Link content='<HTTP/x>; rel=preload; as=image'>"),
    ("css import", "<style>@import 'HTTP/x';</style>"),
    ("css url", "<p style='background:url(HTTP/x)'>p"),
    ("css image-set", "<p style='background:image-set(\"HTTP/x\" 1x)'>p"),
    ("css font-face", "<style>@font-face{font-family:f;src:url(HTTP/x)}p{font-family:f}</style><p>p"),
    (
        "css cursor, list, content",
        "<style>li{cursor:url(HTTP/x),auto;list-style:url(HTTP/y)}\
        li::after{content:url(HTTP/z)}</style><li>p",
    ),
    (
        "css mask, filter, clip",
        "<p style='mask:url(HTTP/x#a);filter:url(HTTP/y#a);clip-path:url(HTTP/z#a)'>p",
    ),
    ("css shape-outside", "<p style='float:left;shape-outside:url(HTTP/x)'>p"),
    ("css escapes", "<p style='background:\\75 rl(HTTP/x)'>p"),
    ("css print media", "<style>@media print{body{background:url(HTTP/x)}}</style>p"),
    ("css page box", "<style>@page{background:url(HTTP/x)} @page{@top-left{content:url(HTTP/y)}}</style>p"),
    ("iframe", "<iframe src=HTTP/x></iframe>"),
    ("iframe srcdoc", "<iframe srcdoc='<img src=HTTP/x>'></iframe>"),
    ("iframe of data", "<iframe src='data:text/html,<img src=HTTP/x>'></iframe>"),
    ("frameset", "</head><frameset><frame src=HTTP/x></frameset>"),
    ("object", "<object data=HTTP/x></object>"),
    ("object of svg", "<object data=HTTP/x type=image/svg+xml></object>"),
    ("embed", "<embed src=HTTP/x>"),
    ("embed of pdf", "<embed src=HTTP/x type=application/pdf>"),
    ("video", "<video src=HTTP/x poster=HTTP/y preload=auto></video>"),
    ("audio", "<audio src=HTTP/x preload=auto></audio>"),
    ("track", "<video><source src=HTTP/x><track default src=HTTP/y></video>"),
    ("svg image", "<svg><image href=HTTP/x /><image xlink:href=HTTP/y /></svg>"),
    ("svg use", "<svg><use href=HTTP/x#a /></svg>"),
    (
        "svg feImage",
        "<svg><filter id=f><feImage href=HTTP/x /></filter><rect filter=url(#f) width=9 height=9 /></svg>",
    ),
    ("svg stylesheet", "<svg><style>@import 'HTTP/x';</style></svg>"),
    ("svg foreignObject", "<svg><foreignObject width=9 height=9><img src=HTTP/x></foreignObject></svg>"),
    ("input image", "<input type=image src=HTTP/x>"),
    ("table background", "<table background=HTTP/x><td background=HTTP/y>p</table>"),
    ("body background", "<body background=HTTP/x>p"),
    ("base", "<base href=HTTP/><img src=x><link rel=stylesheet href=y>"),
    ("meta refresh", "<meta http-equiv=refresh content='0;url=HTTP/x'>"),
    (
        "meta csp report",
        "<meta http-equiv=Content-Security-Policy content=\"img-src 'none'; report-uri HTTP/x\"><img src=/a>",
    ),
    ("mathml", "<math href=HTTP/x><mtext><img src=HTTP/y></mtext></math>"),
    ("xml stylesheet", "<?xml-stylesheet href='HTTP/x'?><p>p"),
    ("noscript", "<noscript><img src=HTTP/x></noscript>"),
    ("template shadow root", "<p><template shadowrootmode=open><img src=HTTP/x></template></p>"),
    (
        "model, portal, fencedframe",
        "<model src=HTTP/x></model><portal src=HTTP/y></portal><fencedframe src=HTTP/z></fencedframe>",
    ),
];

/// Carriers that are script. `got` says that something came back.
const SCRIPT: &[(&str, &str)] = &[
    ("script src", "</script><script src=HTTP/x></script><script>"),
    ("script module", "</script><script type=module src=HTTP/x></script><script>"),
    (
        "import map",
        "</script><script type=importmap>{\"imports\":{\"x\":\"HTTP/x\"}}</script><script type=module>import 'x'</script><script>",
    ),
    (
        "speculation rules",
        "</script><script type=speculationrules>{\"prefetch\":[{\"source\":\"list\",\"urls\":[\"HTTP/x\"]}],\
        \"prerender\":[{\"source\":\"list\",\"urls\":[\"HTTP/y\"]}]}</script><script>",
    ),
    ("fetch", "fetch('HTTP/x').then(got, () => 0)"),
    ("fetch no-cors", "fetch('HTTP/x', {mode:'no-cors'}).then(got, () => 0)"),
    (
        "fetch keepalive",
        "fetch('HTTP/x', {mode:'no-cors', keepalive:true, method:'POST', body:'x'}).then(got, () => 0)",
    ),
    (
        "fetch at the end",
        "addEventListener('pagehide', () => fetch('HTTP/x', {keepalive:true,mode:'no-cors'}));\
        window.fetchLater && fetchLater('HTTP/y', {activateAfter: 0})",
    ),
    ("fetch with credentials", "fetch('HTTP/x', {mode:'no-cors', credentials:'include'}).then(got, () => 0)"),
    (
        "XMLHttpRequest",
        "const x = new XMLHttpRequest(); x.open('POST', 'HTTP/x'); x.onload = got; x.send('x')",
    ),
    (
        "XMLHttpRequest sync",
        "const x = new XMLHttpRequest(); x.open('GET', 'HTTP/x', false); try { x.send(); got() } catch {}",
    ),
    ("sendBeacon", "navigator.sendBeacon('HTTP/x', 'x')"),
    ("new Image", "new Image().src = 'HTTP/x'"),
    ("dynamic import", "import('HTTP/x').then(got, () => 0)"),
    ("WebSocket ws", "const s = new WebSocket('ws://127.0.0.1:PORT/x'); s.onopen = got"),
    ("WebSocket wss", "const s = new WebSocket('wss://127.0.0.1:PORT/x'); s.onopen = got"),
    (
        "WebSocketStream",
        "window.WebSocketStream && new WebSocketStream('ws://127.0.0.1:PORT/x').opened.then(got, () => 0)",
    ),
    ("EventSource", "new EventSource('HTTP/x').onopen = got"),
    ("Worker fetch", "new Worker(URL.createObjectURL(new Blob([\"fetch('HTTP/x',{mode:'no-cors'})\"])))"),
    ("Worker importScripts", "new Worker(URL.createObjectURL(new Blob([\"importScripts('HTTP/x')\"])))"),
    (
        "Worker WebSocket",
        "new Worker(URL.createObjectURL(new Blob([\"new WebSocket('ws://127.0.0.1:PORT/x')\"])))",
    ),
    ("Worker of the host", "try { new Worker('HTTP/x') } catch {}"),
    (
        "SharedWorker",
        "new SharedWorker(URL.createObjectURL(new Blob([\"fetch('HTTP/x',{mode:'no-cors'})\"])))",
    ),
    (
        "ServiceWorker",
        "navigator.serviceWorker.register('/worker.js').then(() => navigator.serviceWorker.ready)\
        .then(it => it.active.postMessage('HTTP/x'))",
    ),
    ("ServiceWorker of the host", "navigator.serviceWorker.register('HTTP/x').catch(() => 0)"),
    (
        "audio worklet",
        "new OfflineAudioContext(1, 1, 8000).audioWorklet.addModule('HTTP/x').then(got, () => 0)",
    ),
    ("paint worklet", "CSS.paintWorklet && CSS.paintWorklet.addModule('HTTP/x').then(got, () => 0)"),
    ("FontFace", "new FontFace('f', 'url(HTTP/x)').load().then(got, () => 0)"),
    ("Cache.add", "caches.open('c').then(it => it.add('HTTP/x')).then(got, () => 0)"),
    (
        "WebRTC stun",
        "const p = new RTCPeerConnection({iceServers:[{urls:'stun:127.0.0.1:PORT'}]});\
        p.createDataChannel('d'); p.createOffer().then(it => p.setLocalDescription(it)); wait = gathered(p)",
    ),
    (
        "WebRTC turn udp",
        "const p = new RTCPeerConnection({iceServers:[{urls:'turn:127.0.0.1:PORT',username:'u',credential:'c'}]});\
        p.createDataChannel('d'); p.createOffer().then(it => p.setLocalDescription(it)); wait = gathered(p)",
    ),
    (
        "WebRTC turn tcp",
        "const p = new RTCPeerConnection({iceServers:[{urls:'turn:127.0.0.1:PORT?transport=tcp',username:'u',credential:'c'}]});\
        p.createDataChannel('d'); p.createOffer().then(it => p.setLocalDescription(it)); wait = gathered(p)",
    ),
    (
        "WebRTC turns",
        "const p = new RTCPeerConnection({iceTransportPolicy:'relay',iceServers:[{urls:'turns:localhost:PORT',username:'u',credential:'c'}]});\
        p.createDataChannel('d'); p.createOffer().then(it => p.setLocalDescription(it)); wait = gathered(p)",
    ),
    (
        "WebRTC candidate",
        "const p = new RTCPeerConnection(); p.createDataChannel('d'); p.createOffer().then(async it => {\
        await p.setLocalDescription(it); const q = new RTCPeerConnection(); await q.setRemoteDescription(it);\
        const a = await q.createAnswer(); await q.setLocalDescription(a); await p.setRemoteDescription(a);\
        await p.addIceCandidate({candidate:'candidate:1 1 udp 2122260223 127.0.0.1 PORT typ host',sdpMid:'0'});\
        await p.addIceCandidate({candidate:'candidate:2 1 tcp 1518280447 127.0.0.1 PORT typ host tcptype passive',sdpMid:'0'}) });\
        wait = new Promise(done => setTimeout(done, 500))",
    ),
    (
        "WebTransport",
        "try { const t = new WebTransport('https://127.0.0.1:PORT/x'); wait = t.ready.then(got, () => 0) } catch {}",
    ),
    (
        "link ping",
        "const a = document.createElement('a'); a.href = '#'; a.ping = 'HTTP/x'; document.body.append(a); a.click()",
    ),
    (
        "link download",
        "const a = document.createElement('a'); a.href = 'HTTP/x'; a.download = 'x'; document.body.append(a); a.click()",
    ),
    (
        "form get",
        "const f = document.createElement('form'); f.action = 'HTTP/x'; document.body.append(f); f.submit()",
    ),
    (
        "form post to a frame",
        "const i = document.createElement('iframe'); i.name = 'i'; const f = document.createElement('form');\
        f.action = 'HTTP/x'; f.method = 'post'; f.target = 'i'; document.body.append(i, f); f.submit()",
    ),
    ("location", "location.href = 'HTTP/x'"),
    (
        "location of a frame",
        "const i = document.createElement('iframe'); document.body.append(i); i.contentWindow.location = 'HTTP/x'",
    ),
    ("window.open", "window.open('HTTP/x')"),
    ("window.open noopener", "window.open('HTTP/x', '_blank', 'noopener')"),
    ("navigation.navigate", "navigation.navigate('HTTP/x')"),
    ("document.write", "document.write('<img src=HTTP/x>')"),
    (
        "adopted style sheet",
        "const s = new CSSStyleSheet(); s.replaceSync('body{background:url(HTTP/x)}'); document.adoptedStyleSheets = [s]",
    ),
    (
        "canvas, createImageBitmap",
        "const i = new Image(); i.crossOrigin = ''; i.src = 'HTTP/x'; i.decode().then(got, () => 0)",
    ),
    (
        "xslt",
        "const d = new DOMParser().parseFromString('<a/>', 'text/xml'); const s = new DOMParser().parseFromString(\
        '<xsl:stylesheet version=\"1.0\" xmlns:xsl=\"http://www.w3.org/1999/XSL/Transform\"><xsl:import href=\"HTTP/x\"/></xsl:stylesheet>',\
        'text/xml'); try { const p = new XSLTProcessor(); p.importStylesheet(s); p.transformToDocument(d) } catch {}",
    ),
    (
        "reporting",
        "new ReportingObserver(() => 0).observe(); document.head.innerHTML += '<meta http-equiv=Reporting-Endpoints content=\\'default=\"HTTP/x\"\\'>'",
    ),
    (
        "payment, credentials",
        "try { new PaymentRequest([{supportedMethods:'HTTP/x'}], {total:{label:'a',amount:{currency:'EUR',value:'1'}}})\
        .canMakePayment().catch(() => 0) } catch {} try { navigator.credentials.get({identity:{providers:[{configURL:'HTTP/x',clientId:'1'}]}})\
        .catch(() => 0) } catch {}",
    ),
    (
        "attribution, topics",
        "const i = new Image(); i.attributionSrc = 'HTTP/x'; i.src = '/own.txt'; try { document.browsingTopics().catch(() => 0) } catch {}",
    ),
    (
        "background fetch",
        "navigator.serviceWorker.register('/worker.js').then(it => it.backgroundFetch.fetch('a', 'HTTP/x')).catch(() => 0)",
    ),
    (
        "sockets",
        "try { new TCPSocket('127.0.0.1', PORT).opened.then(got, () => 0) } catch {} try { new UDPSocket({remoteAddress:'127.0.0.1',remotePort:PORT}) } catch {}",
    ),
];

const HEAD: &str = "<!doctype html><meta charset=utf-8>";
const SETUP: &str = "<body>page<script>const got = () => document.body.append(' GOT');let wait;\
    const gathered = p => new Promise(done => { p.onicegatheringstatechange = () => p.iceGatheringState === 'complete' && done();\
    setTimeout(done, 2000) });";
const WORKER: &str = "self.onmessage = event => fetch(event.data, {mode:'no-cors'})";

fn page(is_script: bool, carrier: &str) -> String {
    if is_script { format!("{HEAD}{SETUP}{carrier}</script>") } else { format!("{HEAD}{carrier}<p>page") }
}

/// Each carrier has a port of its own, so that a hit has a name.
async fn attempt(app: &TestApp, name: &str, page: &str, target: &'static str) -> Outcome {
    let canary = Canary::listen();
    let page = canary.aim(page);
    let template = crate::service::archive(&[
        ("index.html", page.as_bytes()),
        ("own.txt", b"own"),
        ("worker.js", WORKER.as_bytes()),
    ]);
    // What has begun gets the time to arrive; a page without script has waited for all of it.
    let opts = if page.contains("<script") { json!({"waitForTimeout": 150}) } else { json!({}) };
    let made = render(app, &app.token, Order { template, target, opts }).await;
    let mut leaks = canary.hits();
    if made.holds("GOT") {
        leaks.push("something came back".to_owned());
    }
    Outcome { name: name.to_owned(), carrier: format!("page to {target}"), leaks, messages: made.messages() }
}

#[actix::test]
async fn no_carrier_reaches_the_loopback_in_the_default_configuration() {
    let app = TestApp::start().await;
    let markup = MARKUP.iter().map(|(name, carrier)| (*name, page(false, carrier)));
    let script = SCRIPT.iter().map(|(name, carrier)| (*name, page(true, carrier)));
    let pages: Vec<_> = markup.chain(script).collect();
    let attempts = pages.iter().map(|(name, page)| attempt(&app, name, page, "pdf"));
    let mut outcomes: Vec<_> = futures_util::stream::iter(attempts).buffer_unordered(4).collect().await;
    let is_refused = |outcome: &&Outcome| outcome.messages.contains("refused address: ");
    let reported = outcomes.iter().filter(is_refused).count();
    // Some carriers Chromium never requests, so there is nothing to report.
    assert!(reported > 70, "only {reported} of {} were said", outcomes.len());
    let taken = pages.iter().filter(|(name, _)| ["img", "iframe", "fetch", "css url"].contains(name));
    for (name, page) in taken {
        for target in ["png", "html"] {
            outcomes.push(attempt(&app, name, page, target).await);
        }
    }
    report("suite B, carriers (hits on a canary, default configuration)", outcomes);
}

/// Header and footer are documents of their own.
#[actix::test]
async fn nothing_is_reached_from_a_header_or_footer() {
    let app = TestApp::start().await;
    let attempts = MARKUP.iter().map(async |(name, carrier)| {
        let canary = Canary::listen();
        let opts = json!({"headerTemplate": canary.aim(carrier), "footerTemplate": canary.aim(carrier)});
        let made = render(&app, &app.token, Order { opts, ..Order::pdf("<p>page") }).await;
        let (leaks, messages) = (canary.hits(), made.messages());
        Outcome { name: (*name).to_owned(), carrier: "header, footer".to_owned(), leaks, messages }
    });
    let outcomes = futures_util::stream::iter(attempts).buffer_unordered(4).collect().await;
    report("suite B, header and footer (hits on a canary, default configuration)", outcomes);
}
