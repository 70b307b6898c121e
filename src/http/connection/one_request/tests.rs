//! What actix reads from a connection, and what the client reads.

use tokio::io::{AsyncReadExt, AsyncWriteExt, DuplexStream, duplex};
use tokio::time::{Instant, timeout};

use super::*;

fn pair() -> (DuplexStream, Connection<DuplexStream>) {
    let (client, server) = duplex(1 << 20);
    (client, Connection::new(server, Duration::from_secs(5)))
}

#[tokio::test(start_paused = true)]
async fn a_client_that_reads_nothing_is_disconnected() {
    let (mut client, server) = duplex(100);
    let mut connection = Connection::new(server, Duration::from_secs(5));
    let begun = Instant::now();
    let answer = connection.write_all(&[0; 1_000]);
    let reader = async {
        // Each read starts the limit anew.
        for _ in 0..3 {
            tokio::time::sleep(Duration::from_secs(4)).await; // paused
            client.read_exact(&mut [0; 50]).await.unwrap();
        }
    };
    let (answer, ()) = tokio::join!(answer, reader);
    assert_eq!(answer.unwrap_err().kind(), io::ErrorKind::TimedOut);
    assert_eq!(begun.elapsed().as_secs(), 17);
}

/// What actix would see until it has to wait or the stream ends.
async fn seen(connection: &mut Connection<DuplexStream>) -> (String, bool) {
    let mut bytes = Vec::new();
    let read = async {
        let mut chunk = [0; 7];
        loop {
            match connection.read(&mut chunk).await.unwrap() {
                0 => return,
                count => bytes.extend_from_slice(&chunk[..count]),
            }
        }
    };
    let ended = timeout(Duration::from_millis(50), read).await.is_ok();
    (String::from_utf8(bytes).unwrap(), ended)
}

#[tokio::test(start_paused = true)]
async fn what_follows_the_declared_body_of_a_put_is_dropped() {
    let counted = "PUT /x HTTP/1.1\r\nhost: a\r\nContent-LENGTH: 4\r\n\r\nabcd";
    let chunked = "PUT /x HTTP/1.1\r\nTransfer-ENCODING: Chunked\r\n\r\n4;a\r\nabcd\r\n0\r\nx: y\r\n\r\n";
    for (request, split) in
        [counted, chunked].into_iter().flat_map(|request| (1..90).map(move |at| (request, at)))
    {
        let (mut client, mut connection) = pair();
        let sent = format!("{request}efg\r\n\r\nGET / HTTP/1.1\r\n");
        let (first, second) = sent.split_at(split.min(sent.len()));
        client.write_all(first.as_bytes()).await.unwrap();
        let before = seen(&mut connection).await.0;
        client.write_all(second.as_bytes()).await.unwrap();
        drop(client);
        let (after, ended) = seen(&mut connection).await;
        assert_eq!(format!("{before}{after}"), request, "split at {split}");
        assert!(!ended, "the end of the stream is not reported before the answer");
    }
}

#[tokio::test(start_paused = true)]
async fn other_requests_pass_unchanged() {
    for sent in [
        "GET /x HTTP/1.1\r\n\r\n",
        "POST /x HTTP/1.1\r\ncontent-length: 3\r\n\r\na\nb",
        "PUT /x HTTP/1.1\r\ntransfer-encoding: chunked, identity\r\n\r\nmore",
        "PUT /x HTTP/1.1\r\ntransfer-encoding: chunked\r\ncontent-length: 1\r\n\r\nmore",
        "PUT /x HTTP/1.1\r\ncontent-length: 1\r\ncontent-length: 2\r\n\r\nabc",
        "PUT /x HTTP/1.1\r\ncontent-length: -1\r\n\r\nabc",
        "PUT /x HTTP/1.1\r\nhalf a head",
        "PUSH /x HTTP/1.1\r\ncontent-length: 9\r\n\r\nabc",
        "\x16\x03\x01\nno\n\n",
        "",
    ] {
        let (mut client, mut connection) = pair();
        client.write_all(sent.as_bytes()).await.unwrap();
        drop(client);
        assert_eq!(seen(&mut connection).await, (sent.to_owned(), true));
    }
}

#[tokio::test(start_paused = true)]
async fn a_line_feed_alone_ends_no_line_of_a_head_and_what_actix_cannot_read_is_refused() {
    let refused = String::from_utf8(NO_REQUEST.to_vec()).unwrap();
    for sent in [
        "GET / HTTP/1.1\nhost: a\n\n",
        "GET / HTTP/1.1\r\nhost: a\nx: y\r\n\r\n",
        "PUT / HTTP/1.1\n",
        "post / HTTP/1.1\n",
        "M-SEARCH * HTTP/1.1\r\nhost: a\n\r\n",
        "\r\n\r\nGET / HTTP/1.1\n",
        "\nGET / HTTP/1.1\r\n\r\n",
        "\r\n\nGET / HTTP/1.1\r\n\r\n",
        "PUT / HTTP/1.1\r\ntransfer-encoding: chunked\r\n\r\n1\r\na\n0\r\n\r\n",
        &format!("GET / HTTP/1.1\r\nhost: a\r\n{}: y\r\n\r\n", "x".repeat(65_536)),
    ] {
        let (mut client, mut connection) = pair();
        client.write_all(sent.as_bytes()).await.unwrap();
        assert_eq!(seen(&mut connection).await.0, refused, "{sent:?}");
    }
    // A body may have them.
    let (mut client, mut connection) = pair();
    let sent = "POST / HTTP/1.1\r\ncontent-length: 3\r\n\r\na\nb";
    client.write_all(sent.as_bytes()).await.unwrap();
    assert_eq!(seen(&mut connection).await.0, sent);
    connection.write_all(b"HTTP/1.1 100 Continue\r\n\r\n").await.unwrap();
    client.write_all(b"GET /more\n").await.unwrap();
    assert_eq!(seen(&mut connection).await.0, "");
    connection.write_all(b"HTTP/1.1 204\r\n\r\n").await.unwrap();
    assert_eq!(seen(&mut connection).await.0, refused, "what came behind the body is a head");
}

#[tokio::test(start_paused = true)]
async fn a_pipelined_request_waits_for_the_answer_and_is_examined() {
    let put = "PUT / HTTP/1.1\r\nContent-Length: 1\r\n\r\n";
    let chunked = "POST / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n1\r\nx\r\n0\r\n\r\n";
    for get in ["GET / HTTP/1.1\r\n\r\n", chunked] {
        assert_examined(get, put).await;
    }
}

async fn assert_examined(get: &str, put: &str) {
    let refused = String::from_utf8(NO_REQUEST.to_vec()).unwrap();
    for (behind, shown) in
        [(format!("{put}abc"), format!("{put}a")), ("GET / HTTP/1.1\n".to_owned(), refused)]
    {
        for answer in ["HTTP/1.1 200 OK\r\n\r\n", "HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 404 No\r\n\r\n"] {
            let (mut client, mut connection) = pair();
            client.write_all(format!("{get}{behind}").as_bytes()).await.unwrap();
            assert_eq!(seen(&mut connection).await, (get.to_owned(), false));
            connection.write_all(b"HTTP/1.1 100 Continue\r\n\r\n").await.unwrap();
            assert_eq!(seen(&mut connection).await.0, "", "a go-ahead is no answer");
            connection.write_all(answer.as_bytes()).await.unwrap();
            assert_eq!(seen(&mut connection).await.0, shown, "{answer:?}");
        }
    }
    // A waiting read is woken by the answer, and sees then that the client has gone.
    let (mut client, connection) = pair();
    let (mut read, mut write) = tokio::io::split(connection);
    client.write_all(format!("{get}{get}").as_bytes()).await.unwrap();
    let mut bytes = vec![0; get.len()];
    read.read_exact(&mut bytes).await.unwrap();
    let again = tokio::spawn(async move {
        read.read_exact(&mut bytes).await.unwrap();
        read.read(&mut bytes).await.unwrap()
    });
    tokio::task::yield_now().await;
    write.write_all(b"HTTP/1.1 204\r\n\r\n").await.unwrap();
    drop(client);
    assert_eq!(timeout(Duration::from_secs(1), again).await.unwrap().unwrap(), 0);
}

#[tokio::test(start_paused = true)]
async fn bytes_of_a_document_are_never_replaced() {
    let refusal = b"HTTP/1.1 400 x\r\nconnection: close\r\n\r\n";
    let (mut client, mut connection) = pair();
    client.write_all(b"GET / HTTP/1.1\r\n\r\n").await.unwrap();
    seen(&mut connection).await;
    connection.write_all(b"HTTP/1.1 100 Continue\r\n\r\n").await.unwrap();
    for piece in [&b"HTTP/1.1 200 OK\r\n\r\n"[..], refusal, refusal] {
        connection.write_all(piece).await.unwrap();
    }
    client.write_all(b"nonsense / HTTP/1.1\r\n\r\n").await.unwrap();
    seen(&mut connection).await;
    connection.write_all(refusal).await.unwrap();
    drop(connection);
    let mut written = String::new();
    client.read_to_string(&mut written).await.unwrap();
    assert_eq!(written.matches("HTTP/1.1 400 x").count(), 2, "{written}");
    assert_eq!(written.matches("problem+json").count(), 1, "{written}");
}

#[tokio::test(start_paused = true)]
async fn bytes_beyond_a_put_are_read_for_a_while_after_the_answer() {
    let (mut client, mut connection) = pair();
    client.write_all(b"PUT / HTTP/1.1\r\nContent-Length: 1\r\n\r\nabc").await.unwrap();
    seen(&mut connection).await;
    let start = Instant::now();
    connection.shutdown().await.unwrap();
    assert!(start.elapsed() >= LINGER, "the client is still there");
    let (mut client, mut connection) = pair();
    client.write_all(b"PUT / HTTP/1.1\r\nContent-Length: 1\r\n\r\nabc").await.unwrap();
    drop(client);
    seen(&mut connection).await;
    let start = Instant::now();
    connection.shutdown().await.unwrap();
    assert!(start.elapsed() < LINGER, "the client has gone");
}
