//! The commands of the program, one file each.

pub mod account;
pub mod operator;
pub mod token;
