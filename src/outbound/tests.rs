//! Decisions about URLs in every spelling and trick, and connections to pinned addresses. No test sends a DNS query or connects
//! to another machine.

use std::collections::VecDeque;
use std::sync::Mutex;

use super::*;
use crate::config::Config;

/// Resolves every name to the next row of a table.
struct Names(Mutex<VecDeque<Vec<&'static str>>>);

#[async_trait::async_trait]
impl Resolve for Names {
    async fn resolve(&self, _: &str, port: u16) -> std::io::Result<Vec<SocketAddr>> {
        let answer = self.0.lock().unwrap().pop_front().ok_or(std::io::ErrorKind::NotFound)?;
        Ok(answer.iter().map(|address| SocketAddr::new(address.parse().unwrap(), port)).collect())
    }
}

const OWN: &str = "127.0.0.1:8080";

fn outbound(allow: &str, names: &[&[&'static str]]) -> Outbound {
    with(&[("PLATEN__OUTBOUND__ALLOW", allow)], names)
}

fn with(variables: &[(&str, &str)], names: &[&[&'static str]]) -> Outbound {
    let variables = variables.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned()));
    let config = Config::load(None, variables).unwrap();
    let names = names.iter().map(|addresses| addresses.to_vec()).collect();
    Outbound::new(config.outbound, &[OWN.parse().unwrap()], Arc::new(Names(Mutex::new(names))))
}

async fn refused(outbound: &Outbound, address: &str) -> String {
    match outbound.read(address).await {
        Err(refusal) => refusal.to_string(),
        Ok(pinned) => panic!("{address} was allowed: {pinned:?}"),
    }
}

async fn assert_refused(outbound: &Outbound, address: &str, words: &str) {
    let why = refused(outbound, address).await;
    assert!(why.contains(words), "{address:?}: {why}");
}

#[tokio::test]
async fn a_public_host_is_pinned_to_its_addresses() {
    let outbound = outbound("[]", &[&["1.1.1.1", "2606:4700::1111"]]);
    let pinned = outbound.read("https://Bucket.Example/key?X-Signature=secret").await.unwrap();
    assert_eq!(pinned.host_for_log(), "https://bucket.example:443");
    assert_eq!(pinned.addresses, ["1.1.1.1:443".parse().unwrap(), "[2606:4700::1111]:443".parse().unwrap()]);
    let admitted = outbound.admit("https://nobody.example/key?X-Signature=secret").await.unwrap();
    assert_eq!(format!("{admitted:?}"), "https://nobody.example:443", "a name without address may get one");
    assert!(admitted.secret().ends_with("secret"));
    assert!(outbound.admit("https://10.0.0.1/").await.is_err());
}

#[tokio::test]
async fn urls_that_are_not_plain_https_are_refused() {
    let outbound = outbound("[]", &[&["1.1.1.1"][..]; 8]);
    for (address, words) in [
        (
            "http://a.example/",
            "is not https; outbound.allow can open it: { host = \"a.example:80\", http = true }",
        ),
        ("https://a.example:8443/", "is not opened; outbound.allow can do so: \"a.example:8443\""),
        ("https://user@a.example/", "user name or a password"),
        ("https://a.example:pass@b.example/", "user name or a password"),
        ("https://:x@b.example/", "user name or a password"),
        ("ftp://a.example/", "'ftp:' is not https"),
        ("file:///etc/passwd", "'file:' is not https"),
        ("FILE:///etc/passwd", "'file:' is not https"),
        ("javascript:1", "'javascript:' is not https"),
        ("chrome://version", "'chrome:' is not https"),
        ("//a.example/", "it is no address"),
        ("a.example/key", "it is no address"),
        ("https://", "it is no address"),
        ("https://[::1%25eth0]/", "it is no address"),
        ("https://a.example/\r\nHost: b", "a space or a control character"),
        (" https://a.example/", "a space or a control character"),
        ("https://a.example/\u{0}", "a space or a control character"),
    ] {
        assert_refused(&outbound, address, words).await;
    }
    let long = format!("https://a.example/{}", "x".repeat(9_000));
    assert_refused(&outbound, &long, "8192 bytes (outbound.address_limit_bytes)").await;
}

#[tokio::test]
async fn all_addresses_of_a_name_are_checked_at_every_use() {
    let outbound =
        outbound("[]", &[&["1.1.1.1"], &["10.0.0.1"], &["1.1.1.1", "127.0.0.1"], &["::ffff:10.0.0.1"], &[]]);
    assert!(outbound.read("https://a.example/").await.is_ok());
    for _ in 0..3 {
        assert_refused(&outbound, "https://a.example/", "not public").await;
    }
    for _ in 0..2 {
        let refusal = outbound.read("https://a.example/").await.unwrap_err();
        assert!(matches!(refusal, Refusal::Unresolved(_)), "{refusal}");
    }
}

#[tokio::test]
async fn an_entry_allows_what_it_names_and_no_more() {
    let allow = r#"["a.example:8443", { host = "10.0.0.5:9000", private = true },
                    { host = "store.local:9000", private = true }, "127.0.0.1:443",
                    { host = "old.example", http = true }, { host = "[::1]:9000", private = true }]"#;
    let outbound =
        outbound(allow, &[&["1.1.1.1"], &["10.0.0.1"], &["192.168.0.9"], &["1.1.1.1"], &["10.0.0.1"]]);
    let shown = async |address: &str| outbound.read(address).await.map(|pinned| pinned.host_for_log());
    assert_eq!(shown("https://A.example.:8443/k").await.unwrap(), "https://a.example.:8443");
    // An entry without private.
    assert_refused(&outbound, "https://a.example:8443/", "not public").await;
    assert_eq!(shown("http://store.local:9000/b/k").await.unwrap(), "http://store.local:9000");
    assert!(shown("http://old.example/").await.is_ok());
    assert_refused(&outbound, "http://old.example/", "not public").await;
    for address in
        ["http://10.0.0.5:9000/", "https://10.0.0.5:9000/", "http://0xa.5:9000/", "http://[::1]:9000/"]
    {
        assert!(shown(address).await.is_ok(), "{address}");
    }
    for address in
        ["http://10.0.0.5/", "http://10.0.0.6:9000/", "https://127.0.0.1/", "http://127.0.0.1:9000/"]
    {
        refused(&outbound, address).await;
    }
}

#[tokio::test]
async fn the_service_itself_is_never_allowed() {
    let allow = r#"[{ host = "127.0.0.1:8080", private = true }, { host = "[::1]:8080", private = true },
                    { host = "0.0.0.0:8080", private = true },
                    { host = "[64:ff9b::127.0.0.1]:8080", private = true }, { host = "me.example:8080", private = true }]"#;
    let outbound = outbound(allow, &[&["127.0.0.1"], &["::ffff:127.0.0.1"]]);
    for address in [
        "http://127.0.0.1:8080/v1",
        "http://[::1]:8080/",
        "http://0.0.0.0:8080/",
        "http://0:8080/",
        "http://[::ffff:127.0.0.1]:8080/",
        "http://[64:ff9b::127.0.0.1]:8080/",
        "http://me.example:8080/",
        "http://me.example:8080/",
    ] {
        assert_refused(&outbound, address, "is this service itself").await;
    }
}

#[tokio::test]
async fn delivery_listed_allows_only_listed_hosts() {
    let variables =
        [("PLATEN__OUTBOUND__DELIVERY", "listed"), ("PLATEN__OUTBOUND__ALLOW", r#"["a.example"]"#)];
    let outbound = with(&variables, &[&["1.1.1.1"]]);
    assert!(outbound.read("https://a.example/").await.is_ok());
    assert_refused(&outbound, "https://b.example/", "is not opened").await;
}

#[tokio::test]
async fn a_page_reaches_listed_hosts_and_only_their_names_are_resolved() {
    let allow = r#"["cdn.example", "a.example:8443", { host = "old.example", http = true },
                    { host = "10.0.0.5:9000", private = true }]"#;
    let answers = [&["1.1.1.1"][..], &["1.1.1.1"], &["1.1.1.1"], &["1.1.1.1"], &["1.1.1.1"], &["10.0.0.1"]];
    let outbound = outbound(allow, &answers);
    let decide = async |address: &str| {
        let decided = outbound.decide_page(&Url::parse(address).unwrap()).await;
        decided.map(|pinned| pinned.check_allows_http().is_ok()).map_err(|refusal| refusal.to_string())
    };
    for (address, allows_http) in [
        ("https://cdn.example/x", false),
        ("https://a.example:8443/x", false),
        ("https://old.example/x", true),
        ("http://old.example/x", true),
        ("http://10.0.0.5:9000/x", true),
    ] {
        assert_eq!(decide(address).await, Ok(allows_http), "{address}");
    }
    // The resolver has two rows left, one for each listed name below. Unlisted names must not use any, although deliveries are
    // public.
    for (address, words) in [
        ("https://b.example/x", "outbound.allow can open it: \"b.example\""),
        (
            "http://cdn.example/x",
            "a page reaches its own files only; outbound.allow can open it: { host = \"cdn.example:80\", http = true }",
        ),
        (
            "http://a.example:8443/x",
            "it is not https; outbound.allow can open it: { host = \"a.example:8443\", http = true }",
        ),
        ("https://cdn.example:8443/x", "outbound.allow can open it: \"cdn.example:8443\""),
        ("https://10.0.0.5/x", "outbound.allow can open it: { host = \"10.0.0.5:443\", private = true }"),
        ("https://user@cdn.example/", "a user name or a password"),
        ("ws://cdn.example/", "'ws:' is not https"),
        (
            "https://cdn.example/",
            "it has an address that is not public; outbound.allow can open it: { host = \"cdn.example:443\", private = true }",
        ),
        ("https://cdn.example/", "its host cannot be resolved: "),
    ] {
        let why = decide(address).await.unwrap_err();
        assert!(why.contains(words), "{address}: {why}");
    }
}

#[tokio::test]
async fn the_suggested_entry_suffices() {
    // Listed names are resolved; others are judged by their spelling.
    let inner: &[&str] = &["10.0.0.7"];
    let listed = r#"["inner.example:9000", "127.0.0.1:8080"]"#;
    for (address, expected) in [
        ("http://10.0.0.5:9000/x", "{ host = \"10.0.0.5:9000\", http = true, private = true }"),
        ("https://10.0.0.5:9000/x", "{ host = \"10.0.0.5:9000\", private = true }"),
        ("http://minio:9000/x", "{ host = \"minio:9000\", http = true, private = true }"),
        ("http://store.internal/x", "{ host = \"store.internal:80\", http = true, private = true }"),
        ("http://inner.example:9000/x", "{ host = \"inner.example:9000\", http = true, private = true }"),
    ] {
        let url = Url::parse(address).unwrap();
        let answers = if address.contains("inner.example") { vec![inner] } else { Vec::new() };
        let why = outbound(listed, &answers).decide_page(&url).await.unwrap_err().to_string();
        assert!(why.ends_with(expected), "a page's {address}: {why}");
        let why = refused(&outbound(listed, &answers), address).await;
        assert!(why.ends_with(expected), "a delivery to {address}: {why}");
        // The suggested entry allows the URL.
        let host = url.host_str().unwrap();
        let names: &[&[&str]] = if host.starts_with("10.") { &[] } else { &[inner] };
        let opened = outbound(&format!("[{expected}]"), names).decide_page(&url).await;
        assert!(opened.is_ok(), "{address} with {expected}: {opened:?}");
    }
    // A hint for a host with an entry must not lose what that allows, whether it is added or replaces it.
    let private = r#"{ host = "files.example:9000", private = true }"#;
    let unencrypted = r#"{ host = "files.example:9000", http = true }"#;
    let url = Url::parse("http://files.example:9000/x").unwrap();
    for allow in
        [format!("[{private}]"), format!("[{private}, {unencrypted}]"), format!("[{unencrypted}, {private}]")]
    {
        for now in [inner, &["1.1.1.1"]] {
            let opened = outbound(&allow, &[now]).decide_page(&url).await;
            assert!(opened.is_ok(), "{allow} at {now:?}: {opened:?}");
        }
        let away = outbound(&allow, &[]).decide_page(&url).await.unwrap_err().to_string();
        assert!(away.starts_with("its host cannot be resolved"), "{allow}: {away}");
    }
    for listed in [r#""files.example:9000""#, unencrypted] {
        let why = outbound(&format!("[{listed}]"), &[inner]).decide_page(&url).await.unwrap_err().to_string();
        let (_, hint) = why.split_once("can open it: ").unwrap();
        for allow in [format!("[{hint}]"), format!("[{listed}, {hint}]"), format!("[{hint}, {listed}]")] {
            for now in [inner, &["1.1.1.1"]] {
                let opened = outbound(&allow, &[now]).decide_page(&url).await;
                assert!(opened.is_ok(), "{allow} at {now:?}: {opened:?}");
            }
        }
    }
    // A delivery may ask for a name.
    assert_refused(&outbound("[]", &[inner]), "http://far.example/x", "http = true, private = true").await;
    // No entry opens that.
    assert_refused(&outbound(listed, &[]), "http://127.0.0.1:8080/x", "is this service itself").await;
    let unasked = with(&[("PLATEN__OUTBOUND__DELIVERY", "listed")], &[inner]);
    let why = refused(&unasked, "http://far.example/x").await;
    assert!(why.ends_with("{ host = \"far.example:80\", http = true }"), "nobody asked for it: {why}");
}

#[tokio::test]
async fn a_dead_address_does_not_block_one_that_answers() {
    // A port that is free at 127.0.0.1 is free at 127.0.0.2: tests bind to the former only.
    let live = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let port = live.local_addr().unwrap().port();
    let dead = tokio::net::TcpSocket::new_v4().unwrap();
    dead.bind(SocketAddr::from(([127, 0, 0, 2], port))).unwrap();
    let _listener = dead.listen(0).unwrap();
    // The listener accepts nothing: connections behind these are not answered at all.
    let mut waiting = Vec::new();
    let connect = || tokio::net::TcpStream::connect(("127.0.0.2", port));
    while let Ok(stream) = timeout(Duration::from_millis(100), connect()).await {
        waiting.push(stream.unwrap());
    }
    let allow = format!("[{{ host = \"a.example:{port}\", private = true }}]");
    let outbound = outbound(&allow, &[&["127.0.0.2", "127.0.0.1"]]);
    let url = Url::parse(&format!("https://a.example:{port}/")).unwrap();
    let pinned = outbound.decide_page(&url).await.unwrap();
    let stream = outbound.connect(&pinned).await.unwrap();
    assert_eq!(stream.peer_addr().unwrap(), live.local_addr().unwrap());
}
