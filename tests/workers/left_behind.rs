//! Processes and folders of a killed service, which the next one ends and deletes.

use std::os::unix::fs::chown;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

use platen::telemetry::metrics::Metrics;
use platen::workers::{Programs, landlock};
use serde_json::json;

use crate::foreign::{Foreign, config, traversable_folder};
use crate::processes::{field, is_alive, processes, somebody_else, starter, text, until};

/// The environment variable with the folder of a service that is to be killed.
const FOLDER: &str = "PLATEN_TEST_SCRATCH";

fn marked(mark: &str) -> Vec<u32> {
    let holds = |pid: &u32| {
        let line = std::fs::read(format!("/proc/{pid}/cmdline")).unwrap_or_default();
        text(&line).contains(mark) && is_alive(*pid)
    };
    processes().into_iter().filter(holds).collect()
}

async fn sweep(folder: &Path) {
    Programs::new(starter(), &config(folder), landlock(), Metrics::new().children).prepare().await;
}

fn places(folder: &Path) -> usize {
    let names = std::fs::read_dir(folder).unwrap().flatten().map(|entry| entry.file_name());
    names.filter(|name| name.to_string_lossy().starts_with("platen-scratch-")).count()
}

/// No test by itself: the service that another test starts and kills.
#[tokio::test]
async fn a_service_that_is_killed() {
    let Some(folder) = std::env::var_os(FOLDER).map(PathBuf::from) else { return };
    let mark = folder.display().to_string();
    let programs = Programs::new(starter(), &config(&folder), landlock(), Metrics::new().children);
    let foreign = Foreign { programs, folder: traversable_folder(), metrics: Metrics::new() };
    let mut run = foreign
        .perl("$SIG{$_} = 'IGNORE' for keys %SIG; fork; mkdir 'left'; open F, '>left/behind'; sleep 600");
    run.arguments.push(mark);
    let _ = foreign.programs.run(run).await;
}

#[tokio::test]
async fn survivors_of_a_killed_service_are_ended_by_the_next_one() {
    let folder = traversable_folder();
    let mark = folder.path().display().to_string();
    let mut service = Command::new(std::env::current_exe().unwrap())
        .args(["--exact", "left_behind::a_service_that_is_killed"])
        .env(FOLDER, folder.path())
        .env("TMPDIR", folder.path())
        .stdout(Stdio::null())
        .spawn()
        .unwrap();
    until("the program and its child are there", || marked(&mark).len() == 2).await;
    let begun = marked(&mark);
    sweep(folder.path()).await;
    assert_eq!(marked(&mark), begun, "who has a service is let alone");
    service.kill().unwrap();
    service.wait().unwrap();
    until("the first dies with the service", || marked(&mark).len() == 1).await;
    assert_eq!(places(folder.path()), 1);
    sweep(folder.path()).await;
    assert_eq!(marked(&mark), [0; 0], "who outlived it is gone when the next one begins");
    assert_eq!(places(folder.path()), 0, "and their folder");
}

/// A folder as after the kill of a service, with a note of the process that runs there.
fn leave(folder: &Path, name: &str, note: &serde_json::Value) -> PathBuf {
    let place = folder.join(format!("platen-scratch-{name}"));
    std::fs::create_dir_all(place.join("run/files")).unwrap();
    std::fs::write(place.join("run/tenant"), note.to_string()).unwrap();
    std::fs::write(place.join("lock"), "").unwrap();
    place
}

fn sleeper() -> Child {
    Command::new("setsid").args(["sleep", "600"]).stdin(Stdio::null()).spawn().unwrap()
}

fn started(pid: u32) -> u64 {
    let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).unwrap();
    stat.rsplit_once(") ").unwrap().1.split(' ').nth(19).unwrap().parse().unwrap()
}

#[tokio::test]
async fn only_processes_that_match_their_note_are_ended() {
    let boot = std::fs::read_to_string("/proc/sys/kernel/random/boot_id").unwrap();
    let uid = nix::unistd::geteuid().as_raw();
    let mut children: Vec<Child> = (0..3).map(|_| sleeper()).collect();
    let ids: Vec<u32> = children.iter().map(Child::id).collect();
    until("they lead sessions", || ids.iter().all(|id| field(*id, "Name:").as_deref() == Some("sleep")))
        .await;
    let folder = tempfile::tempdir().unwrap();
    let note = |id: u32, started: u64, boot: &str| json!({"process": id, "started": started, "boot": boot.trim(), "uid": uid});
    leave(folder.path(), "number", &note(ids[0], started(ids[0]) - 1, &boot));
    leave(folder.path(), "boot", &note(ids[1], started(ids[1]), "another"));
    // A session whose first process is dead: its number matches, but the process is in no cage.
    let mut shell = Command::new("setsid")
        .args(["bash", "-c", "sleep 600 > /dev/null & echo $!"])
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let group = shell.id();
    let mut output = String::new();
    std::io::Read::read_to_string(&mut shell.stdout.take().unwrap(), &mut output).unwrap();
    shell.wait().unwrap();
    let orphan: u32 = output.trim().parse().unwrap();
    leave(folder.path(), "cage", &note(group, 1, &boot));
    let others = leave(folder.path(), "others", &note(ids[2], started(ids[2]), &boot));
    let broken = leave(folder.path(), "broken", &json!("nonsense"));
    std::fs::write(broken.join("run/tenant"), "{").unwrap();
    std::os::unix::fs::symlink("/etc", folder.path().join("platen-scratch-link")).unwrap();
    let is_other = somebody_else().is_some_and(|user| chown(&others, Some(user.uid), None).is_ok());
    sweep(folder.path()).await;
    assert!(is_alive(ids[0]), "another's number");
    assert!(is_alive(ids[1]), "before the last start of the system");
    assert!(is_alive(orphan), "in no cage of ours");
    // Only root can change a folder's owner; without it the note is the service's own and is trusted.
    assert_eq!(is_alive(ids[2]), is_other, "by the word of somebody else's folder");
    assert_eq!(places(folder.path()), 1 + usize::from(is_other), "what is swept, and a link");
    assert!(Path::new("/etc/passwd").exists());
    for child in &mut children {
        let _ = child.kill();
        child.wait().unwrap();
    }
    let orphan = nix::unistd::Pid::from_raw(i32::try_from(orphan).unwrap());
    nix::sys::signal::kill(orphan, nix::sys::signal::Signal::SIGKILL).unwrap();
}
