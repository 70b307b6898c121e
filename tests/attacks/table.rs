//! The table that a suite prints, whether it holds or not.

use std::io::Write as _;

/// One attack and what became of it.
pub struct Outcome {
    pub name: String,
    pub carrier: String,
    /// What the attack reached; empty when it was stopped.
    pub leaks: Vec<String>,
    /// The job's error and warnings; the table shortens them.
    pub messages: String,
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
    for Outcome { name, carrier, leaks, messages } in &outcomes {
        let result = if leaks.is_empty() { "stopped" } else { "GOT THROUGH" };
        let messages: String = messages.chars().take(70).collect();
        lines.push(format!("  {name:<34} {carrier:<22} {result:<12} {messages}"));
    }
    lines.push(format!("  {} attacks, {} got through\n", outcomes.len(), through.len()));
    // Not by a macro: the test harness hides that output when the test passes.
    std::io::stderr().write_all(lines.join("\n").as_bytes()).unwrap();
    assert!(!outcomes.is_empty(), "{suite}: no attack was tried");
    assert!(through.is_empty(), "{suite}: got through:\n{}", through.join("\n"));
}
