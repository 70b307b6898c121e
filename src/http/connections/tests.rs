//! Who makes way when all connections are taken, and whose a connection is.

use actix_web::http::header::{HeaderName, HeaderValue};
use tokio::io::AsyncWriteExt as _;

use super::*;
use crate::config::Config;
use crate::http::testing::{OTHER_TOKEN, TOKEN, TestServer, answer_of, answer_until, until};
use crate::telemetry::metrics::Metrics;

fn connections(limit: u64, trusted: &[&str]) -> Arc<Connections> {
    let mut config = Config::default().http;
    config.connection_limit = limit;
    config.trusted_proxies = trusted.iter().map(|&entry| entry.to_owned()).collect();
    Arc::new(Connections::new(&config, None, Metrics::new().http.full))
}

fn address(number: u8) -> IpAddr {
    [203, 0, 113, number].into()
}

fn is_closed(place: &Place) -> bool {
    place.held.makes_way.load(Ordering::Acquire)
}

#[test]
fn one_holder_has_all_until_others_come_and_keeps_three_quarters() {
    let connections = connections(8, &[]);
    let many: Vec<_> = (0..8).filter_map(|_| connections.admit(address(1))).collect();
    assert!(many.len() == 8 && connections.admit(address(1)).is_none());
    many[0].held.active_ms.store(u64::MAX, Ordering::Relaxed);
    let others: Vec<_> = (0..3).filter_map(|_| connections.admit(address(2))).collect();
    assert_eq!(others.len(), 2, "a quarter");
    let closed: Vec<usize> = (0..8).filter(|&at| is_closed(&many[at])).collect();
    assert_eq!(closed, [1, 2], "those that were silent the longest");
    let third = connections.admit(address(3)).unwrap();
    drop((many, third));
    assert_eq!(connections.state.lock().count, 2, "a place that was taken away is not freed twice");
    drop(others);
    assert!(connections.state.lock().holders.is_empty());
}

#[test]
fn a_connection_counts_for_the_account_of_its_latest_request() {
    let connections = connections(8, &[]);
    let flood = Holder::Account(AccountId::generate());
    let many: Vec<_> = (0..7).filter_map(|_| connections.admit(address(1))).collect();
    for place in &many {
        place.count_for(flood);
    }
    let one = connections.admit(address(1)).unwrap();
    one.count_for(Holder::Account(AccountId::generate()));
    assert!(connections.admit(address(1)).is_some(), "the same address, and not that account's");
    assert_eq!(many.iter().filter(|place| is_closed(place)).count(), 1);
    for place in &many {
        place.count_for(Holder::Address(address(9)));
    }
    let theirs = connections.state.lock().holders.get(&Holder::Address(address(9))).map(BTreeMap::len);
    assert_eq!(theirs, Some(6), "one that makes way is counted no more");
}

#[test]
fn the_client_is_the_last_address_that_no_trusted_proxy_has() {
    let connections = connections(8, &["10.0.0.0/8", "::1"]);
    for (peer, sent, client) in [
        ("10.0.0.1", &["203.0.113.7"][..], "203.0.113.7"),
        ("10.0.0.1", &["198.51.100.1, 203.0.113.7, 10.0.0.9"], "203.0.113.7"),
        ("10.0.0.1", &["198.51.100.1", "203.0.113.7:4711"], "203.0.113.7"),
        ("::1", &["[2001:db8::5]:80"], "2001:db8::5"),
        ("10.0.0.1", &["203.0.113.7, unknown"], "10.0.0.1"),
        ("10.0.0.1", &["unknown, 10.0.0.3"], "10.0.0.3"),
        ("10.0.0.1", &[], "10.0.0.1"),
        ("203.0.113.9", &["198.51.100.1"], "203.0.113.9"),
    ] {
        let mut headers = HeaderMap::new();
        for line in sent {
            headers.append(HeaderName::from_static(FORWARDED_FOR), HeaderValue::from_static(line));
        }
        let found = connections.client(peer.parse().unwrap(), &headers);
        assert_eq!(found, client.parse::<IpAddr>().unwrap(), "{peer} {sent:?}");
    }
}

#[test]
fn connections_leave_files_for_the_service_and_for_transfers() {
    let config = Config::default().http;
    let limit = |files| Connections::new(&config, files, Metrics::new().http.full).limit();
    assert_eq!([None, Some(65_536), Some(4_096), Some(1_024)].map(limit), [25_000, 25_000, 2_304, 384]);
}

/// Everybody is at the same address, as behind a proxy.
#[actix_web::test]
async fn a_full_service_closes_connections_of_the_largest_account_for_others_and_tells_strangers() {
    let server = TestServer::with(|config| {
        config.http.connection_limit = 8;
        config.http.workers = 1;
    })
    .await;
    let served = server.serve();
    let unfinished = |token| {
        format!(
            "POST /v1/documents/init HTTP/1.1\r\nhost: x\r\nauthorization: Bearer {token}\r\n\
             content-length: 5\r\n\r\n{{\"a\""
        )
    };
    let mut flood = Vec::new();
    for number in 1..=8 {
        flood.push(served.send(unfinished(TOKEN).as_bytes()).await);
        until(|| server.state.metrics.http.body_bytes.get() == number * 4).await;
    }
    let mut other = served.send(unfinished(OTHER_TOKEN).as_bytes()).await;
    other.write_all(b"x").await.unwrap();
    let answer = answer_until(&mut other, "}").await;
    assert!(answer.starts_with("HTTP/1.1 400"), "{answer}");
    assert_eq!(answer_of(&mut flood[0]).await, "", "it made way");
    let stranger = b"GET /health/live HTTP/1.1\r\nhost: x\r\n\r\n";
    let mut first = served.send(stranger).await;
    assert!(answer_until(&mut first, "}").await.starts_with("HTTP/1.1 200"), "a third makes way for it");
    let answer = answer_of(&mut served.send(stranger).await).await;
    assert!(answer.starts_with("HTTP/1.1 503") && answer.contains("http.connection_limit"), "{answer}");
    served.stop(false).await;
}

#[actix_web::test]
async fn an_upload_without_a_token_counts_for_the_account_of_its_address() {
    let server = TestServer::new().await;
    let upload = server.begin_template().await.1;
    let served = server.serve();
    let head = format!("PUT {upload} HTTP/1.1\r\nhost: x\r\ncontent-length: 3\r\n\r\n<p");
    let mut stream = served.send(head.as_bytes()).await;
    let holder = Holder::Account(server.account);
    until(|| server.state.shared.connections.state.lock().holders.contains_key(&holder)).await;
    stream.write_all(b">").await.unwrap();
    answer_of(&mut stream).await;
    served.stop(false).await;
}

#[actix_web::test]
async fn clients_behind_a_trusted_proxy_are_told_apart() {
    let server = TestServer::with(|config| {
        config.http.connection_limit = 8;
        config.http.trusted_proxies = vec!["127.0.0.1".to_owned()];
    })
    .await;
    let served = server.serve();
    let mut clients = Vec::new();
    for client in ["203.0.113.1"; 8].into_iter().chain(["203.0.113.2"]) {
        let request = format!("GET /health/live HTTP/1.1\r\nhost: x\r\nx-forwarded-for: {client}\r\n\r\n");
        clients.push(served.send(request.as_bytes()).await);
        let answer = answer_until(clients.last_mut().unwrap(), "}").await;
        assert!(answer.starts_with("HTTP/1.1 200"), "{answer}");
    }
    // Which of the eight it is depends on when their threads last saw them.
    let of_the_first = clients[..8].iter_mut().map(|client| Box::pin(answer_of(client)));
    futures_util::future::select_all(of_the_first).await;
    served.stop(false).await;
}
