//! What counts as no data, from every source: a member of a body, a part of a form, an upload, a file of a command.

use bytes::Bytes;

/// The data of templates that were given none.
const NO_DATA: &[u8] = b"{}";

/// Whether there are no data: nothing, `null`, an object or an array with nothing in it, or `map[]`, Go's text of an empty map,
/// which one published client sends.
pub fn is_no_data(data: &[u8]) -> bool {
    let data = data.trim_ascii();
    let is_pair = |begin: &[u8], end: &[u8]| {
        let inner = data.strip_prefix(begin).and_then(|rest| rest.strip_suffix(end));
        inner.is_some_and(|inner| inner.trim_ascii().is_empty())
    };
    matches!(data, b"" | b"null" | b"map[]") || is_pair(b"{", b"}") || is_pair(b"[", b"]")
}

/// The data, `{}` where there are none.
pub fn or_empty_object(data: Option<Bytes>) -> Bytes {
    data.filter(|data| !is_no_data(data)).unwrap_or(Bytes::from_static(NO_DATA))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_data_are_recognized_with_and_without_blanks() {
        for none in ["", " \n", "{}", " {\n }\t", "[]", "[ ]", "null", " map[]\n"] {
            assert_eq!(or_empty_object(Some(none.into())), NO_DATA, "{none}");
        }
        for data in ["{\"a\":1}", "[0]", "0", "{ \"\": { } }", "nullx", "nu ll", "map[a:1]", "{", "\"\""] {
            assert_eq!(or_empty_object(Some(data.into())), data);
        }
        assert_eq!(or_empty_object(None), NO_DATA);
    }
}
