//! What pandoc would misread is said in the words that it knows. No line is added or taken away.

/// Environments whose columns are described, and whether their width stands before that.
const TABLES: [(&str, bool); 6] = [
    ("tabular", false),
    ("longtable", false),
    ("xltabular", true),
    ("tabular*", true),
    ("tabularx", true),
    ("tabulary", true),
];
const BEGIN: &str = "\\begin{";
/// The longest name of an environment that is looked at, and the longest group: whoever writes many of them without an end
/// would have the rest of the text read for each.
const NAME_BYTES: usize = 20;
const GROUP_BYTES: usize = 1 << 10;

/// The source with columns that pandoc knows: of one that it does not know it would make text of the whole table. And
/// without the options of descriptions, with which it would lose their terms.
pub fn prepare(source: &str) -> String {
    let (mut made, mut rest) = (String::with_capacity(source.len()), source);
    while let Some((before, after)) = rest.split_once(BEGIN) {
        made.push_str(before);
        made.push_str(BEGIN);
        rest = after;
        let end = after.bytes().take(NAME_BYTES + 1).position(|byte| byte == b'}');
        let Some((name, behind)) = end.map(|end| (&after[..end], &after[end + 1..])) else {
            continue;
        };
        let changed = match TABLES.iter().find(|(table, _)| *table == name) {
            Some((_, has_width)) => table(behind, *has_width),
            None if name == "description" => {
                group(behind, ('[', ']')).map(|(_, behind)| (String::new(), behind))
            }
            None => None,
        };
        if let Some((said, behind)) = changed {
            made.push_str(name);
            made.push('}');
            made.push_str(&said);
            rest = behind;
        }
    }
    made.push_str(rest);
    made
}

/// What stands behind `\begin{tabular}`, with other columns, and the rest.
fn table(text: &str, has_width: bool) -> Option<(String, &str)> {
    let width = if has_width { group(text, ('{', '}'))? } else { ("", text) };
    let (place, behind) = group(width.1, ('[', ']')).unwrap_or(("", width.1));
    let (columns, behind) = group(behind, ('{', '}'))?;
    let is_one_line = |text: &str| !text.contains('\n');
    // Another number of lines would move all lines that are told.
    let said = is_one_line(columns).then(|| format!("{}{place}{{{}}}", width.0, known(inner(columns))))?;
    Some((said, behind))
}

/// The group that the text begins with, its signs included, and the rest.
fn group(text: &str, (open, close): (char, char)) -> Option<(&str, &str)> {
    let mut depth = 0_usize;
    for (at, character) in text.char_indices().take(GROUP_BYTES) {
        if character == open {
            depth += 1;
        } else if depth == 0 {
            return None;
        } else if character == close {
            depth -= 1;
            if depth == 0 {
                return Some(text.split_at(at + 1));
            }
        }
    }
    None
}

fn inner(group: &str) -> &str {
    group.get(1..group.len().saturating_sub(1)).unwrap_or_default()
}

/// The columns, of which each unknown one is one that is known. siunitx and dcolumn align numbers: to the right.
fn known(columns: &str) -> String {
    let (mut made, mut rest) = (String::new(), columns);
    while let Some(letter) = rest.chars().next() {
        rest = &rest[letter.len_utf8()..];
        let mut skip = |signs, count: usize| {
            for _ in 0..count {
                rest = group(rest, signs).map_or(rest, |(_, behind)| behind);
            }
        };
        match letter {
            'S' | 's' => {
                skip(('[', ']'), 1);
                made.push('r');
            }
            'D' => {
                skip(('{', '}'), 3);
                made.push('r');
            }
            'w' | 'W' => {
                skip(('{', '}'), 2);
                made.push('l');
            }
            'l' | 'c' | 'r' | 'p' | 'm' | 'b' | 'X' => made.push(letter),
            // What others are called that a document makes for itself.
            'C' | 'R' | 'L' if !rest.starts_with('{') => made.extend(letter.to_lowercase()),
            _ if letter.is_ascii_alphabetic() => made.push(if rest.starts_with('{') { 'p' } else { 'l' }),
            // Of a repetition the number stays, and its columns are looked at; of anything else all of it stays.
            '{' => {
                let whole =
                    group(columns.get(columns.len() - rest.len() - 1..).unwrap_or_default(), ('{', '}'));
                let Some((whole, behind)) = whole else {
                    made.push(letter);
                    continue;
                };
                made.push_str(whole);
                rest = behind;
            }
            _ => made.push(letter),
        }
    }
    made
}
