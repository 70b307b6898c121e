//! Comments of turns, and the parts that say more of comments: which are answers, which are resolved, when they were written.

use std::collections::BTreeMap;

use crate::audit::values;
use crate::dependents::{COMMENTS, filled, notes};
use crate::slide_parts::with;
use crate::support::{DOCUMENT, docx_with, p, part};

/// A paragraph of comments: each with a range around the text.
fn commented(text: &str, ids: &[u32]) -> String {
    let each = |mark: &str| ids.iter().map(|id| format!("<w:{mark} w:id=\"{id}\"/>")).collect::<String>();
    let own: String =
        ids.iter().map(|id| format!("<w:r><w:commentReference w:id=\"{id}\"/></w:r>")).collect();
    format!(
        "<w:p>{}<w:r><w:t>{text}</w:t></w:r>{}{own}</w:p>",
        each("commentRangeStart"),
        each("commentRangeEnd")
    )
}

/// A document with comments and all that Word says of them besides: id, paragraph's id, what it answers, text.
fn threaded(body: &str, comments: &[(u32, &str, Option<&str>, &str)]) -> Vec<u8> {
    const MICROSOFT: &str = "http://schemas.microsoft.com/office";
    let text: String = { comments.iter() }
        .map(|(id, paragraph, _, text)| {
            let last = p(text)
                .replace("<w:p>", &format!("<w:p w14:paraId=\"{paragraph}\" w14:textId=\"77777777\">"));
            format!("<w:comment w:id=\"{id}\">{}{last}</w:comment>", p("x"))
        })
        .collect();
    let extended: String = { comments.iter() }
        .map(|(_, paragraph, of, _)| {
            let of = of.map(|of| format!(" w15:paraIdParent=\"{of}\"")).unwrap_or_default();
            format!("<w15:commentEx w15:paraId=\"{paragraph}\"{of} w15:done=\"0\"/>")
        })
        .collect();
    let durable = |paragraph: &str| paragraph.replace("0000", "5555");
    let ids: String = { comments.iter() }
        .map(|(_, id, ..)| {
            format!("<w16cid:commentId w16cid:paraId=\"{id}\" w16cid:durableId=\"{}\"/>", durable(id))
        })
        .collect();
    let extensible: String = { comments.iter() }
        .map(|(_, id, ..)| {
            format!(
                "<w16cex:commentExtensible w16cex:durableId=\"{}\" w16cex:dateUtc=\"2026-01-0{}T00:00:00Z\"/>",
                durable(id),
                &id[7..]
            )
        })
        .collect();
    let file = docx_with(body, &[("comments.xml", "comments", "comments", &text)]);
    let main = "application/vnd.openxmlformats-officedocument.wordprocessingml";
    let parts = [
        ("commentsExtended", "w15:commentsEx", "word/2012/wordml", "w15", "2011", extended),
        ("commentsIds", "w16cid:commentsIds", "word/2016/wordml/cid", "w16cid", "2016/09", ids),
        (
            "commentsExtensible",
            "w16cex:commentsExtensible",
            "word/2018/wordml/cex",
            "w16cex",
            "2018/08",
            extensible,
        ),
    ];
    let made: Vec<_> = { parts.iter() }
        .map(|(name, root, space, prefix, year, text)| {
            (
                format!("word/{name}.xml"),
                format!("{main}.{name}+xml"),
                format!("<{root} xmlns:{prefix}=\"{MICROSOFT}/{space}\">{text}</{root}>"),
                format!("{MICROSOFT}/{year}/relationships/{name}"),
                format!("{name}.xml"),
            )
        })
        .collect();
    let parts: Vec<_> = made.iter().map(|one| (one.0.as_str(), one.1.as_str(), one.2.as_str())).collect();
    let links: Vec<_> =
        made.iter().map(|one| (DOCUMENT, one.4.as_str(), one.3.as_str(), one.4.as_str())).collect();
    with(&file, &parts, &links)
}

/// The comments in the order of the document: the text, and that of the comment that it answers.
fn thread(file: &[u8]) -> Vec<(String, String)> {
    let (comments, extended) = (part(file, COMMENTS), part(file, "word/commentsExtended.xml"));
    let texts = notes(file, ("comment", COMMENTS));
    let ids = values(&part(file, DOCUMENT), "w:commentReference", "w:id");
    let paragraph = |id: &String| {
        let begin = comments.find(&format!("<w:comment w:id=\"{id}\"")).expect("a comment");
        let own = comments[begin..].split("</w:comment>").next().unwrap_or_default();
        values(own, "w:p", "w14:paraId").pop().expect("a paragraph with an id")
    };
    let of_text: BTreeMap<String, String> = ids.iter().map(&paragraph).zip(texts.iter().cloned()).collect();
    let answered = |id: &String| {
        let id = paragraph(id);
        let line = extended.split("<w15:commentEx ").find(|line| line.contains(&format!("paraId=\"{id}\"")));
        let line = format!("<w15:commentEx {}", line.expect("it is said to be one"));
        let of = values(&line, "w15:commentEx", "w15:paraIdParent").pop();
        of.map_or_else(String::new, |of| of_text[&of].clone())
    };
    texts.iter().cloned().zip(ids.iter().map(answered)).collect()
}

fn said(pairs: &[(&str, &str)]) -> Vec<(String, String)> {
    pairs
        .iter()
        .map(|(text, of)| {
            (format!("x¶{text}"), if of.is_empty() { String::new() } else { format!("x¶{of}") })
        })
        .collect()
}

const QUESTION: (u32, &str, Option<&str>, &str) = (1, "00000001", None, "Ask {n}");
const ANSWER: (u32, &str, Option<&str>, &str) = (2, "00000002", Some("00000001"), "Answer {q}");

/// A document of questions and answers.
pub fn asked() -> Vec<u8> {
    threaded(&[p("{#items}"), commented("{n}", &[1, 2]), p("{/items}")].concat(), &[QUESTION, ANSWER])
}

#[test]
fn an_answer_to_a_comment_answers_the_one_of_its_turn() {
    let body = [p("{#items}"), commented("{n}", &[1, 2]), p("{/items}")].concat();
    let file = filled(threaded(&body, &[QUESTION, ANSWER]));
    let own = said(&[("Ask A", ""), ("Answer qa", "Ask A"), ("Ask B", ""), ("Answer qb", "Ask B")]);
    assert_eq!(thread(&file), own);
    let dates =
        values(&part(&file, "word/commentsExtensible.xml"), "w16cex:commentExtensible", "w16cex:dateUtc");
    assert_eq!(dates.len(), 4);
    assert_eq!(values(&part(&file, "word/commentsIds.xml"), "w16cid:commentId", "w16cid:paraId").len(), 4);
    // In a row, and in sections of sections.
    let row = format!(
        "<w:tbl><w:tblPr/><w:tblGrid/><w:tr><w:tc>{}</w:tc></w:tr></w:tbl>",
        [p("{#items}"), commented("{n}", &[1, 2]), p("{/items}")].concat()
    );
    assert_eq!(thread(&filled(threaded(&(row + &p("")), &[QUESTION, ANSWER]))), own);
    let nested = [p("{#items}"), p("{#l}"), commented("{n}", &[1, 2]), p("{/l}"), p("{/items}")].concat();
    assert_eq!(thread(&filled(threaded(&nested, &[QUESTION, ANSWER]))).len(), 6);
    // The question stands outside of the section, and so does an answer to a comment in it.
    let outside = [commented("{t}", &[1]), p("{#items}"), commented("{n}", &[2]), p("{/items}")].concat();
    let answers = said(&[("Ask ", ""), ("Answer qa", "Ask "), ("Answer qb", "Ask ")]);
    assert_eq!(thread(&filled(threaded(&outside, &[QUESTION, ANSWER]))), answers);
    let outside = [p("{#items}"), commented("{n}", &[1]), p("{/items}"), commented("{t}", &[2])].concat();
    assert_eq!(thread(&filled(threaded(&outside, &[QUESTION, ANSWER]))).len(), 3);
}

#[test]
fn nothing_is_said_of_comments_that_are_not_there() {
    let other = (3, "00000003", None, "Stays");
    let body = [p("{#none}"), commented("{n}", &[1, 2]), p("{/none}"), commented("{t}", &[3])].concat();
    let file = filled(threaded(&body, &[QUESTION, ANSWER, other]));
    assert_eq!(thread(&file), said(&[("Stays", "")]));
    for (name, element, attribute) in [
        ("commentsExtended", "w15:commentEx", "w15:paraId"),
        ("commentsIds", "w16cid:commentId", "w16cid:paraId"),
        ("commentsExtensible", "w16cex:commentExtensible", "w16cex:durableId"),
    ] {
        assert_eq!(values(&part(&file, &format!("word/{name}.xml")), element, attribute).len(), 1, "{name}");
    }
    // An answer whose question is gone is one no more.
    let body = [p("{#none}"), commented("{n}", &[1]), p("{/none}"), commented("{t}", &[2])].concat();
    assert_eq!(thread(&filled(threaded(&body, &[QUESTION, ANSWER]))), said(&[("Answer ", "")]));
}

#[test]
fn an_answer_never_joins_the_thread_of_another_turn() {
    let body = |turn: &str| {
        let asked = [p(&format!("{{#n == '{turn}'}}")), commented("{n}", &[1]), p("{/}")].concat();
        [p("{#items}"), asked, commented("{n}", &[2]), p("{/items}")].concat()
    };
    let file = filled(threaded(&body("A"), &[QUESTION, ANSWER]));
    assert_eq!(thread(&file), said(&[("Ask A", ""), ("Answer qa", "Ask A"), ("Answer qb", "")]));
    let file = filled(threaded(&body("B"), &[QUESTION, ANSWER]));
    assert_eq!(thread(&file), said(&[("Answer qa", ""), ("Ask B", ""), ("Answer qb", "Ask B")]));
}

#[test]
fn ids_of_copies_are_those_of_no_paragraph_of_a_header() {
    const HEADER: &str = "<w:hdr xmlns:w=\"http://schemas.openxmlformats.org/wordprocessingml/2006/main\" xmlns:w14=\"http://schemas.microsoft.com/office/word/2010/wordml\"><w:p w14:paraId=\"10000001\"/></w:hdr>";
    let kind = "application/vnd.openxmlformats-officedocument.wordprocessingml.header+xml";
    let relation = "http://schemas.openxmlformats.org/officeDocument/2006/relationships/header";
    let links = [(DOCUMENT, "of", relation, "header9.xml")];
    let file = filled(with(&asked(), &[("word/header9.xml", kind, HEADER)], &links));
    let ids = values(&part(&file, COMMENTS), "w:p", "w14:paraId");
    assert!(ids.len() == 4 && !ids.contains(&"10000001".to_owned()), "{ids:?}");
}
