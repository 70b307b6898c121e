//! The table that a suite prints, whether it holds or not.

use std::io::Write as _;

/// One attack and what became of it.
pub struct Outcome {
    pub name: String,
    pub carrier: String,
    /// What was seen instead of what should be; the attack failed when there is nothing.
    pub leaks: Vec<String>,
    /// What the job's owner was told, shortened.
    pub told: String,
}

/// Prints the table, and fails with the names of those that got through.
pub fn report(suite: &str, mut outcomes: Vec<Outcome>) {
    outcomes.sort_by(|one, two| (&one.name, &one.carrier).cmp(&(&two.name, &two.carrier)));
    let through: Vec<String> = outcomes
        .iter()
        .filter(|outcome| !outcome.leaks.is_empty())
        .map(|outcome| format!("{} by {}: {}", outcome.name, outcome.carrier, outcome.leaks.join("; ")))
        .collect();
    let mut lines = vec![String::new(), suite.to_owned()];
    for Outcome { name, carrier, leaks, told } in &outcomes {
        let result = if leaks.is_empty() { "stopped" } else { "GOT THROUGH" };
        let told: String = told.chars().take(70).collect();
        lines.push(format!("  {name:<34} {carrier:<22} {result:<12} {told}"));
    }
    lines.push(format!("  {} attacks, {} got through\n", outcomes.len(), through.len()));
    // Not by a macro, whose words are kept back from a test that holds.
    std::io::stderr().write_all(lines.join("\n").as_bytes()).unwrap();
    assert!(!outcomes.is_empty(), "{suite}: no attack was tried");
    assert!(through.is_empty(), "{suite}: got through:\n{}", through.join("\n"));
}
