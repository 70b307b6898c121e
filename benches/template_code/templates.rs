//! What is measured: the sample invoice, and what formatting adds to it.

use std::io;

use serde_json::{Value, json};

const INVOICE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/assets/samples/invoice");

/// A list of amounts as an invoice has them.
const AMOUNTS: &str = "<% for (let row = 0; row < 60; row += 1) { %>\
    <p><%= (row * 1234.56).toLocaleString('de-DE', {style: 'currency', currency: 'EUR'}) %></p><% } %>";
/// 22 calls in each of 40 locales.
const CALLS: &str = include_str!("calls.ejs");

/// A template, its data, and text of the page.
#[derive(Clone)]
pub struct Template {
    pub name: &'static str,
    pub text: String,
    pub data: Value,
    /// `formatOpts`.
    pub options: Value,
    pub mark: &'static str,
}

/// All of them.
pub fn all() -> io::Result<Vec<Template>> {
    let read = |name| std::fs::read_to_string(format!("{INVOICE}/{name}"));
    let (text, data): (_, Value) = (read("index.html")?, serde_json::from_str(&read("data.json")?)?);
    let amounts = format!("{text}{AMOUNTS}");
    let zoned = json!({"locale": "de-DE", "timezone": "Europe/Berlin"});
    let template = |name, text: &str, options: &Value, mark| Template {
        name,
        text: text.to_owned(),
        data: data.clone(),
        options: options.clone(),
        mark,
    };
    Ok(vec![
        template("invoice", &text, &json!({}), "Müller"),
        template("invoice, in de-DE and Berlin", &text, &zoned, "Müller"),
        template("invoice and 60 amounts", &amounts, &json!({}), "72.839,04"),
        template("880 calls of `Intl`", CALLS, &json!({}), "880 answers"),
    ])
}
