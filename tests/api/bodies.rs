//! Bodies that never end: those of one account leave room for others, and a stranger's are not kept.

use nix::sys::resource::{Resource, getrlimit, setrlimit};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;
use tokio::task::JoinSet;
use tokio::time::timeout;

use crate::app::{PATIENCE, TestApp};

const CONNECTIONS: usize = 500;
const PATH: &str = "/v1/documents/init";
/// Bytes of request bodies that the service holds.
const HELD: &str = "platen_http_body_bytes ";
const LIMIT_BYTES: u64 = 64 << 20;
/// A body of which so many connections bring more than the limit.
const UNFINISHED_BYTES: usize = 150_000;
const STRANGE_BYTES: usize = 800_000;
/// What the service may take for all strangers: half of what they send.
const STRANGE_LIMIT_KB: u64 = (CONNECTIONS * STRANGE_BYTES / 2 / 1_024) as u64;

#[tokio::test]
async fn unfinished_bodies_of_an_account_leave_room_for_others_and_make_way_for_its_own() {
    let limit = LIMIT_BYTES.to_string();
    let settings = [("http.bodies_limit_bytes", limit.as_str()), ("http.body_floor_window_ms", "1000")];
    let app = TestApp::with(&settings).await;
    app.command(&["account", "create", "other"]);
    let other = app.command(&["token", "create", "--account", "other"]);
    let clients: Vec<_> = connect_all(&app).await;
    let mut answers = JoinSet::new();
    for mut client in clients {
        let head = head(&app.token, UNFINISHED_BYTES);
        answers.spawn(async move {
            // One that is refused may be closed before all of it is sent.
            let _ = client.write_all(head.as_bytes()).await;
            let _ = client.write_all(&vec![b' '; UNFINISHED_BYTES - 1]).await;
            answer_of(client).await
        });
    }
    let share = LIMIT_BYTES / 4 * 3;
    app.until("the account holds its share", async || {
        let held = app.metric_of(HELD).await;
        assert!(held <= share, "{held} bytes are held");
        held > share - UNFINISHED_BYTES as u64
    })
    .await;
    assert_eq!(init(&app, &other).await, 200, "others have their room");
    app.until("the account's own body gets the memory of a slow one", async || {
        init(&app, &app.token).await == 200
    })
    .await;
    let told = async {
        while let Some(answer) = answers.join_next().await {
            let answer = answer.unwrap();
            if answer.starts_with("HTTP/1.1 408") {
                return answer.contains("http.body_floor_bytes_per_s");
            }
            assert!(answer.starts_with("HTTP/1.1 503") && answer.contains("This account's"), "{answer}");
        }
        false
    };
    assert!(timeout(PATIENCE, told).await.unwrap(), "the client of the slow one is told");
    answers.shutdown().await;
}

#[tokio::test]
async fn strangers_bodies_are_not_kept_and_their_refusal_arrives_while_they_send() {
    let app = TestApp::start().await;
    let before_kb = most_kb(app.pid());
    let mut clients = JoinSet::new();
    for (number, client) in connect_all(&app).await.into_iter().enumerate() {
        let head = head(if number % 2 == 0 { "" } else { "pl_wrong" }, STRANGE_BYTES);
        clients.spawn(async move {
            let (reading, mut writing) = client.into_split();
            let sending = async move {
                let _ = writing.write_all(head.as_bytes()).await;
                for _ in 0..STRANGE_BYTES / 10_000 {
                    let _ = writing.write_all(&[b' '; 9_999]).await;
                }
                writing
            };
            tokio::join!(sending, answer_of(reading)).1
        });
    }
    while let Some(answer) = clients.join_next().await {
        let answer = answer.unwrap();
        assert!(answer.starts_with("HTTP/1.1 401") && answer.contains("unauthorized"), "{answer}");
        assert_eq!(app.metric_of(HELD).await, 0);
    }
    let grown_kb = most_kb(app.pid()) - before_kb;
    assert!(grown_kb < STRANGE_LIMIT_KB, "the service took {grown_kb} KB");
}

async fn connect_all(app: &TestApp) -> Vec<TcpStream> {
    let (_, hard) = getrlimit(Resource::RLIMIT_NOFILE).unwrap();
    setrlimit(Resource::RLIMIT_NOFILE, hard, hard).unwrap();
    let address = app.base.strip_prefix("http://").unwrap();
    let mut clients = Vec::new();
    for _ in 0..CONNECTIONS {
        clients.push(TcpStream::connect(address).await.unwrap());
    }
    clients
}

fn head(token: &str, bytes: usize) -> String {
    let host = "host: x\r\nconnection: close";
    format!(
        "POST {PATH} HTTP/1.1\r\n{host}\r\nauthorization: Bearer {token}\r\ncontent-length: {bytes}\r\n\r\n"
    )
}

/// The status of a request with a body of a megabyte.
async fn init(app: &TestApp, token: &str) -> u16 {
    let body =
        format!(r#"{{"type": "html", "target": "pdf", "data": {{"text": "{}"}}}}"#, "x".repeat(1 << 20));
    let request = app.client.post(format!("{}{PATH}", app.base)).bearer_auth(token).body(body);
    request.send().await.unwrap().status().as_u16()
}

/// What comes until the service closes; what came is also there when it resets the connection then.
async fn answer_of(mut client: impl tokio::io::AsyncRead + Unpin) -> String {
    let mut answer = Vec::new();
    let _ = client.read_to_end(&mut answer).await;
    String::from_utf8(answer).unwrap()
}

/// The most memory that the process has had.
fn most_kb(pid: u32) -> u64 {
    let status = std::fs::read_to_string(format!("/proc/{pid}/status")).unwrap();
    let line = status.lines().find(|line| line.starts_with("VmHWM:")).unwrap();
    line.split_whitespace().nth(1).unwrap().parse().unwrap()
}
