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
    let [p50_ms, p99_ms] = [0.5, 0.99].map(|share| figures.percentile_ms(share));
    let throughput = figures.throughput();
    let [chromium_ms, own_ms, engine_ms] = figures.used_a_document_ms();
    print!(
        "{name:<37} {p50_ms:>7.1} {p99_ms:>7.1} {throughput:>7.1} {chromium_ms:>9.1} {own_ms:>6.1} {engine_ms:>6.1}"
    );
    for (floor_name, floor) in floors {
        let latency_ratio = p50_ms / floor.percentile_ms(0.5);
        let throughput_ratio = throughput / floor.throughput();
        print!("  {floor_name}: x{latency_ratio:.2} latency, x{throughput_ratio:.2} throughput");
    }
    println!();
}
