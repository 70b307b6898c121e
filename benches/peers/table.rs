//! The results as a table in Markdown.

use std::time::Duration;

use crate::common::figures::{Figures, Used};

/// What others are compared to: the word of its column, and the name of its row.
const BASES: [(&str, &str); 4] = [
    ("fresh", "floor, fresh"),
    ("kept", "floor, kept"),
    ("address", "floor, kept with address"),
    ("Platen", "Platen"),
];

/// The rounds of one way.
pub struct Row {
    pub name: String,
    /// Documents of a round.
    pub documents: usize,
    pub rounds: Vec<Figures>,
}

impl Row {
    /// A way that has not been measured yet.
    pub fn new(name: String, documents: usize) -> Self {
        Self { name, documents, rounds: Vec::new() }
    }

    /// The throughput in the middle of all rounds.
    fn throughput(&self) -> f64 {
        median(self.rounds.iter().map(Figures::throughput))
    }

    /// How many times the throughput of `base` this is, round by round, in the middle.
    fn ratio(&self, base: &Self) -> f64 {
        let pairs = self.rounds.iter().zip(&base.rounds);
        median(pairs.map(|(ours, theirs)| ours.throughput() / theirs.throughput()))
    }

    /// All rounds as one measurement.
    fn whole(&self) -> Figures {
        let sum = |of: fn(&Figures) -> Duration| self.rounds.iter().map(of).sum();
        Figures {
            latencies: self.rounds.iter().flat_map(|round| round.latencies.iter().copied()).collect(),
            wall: sum(|round| round.wall),
            used: Used {
                chromium: sum(|round| round.used.chromium),
                own: sum(|round| round.used.own),
                engines: sum(|round| round.used.engines),
            },
        }
    }
}

/// The head of the table of one document.
pub fn print_head(document: &str) {
    println!("\n### {document}\n");
    let bases = BASES.map(|(word, _)| format!("× {word}")).join(" | ");
    println!(
        "| clients | way | documents/s | {bases} | p10 ms | p50 ms | p95 ms | Chromium ms | own ms | engine ms |"
    );
    println!("|{}", "--:|:--|".to_owned() + &"--:|".repeat(7 + BASES.len()));
}

/// A line for each way.
pub fn print(clients: usize, rows: &[Row]) {
    for row in rows {
        let whole = row.whole();
        let ratio = |(_, name): (&str, &str)| {
            let base = rows.iter().find(|row| row.name == name);
            base.map_or("–".to_owned(), |base| format!("{:.2}", row.ratio(base)))
        };
        let latencies = [0.1, 0.5, 0.95].map(|share| format!("{:.1}", whole.percentile_ms(share)));
        let times = whole.used_a_document_ms().map(|time_ms| format!("{time_ms:.1}"));
        println!(
            "| {clients} | {} | {:.1} | {} | {} | {} |",
            row.name,
            row.throughput(),
            BASES.map(ratio).join(" | "),
            latencies.join(" | "),
            times.join(" | ")
        );
    }
}

fn median(values: impl Iterator<Item = f64>) -> f64 {
    let mut values: Vec<f64> = values.collect();
    values.sort_unstable_by(f64::total_cmp);
    values.get(values.len() / 2).copied().unwrap_or(f64::NAN)
}
