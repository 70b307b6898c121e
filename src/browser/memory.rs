//! The memory of renderers: what the heap's limit does not see (buffers, nodes, pictures) is watched
//! from outside, and a renderer that takes too much is killed.

use std::fs;

use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;

use super::events::Kills;

/// How deep below Chromium its renderers are: itself, a zygote, the zygote inside its namespace, them.
const DEPTH: u32 = 4;
const RENDERER: &[u8] = b"--type=renderer";
const PAGE_BYTES: u64 = 4_096;

/// Kills every renderer of the Chromium `browser` that holds more than `limit_bytes`. It reads files
/// of `/proc`, so it belongs on a thread that may take its time.
pub(super) fn sweep(browser: i32, limit_bytes: u64, kills: &Kills) {
    let mut processes = Vec::new();
    collect_children(browser, DEPTH, &mut processes);
    for process in processes {
        let resident = resident_bytes(process).unwrap_or(0);
        if resident > limit_bytes && is_renderer(process) {
            tracing::warn!(
                renderer.pid = process,
                renderer.bytes = resident,
                "a page takes too much memory and is ended"
            );
            kills.announce();
            let _ = kill(Pid::from_raw(process), Signal::SIGKILL);
        }
    }
}

fn collect_children(process: i32, depth: u32, found: &mut Vec<i32>) {
    if depth == 0 {
        return;
    }
    let Ok(threads) = fs::read_dir(format!("/proc/{process}/task")) else { return };
    for thread in threads.flatten() {
        let Ok(children) = fs::read_to_string(thread.path().join("children")) else { continue };
        for child in children.split_ascii_whitespace().filter_map(|text| text.parse().ok()) {
            found.push(child);
            // Renderers have threads by the dozen and no children: only the others are looked into.
            if !is_renderer(child) {
                collect_children(child, depth - 1, found);
            }
        }
    }
}

fn resident_bytes(process: i32) -> Option<u64> {
    let sizes = fs::read_to_string(format!("/proc/{process}/statm")).ok()?;
    let pages: u64 = sizes.split_ascii_whitespace().nth(1)?.parse().ok()?;
    Some(pages * PAGE_BYTES)
}

fn is_renderer(process: i32) -> bool {
    fs::read(format!("/proc/{process}/cmdline"))
        .is_ok_and(|line| line.windows(RENDERER.len()).any(|part| part == RENDERER))
}
