//! Makes the tree in one sweep over the changes, sorted by offset.

use std::collections::BTreeMap;

use super::{Action, Change, Node, Restart};
use crate::word::Part;

/// What is being built: the whole, a section, or a holder (no section).
struct Frame {
    section: Option<usize>,
    nodes: Vec<Node>,
}

/// The tree; `restarts` are the lists that may begin again, by the opening tags of their sections. `Err` with the opening tag of a
/// section that overlaps another.
pub(super) fn sweep(
    part: &Part,
    changes: Vec<Change>,
    restarts: &mut BTreeMap<usize, Vec<Restart>>,
) -> Result<Vec<Node>, usize> {
    let mut frames = vec![Frame { section: None, nodes: Vec::new() }];
    let mut cursor = 0;
    for Change { at, action, .. } in changes {
        let top = frames.last_mut().ok_or(0_usize)?;
        let is_gone = at < cursor;
        if at > cursor {
            top.nodes.push(Node::Raw(cursor..at));
            cursor = at;
        }
        match action {
            Action::Open(tag) => frames.push(Frame { section: Some(tag), nodes: Vec::new() }),
            Action::OpenHolder => frames.push(Frame { section: None, nodes: Vec::new() }),
            Action::Close(tag) => {
                let frame = frames.pop().filter(|frame| frame.section == Some(tag)).ok_or(tag)?;
                let lists = restarts.remove(&tag).unwrap_or_default();
                frames.last_mut().ok_or(tag)?.nodes.push(Node::Section(tag, frame.nodes, lists));
            }
            Action::CloseHolder(child) => {
                let frame = frames.pop().ok_or(0_usize)?;
                if let Some(tag) = frame.section {
                    return Err(tag);
                }
                frames.last_mut().ok_or(0_usize)?.nodes.push(Node::Holder(child, frame.nodes));
            }
            _ if is_gone => {}
            Action::Skip(end) => cursor = cursor.max(end),
            Action::Write(node) => top.nodes.push(node),
        }
    }
    let mut whole = frames.pop().filter(|frame| frame.section.is_none()).ok_or(0_usize)?;
    whole.nodes.push(Node::Raw(cursor..part.xml.len()));
    Ok(whole.nodes)
}
