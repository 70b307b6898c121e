//! Reads the tags of a Word file as a program, and fills the file with what the program answers.

pub mod lexer;
