//! Texts with letters that are written as their numbers, as `_x000a_` (`ST_Xstring`, ECMA-376 part 1, 22.9.2.19): those of cells,
//! and names of tables' columns.

/// A text as it is read: `_x000a_` is the end of a line, `_x005F_` an underscore that would begin such a number.
pub fn decoded(text: &str) -> String {
    let (mut out, mut rest) = (String::with_capacity(text.len()), text);
    while let Some(at) = rest.find("_x") {
        let (before, found) = rest.split_at(at);
        out.push_str(before);
        let letter = number(found).and_then(char::from_u32);
        let (taken, behind) = found.split_at(if letter.is_some() { LENGTH } else { 1 });
        match letter {
            Some(letter) => out.push(letter),
            None => out.push_str(taken),
        }
        rest = behind;
    }
    out.push_str(rest);
    out
}

/// A text as the name of a column has it.
pub(crate) fn encoded(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for (at, letter) in text.char_indices() {
        match letter {
            '\n' => out.push_str("_x000a_"),
            '_' if number(&text[at..]).is_some() => out.push_str("_x005F_"),
            _ => out.push(letter),
        }
    }
    out
}

/// The bytes of `_xHHHH_`.
const LENGTH: usize = 7;

/// The number of the `_xHHHH_` that a text begins with.
fn number(text: &str) -> Option<u32> {
    let digits = text.get(..LENGTH)?.strip_prefix("_x")?.strip_suffix('_')?;
    let is_number = digits.bytes().all(|digit| digit.is_ascii_hexdigit());
    is_number.then(|| u32::from_str_radix(digits, 16).ok()).flatten()
}

#[cfg(test)]
mod tests {
    use super::{decoded, encoded};

    #[test]
    fn a_text_that_looks_like_a_number_stays_what_it_is() {
        for (read, written) in [
            ("a\nb", "a_x000a_b"),
            ("_x0041_", "_x005F_x0041_"),
            ("_x41_ _xä", "_x41_ _xä"),
            ("_x000a_\n", "_x005F_x000a__x000a_"),
        ] {
            assert_eq!(encoded(read), written);
            assert_eq!(decoded(written), read);
        }
        assert_eq!(decoded("_x0041__xD800_"), "A_xD800_");
    }
}
