//! What a page is said to wait for, by what its watch and its workers tell.

use serde_json::value::RawValue;

use super::*;

fn hear(rest: &mut IdleState, method: &str, params: &str) {
    let params = serde_json::value::RawValue::from_string(params.to_owned()).unwrap();
    assert!(rest.hear(Event::of(method, &params), "MAIN"));
}

fn tell(rest: &mut IdleState, context: i64, payload: &str) {
    let params = serde_json::json!({"name": BINDING, "payload": payload, "executionContextId": context});
    hear(rest, "Runtime.bindingCalled", &params.to_string());
}

#[test]
fn a_page_that_is_not_heard_any_more_is_not_at_rest() {
    let mut rest = IdleState::default();
    for _ in 0..HEARD_LIMIT {
        tell(&mut rest, 1, "top:rest:0:");
    }
    assert_eq!(rest.verdict(), Verdict::Rest);
    tell(&mut rest, 1, "top:rest:0:");
    assert!(rest.is_flooded());
    assert_eq!(rest.verdict(), Verdict::Pending);
}

#[tokio::test(start_paused = true)]
async fn a_frame_that_left_unheard_is_forgotten_when_it_is_silent() {
    let mut rest = IdleState::default();
    rest.lose_contexts();
    for (context, told) in [(1, "top:rest:0:"), (2, "frame:busy:0:a timer"), (3, "frame:busy:0:a fetch")] {
        tell(&mut rest, context, told);
    }
    hear(&mut rest, "Page.frameDetached", r#"{"frameId":"F"}"#);
    tell(&mut rest, 3, "frame:rest:0:");
    tell(&mut rest, 1, "top:rest:0:");
    assert_eq!(rest.verdict(), Verdict::Pending);
    tokio::time::advance(SILENCE).await;
    tell(&mut rest, 1, "top:rest:0:");
    assert_eq!(rest.verdict(), Verdict::Rest);
    assert!(rest.frames.contains_key(&3));
    rest.document_changed();
    assert_eq!(rest.verdict(), Verdict::Pending);
}

#[test]
fn a_worker_is_waited_for_from_its_making_until_its_script_has_run() {
    let mut rest = IdleState::default();
    tell(&mut rest, 1, "top:rest:1:an interval of 50 ms");
    assert_eq!((rest.verdict(), rest.pending()), (Verdict::Pending, "the script of a worker".to_owned()));
    rest.worker_began(-1);
    assert_eq!(rest.verdict(), Verdict::Pending);
    assert!(rest.hear_worker(Event::of("Inspector.workerScriptLoaded", &RawValue::NULL.to_owned()), -1));
    assert_eq!(rest.verdict(), Verdict::Rest);
    assert_eq!(rest.left_over(), "an interval of 50 ms");
    rest.worker_ended(-1);
    assert_eq!(rest.verdict(), Verdict::Rest);
    tell(&mut rest, 1, "top:rest:2:");
    assert_eq!(rest.verdict(), Verdict::Pending);
    // With a frame its workers are counted no more.
    rest.worker_began(-2);
    rest.worker_ended(-2);
    tell(&mut rest, 2, "frame:rest:1:");
    hear(&mut rest, "Runtime.executionContextDestroyed", r#"{"executionContextId":2}"#);
    assert_eq!(rest.verdict(), Verdict::Pending);
}

#[test]
fn a_worker_that_is_taken_back_before_it_began_hides_no_other_one() {
    let mut rest = IdleState::default();
    tell(&mut rest, 1, "top:rest:1:");
    rest.worker_began(-1);
    rest.worker_ended(-1);
    tell(&mut rest, 1, "top:rest:0:");
    assert_eq!(rest.verdict(), Verdict::Rest);
    tell(&mut rest, 1, "top:rest:1:");
    assert_eq!(rest.verdict(), Verdict::Pending, "the next one was not heard of yet");
    rest.worker_began(-2);
    // One that goes with its frame is taken back once, whichever of them is said first.
    for frame_first in [true, false] {
        tell(&mut rest, 2, "frame:rest:1:");
        rest.worker_began(-3);
        for is_frame in [frame_first, !frame_first] {
            let left = r#"{"executionContextId":2}"#;
            if is_frame {
                hear(&mut rest, "Runtime.executionContextDestroyed", left);
            } else {
                rest.worker_ended(-3);
            }
        }
        assert_eq!((rest.attached, rest.orphaned), (1, 0), "{frame_first}");
    }
}
