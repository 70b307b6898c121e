//! Logs and spans.
