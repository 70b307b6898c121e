//! Faults: processes below the service that are stopped or killed, found in `/proc` by their parents, never by name machine-wide.

use std::collections::BTreeMap;
use std::time::{Duration, Instant};

use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;

use crate::common::tree::tree;
use crate::common::usage::Stat;
use crate::random::Random;

/// Between two faults, at least and less than, in milliseconds.
const LEAST_MS: u64 = 2_000;
const SPREAD_MS: u64 = 4_000;
/// A process that lives for moments only, as TeX's do, is waited for so long.
const WAIT: Duration = Duration::from_secs(3);
const LOOK: Duration = Duration::from_millis(10);
/// In the command line of a process that holds a LibreOffice; those that it forks for documents have the same.
const OFFICE: &str = "libreoffice-server";

/// What is hit.
#[derive(Clone, Copy, Debug)]
enum Victim {
    Browser,
    NetworkService,
    Renderer,
    OfficeServer,
    OfficeChild,
    Tex,
}

const VICTIMS: [Victim; 6] = [
    Victim::Browser,
    Victim::NetworkService,
    Victim::Renderer,
    Victim::OfficeServer,
    Victim::OfficeChild,
    Victim::Tex,
];
const SIGNALS: [Signal; 2] = [Signal::SIGSTOP, Signal::SIGKILL];

/// What was hit, and how often.
pub type Hits = BTreeMap<String, usize>;

/// Injects faults until that moment.
pub async fn inject(service: u32, until: Instant, random: &mut Random) -> Hits {
    let mut hits = Hits::new();
    loop {
        let pause = Duration::from_millis(LEAST_MS + random.below(SPREAD_MS));
        tokio::time::sleep(pause).await;
        let (Some(victim), Some(signal)) = (random.choose(&VICTIMS), random.choose(&SIGNALS)) else {
            return hits;
        };
        let waited = Instant::now();
        let mut found = victim.find(service);
        while found.is_empty() && waited.elapsed() < WAIT && Instant::now() < until {
            tokio::time::sleep(LOOK).await;
            found = victim.find(service);
        }
        if Instant::now() >= until {
            return hits;
        }
        let hit = random.choose(&found).and_then(|id| i32::try_from(id).ok());
        let is_hit = hit.is_some_and(|id| kill(Pid::from_raw(id), signal).is_ok());
        let told = if is_hit { format!("{signal} {victim:?}") } else { format!("no {victim:?} found") };
        *hits.entry(told).or_default() += 1;
    }
}

/// Processes below the service that are stopped.
pub fn stopped(service: u32) -> usize {
    let is_stopped = |stat: &Stat| stat.number::<char>(0) == Some('T');
    tree(service).iter().filter(|(_, stat)| is_stopped(stat)).count()
}

impl Victim {
    /// The processes of this kind.
    fn find(self, service: u32) -> Vec<u32> {
        let is_one = |id: u32, stat: &Stat| {
            let (parent, line) = (stat.number(1).unwrap_or(0), command_line(id));
            match self {
                Self::Browser => stat.program.contains("chrom") && parent == service,
                Self::NetworkService => line.contains("--utility-sub-type=network"),
                Self::Renderer => line.contains("--type=renderer"),
                Self::OfficeServer => line.contains(OFFICE) && parent == service,
                Self::OfficeChild => command_line(parent).contains(OFFICE),
                Self::Tex => stat.program.contains("tex"),
            }
        };
        let processes = tree(service);
        processes.iter().filter(|(id, stat)| is_one(*id, stat)).map(|(id, _)| *id).collect()
    }
}

fn command_line(id: u32) -> String {
    String::from_utf8_lossy(&std::fs::read(format!("/proc/{id}/cmdline")).unwrap_or_default()).into_owned()
}
