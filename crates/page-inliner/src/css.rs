//! Style sheets and the declarations of a `style` attribute: their addresses, token by token.
//!
//! Every token is visited, so no address is missed: each leads to nothing outside of the document, or its file is inlined, or
//! the whole text is refused. A file may be inlined that the browser never shows (in a rule that it drops): that only makes the
//! text longer, for no other token changes.

#![expect(clippy::wildcard_enum_match_arm, reason = "of the many tokens of CSS, a few matter")]

use std::ops::Range;
use std::sync::Arc;

use cssparser::{CowRcStr, ParseError, Parser, ParserInput, Token};

use crate::Files;
use crate::address::{self, BaseUrl};
use crate::parts::Parts;
use crate::role::Role;

/// Properties that show a picture. Not those that want a part of a drawing (`mask`, `filter`, `clip-path`), nor those
/// of which a page of paper has none (`cursor`).
const SHOWING: [&str; 8] = [
    "background",
    "background-image",
    "list-style",
    "list-style-image",
    "border-image",
    "border-image-source",
    "-webkit-border-image",
    "content",
];
/// Functions that name what they load by a text, or one of several.
const LOADING: [&str; 4] = ["src", "image", "image-set", "-webkit-image-set"];
/// Blocks in blocks; more would end the stack.
const DEPTH_LIMIT: u32 = 64;

/// There is something that cannot be put in, or would not be the same.
struct Refused;

type Walked = Result<(), Refused>;

/// The text with what it refers to in it; `base` is where it lies.
pub fn inlined(text: &str, base: &BaseUrl, files: &dyn Files) -> Option<Parts> {
    let mut walk = Walk { resolver: Some((base, files)), edits: Vec::new(), depth: 0 };
    walk.all(text).ok()?;
    let (mut parts, mut at) = (Parts::default(), 0);
    for (place, address) in walk.edits {
        parts.push(text.get(at..place.start)?);
        // A text may touch the keyword before it (`@import"a.css"`), a function would become a part of that.
        let touches = text.get(..place.start)?.ends_with(char::is_alphabetic);
        parts.push(if touches { " url(" } else { "url(" });
        parts.push_address(address);
        parts.push(")");
        at = place.end;
    }
    parts.push(text.get(at..)?);
    Some(parts)
}

/// Whether the text, a style sheet or a single value, refers to nothing outside of its document.
pub fn refers_to_nothing_outside(text: &str) -> bool {
    let mut walk = Walk { resolver: None, edits: Vec::new(), depth: 0 };
    let is_plain = !text.contains(['(', '@', '\\']);
    is_plain || walk.all(text).is_ok()
}

struct Walk<'a> {
    /// What finds the file of an address; `None` where any address that leads out of the document is refused.
    resolver: Option<(&'a BaseUrl, &'a dyn Files)>,
    /// What is put in the place of what, in order.
    edits: Vec<(Range<usize>, Arc<str>)>,
    depth: u32,
}

/// A token and where it begins.
type Met<'i> = (usize, Token<'i>);

fn next<'i>(input: &mut Parser<'i, '_>) -> Option<Met<'i>> {
    let begin = input.position().byte_index();
    let token = input.next_including_whitespace_and_comments().ok()?.clone();
    Some((begin, token))
}

fn is_blank(token: &Token<'_>) -> bool {
    matches!(token, Token::WhiteSpace(_) | Token::Comment(_))
}

/// The next token that is neither blank nor comment.
fn next_word<'i>(input: &mut Parser<'i, '_>) -> Option<Met<'i>> {
    std::iter::from_fn(|| next(input)).find(|(_, token)| !is_blank(token))
}

impl Walk<'_> {
    fn all(&mut self, text: &str) -> Walked {
        let mut input = ParserInput::new(text);
        self.rules(&mut Parser::new(&mut input))
    }

    /// What stands in a block, or in none: rules and declarations.
    fn rules(&mut self, input: &mut Parser<'_, '_>) -> Walked {
        while let Some((_, token)) = next(input) {
            match token {
                Token::AtKeyword(name) => self.at_rule(input, &name)?,
                Token::Ident(name) => self.statement(input, &name)?,
                Token::Semicolon => {}
                token => {
                    self.check(input, &token)?;
                    if !is_blank(&token)
                        && !matches!(token, Token::CurlyBracketBlock | Token::CDO | Token::CDC)
                    {
                        self.rest_of_rule(input)?;
                    }
                }
            }
        }
        Ok(())
    }

    /// Does `walk` in the block that was met last.
    fn within(
        &mut self,
        input: &mut Parser<'_, '_>,
        walk: impl FnOnce(&mut Self, &mut Parser<'_, '_>) -> Walked,
    ) -> Walked {
        self.depth += 1;
        if self.depth > DEPTH_LIMIT {
            return Err(Refused);
        }
        let walked = input.parse_nested_block(|inner| match walk(self, inner) {
            Ok(()) => Ok(()),
            Err(Refused) => Err(inner.new_custom_error(())),
        });
        self.depth -= 1;
        walked.map_err(|_: ParseError<'_, ()>| Refused)
    }

    /// To the end of a rule: its block, or a semicolon.
    fn rest_of_rule(&mut self, input: &mut Parser<'_, '_>) -> Walked {
        while let Some((_, token)) = next(input) {
            match token {
                Token::Semicolon => return Ok(()),
                Token::CurlyBracketBlock => return self.within(input, Self::rules),
                token => self.check(input, &token)?,
            }
        }
        Ok(())
    }

    fn at_rule(&mut self, input: &mut Parser<'_, '_>, name: &CowRcStr<'_>) -> Walked {
        match name.to_ascii_lowercase().as_str() {
            // In a block a browser imports nothing.
            "import" if self.depth > 0 => Err(Refused),
            "import" => {
                let (begin, token) = next_word(input).ok_or(Refused)?;
                let address = match token {
                    Token::QuotedString(address) | Token::UnquotedUrl(address) => address.to_string(),
                    Token::Function(name) if name.eq_ignore_ascii_case("url") => {
                        quoted(input).ok_or(Refused)?
                    }
                    _ => return Err(Refused),
                };
                // An empty address is that of the style sheet itself, which would import itself.
                if address.trim().is_empty() {
                    return Err(Refused);
                }
                self.edit(Role::Sheet, &address, begin..input.position().byte_index())?;
                self.rest_of_rule(input)
            }
            // The rules behind it mean other elements by their names.
            "namespace" => Err(Refused),
            "font-face" => {
                while let Some((_, token)) = next(input) {
                    match token {
                        Token::CurlyBracketBlock => return self.within(input, Self::font),
                        Token::Semicolon => return Ok(()),
                        token => self.check(input, &token)?,
                    }
                }
                Ok(())
            }
            _ => self.rest_of_rule(input),
        }
    }

    /// A declaration, or a rule whose selector begins with a name.
    fn statement(&mut self, input: &mut Parser<'_, '_>, name: &CowRcStr<'_>) -> Walked {
        let Some((_, token)) = next_word(input) else { return Ok(()) };
        match token {
            Token::Colon => {}
            Token::Semicolon => return Ok(()),
            Token::CurlyBracketBlock => return self.within(input, Self::rules),
            token => {
                self.check(input, &token)?;
                return self.rest_of_rule(input);
            }
        }
        let shows = SHOWING.iter().any(|property| name.eq_ignore_ascii_case(property));
        let is_custom = name.starts_with("--");
        while let Some((begin, token)) = next(input) {
            match token {
                Token::Semicolon => return Ok(()),
                Token::CurlyBracketBlock if is_custom => self.within(input, Self::refuse_references)?,
                // It was the selector of a rule within a rule.
                Token::CurlyBracketBlock => return self.within(input, Self::rules),
                Token::UnquotedUrl(address) if shows => {
                    self.edit(Role::Picture, &address, begin..input.position().byte_index())?;
                }
                Token::Function(function) if shows && function.eq_ignore_ascii_case("url") => {
                    let address = quoted(input).ok_or(Refused)?;
                    self.edit(Role::Picture, &address, begin..input.position().byte_index())?;
                }
                token => self.check(input, &token)?,
            }
        }
        Ok(())
    }

    /// The descriptors of a font. Of several sources, and of several files for several characters, only the browser
    /// knows which it takes.
    fn font(&mut self, input: &mut Parser<'_, '_>) -> Walked {
        let (mut sources, mut files, mut is_one) = (0, Vec::new(), true);
        let mut descriptor = String::new();
        while let Some((begin, token)) = next(input) {
            match token {
                Token::Semicolon => descriptor.clear(),
                Token::Ident(name) if descriptor.is_empty() => {
                    descriptor = name.to_ascii_lowercase();
                    sources += u32::from(descriptor == "src");
                    is_one &= descriptor != "unicode-range";
                }
                Token::UnquotedUrl(address) if descriptor == "src" => {
                    files.push((address.to_string(), begin..input.position().byte_index()));
                }
                Token::Function(function) if descriptor == "src" && function.eq_ignore_ascii_case("url") => {
                    let address = quoted(input).ok_or(Refused)?;
                    files.push((address, begin..input.position().byte_index()));
                }
                Token::Comma if descriptor == "src" => is_one = false,
                token => self.check(input, &token)?,
            }
        }
        if files.iter().all(|(address, _)| address::stays_in_document(address)) {
            return Ok(());
        }
        match <[_; 1]>::try_from(files) {
            Ok([(address, place)]) if is_one && sources == 1 => self.edit(Role::Font, &address, place),
            Ok(_) | Err(_) => Err(Refused),
        }
    }

    /// Visits a block to its end, and refuses every address in it that leads out of the document.
    fn refuse_references(&mut self, input: &mut Parser<'_, '_>) -> Walked {
        while let Some((_, token)) = next(input) {
            self.check(input, &token)?;
        }
        Ok(())
    }

    /// Visits a token, with the block that it opens, where no file is inlined: an address that leads out of the document is
    /// refused.
    fn check(&mut self, input: &mut Parser<'_, '_>, token: &Token<'_>) -> Walked {
        match token {
            Token::UnquotedUrl(address) => keep(address),
            Token::Function(name) if name.eq_ignore_ascii_case("url") => {
                let address = quoted(input).ok_or(Refused)?;
                keep(&address)
            }
            Token::Function(name) if LOADING.iter().any(|loading| name.eq_ignore_ascii_case(loading)) => {
                Err(Refused)
            }
            Token::Function(name) if name.eq_ignore_ascii_case("attr") => self.within(input, Self::attribute),
            Token::SquareBracketBlock => self.within(input, Self::attribute),
            Token::Function(_) | Token::ParenthesisBlock | Token::CurlyBracketBlock => {
                self.within(input, Self::refuse_references)
            }
            Token::BadUrl(_) | Token::BadString(_) => Err(Refused),
            _ => Ok(()),
        }
    }

    /// Visits an attribute selector, or `attr()`. Inlining changes the values of `src` and `style`, so these two are refused:
    /// the rule might select other elements, or show another text.
    fn attribute(&mut self, input: &mut Parser<'_, '_>) -> Walked {
        while let Some((_, token)) = next(input) {
            match &token {
                Token::Ident(name) if ["src", "style"].iter().any(|it| name.eq_ignore_ascii_case(it)) => {
                    return Err(Refused);
                }
                token => self.check(input, token)?,
            }
        }
        Ok(())
    }

    fn edit(&mut self, role: Role, address: &str, place: Range<usize>) -> Walked {
        if address::stays_in_document(address) {
            return Ok(());
        }
        let (base, files) = self.resolver.ok_or(Refused)?;
        let path = base.path(address).ok_or(Refused)?;
        let address = files.address(role, &path).ok_or(Refused)?;
        self.edits.push((place, address));
        Ok(())
    }
}

/// An address that is kept as it is.
fn keep(address: &str) -> Walked {
    if address::stays_in_document(address) { Ok(()) } else { Err(Refused) }
}

/// The text in a `url("…")` that was just met; none where there is anything else in it.
fn quoted(input: &mut Parser<'_, '_>) -> Option<String> {
    let read = input.parse_nested_block(|inner| {
        let text = inner.expect_string()?.to_string();
        inner.expect_exhausted()?;
        Ok::<_, ParseError<'_, ()>>(text)
    });
    read.ok()
}
