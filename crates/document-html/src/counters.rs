//! How far the lists of a document have counted.

use std::collections::HashMap;

/// OpenDocument has ten levels.
pub const LEVELS: usize = 10;

/// Nothing for a level that has not begun: numbers may begin with 0.
pub type Counters = [Option<u32>; LEVELS];

/// The counters of lists that another list may continue, by their ids and by their styles.
#[derive(Debug, Default)]
pub struct Numbers {
    pub by_list: HashMap<String, Counters>,
    pub by_style: HashMap<String, Counters>,
}
