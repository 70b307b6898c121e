//! Word files, filled with what the real engine makes of their programs.

#![expect(clippy::expect_used, clippy::panic, reason = "a test fails by panicking")]
#![expect(clippy::format_collect, reason = "texts of a test are short")]

mod addresses;
#[path = "../any/mod.rs"]
#[expect(dead_code, reason = "texts are of another test")]
mod any;
mod audit;
mod blocks;
mod bookmark_turns;
mod bookmarks;
mod chart_frames;
mod charts;
mod colours;
mod comment_threads;
mod containers;
mod contents;
mod corpus;
mod costs;
mod decks;
mod dependents;
mod dependents_deep;
mod dependents_shared;
mod effort;
mod fill;
mod formats;
mod forms;
mod html;
mod include_limits;
mod includes;
#[path = "../../../../fuzz/kept.rs"]
mod kept;
mod library;
mod lists;
mod locations;
mod names;
mod outline;
mod part_types;
mod paths;
mod pictures;
mod places;
mod plain;
mod real;
mod repeat;
mod runs;
mod shattered;
mod slide_kinds;
mod slide_parts;
mod slide_turns;
mod slides;
mod structure;
mod support;
mod ticks;
mod trees;
mod unfilled;
mod validity;
mod workbook_asides;
mod workbooks;
mod xml;
