//! A table of measurements as plain text.

use crate::common::figures::Figures;

/// The head of the table.
pub fn print_head(title: &str) {
    println!("\n{title}");
    println!(
        "{:<37} {:>7} {:>7} {:>7} {:>9} {:>6} {:>6}",
        "", "p50 ms", "p99 ms", "doc/s", "Chromium", "own", "engine"
    );
}

/// One line of it, with the ratios to floors (name and figures).
pub fn print(name: &str, figures: &Figures, floors: &[(String, Figures)]) {
    let (median, tail) = (figures.percentile_ms(0.5), figures.percentile_ms(0.99));
    let throughput = figures.throughput();
    let (chromium, own) = (figures.a_document_ms(figures.chromium), figures.a_document_ms(figures.own));
    let children = figures.a_document_ms(figures.children);
    print!(
        "{name:<37} {median:>7.1} {tail:>7.1} {throughput:>7.1} {chromium:>9.1} {own:>6.1} {children:>6.1}"
    );
    for (floor, figures) in floors {
        let latency = median / figures.percentile_ms(0.5);
        let throughput = throughput / figures.throughput();
        print!("  {floor}: x{latency:.2} latency, x{throughput:.2} throughput");
    }
    println!();
}
