//! Which variables of a template the data lack.

use serde_json::Value;

/// A part of a path.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Segment {
    Name(String),
    /// `[]`: every item.
    Each,
}

/// Whether the data lack what `path` names. In Office templates (`is_office`) a name inside a section may also belong to any
/// level around it, and the whole text of a tag may be one key.
pub(super) fn lacks(data: &Value, path: &str, is_office: bool) -> bool {
    let path_segments = segments(path);
    if has(data, &path_segments) {
        return false;
    }
    if !is_office {
        return true;
    }
    let last = path_segments.iter().rposition(|segment| *segment == Segment::Each);
    let tail = last.map(|last| &path_segments[last + 1..]).filter(|tail| !tail.is_empty());
    let is_in_outer_level = tail.is_some_and(|tail| {
        let outer = path_segments.iter().enumerate().filter(|(_, segment)| **segment == Segment::Each);
        let levels = outer.map(|(at, _)| &path_segments[..=at]).chain([&[][..]]);
        levels.map(|level| [level, tail].concat()).any(|path| has(data, &path))
    });
    !is_in_outer_level && data.get(path).is_none()
}

fn has(value: &Value, path: &[Segment]) -> bool {
    let Some((first, rest)) = path.split_first() else { return true };
    match (first, value) {
        (Segment::Name(name), Value::Object(members)) => {
            members.get(name).is_some_and(|member| has(member, rest))
        }
        (Segment::Each, Value::Array(items)) => items.iter().all(|item| has(item, rest)),
        // A section renders an object once; a loop in EJS may go over its members.
        (Segment::Each, Value::Object(members)) => {
            has(value, rest) || (!members.is_empty() && members.values().all(|member| has(member, rest)))
        }
        (Segment::Each, _) => rest.is_empty(),
        (Segment::Name(_), _) => false,
    }
}

/// Parses a path such as `customer.name`, `items[].price` or `a["x.y"]`.
fn segments(path: &str) -> Vec<Segment> {
    let mut segments = Vec::new();
    let mut rest = path;
    while !rest.is_empty() {
        if let Some(behind) = rest.strip_prefix("[]") {
            segments.push(Segment::Each);
            rest = behind;
        } else if let Some(quoted) = rest.strip_prefix('[') {
            let mut texts = serde_json::Deserializer::from_str(quoted).into_iter::<String>();
            let Some(Ok(name)) = texts.next() else {
                // Not a path the linter writes; taken as a name, which data do not have.
                segments.push(Segment::Name(rest.to_owned()));
                break;
            };
            rest = quoted.get(texts.byte_offset() + 1..).unwrap_or_default();
            segments.push(Segment::Name(name));
        } else {
            let name = rest.strip_prefix('.').unwrap_or(rest);
            let end = name.find(['.', '[']).unwrap_or(name.len());
            segments.push(Segment::Name(name[..end].to_owned()));
            rest = &name[end..];
            if end == 0 {
                break;
            }
        }
    }
    segments
}

#[cfg(test)]
mod tests {
    use super::*;

    fn missing(data: &str, paths: &[&'static str], is_office: bool) -> Vec<&'static str> {
        let data = serde_json::from_str(data).unwrap();
        paths.iter().copied().filter(|path| lacks(&data, path, is_office)).collect()
    }

    #[test]
    fn a_path_is_followed_through_objects_and_into_every_item() {
        let data = r#"{"a":{"b":null,"x.y":1},"items":[{"n":1,"t":[]},{"n":2,"t":[{"z":1},{}]}],"none":[],"First Name":"A"}"#;
        let paths =
            ["a", "a.b", "a.c", "a[\"x.y\"]", "items[].n", "items[].m", "items[].t[].z", "none[].q", "a.b.c"];
        assert_eq!(missing(data, &paths, false), ["a.c", "items[].m", "items[].t[].z", "a.b.c"]);
        assert_eq!(missing(data, &["First Name", "Last Name"], false), ["Last Name"]);
        assert_eq!(
            missing(data, &["a[].b", "items[].n.m", "a[\"", "items[]"], false),
            ["items[].n.m", "a[\""]
        );
    }

    #[test]
    fn a_name_in_an_office_section_may_belong_to_an_outer_level() {
        let data = r#"{"currency":"EUR","orders":[{"no":1,"lines":[{"x":1}]}],"a.b":1}"#;
        let paths = ["orders[].currency", "orders[].lines[].no", "orders[].lines[].y", "a.b"];
        assert_eq!(missing(data, &paths, true), ["orders[].lines[].y"]);
        assert_eq!(missing(data, &paths, false).len(), 4);
    }
}
