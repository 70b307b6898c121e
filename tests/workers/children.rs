//! The starter: the cage holds, children end with their parent, Chromium keeps its own sandbox.

use std::fs::read_link;
use std::io::{BufRead as _, BufReader, PipeReader, PipeWriter, Write as _};
use std::net::TcpListener;
use std::os::unix::fs::chown;
use std::os::unix::process::ExitStatusExt as _;
use std::path::{Path, PathBuf};
use std::process::{Output, Stdio};

use platen::workers::{Cage, ChildSpec, EXEC_FAILED, Starter, Streams, User, end, kill_group};
use tempfile::TempDir;
use tokio::process::Child;

use crate::processes::{
    DEADLINE, bash, field, group_members, is_alive, platen, somebody_else, starter, text, until,
};

const CHROMIUM: &str = "/usr/lib/chromium/chromium-headless-shell";

/// Enough for a shell and what it starts, no more.
fn programs_only() -> Cage {
    let execute = ["/usr/bin", "/usr/lib", "/usr/lib64", "/bin", "/lib", "/lib64"];
    Cage {
        execute: execute.map(PathBuf::from).to_vec(),
        read: vec![PathBuf::from("/etc/ld.so.cache")],
        write: vec![PathBuf::from("/dev/null")],
        requires_landlock: true,
        ..Cage::default()
    }
}

async fn run(spec: ChildSpec) -> Output {
    let child = starter_output(spec);
    tokio::time::timeout(DEADLINE, child).await.expect("the child ends in time")
}

async fn starter_output(spec: ChildSpec) -> Output {
    let starter = starter();
    starter.spawn(spec, Streams::piped()).await.unwrap().wait_with_output().await.unwrap()
}

#[tokio::test]
async fn a_child_has_what_it_is_given_and_nothing_else() {
    let spec = bash(
        "echo \"$A|$HOME|$PWD\"; ls /proc/self/fd; \
         read -r _ _ _ _ group session _ < /proc/$$/stat; echo $group $session; echo $$; umask",
    );
    let output = run(ChildSpec { working_directory: "/usr".into(), ..spec.variable("A", "ü 1") }).await;
    let lines = text(&output.stdout);
    let lines: Vec<&str> = lines.lines().collect();
    assert_eq!(lines[0], "ü 1||/usr", "{}", text(&output.stderr));
    // 3 is the folder that `ls` itself has open.
    assert_eq!(lines[1..5], ["0", "1", "2", "3"]);
    let ids: Vec<&str> = lines[5].split_whitespace().collect();
    assert_eq!(ids, [lines[6], lines[6]], "the child leads a session and a group");
    assert_eq!(lines[7], "0077");
}

#[tokio::test]
async fn a_child_holds_no_privilege() {
    for user in [None, somebody_else()] {
        let spec = ChildSpec { user, ..bash("cat /proc/self/status; id -u; id -G") };
        let output = text(&run(spec).await.stdout);
        for set in ["CapInh", "CapPrm", "CapEff", "CapAmb"] {
            assert!(output.contains(&format!("{set}:\t0000000000000000")), "{output}");
        }
        assert!(output.contains("NoNewPrivs:\t1"), "{output}");
        if let Some(user) = user {
            assert!(output.contains("CapBnd:\t0000000000000000"), "{output}");
            assert!(output.ends_with(&format!("{}\n{}\n", user.uid, user.gid)), "{output}");
        }
    }
}

#[tokio::test]
async fn a_caged_child_reads_and_writes_only_what_is_listed() {
    let folder = tempfile::tempdir().unwrap();
    let (inside, outside) = (folder.path().join("in"), folder.path().join("out"));
    std::fs::create_dir(&inside).unwrap();
    std::fs::create_dir(&outside).unwrap();
    std::fs::write(inside.join("read"), "given").unwrap();
    let script = format!(
        "cat {0}/read; echo kept > {0}/written; cat /etc/passwd; echo lost > {1}/written; ls /; cat /proc/1/status",
        inside.display(),
        outside.display()
    );
    let mut cage = programs_only();
    cage.write.push(inside.clone());
    let free = run(bash(&script)).await;
    assert!(text(&free.stdout).contains("root:"), "without a cage it can read: {}", text(&free.stderr));
    assert!(outside.join("written").exists());
    std::fs::remove_file(outside.join("written")).unwrap();
    std::fs::remove_file(inside.join("written")).unwrap();

    let caged = run(ChildSpec { cage: Some(cage), ..bash(&script) }).await;
    assert_eq!(text(&caged.stdout), "given", "{}", text(&caged.stderr));
    assert_eq!(text(&caged.stderr).matches("Permission denied").count(), 4, "{}", text(&caged.stderr));
    assert_eq!(std::fs::read_to_string(inside.join("written")).unwrap(), "kept\n");
    assert!(!outside.join("written").exists());
}

#[tokio::test]
async fn a_caged_child_opens_no_socket() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let script =
        format!("exec 3<>/dev/tcp/127.0.0.1/{} && echo reached", listener.local_addr().unwrap().port());
    assert_eq!(text(&run(bash(&script)).await.stdout), "reached\n");
    listener.set_nonblocking(true).unwrap();
    listener.accept().expect("the free child was here");

    let caged = run(ChildSpec { cage: Some(programs_only()), ..bash(&script) }).await;
    assert_eq!(text(&caged.stdout), "");
    assert!(text(&caged.stderr).contains("Operation not permitted"), "{}", text(&caged.stderr));
    assert!(listener.accept().is_err(), "nobody came");

    let networked = Cage { network: true, ..programs_only() };
    let output = run(ChildSpec { cage: Some(networked), ..bash(&script) }).await;
    assert_eq!(text(&output.stdout), "reached\n", "{}", text(&output.stderr));
}

#[tokio::test]
async fn a_caged_child_makes_no_namespace_and_signals_no_neighbour() {
    let starter = starter();
    let spec = ChildSpec { user: somebody_else(), ..bash("read line") };
    let mut target = starter.spawn(spec, Streams::piped()).await.unwrap();
    let id = target.id().unwrap();
    let script = format!("unshare --user true || echo refused; kill -9 {id} 2>/dev/null || echo refused");
    let spec = ChildSpec { user: somebody_else(), cage: Some(programs_only()), ..bash(&script) };
    let output = run(spec).await;
    assert_eq!(text(&output.stdout), "refused\nrefused\n", "{}", text(&output.stderr));
    assert!(is_alive(id));
    end(&mut target).await.unwrap();
}

#[tokio::test]
async fn limits_hold() {
    let allocate = "perl -e '$x = \"x\" x 400_000_000; print length $x'";
    assert_eq!(text(&run(bash(allocate)).await.stdout), "400000000");
    let mut spec = bash(allocate);
    spec.limits.address_space_bytes = Some(300_000_000);
    let output = run(spec).await;
    assert!(!output.status.success());
    assert_eq!(text(&output.stdout), "");

    let mut spec = bash("perl -e 'print defined(fork) ? 1 : 0'");
    spec.limits.processes = Some(0);
    // Root is exempt from this limit, so root gives the child another user.
    spec.user = somebody_else();
    assert_eq!(text(&run(spec).await.stdout), "0");

    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("big");
    let mut spec = bash(&format!("head -c 100000 /dev/zero > {}", file.display()));
    spec.limits.file_bytes = Some(10_000);
    assert!(!run(spec).await.status.success());
    assert_eq!(std::fs::metadata(&file).unwrap().len(), 10_000);

    let mut spec = bash("while :; do :; done");
    spec.limits.cpu_s = Some(1);
    assert!(!run(spec).await.status.success());
}

#[tokio::test]
async fn a_failed_start_is_reported_with_its_reason() {
    let output = run(ChildSpec::new("/nowhere/program")).await;
    assert_eq!(output.status.code(), Some(i32::from(EXEC_FAILED)));
    assert!(text(&output.stderr).contains("cannot start '/nowhere/program'"), "{}", text(&output.stderr));
}

#[tokio::test]
async fn the_whole_group_dies() {
    let mut child = starter().spawn(bash("sleep 600 & sleep 600 & wait"), Streams::piped()).await.unwrap();
    // The starter is gone already, and its thread with it: the death signal took the leader alone.
    let id = child.id().unwrap();
    until("the leader dies with its starter", || !is_alive(id)).await;
    kill_group(&child);
    until("its children die with the group", || group_members(id).is_empty()).await;
    child.wait().await.unwrap();

    let starter = starter();
    let mut child = starter.spawn(bash("sleep 600 & sleep 600 & wait"), Streams::piped()).await.unwrap();
    let id = child.id().unwrap();
    until("three processes", || group_members(id).len() == 3).await;
    end(&mut child).await.unwrap();
    until("nobody is left", || group_members(id).is_empty()).await;
}

#[tokio::test]
async fn a_child_dies_with_its_parent() {
    for user in [None, somebody_else()] {
        let spec = ChildSpec { user, ..ChildSpec::new("/bin/sleep").arguments(["600"]) };
        let child = serde_json::to_string(&spec).unwrap();
        // The parent is a shell in the service's place: it puts its own id into the request.
        let script =
            r#""$0" exec "{\"parent\":$$,\"thread\":$$,\"descriptors\":[],\"child\":$1}" & echo $!; wait"#;
        let mut parent = std::process::Command::new("/bin/bash")
            .args(["-c", script])
            .arg(platen())
            .arg(child)
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let mut line = String::new();
        BufReader::new(parent.stdout.as_mut().unwrap()).read_line(&mut line).unwrap();
        let id: u32 = line.trim().parse().unwrap();
        until("the child sleeps", || field(id, "Name:").as_deref() == Some("sleep")).await;
        parent.kill().unwrap();
        until("the child dies", || !is_alive(id)).await;
        parent.wait().unwrap();
    }
}

#[tokio::test]
async fn an_orphan_does_not_start() {
    let child = serde_json::to_string(&ChildSpec::new("/bin/true")).unwrap();
    let request = format!("{{\"parent\":1,\"thread\":1,\"descriptors\":[],\"child\":{child}}}");
    let output = std::process::Command::new(platen()).args(["exec", &request]).output().unwrap();
    assert_eq!(output.status.code(), Some(i32::from(EXEC_FAILED)));
    assert!(text(&output.stderr).contains("the service has ended"));
}

#[tokio::test]
async fn chromium_keeps_its_own_sandbox() {
    let (starter, user) = (starter(), somebody_else());
    let mut asked = ask_for_page(&starter, user).await;
    // On a loaded machine it crashes at its start now and then.
    for _ in 0..2 {
        if !asked.has_crashed().await {
            break;
        }
        asked = ask_for_page(&starter, user).await;
    }
    let AskedChromium { mut child, answer, held: _held } = asked;
    assert!(answer.contains("targetId"), "{answer}");
    let leader = child.id().unwrap();

    let renderer = || {
        group_members(leader).into_iter().find(|pid| {
            let line = std::fs::read(format!("/proc/{pid}/cmdline")).unwrap_or_default();
            text(&line).contains("--type=renderer") && field(*pid, "Seccomp:").as_deref() == Some("2")
        })
    };
    until("a renderer with seccomp", || renderer().is_some()).await;
    let pid = renderer().unwrap();
    assert_eq!(field(pid, "NoNewPrivs:").as_deref(), Some("1"));
    let namespace = |pid: u32| read_link(format!("/proc/{pid}/ns/user")).unwrap();
    assert_ne!(namespace(pid), namespace(std::process::id()), "a user namespace of its own");
    if let Some(user) = user {
        let uids = field(leader, "Uid:").unwrap();
        assert!(uids.split_whitespace().all(|uid| uid == user.uid.to_string()), "{uids}");
    }
    end(&mut child).await.unwrap();
    until("nothing is left", || group_members(leader).is_empty()).await;
}

/// A Chromium that was asked to open a page.
struct AskedChromium {
    child: Child,
    answer: String,
    held: (TempDir, PipeWriter, BufReader<PipeReader>),
}

impl AskedChromium {
    /// Whether a signal ended it before it answered.
    async fn has_crashed(&mut self) -> bool {
        if !self.answer.is_empty() {
            return false;
        }
        let ended = tokio::time::timeout(DEADLINE, self.child.wait()).await;
        ended.expect("it has closed its pipe and ends").unwrap().signal().is_some()
    }
}

async fn ask_for_page(starter: &Starter, user: Option<User>) -> AskedChromium {
    let home = tempfile::tempdir().unwrap();
    if let Some(user) = user {
        chown(home.path(), Some(user.uid), Some(user.gid)).unwrap();
    }
    let (requests, mut to_chromium) = std::io::pipe().unwrap();
    let (from_chromium, answers) = std::io::pipe().unwrap();
    let streams = Streams { descriptors: vec![(requests.into(), 3), (answers.into(), 4)], ..Streams::null() };
    let child = starter.spawn(chromium(home.path(), user), streams).await.unwrap();
    let create = r#"{"id":1,"method":"Target.createTarget","params":{"url":"data:text/html,hello"}}"#;
    // One that has crashed reads nothing, and answers nothing.
    let _ = to_chromium.write_all(format!("{create}\0").as_bytes());
    let answer = tokio::task::spawn_blocking(move || {
        let mut from_chromium = BufReader::new(from_chromium);
        let mut bytes = Vec::new();
        from_chromium.read_until(0, &mut bytes).unwrap();
        (text(&bytes), from_chromium)
    });
    let (answer, from_chromium) = tokio::time::timeout(DEADLINE, answer).await.unwrap().unwrap();
    AskedChromium { child, answer, held: (home, to_chromium, from_chromium) }
}

fn chromium(home: &Path, user: Option<User>) -> ChildSpec {
    let home = home.display().to_string();
    let profile = format!("--user-data-dir={home}/profile");
    let spec = ChildSpec::new(CHROMIUM)
        .arguments(["--remote-debugging-pipe", "--disable-gpu", "--no-first-run", &profile])
        .variable("HOME", &home)
        .variable("TMPDIR", &home);
    ChildSpec { user, ..spec }
}
