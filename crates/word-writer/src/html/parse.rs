//! HTML as a tree, by the rules that browsers follow.
//!
//! The tokens are html5gum's, the tree is built by html5ever. html5ever's own tokenizer compares every attribute of a tag with all
//! before it, so a tag of a million attributes would take an hour; html5gum hands them out one by one, and those that nobody asks for
//! are dropped here.

use html5ever::interface::{TreeSink as _, create_element};
use html5ever::tendril::StrTendril;
use html5ever::tokenizer::states::RawKind;
use html5ever::tokenizer::{Doctype, Tag, TagKind, Token, TokenSink, TokenSinkResult};
use html5ever::tree_builder::{TreeBuilder, TreeBuilderOpts};
use html5ever::{Attribute, LocalName, QualName, local_name, ns};
use html5gum::emitters::callback::{Callback, CallbackEmitter, CallbackEvent};
use html5gum::{Emitter, ForwardingEmitter, Span, State, Tokenizer};

use super::tree::{Id, Sink, Tree};
use crate::limits::{Error, Limits};

/// The attributes that are read.
const ATTRIBUTES: [&str; 32] = [
    "align",
    "alt",
    "bgcolor",
    "border",
    "cellpadding",
    "checked",
    "class",
    "color",
    "colspan",
    "data-checked",
    "data-list",
    "dir",
    "face",
    "height",
    "hidden",
    "href",
    "lang",
    "nowrap",
    "open",
    "role",
    "rowspan",
    "size",
    "span",
    "src",
    "start",
    "style",
    "title",
    "type",
    "valign",
    "value",
    "width",
    "cite",
];

/// The tree of a text that stands in a body.
///
/// # Errors
///
/// [`Error`] for a text that passes a limit.
pub fn parse(html: &str, limits: &Limits) -> Result<Tree, Error> {
    if html.len() > limits.bytes {
        return Err(Error::Bytes { bytes: html.len(), limit: limits.bytes });
    }
    let sink = Sink::new(*limits);
    let context = create_element(&sink, QualName::new(None, ns!(html), local_name!("body")), Vec::new());
    let options = TreeBuilderOpts { scripting_enabled: false, ..TreeBuilderOpts::default() };
    let builder = TreeBuilder::new_for_fragment(sink, context, None, options);
    let bridge =
        Bridge { builder: &builder, tag: None, wanted: false, next_state: None, paragraph_open: false };
    let mut tokens = Tokenizer::new_with_emitter(html, BridgeEmitter(CallbackEmitter::new(bridge)));
    // The only token is that a limit has been passed.
    let _ = tokens.next();
    drop(tokens);
    match builder.sink.error() {
        Some(error) => Err(error),
        None => Ok(builder.sink.finish()),
    }
}

/// A limit has been passed.
struct Stop;

/// Carries html5gum's tokens to html5ever's tree builder.
struct Bridge<'a> {
    builder: &'a TreeBuilder<Id, Sink>,
    tag: Option<Tag>,
    /// The attribute that is being read is one of ours.
    wanted: bool,
    next_state: Option<State>,
    /// The last token was `<p>`.
    paragraph_open: bool,
}

impl Bridge<'_> {
    fn send(&mut self, token: Token) -> Result<(), Stop> {
        match self.builder.process_token(token, 1) {
            TokenSinkResult::Script(_) => self.next_state = Some(State::Data),
            TokenSinkResult::Plaintext => self.next_state = Some(State::PlainText),
            TokenSinkResult::RawData(RawKind::Rcdata) => self.next_state = Some(State::RcData),
            TokenSinkResult::RawData(RawKind::Rawtext) => self.next_state = Some(State::RawText),
            TokenSinkResult::RawData(RawKind::ScriptData) => self.next_state = Some(State::ScriptData),
            TokenSinkResult::RawData(RawKind::ScriptDataEscaped(_))
            | TokenSinkResult::Continue
            | TokenSinkResult::EncodingIndicator(_) => {}
        }
        self.builder.sink.error().map_or(Ok(()), |_| Err(Stop))
    }

    fn start_attribute(&mut self, name: &[u8]) {
        let name = String::from_utf8_lossy(name);
        let Some(tag) = &mut self.tag else { return };
        let present = || tag.attrs.iter().any(|one| *one.name.local == *name);
        self.wanted = ATTRIBUTES.contains(&&*name) && !present();
        if self.wanted {
            let name = QualName::new(None, ns!(), LocalName::from(&*name));
            tag.attrs.push(Attribute { name, value: StrTendril::new() });
        }
    }

    fn attribute_value(&mut self, value: &[u8]) {
        if let Some(last) = self.tag.as_mut().filter(|_| self.wanted).and_then(|tag| tag.attrs.last_mut()) {
            last.value.push_slice(&String::from_utf8_lossy(value));
        }
    }

    /// `<p></p>` is how some editors write an empty line. A browser shows none, and the tree no longer tells it from the empty
    /// paragraph that a misplaced end tag makes; so its line is put in here.
    fn end_tag(&mut self, name: &[u8], after_paragraph: bool) -> Result<(), Stop> {
        if name == b"p" && after_paragraph {
            self.send(Token::TagToken(tag(TagKind::StartTag, b"br")))?;
        }
        self.send(Token::TagToken(tag(TagKind::EndTag, name)))
    }

    fn characters(&mut self, value: &[u8]) -> Result<(), Stop> {
        for (place, part) in value.split(|&byte| byte == 0).enumerate() {
            if place > 0 {
                self.send(Token::NullCharacterToken)?;
            }
            if !part.is_empty() {
                let text = StrTendril::from_slice(&String::from_utf8_lossy(part));
                self.send(Token::CharacterTokens(text))?;
            }
        }
        Ok(())
    }

    fn event(&mut self, event: &CallbackEvent<'_>) -> Result<(), Stop> {
        match *event {
            CallbackEvent::OpenStartTag { name } => self.tag = Some(tag(TagKind::StartTag, name)),
            CallbackEvent::AttributeName { name } => self.start_attribute(name),
            CallbackEvent::AttributeValue { value } => self.attribute_value(value),
            CallbackEvent::CloseStartTag { self_closing } => {
                if let Some(mut tag) = self.tag.take() {
                    tag.self_closing = self_closing;
                    self.paragraph_open = tag.name == local_name!("p");
                    self.send(Token::TagToken(tag))?;
                }
            }
            CallbackEvent::EndTag { name } => {
                let after_paragraph = std::mem::take(&mut self.paragraph_open);
                self.end_tag(name, after_paragraph)?;
            }
            CallbackEvent::String { value } => {
                self.paragraph_open = false;
                self.characters(value)?;
            }
            CallbackEvent::Doctype { .. } => self.send(Token::DoctypeToken(Doctype::default()))?,
            CallbackEvent::Comment { .. } | CallbackEvent::Error(_) => {}
        }
        Ok(())
    }
}

impl Callback<Stop, ()> for Bridge<'_> {
    fn handle_event(&mut self, event: CallbackEvent<'_>, _: Span<()>) -> Option<Stop> {
        self.event(&event).err()
    }
}

struct BridgeEmitter<'a>(CallbackEmitter<Bridge<'a>, Stop>);

impl ForwardingEmitter for BridgeEmitter<'_> {
    type Token = Stop;

    fn inner(&mut self) -> &mut impl Emitter<Token = Stop> {
        &mut self.0
    }
    fn emit_eof(&mut self) {
        self.0.emit_eof();
        let builder = self.0.callback_mut().builder;
        // What it answers is for the tokenizer, which is at its end.
        let _ = builder.process_token(Token::EOFToken, 1);
        builder.end();
    }
    fn emit_current_tag(&mut self) -> Option<State> {
        let state = self.0.emit_current_tag();
        self.0.callback_mut().next_state.take().or(state)
    }
    fn adjusted_current_node_present_but_not_in_html_namespace(&mut self) -> bool {
        self.0.callback_mut().builder.adjusted_current_node_present_but_not_in_html_namespace()
    }
}

fn tag(kind: TagKind, name: &[u8]) -> Tag {
    let name = LocalName::from(&*String::from_utf8_lossy(name));
    Tag { kind, name, self_closing: false, attrs: Vec::new(), had_duplicate_attributes: false }
}
