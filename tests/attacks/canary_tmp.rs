//! What a page cannot reach: a canary on the loopback hears nothing, whatever carries the request.

use std::net::{SocketAddr, TcpListener, TcpStream, UdpSocket};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use platen::browser::PageTask;
use platen::domain::fault::FaultCode;

use crate::support::{TestPool, scripted, text_of, with_files};

/// Whom a port heard, in the order they came.
type Heard = Arc<Mutex<Vec<SocketAddr>>>;

/// Notes who connects, and who sends datagrams to the same port.
pub struct Canary {
    port: u16,
    connections: Heard,
    datagrams: Heard,
}

impl Canary {
    pub fn listen() -> Self {
        let (listener, socket) = on_one_port();
        let port = listener.local_addr().unwrap().port();
        let (connections, datagrams) = (Heard::default(), Heard::default());
        let heard = Arc::clone(&connections);
        std::thread::spawn(move || {
            while let Ok((_, from)) = listener.accept() {
                heard.lock().unwrap().push(from);
            }
        });
        let heard = Arc::clone(&datagrams);
        std::thread::spawn(move || {
            while let Ok((_, from)) = socket.recv_from(&mut [0; 1_500]) {
                heard.lock().unwrap().push(from);
            }
        });
        Self { port, connections, datagrams }
    }

    /// `page` with the canary's port in place of `PORT`.
    pub fn aim(&self, page: &str) -> String {
        page.replace("PORT", &self.port.to_string())
    }

    /// Only this check is heard: who came earlier would be heard before it, and if it were not heard itself,
    /// silence would say nothing.
    pub fn check(self) {
        let stream = TcpStream::connect(("127.0.0.1", self.port)).unwrap();
        Self::hears_only(&self.connections, stream.local_addr().unwrap());
        let socket = UdpSocket::bind(("127.0.0.1", 0)).unwrap();
        socket.send_to(b"control", ("127.0.0.1", self.port)).unwrap();
        Self::hears_only(&self.datagrams, socket.local_addr().unwrap());
    }

    fn hears_only(heard: &Heard, control: SocketAddr) {
        let deadline = std::time::Instant::now() + Duration::from_secs(5);
        while !heard.lock().unwrap().contains(&control) {
            assert!(std::time::Instant::now() < deadline, "the canary is deaf");
            std::thread::yield_now();
        }
        assert_eq!(*heard.lock().unwrap(), [control], "a page got through");
    }
}

/// A listener and a socket for datagrams on the same port.
fn on_one_port() -> (TcpListener, UdpSocket) {
    let pair = || {
        let listener = TcpListener::bind(("127.0.0.1", 0)).ok()?;
        let socket = UdpSocket::bind(listener.local_addr().ok()?).ok()?;
        Some((listener, socket))
    };
    (0..100).find_map(|_| pair()).unwrap()
}

const CARRIERS: &str = "<link rel=stylesheet href=http://127.0.0.1:PORT/link>\
    <link rel=prefetch href=http://127.0.0.1:PORT/prefetch>\
    <link rel=preload as=image href=http://127.0.0.1:PORT/preload>\
    <link rel=preconnect href=http://127.0.0.1:PORT><link rel=dns-prefetch href=//localhost:PORT>\
    <link rel=icon href=http://127.0.0.1:PORT/icon>\
    <style>@import 'http://127.0.0.1:PORT/import'; body{background:url(http://127.0.0.1:PORT/url)} \
    @font-face{font-family:f;src:url(http://127.0.0.1:PORT/font)} p{font-family:f}</style>\
    <p>text</p><img src=http://127.0.0.1:PORT/img><img src=https://127.0.0.1:PORT/https>\
    <img src=http://localhost:PORT/name><img src=http://2130706433:PORT/decimal>\
    <img src=http://[::1]:PORT/six><img src=http://127.1:PORT/short>\
    <iframe src=http://127.0.0.1:PORT/iframe></iframe><object data=http://127.0.0.1:PORT/object></object>\
    <embed src=http://127.0.0.1:PORT/embed><video src=http://127.0.0.1:PORT/video></video>\
    <svg><image href=http://127.0.0.1:PORT/svg /><use href=http://127.0.0.1:PORT/use#a /></svg>";

const SCRIPTS: &str = "<script>const to = path => 'http://127.0.0.1:PORT/' + path; \
    const seen = []; const say = name => result => seen.push(name + ' ' + result); \
    const tries = [\
    fetch(to('fetch')).then(say('fetch got through'), () => 0),\
    fetch(to('opaque'), {mode:'no-cors'}).then(say('no-cors got through'), () => 0),\
    import(to('module.js')).then(say('import got through'), () => 0),\
    fetch('http://169.254.169.254/latest').then(say('metadata got through'), () => 0)];\
    const x = new XMLHttpRequest(); x.open('POST', to('xhr')); x.send('x');\
    navigator.sendBeacon(to('beacon'), 'x'); new Image().src = to('image');\
    new WebSocket('ws://127.0.0.1:PORT/ws'); new WebSocket('wss://127.0.0.1:PORT/wss');\
    new EventSource(to('events'));\
    new Worker(URL.createObjectURL(new Blob([`fetch('${to('worker')}').catch(() => 0)`])));\
    const peer = new RTCPeerConnection({iceServers:[{urls:'stun:127.0.0.1:PORT'}, \
        {urls:'turn:127.0.0.1:PORT?transport=tcp',username:'u',credential:'c'}]}); \
    peer.createDataChannel('d'); peer.createOffer().then(offer => peer.setLocalDescription(offer));\
    tries.push(new Promise(done => peer.onicegatheringstatechange = () => \
        peer.iceGatheringState === 'complete' && done()));\
    Promise.all(tries).then(() => document.body.append('tried ' + seen))</script>";

#[actix::test]
async fn no_carrier_reaches_the_loopback_and_each_try_is_said() {
    let pool = TestPool::start(|config| config.quiet_window_ms = 500);
    let canary = Canary::listen();
    let rendered = pool.render(&scripted(&canary.aim(&format!("{CARRIERS}{SCRIPTS}")))).await.unwrap();
    let text = text_of(&rendered.bytes);
    assert!(text.contains("tried") && !text.contains("got through"), "{text}");
    let warnings = rendered.warnings.join("\n");
    let aimed = |path: &str| canary.aim(&format!("refused address: http://127.0.0.1:PORT/{path} "));
    for path in ["link", "prefetch", "import", "img", "iframe", "fetch", "opaque", "xhr", "beacon", "worker"]
    {
        assert!(warnings.contains(&aimed(path)), "{path} is not said:\n{warnings}");
    }
    assert!(warnings.contains("refused address: http://169.254.169.254/latest"), "{warnings}");
    assert!(warnings.contains(&canary.aim("refused address: 127.0.0.1:PORT ")), "{warnings}");
    canary.check();
    pool.finish().await;
}

#[actix::test]
async fn leaving_for_another_address_fails_the_page() {
    let pool = TestPool::start(|config| config.quiet_window_ms = 300);
    for page in [
        "<script>location.href = 'http://127.0.0.1:PORT/left'</script>",
        "<meta http-equiv=refresh content='0;url=http://127.0.0.1:PORT/left'>",
        "<form method=post action=http://127.0.0.1:PORT/left></form><script>document.forms[0].submit()</script>",
    ] {
        let canary = Canary::listen();
        let fault = pool.render(&scripted(&canary.aim(page))).await.unwrap_err();
        assert_eq!(fault.fault.code, FaultCode::PageFailed, "{fault}");
        let address = canary.aim("http://127.0.0.1:PORT/left");
        assert!(fault.fault.message.contains(&address), "{fault}");
        assert!(fault.warnings.lines().iter().any(|line| line.contains(&address)), "{:?}", fault.warnings);
        canary.check();
    }
    pool.finish().await;
}

#[actix::test]
async fn files_of_the_machine_stay_out() {
    let pool = TestPool::start(|_| {});
    let secret = tempfile::NamedTempFile::new().unwrap();
    std::fs::write(&secret, "s3cret").unwrap();
    let mode = std::os::unix::fs::PermissionsExt::from_mode(0o644);
    std::fs::set_permissions(secret.path(), mode).unwrap();
    let path = secret.path().display();
    let page = format!(
        "<p id=p>text</p><iframe src='file://{path}'></iframe><iframe src='view-source:file://{path}'></iframe>\
         <object data='FILE:{path}'></object><embed src='file:{path}'><iframe src='/%2e%2e/{path}'></iframe>\
         <iframe src='/..%2f..%2f{path}'></iframe><script>for (const to of ['file://{path}', '//localhost{path}'])\
         fetch(to).then(it => it.text()).then(text => p.textContent = text, () => 0);\
         try {{ location.href = 'file://{path}' }} catch {{}} window.open('file://{path}')</script>"
    );
    let text = text_of(&pool.render(&scripted(&page)).await.unwrap().bytes);
    assert!(text.starts_with("text") && !text.contains("s3cret"), "{text}");
    pool.finish().await;
}

#[actix::test]
async fn the_origin_is_a_secure_place_with_ranges_and_workers() {
    let pool = TestPool::start(|config| config.quiet_window_ms = 300);
    let page = "<p id=p></p><script type=module>\
        const part = await fetch('/n.txt', {headers: {Range: 'bytes=2-4'}});\
        const worker = new Worker('/w.js', {type: 'module'});\
        const said = new Promise(done => worker.onmessage = event => done(event.data));\
        const gone = await fetch('/gone');\
        p.textContent = [isSecureContext, part.status, await part.text(), await said, gone.status, \
            typeof crypto.subtle].join(' ')</script>";
    let task = with_files(page, &[("n.txt", "0123456789"), ("w.js", "postMessage('worked')")]);
    // A page with script has an origin also where it is said that it needs none.
    for task in [task.clone(), PageTask { direct: true, ..task }] {
        let rendered = pool.render(&task).await.unwrap();
        assert_eq!(text_of(&rendered.bytes), "true 206 234 worked 404 object");
        assert_eq!(rendered.warnings, ["asset not found: /gone"]);
    }
    pool.finish().await;
}
