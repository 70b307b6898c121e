//! What a service holds with all its processes: memory, descriptors, files in the folders that it works in.

use std::collections::BTreeSet;
use std::fmt;
use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use platen::procfs::statm;

use crate::common::tree::tree;
use crate::common::usage::Stat;

/// How long processes of a service that has ended may take to be gone.
const DYING: Duration = Duration::from_secs(5);
const PAUSE: Duration = Duration::from_millis(50);

/// What it holds at one moment, or the most so far.
#[derive(Clone, Copy, Default)]
pub struct Footprint {
    /// Resident memory of all processes, in MiB. What several share counts with each of them.
    pub memory_mb: u64,
    /// The service and its descendants.
    pub processes: usize,
    /// Descriptors of the service's own process.
    pub descriptors: usize,
    /// Files and folders.
    pub files: usize,
}

/// Looks at a service again and again.
pub struct Watch {
    service: u32,
    folder: PathBuf,
    /// Every process that was ever seen, by its id and when it was started.
    seen: BTreeSet<(u32, u64)>,
}

impl Watch {
    /// Of a service whose temporary files are in this folder.
    pub fn new(service: u32, folder: PathBuf) -> Self {
        Self { service, folder, seen: BTreeSet::new() }
    }

    /// What it holds now.
    pub fn look(&mut self) -> Footprint {
        let processes = tree(self.service);
        self.seen.extend(processes.iter().filter_map(|(id, stat)| Some((*id, stat.number(19)?))));
        let resident = processes.iter().filter_map(|(id, _)| statm(i32::try_from(*id).ok()?));
        Footprint {
            memory_mb: resident.map(|memory| memory.resident_bytes).sum::<u64>() >> 20,
            processes: processes.len(),
            descriptors: fs::read_dir(format!("/proc/{}/fd", self.service)).map_or(0, Iterator::count),
            files: files(&self.folder),
        }
    }

    /// How many processes outlast the service that has ended, and how many of its files. What is dying has some time.
    pub fn left(&self) -> (usize, usize) {
        let lives =
            |(id, started): &&(u32, u64)| Stat::of(*id).is_some_and(|stat| stat.number(19) == Some(*started));
        let left = || self.seen.iter().filter(lives).count();
        let asked = Instant::now();
        while left() > 0 && asked.elapsed() < DYING {
            std::thread::sleep(PAUSE);
        }
        (left(), files(&self.folder))
    }
}

impl Footprint {
    /// The larger one of each figure.
    pub fn most(self, other: Self) -> Self {
        Self {
            memory_mb: self.memory_mb.max(other.memory_mb),
            processes: self.processes.max(other.processes),
            descriptors: self.descriptors.max(other.descriptors),
            files: self.files.max(other.files),
        }
    }
}

/// Cells of a table: each figure at several moments.
pub struct Moments<'a>(pub &'a [Footprint]);

impl fmt::Display for Moments<'_> {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let cell =
            |figure: &dyn Fn(&Footprint) -> String| self.0.iter().map(figure).collect::<Vec<_>>().join(", ");
        let memory = cell(&|moment| moment.memory_mb.to_string());
        let processes = cell(&|moment| moment.processes.to_string());
        let descriptors = cell(&|moment| moment.descriptors.to_string());
        let files = cell(&|moment| moment.files.to_string());
        write!(formatter, "{memory} | {processes} | {descriptors} | {files}")
    }
}

/// A folder of temporary files of its own for a service below `root`, which the users of its programs can reach.
pub fn temporary_folder(root: &Path) -> std::io::Result<PathBuf> {
    let folder = root.join("tmp");
    fs::create_dir(&folder)?;
    fs::set_permissions(root, fs::Permissions::from_mode(0o755))?;
    fs::set_permissions(&folder, fs::Permissions::from_mode(0o1777))?;
    Ok(folder)
}

/// Files and folders below a folder. One that goes meanwhile does not count.
fn files(folder: &Path) -> usize {
    let (mut count, mut folders) = (0, vec![folder.to_owned()]);
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
            count += 1;
            if entry.file_type().is_ok_and(|kind| kind.is_dir()) {
                folders.push(entry.path());
            }
        }
    }
    count
}
