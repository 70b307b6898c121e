//! Groups the parts of a repeated slide: their tags become the body of one section.

use super::copies::uncommented;
use super::deck::TWICE;
use crate::PartPlan;
use crate::collected::Collected;
use crate::error::{Error, Fault};
use crate::program::{Step, repeated};
use crate::read::Reading;

/// The steps of all parts in their order. `of_parts` has each part's steps, its title, and the index of its first step in the
/// outline.
pub(crate) fn grouped(
    parts: &[PartPlan],
    of_parts: Vec<(Vec<Step>, String, usize)>,
    reading: &mut Reading<'_>,
) -> Vec<Step> {
    let mut steps = Vec::new();
    let mut of_parts = of_parts.into_iter().peekable();
    // The outline is nested from the last group to the first, so that the indices of groups before stay valid.
    let mut told = Vec::new();
    for group in parts.chunk_by(PartPlan::is_copied_with) {
        let begin = of_parts.peek().map_or(0, |(_, _, begin)| *begin);
        let mut first = None;
        let mut body = Vec::new();
        for (part, (of_part, title, _)) in group.iter().zip(of_parts.by_ref()) {
            body.extend(of_part);
            match &part.repeat {
                Some((_, list)) if first.is_some_and(|(_, first)| first != list) => {
                    reading.faults.push(Fault::new(&title, 0, "{:slides}", TWICE));
                }
                Some((tag, list)) => {
                    first.get_or_insert((*tag, list));
                }
                None => {}
            }
        }
        let end = of_parts.peek().map(|(_, _, end)| *end);
        match first {
            Some((tag, list)) => {
                steps.push(repeated((tag, list), body));
                told.push((begin, end, (tag, list)));
            }
            None => steps.extend(body),
        }
    }
    if let Some(outline) = &mut reading.outline {
        for (begin, end, section) in told.into_iter().rev() {
            let end = end.unwrap_or_else(|| Collected::steps(outline));
            outline.nest_in(begin..end, section);
        }
    }
    steps
}

/// A copy's part without the template's comments and with a creation id of its own; the first copy keeps both.
pub(crate) fn renewed(part: &str, xml: Vec<u8>, copy: usize) -> Result<Vec<u8>, Error> {
    if copy == 0 { Ok(xml) } else { Ok(marked(uncommented(part, xml)?, copy)) }
}

fn marked(mut xml: Vec<u8>, copy: usize) -> Vec<u8> {
    const MARK: &[u8] = b"<p14:creationId";
    /// Spreads the numbers, so that copies of neighbouring ids do not meet.
    const STRIDE: u32 = 0x9e37_79b1;
    let Some(begin) = memchr::memmem::find(&xml, MARK) else { return xml };
    let end = memchr::memchr(b'>', xml.get(begin..).unwrap_or_default()).map_or(begin, |end| begin + end + 1);
    let tag = xml.get(begin..end).unwrap_or_default();
    let Some(value) = crate::word::attribute::attribute(tag, "val").map(|found| found.value) else {
        return xml;
    };
    let own = tag.get(value.clone()).and_then(|value| std::str::from_utf8(value).ok()?.parse::<u32>().ok());
    let step = u32::try_from(copy).unwrap_or_default().wrapping_mul(STRIDE);
    let number = own.unwrap_or_default().wrapping_add(step).max(1).to_string();
    xml.splice(begin + value.start..begin + value.end, number.into_bytes());
    xml
}

#[cfg(test)]
mod tests {
    use super::renewed;

    #[test]
    fn a_copy_has_a_mark_of_its_own() {
        let xml = b"<a><p14:creationId xmlns:p14=\"x\" val=\"7\"/></a>".to_vec();
        let renewed = |copy| renewed("x", xml.clone(), copy).expect("is read");
        assert_eq!(renewed(0), xml);
        let (one, two) = (renewed(1), renewed(2));
        assert!(one != xml && one != two, "{}", String::from_utf8_lossy(&one));
    }
}
