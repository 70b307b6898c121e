//! Why blocks cannot be expanded, or a formula cannot be written.

use crate::address::{LAST_COLUMN, LAST_ROW};

/// The longest formula that Excel reads, in characters (Microsoft, "Excel specifications and limits").
pub const FORMULA_CHARACTERS: usize = 8_192;

/// The most arguments that Excel gives to a function (Microsoft, "Excel specifications and limits").
pub const ARGUMENTS: usize = 255;

/// The most blocks of a sheet: each is compared with each, and each band of columns is laid out on its own.
pub const BLOCKS: usize = 1_000;

/// The most turns of all blocks of a sheet together, eight for each row of a full sheet: each takes memory.
pub const TURNS: u64 = 8 << 20;

/// Why blocks cannot be expanded, or a formula cannot be written. Blocks are named by their index in the caller's list.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Error {
    /// What is used of the sheet would end below its last row, or a block has more turns than a sheet has rows.
    #[error("the sheet would need {needed} rows, and Excel allows {LAST_ROW}")]
    Rows {
        /// The last row that would be used.
        needed: u64,
    },
    /// The same for columns.
    #[error("the sheet would need {needed} columns, and Excel allows {LAST_COLUMN}")]
    Columns {
        /// The last column that would be used.
        needed: u64,
    },
    /// More blocks than [`BLOCKS`].
    #[error("the sheet has {blocks} blocks that are repeated or dropped, and {BLOCKS} are allowed")]
    Blocks {
        /// How many it has.
        blocks: usize,
    },
    /// More turns than [`TURNS`].
    #[error("the blocks of the sheet are repeated {turns} times or more, and {TURNS} times are allowed")]
    Turns {
        /// How many turns were counted till then.
        turns: u64,
    },
    /// An area that begins behind its end or is not on a sheet.
    #[error("block {block} has no area of a sheet")]
    Area {
        /// The block.
        block: usize,
    },
    /// The parent of a block does not hold it, comes later in the list, or repeats in another direction.
    #[error("block {block} does not lie within block {parent}, or repeats another way")]
    Parent {
        /// The inner block.
        block: usize,
        /// The block that it names as its parent.
        parent: usize,
    },
    /// Two blocks share some lines, and neither holds the other.
    #[error("blocks {first} and {second} overlap")]
    Overlap {
        /// The one.
        first: usize,
        /// The other.
        second: usize,
    },
    /// A block would be torn: the block above it moves some of its columns and not the others.
    #[error("block {above} is narrower than block {below} below it, so it would move only a part of it")]
    Torn {
        /// The upper block.
        above: usize,
        /// The lower block, which is wider or further to the side.
        below: usize,
    },
    /// Cells grow downwards and to the right on the same sheet.
    #[error("block {right} grows to the right and block {down} downwards; on one sheet cells grow one way")]
    Directions {
        /// One that grows to the right.
        right: usize,
        /// One that grows downwards.
        down: usize,
    },
    /// As many counts are needed as the outer block has turns; one where there is no outer block.
    #[error(
        "block {block} has {counts} counts, and {turns} are needed: one for each turn of the block around it"
    )]
    Counts {
        /// The block.
        block: usize,
        /// How many it has.
        counts: usize,
        /// How many it needs.
        turns: usize,
    },
    /// What was added made the formula longer than Excel reads.
    #[error("the formula would have {needed} characters, and Excel allows {FORMULA_CHARACTERS}")]
    FormulaLength {
        /// How many it would have.
        needed: usize,
    },
    /// A reference to a repeated sheet became an argument for each of its copies.
    #[error(
        "a function would have more than {ARGUMENTS} arguments, one for each of {sheets} sheets; Excel allows {ARGUMENTS}"
    )]
    Arguments {
        /// How many sheets the one became.
        sheets: usize,
    },
}
