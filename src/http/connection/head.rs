//! What the bytes of a request's head say, read before actix parses them.

use super::body_end::BodyEnd;

/// Longest name of a header that actix can read; at a longer one it panics.
const NAME_LIMIT_BYTES: usize = 65_535;
const END_OF_HEAD: &[u8] = b"\r\n\r\n";

/// Whether the bytes may begin a request, with a method (any token of RFC 9110, 5.6.2). Others go to actix at once.
pub(super) fn may_be_request(head: &[u8]) -> bool {
    let is_token = |byte: &u8| byte.is_ascii_alphanumeric() || b"!#$%&'*+-.^_`|~".contains(byte);
    let first = head.split(|&byte| byte == b' ').next().unwrap_or_default();
    first.strip_suffix(b"\r").unwrap_or(first).iter().all(is_token)
}

pub(super) fn has_bare_line_feed(head: &[u8]) -> bool {
    memchr::memchr_iter(b'\n', head).any(|at| at == 0 || head[at - 1] != b'\r')
}

pub(super) fn has_long_name(head: &[u8]) -> bool {
    lines(head).skip(1).any(|line| name_of(line).len() > NAME_LIMIT_BYTES)
}

/// Where the body begins.
pub(super) fn head_end(bytes: &[u8]) -> Option<usize> {
    memchr::memmem::find(bytes, END_OF_HEAD).map(|at| at + END_OF_HEAD.len())
}

/// Where the body ends by what the head declares; none where the head is for actix to refuse.
pub(super) fn declared_end(head: &[u8]) -> Option<BodyEnd> {
    let mut end = None;
    for line in lines(head) {
        let value = || std::str::from_utf8(line.get(name_of(line).len() + 1..)?).ok().map(str::trim);
        let declared = if name_of(line).eq_ignore_ascii_case(b"transfer-encoding") {
            value()?.eq_ignore_ascii_case("chunked").then(BodyEnd::of_chunks)?
        } else if name_of(line).eq_ignore_ascii_case(b"content-length") {
            BodyEnd::Bytes(value()?.parse().ok()?)
        } else {
            continue;
        };
        if end.replace(declared).is_some() {
            return None;
        }
    }
    Some(end.unwrap_or(BodyEnd::Bytes(0)))
}

fn lines(head: &[u8]) -> impl Iterator<Item = &[u8]> {
    head.split(|&byte| byte == b'\n')
}

/// What stands before the colon.
fn name_of(line: &[u8]) -> &[u8] {
    line.split(|&byte| byte == b':').next().unwrap_or_default()
}
