//! What is pending, by the reports of frames and workers.

use serde_json::value::RawValue;

use super::*;

fn handle(idle: &mut IdleState, method: &str, params: &str) {
    let params = serde_json::value::RawValue::from_string(params.to_owned()).unwrap();
    assert!(idle.handle_event(Event::of(method, &params), "MAIN"));
}

fn report(idle: &mut IdleState, context: i64, payload: &str) {
    let params = serde_json::json!({"name": BINDING, "payload": payload, "executionContextId": context});
    handle(idle, "Runtime.bindingCalled", &params.to_string());
}

#[test]
fn a_page_whose_events_are_off_is_not_idle() {
    let mut idle = IdleState::default();
    for _ in 0..REPORTS_LIMIT {
        report(&mut idle, 1, "top:idle:0:");
    }
    assert_eq!(idle.verdict(), IdleVerdict::Idle);
    report(&mut idle, 1, "top:idle:0:");
    assert!(idle.is_flooded());
    assert_eq!(idle.verdict(), IdleVerdict::Pending);
}

#[tokio::test(start_paused = true)]
async fn a_frame_that_goes_unnoticed_is_forgotten_when_it_is_silent() {
    let mut idle = IdleState::default();
    idle.lose_contexts();
    for (context, payload) in [(1, "top:idle:0:"), (2, "frame:busy:0:a timer"), (3, "frame:busy:0:a fetch")] {
        report(&mut idle, context, payload);
    }
    handle(&mut idle, "Page.frameDetached", r#"{"frameId":"F"}"#);
    report(&mut idle, 3, "frame:idle:0:");
    report(&mut idle, 1, "top:idle:0:");
    assert_eq!(idle.verdict(), IdleVerdict::Pending);
    tokio::time::advance(SILENCE).await;
    report(&mut idle, 1, "top:idle:0:");
    assert_eq!(idle.verdict(), IdleVerdict::Idle);
    assert!(idle.frames.contains_key(&3));
    idle.document_changed();
    assert_eq!(idle.verdict(), IdleVerdict::Pending);
}

#[test]
fn a_worker_is_pending_until_its_script_has_run() {
    let mut idle = IdleState::default();
    report(&mut idle, 1, "top:idle:1:an interval of 50 ms");
    assert_eq!((idle.verdict(), idle.pending()), (IdleVerdict::Pending, "the script of a worker".to_owned()));
    idle.worker_began(-1);
    assert_eq!(idle.verdict(), IdleVerdict::Pending);
    let loaded = RawValue::NULL.to_owned();
    assert!(idle.handle_worker_event(Event::of("Inspector.workerScriptLoaded", &loaded), -1));
    assert_eq!(idle.verdict(), IdleVerdict::Idle);
    assert_eq!(idle.ongoing(), "an interval of 50 ms");
    idle.worker_ended(-1);
    assert_eq!(idle.verdict(), IdleVerdict::Idle);
    report(&mut idle, 1, "top:idle:2:");
    assert_eq!(idle.verdict(), IdleVerdict::Pending);
    // The workers of a frame that is gone are not counted.
    idle.worker_began(-2);
    idle.worker_ended(-2);
    report(&mut idle, 2, "frame:idle:1:");
    handle(&mut idle, "Runtime.executionContextDestroyed", r#"{"executionContextId":2}"#);
    assert_eq!(idle.verdict(), IdleVerdict::Pending);
}

#[test]
fn a_worker_that_ends_before_its_script_hides_no_other_one() {
    let mut idle = IdleState::default();
    report(&mut idle, 1, "top:idle:1:");
    idle.worker_began(-1);
    idle.worker_ended(-1);
    report(&mut idle, 1, "top:idle:0:");
    assert_eq!(idle.verdict(), IdleVerdict::Idle);
    report(&mut idle, 1, "top:idle:1:");
    assert_eq!(idle.verdict(), IdleVerdict::Pending, "the next one is not attached to yet");
    idle.worker_began(-2);
    // One that goes with its frame is counted once, whichever of the two events comes first.
    for frame_first in [true, false] {
        report(&mut idle, 2, "frame:idle:1:");
        idle.worker_began(-3);
        for is_frame in [frame_first, !frame_first] {
            let left = r#"{"executionContextId":2}"#;
            if is_frame {
                handle(&mut idle, "Runtime.executionContextDestroyed", left);
            } else {
                idle.worker_ended(-3);
            }
        }
        assert_eq!((idle.attached, idle.orphaned), (1, 0), "{frame_first}");
    }
}

#[test]
fn a_request_of_a_frame_that_is_gone_is_not_waited_for() {
    let mut idle = IdleState::default();
    report(&mut idle, 1, "top:idle:0:");
    let sent = r#"{"requestId":"7","loaderId":"l","frameId":"inner","type":"Document","request":{"url":"http://a/f"}}"#;
    handle(&mut idle, "Network.requestWillBeSent", sent);
    assert_eq!((idle.verdict(), idle.pending().as_str()), (IdleVerdict::Pending, "a request to http://a/f"));
    handle(&mut idle, "Page.frameDetached", r#"{"frameId":"other","reason":"remove"}"#);
    assert_eq!(idle.verdict(), IdleVerdict::Pending);
    handle(&mut idle, "Page.frameDetached", r#"{"frameId":"inner","reason":"remove"}"#);
    assert_eq!(idle.verdict(), IdleVerdict::Idle);
}

#[test]
fn a_page_heeds_scrolling_until_it_has_another_document() {
    let mut idle = IdleState::default();
    report(&mut idle, 1, "scrolls");
    assert!(idle.heeds_scrolling);
    handle(&mut idle, "Runtime.executionContextsCleared", "{}");
    assert!(!idle.heeds_scrolling);
}

#[tokio::test(start_paused = true)]
async fn a_script_that_came_late_has_a_moment_to_begin_something() {
    let request = |id: &str| {
        let kind = if id == "style" { "Stylesheet" } else { "Script" };
        format!(
            r#"{{"requestId":"{id}","loaderId":"l","type":"{kind}","request":{{"url":"http://a/{id}"}}}}"#
        )
    };
    let mut idle = IdleState::default();
    let come = |idle: &mut IdleState, id: &str| {
        handle(idle, "Network.requestWillBeSent", &request(id));
        handle(idle, "Network.loadingFinished", &format!(r#"{{"requestId":"{id}"}}"#));
    };
    come(&mut idle, "early");
    handle(&mut idle, "Page.frameStoppedLoading", r#"{"frameId":"MAIN"}"#);
    come(&mut idle, "style");
    report(&mut idle, 1, "top:busy:0:a timer");
    assert_eq!(idle.script_came(), None);
    tokio::time::advance(Duration::from_millis(1)).await;
    come(&mut idle, "late");
    report(&mut idle, 1, "top:done:0:");
    assert_eq!(idle.script_came(), Some(Instant::now()));
    tokio::time::advance(Duration::from_millis(1)).await;
    report(&mut idle, 1, "top:busy:0:a timer");
    assert_eq!(idle.script_came(), None);
}
