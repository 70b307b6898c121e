//! The program: dispatches to a command.

fn main() {}
