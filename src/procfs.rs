//! What the system tells of processes and their threads in `/proc`. Nothing is known of a process that is gone.
//!
//! Hazard: a process chooses its name, which need not be UTF-8. What was read as text only would know nothing of such a process,
//! and no limit would hold for it.

mod sleep;

use std::fs;
use std::str::FromStr;

use nix::unistd::{SysconfVar, sysconf};

pub use self::sleep::SleepWatch;

/// `/proc/<process>/stat`, or that of a thread.
pub struct StatFields(String);

/// Memory of a process, by `/proc/<process>/statm`.
#[derive(Clone, Copy, Debug, Default)]
pub struct Statm {
    /// Its resident memory.
    pub resident_bytes: u64,
    /// How much of that it may share with other processes: files and shared memory.
    pub shared_bytes: u64,
}

/// The fields of a process; `None` if it is gone.
pub fn stat_fields(process: i32) -> Option<StatFields> {
    read(&format!("/proc/{process}/stat")).map(StatFields)
}

/// The fields of a thread; `None` if it is gone.
pub fn thread_stat_fields(process: i32, thread: i32) -> Option<StatFields> {
    read(&format!("/proc/{process}/task/{thread}/stat")).map(StatFields)
}

impl StatFields {
    /// The field of this number, from 3 (the state) on, as `proc_pid_stat(5)` counts them.
    pub fn text(&self, number: usize) -> Option<&str> {
        // Hazard: the second field, the program's name in parentheses, may contain anything, so fields are counted behind it.
        let (_, fields) = self.0.rsplit_once(") ")?;
        fields.split_ascii_whitespace().nth(number.checked_sub(3)?)
    }

    /// The same as a number.
    pub fn number<T: FromStr>(&self, number: usize) -> Option<T> {
        self.text(number)?.parse().ok()
    }
}

/// Memory of a process; `None` if it is gone.
pub fn statm(process: i32) -> Option<Statm> {
    let sizes = fs::read_to_string(format!("/proc/{process}/statm")).ok()?;
    // 4 KiB on most machines, 16 or 64 on some of ARM.
    let page_bytes = u64::try_from(sysconf(SysconfVar::PAGE_SIZE).ok()??).ok()?;
    let mut pages = sizes.split_ascii_whitespace().skip(1).map(|text| text.parse::<u64>().ok());
    Some(Statm { resident_bytes: pages.next()?? * page_bytes, shared_bytes: pages.next()?? * page_bytes })
}

/// The threads of a process.
pub fn threads(process: i32) -> Vec<i32> {
    let Ok(threads) = fs::read_dir(format!("/proc/{process}/task")) else { return Vec::new() };
    threads.flatten().filter_map(|thread| thread.file_name().to_str()?.parse().ok()).collect()
}

/// The processes that the threads of a process have started.
pub fn children(process: i32) -> Vec<i32> {
    let of_thread = |thread: i32| fs::read_to_string(format!("/proc/{process}/task/{thread}/children")).ok();
    let lists: Vec<String> = threads(process).into_iter().filter_map(of_thread).collect();
    lists.iter().flat_map(|list| list.split_ascii_whitespace()).filter_map(|id| id.parse().ok()).collect()
}

/// The lines of `/proc/<process>/status`, also of a thread; `None` if it is gone.
pub fn status(process: i32) -> Option<String> {
    read(&format!("/proc/{process}/status"))
}

fn read(path: &str) -> Option<String> {
    fs::read(path).ok().map(|bytes| String::from_utf8_lossy(&bytes).into_owned())
}

/// The number in the line `name` of a `/proc/<process>/status`.
pub fn status_number(status: &str, name: &str) -> Option<u64> {
    let line = status.lines().find_map(|line| line.strip_prefix(name))?;
    line.split_ascii_whitespace().next()?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fields_are_counted_behind_a_name_that_looks_like_fields() {
        let stat = StatFields("7 (a) S 1 (b) R 12 -1 13\n".to_owned());
        assert_eq!((stat.text(3), stat.number(4), stat.number(5)), (Some("R"), Some(12), Some(-1)));
        assert_eq!((stat.text(2), stat.number::<u32>(5), stat.text(7)), (None, None, None));
    }

    #[test]
    fn a_thread_whose_name_is_no_text_is_known() {
        let known = std::thread::spawn(|| {
            nix::sys::prctl::set_name(c"\xff) \xfe").unwrap();
            let (own, thread) = (i32::try_from(std::process::id()).unwrap(), nix::unistd::gettid().as_raw());
            let status = status(thread).unwrap();
            assert_eq!(status_number(&status, "Tgid:"), u64::try_from(own).ok());
            thread_stat_fields(own, thread).unwrap().number::<i32>(4)
        });
        assert_eq!(known.join().unwrap(), Some(nix::unistd::getppid().as_raw()));
    }

    #[test]
    fn this_process_is_known() {
        let own = i32::try_from(std::process::id()).unwrap();
        assert_eq!(stat_fields(own).unwrap().number(4), Some(nix::unistd::getppid().as_raw()));
        assert!(threads(own).contains(&own) && thread_stat_fields(own, own).is_some());
        assert!(statm(own).unwrap().resident_bytes > 100_000);
        assert!(statm(i32::MAX).is_none() && children(i32::MAX).is_empty());
    }
}
