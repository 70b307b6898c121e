//! Tables of what the service answers, compared with the ones that are committed beside the tests.

/// The columns of a table: state, operation, answer, state afterwards.
const WIDTHS: [usize; 3] = [20, 46, 42];

/// One line of a table.
pub fn line(cells: [&str; 4]) -> String {
    let [state, operation, answer, afterwards] = cells;
    let [first, second, third] = WIDTHS;
    format!("{state:<first$}{operation:<second$}{answer:<third$}{afterwards}").trim_end().to_owned()
}

/// Fails where the lines are not those of the committed table, and prints what differs.
pub fn assert_committed(name: &str, lines: &[String], committed: &str) {
    let committed: Vec<_> = committed.lines().collect();
    if lines == committed {
        return;
    }
    let differing = lines.iter().filter(|line| !committed.contains(&line.as_str()));
    let gone = committed.iter().filter(|line| !lines.iter().any(|other| other == *line));
    let all = lines.join("\n");
    panic!(
        "tests/attacks/http/{name} differs.\nThe service answers:\n{}\nThe table has:\n{}\nIf that is meant, write:\n{all}",
        differing.cloned().collect::<Vec<_>>().join("\n"),
        gone.copied().collect::<Vec<_>>().join("\n"),
    );
}
