//! Tags of template code in the text of a TeX template.

/// What tags are written with, in comments as well.
const TAGS: [&str; 3] = ["<%", "%>", "\\VAR{"];

pub(super) struct Tag {
    pub begin: usize,
    /// Behind it; the text's end where it has none.
    pub end: usize,
    /// It writes a value.
    is_value: bool,
    /// That value is escaped.
    pub is_escaped: bool,
}

impl Tag {
    pub(super) fn first_of(text: &str) -> Option<Self> {
        let [open, _, variable] = TAGS;
        // Both marks are looked for in one pass. With a search for each, the one for a mark that the text does not have would
        // read all of the rest for every tag of the other kind: quadratic time.
        let mut places = memchr::memchr2_iter(b'<', b'\\', text.as_bytes());
        let begin = places.find(|&at| text[at..].starts_with(open) || text[at..].starts_with(variable))?;
        let tag = &text[begin..];
        let end_behind = |inside: usize, end: Option<usize>, mark: usize| {
            end.map_or(text.len(), |end| begin + inside + end + mark)
        };
        if let Some(inside) = tag.strip_prefix(variable) {
            let end = end_behind(variable.len(), closing(inside), 1);
            return Some(Self { begin, end, is_value: true, is_escaped: true });
        }
        let end = end_behind(open.len(), tag[open.len()..].find("%>"), "%>".len());
        let is_escaped = tag.starts_with("<%=");
        Some(Self { begin, end, is_value: is_escaped || tag.starts_with("<%-"), is_escaped })
    }
}

/// Whether a tag begins or ends in the line.
pub(super) fn has_tag(line: &str) -> bool {
    TAGS.iter().any(|tag| line.contains(tag))
}

/// The text without its tags: `value` for each that writes one, nothing for code.
pub(super) fn without_tags(text: &str, value: &str) -> String {
    let mut made = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(tag) = Tag::first_of(rest) {
        made.push_str(&rest[..tag.begin]);
        if tag.is_value {
            made.push_str(value);
        }
        rest = &rest[tag.end..];
    }
    made.push_str(rest);
    made
}

/// Where the brace that is open at the beginning is closed.
fn closing(text: &str) -> Option<usize> {
    let mut depth = 1;
    for (at, byte) in text.bytes().enumerate() {
        depth += match byte {
            b'{' => 1,
            b'}' => -1,
            _ => 0,
        };
        if depth == 0 {
            return Some(at);
        }
    }
    None
}
