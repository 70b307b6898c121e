//! Whose body gets memory, and whose is given up.

use std::future::pending;

use actix_web::http::Method;
use futures_util::FutureExt as _;
use tokio::time::advance;

use super::*;
use crate::config::Config;
use crate::http::testing::TestServer;

const KB: usize = 1_024;

/// Memory for 1,024 KB; 8 KB a second over 5 s.
fn bodies() -> Arc<Bodies> {
    let mut config = Config::default().http;
    config.bodies_limit_bytes = 1_024 * 1_024;
    Arc::new(Bodies::new(&config, Gauge::default()))
}

fn body(bodies: &Arc<Bodies>, account: AccountId, kb: usize) -> BodyMemory {
    let body = bodies.begin(account);
    body.take(kb * KB).unwrap();
    body
}

fn refused(body: &BodyMemory, kb: usize) -> Problem {
    body.take(kb * KB).unwrap_err()
}

/// Whether the body was given up.
fn is_given_up(body: &BodyMemory) -> bool {
    body.given_up.notified().now_or_never().is_some()
}

fn accounts<const N: usize>() -> [AccountId; N] {
    std::array::from_fn(|_| AccountId::generate())
}

#[tokio::test]
async fn an_account_gets_all_but_a_quarter_of_what_others_leave() {
    let (bodies, [one, two, three]) = (bodies(), accounts());
    let first = body(&bodies, one, 700);
    let second = body(&bodies, one, 60);
    let problem = refused(&second, 20);
    assert_eq!(problem.code, Code::Overloaded);
    assert!(problem.detail.contains("This account's other bodies hold 716800 bytes"), "{problem}");
    second.take(8 * KB).unwrap();
    let third = body(&bodies, two, 192);
    let problem = refused(&third, 1);
    assert!(problem.detail.contains("other requests fill the 1048576 bytes"), "{problem}");
    let fourth = body(&bodies, three, 48);
    refused(&fourth, 100);
    assert_eq!(bodies.held.get(), 1_008 * 1_024);
    drop((first, second));
    fourth.take(500 * KB).unwrap();
    drop((third, fourth));
    let state = bodies.state.lock();
    assert_eq!((state.all, state.bodies.len(), state.accounts.len(), bodies.held.get()), (0, 0, 0, 0));
}

#[tokio::test]
async fn small_bodies_pass_beside_those_of_others_and_count_for_their_account() {
    let (bodies, [one, two, three]) = (bodies(), accounts());
    let _large = (body(&bodies, one, 768), body(&bodies, two, 192), body(&bodies, three, 48));
    let small: Vec<_> = (0..12).map(|_| body(&bodies, AccountId::generate(), 64)).collect();
    drop(small);
    let small: Vec<_> = (0..9).map(|_| body(&bodies, two, 64)).collect();
    assert_eq!(refused(&bodies.begin(two), 1).code, Code::Overloaded);
    drop(small);
}

#[tokio::test(start_paused = true)]
async fn bodies_below_the_floor_are_given_up_for_those_that_come_the_slowest_first() {
    let (bodies, [slow, other]) = (bodies(), accounts());
    let silent = body(&bodies, slow, 250);
    advance(Duration::from_secs(1)).await;
    let drips = body(&bodies, slow, 150);
    let fast = body(&bodies, slow, 100);
    for _ in 0..16 {
        advance(Duration::from_secs(1)).await;
        drips.take(4 * KB).unwrap();
        fast.take(9 * KB - 512).unwrap();
    }
    assert!(!is_given_up(&silent) && !is_given_up(&drips), "nobody waits for their memory");
    let wide = body(&bodies, other, 350);
    assert!(is_given_up(&silent) && !is_given_up(&drips));
    let problem = refused(&silent, 1);
    assert_eq!(problem.code, Code::RequestTimeout);
    assert!(problem.detail.contains("slower than 8192 bytes a second (http.body_floor_bytes_per_s)"));
    wide.take(150 * KB).unwrap();
    assert!(is_given_up(&drips) && !is_given_up(&fast));
    assert_eq!(refused(&wide, 300).code, Code::Overloaded, "a body in time is not given up");
}

#[tokio::test(start_paused = true)]
async fn none_is_given_up_in_vain_or_for_an_account_that_holds_more() {
    let (bodies, [flood, other]) = (bodies(), accounts());
    let patient = body(&bodies, other, 100);
    let complete = body(&bodies, flood, 600);
    complete.receive(async { Ok::<_, Problem>(()) }).await.unwrap();
    let slow = body(&bodies, flood, 60);
    advance(Duration::from_mins(1)).await;
    let more = bodies.begin(flood);
    assert_eq!(refused(&more, 200).code, Code::Overloaded);
    assert!(!is_given_up(&slow) && !is_given_up(&patient));
    more.take(80 * KB).unwrap();
    assert!(is_given_up(&slow) && !is_given_up(&patient) && !is_given_up(&complete));
    patient.take(100 * KB).unwrap();
}

#[tokio::test(start_paused = true)]
async fn a_body_that_goes_on_after_a_pause_is_soon_in_time_again() {
    let (bodies, [slow]) = (bodies(), accounts());
    let paused = body(&bodies, slow, 300);
    advance(Duration::from_mins(1)).await;
    paused.take(41 * KB).unwrap();
    assert_eq!(refused(&bodies.begin(slow), 500).code, Code::Overloaded);
    assert!(!is_given_up(&paused));
}

#[tokio::test(start_paused = true)]
async fn a_given_up_body_and_one_without_end_are_answered_with_what_was_too_slow() {
    let (bodies, [slow]) = (bodies(), accounts());
    let first = body(&bodies, slow, 500);
    let without_end = first.receive(pending::<Result<(), Problem>>());
    let second = async {
        advance(Duration::from_secs(6)).await;
        body(&bodies, slow, 500)
    };
    let (answer, second) = tokio::join!(without_end, second);
    assert!(answer.unwrap_err().detail.contains("http.body_floor_bytes_per_s"));
    let answer = second.receive(pending::<Result<(), Problem>>()).await.unwrap_err();
    assert!(answer.code == Code::RequestTimeout && answer.detail.contains("http.upload_timeout_s"));
}

#[actix_web::test]
async fn requests_share_the_memory_and_release_it() {
    let server = TestServer::with(|config| config.http.bodies_limit_bytes = 300 * 1024).await;
    let path = "/v1/documents/init";
    let body = format!(r#"{{"type":7,"data":{{"a":"{}"}}}}"#, "x".repeat(200_000));
    for _ in 0..3 {
        let (status, answer) = server.call(Method::POST, path, &body).await;
        assert_eq!(status, 422, "{answer}");
    }
    let held = server.state.shared.bodies.begin(AccountId::generate());
    held.take(100 * KB).unwrap();
    let (status, answer) = server.call(Method::POST, path, &body).await;
    assert_eq!((status.as_u16(), answer["code"].as_str()), (503, Some("overloaded")));
    assert!(answer["detail"].as_str().unwrap().contains("http.bodies_limit_bytes"), "{answer}");
    assert_eq!(server.call(Method::POST, path, "{}").await.0, 422, "small ones pass");
    drop(held);
    assert_eq!(server.call(Method::POST, path, &body).await.0, 422);
    assert_eq!(server.state.metrics.http.body_bytes.get(), 0);
}
