//! HTTP/1 below actix. `serve` wraps a client's stream in `traffic`, which counts it, then in `one_request`: that examines heads by
//! `head`, finds where bodies end by `body_end`, and answers what actix refuses by `refusal`.

mod body_end;
mod head;
pub(super) mod one_request;
pub(super) mod refusal;
pub(super) mod traffic;
