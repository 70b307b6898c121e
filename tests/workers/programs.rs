//! Foreign programs: their environment, inputs and outputs, how they end, and that nothing is left.

use std::sync::Arc;
use std::time::{Duration, Instant};

use bytes::Bytes;
use platen::config::WorkersConfig;
use platen::telemetry::metrics::Metrics;
use platen::workers::{
    Bounds, ChildSpec, Excess, Finished, Input, Landlock, OutputError, ProgramError, ProgramRun, Programs,
    SandboxProfile, Streams, User,
};

use crate::foreign::{Foreign, config, profile, traversable_folder};
use crate::processes::{bash, field, is_alive, processes, somebody_else, starter, text, until};

/// The processes whose command line holds the mark.
fn marked(mark: &str) -> Vec<u32> {
    let holds = |pid: &u32| {
        let line = std::fs::read(format!("/proc/{pid}/cmdline")).unwrap_or_default();
        text(&line).contains(mark) && is_alive(*pid)
    };
    let own = std::process::id();
    processes().into_iter().filter(|pid| *pid != own && holds(pid)).collect()
}

fn printed(finished: &Finished) -> String {
    format!("{}{}", text(&finished.stdout), text(&finished.stderr))
}

#[tokio::test]
async fn a_program_finds_its_inputs_and_what_it_makes_is_read() {
    let foreign = Foreign::new();
    let script = "cat in/deep/text other > out; mkdir made; echo x > made/second; echo $PWD; echo $HOME; echo $TMPDIR; \
                  echo hidden > $TMPDIR/t; stat -c '%a %u' . $HOME out other; id -u; echo $A; echo said >&2; exit 3";
    let mut run = foreign.bash(script);
    run.environment.insert("A".to_owned(), "ü".to_owned());
    let large = vec![7; 3 << 20];
    run.inputs = vec![
        Input::bytes("in/deep/text", Bytes::from_static(b"one ")),
        Input::bytes("in/deep/other", Bytes::new()),
        Input::stream("other", std::io::Cursor::new(large.clone())),
    ];
    let finished = foreign.programs.run(run).await.unwrap();
    assert_eq!(finished.status.code(), Some(3), "{}", printed(&finished));
    assert_eq!(text(&finished.stderr), "said\n");
    let out = finished.read("out", 4 << 20).await.unwrap();
    assert_eq!(out, [b"one ".to_vec(), large].concat());
    assert_eq!(finished.read("made/second", 2).await.unwrap(), "x\n");
    assert_eq!(finished.read("other", 4 << 20).await.unwrap().len(), 3 << 20, "an input is a file too");
    let stdout = text(&finished.stdout);
    let lines: Vec<&str> = stdout.lines().collect();
    let place = foreign.folder.path().display().to_string();
    assert!(lines[0].starts_with(&place) && lines[0].ends_with("/files"), "{stdout}");
    assert!(lines[1].ends_with("/tmp") && lines[1] == lines[2], "{stdout}");
    let uid = lines[7];
    assert_eq!(
        lines[3..7],
        [format!("700 {uid}"), format!("700 {uid}"), format!("600 {uid}"), format!("600 {uid}")]
    );
    assert_eq!(lines[8], "ü");
    if somebody_else().is_some() {
        let uid: u64 = uid.parse().unwrap();
        assert!((60_600..60_616).contains(&uid), "{uid}");
    }
    let open = finished.open("out", 4 << 20).unwrap();
    assert!(matches!(
        finished.read("out", 1_000).await,
        Err(OutputError::TooLong { limit_bytes: 1_000, .. })
    ));
    for name in ["nothing", "nothing/there", "../tenant", "/etc/passwd", "", "made/../out", "out/x"] {
        assert!(matches!(finished.read(name, 4 << 20).await, Err(OutputError::Missing)), "{name}");
    }
    drop(finished);
    until("its folder is gone", || foreign.runs() == 0).await;
    assert_eq!(open.bytes, (3 << 20) + 4);
    assert_eq!(std::io::copy(&mut &open.file, &mut std::io::sink()).unwrap(), open.bytes);
    assert_eq!(foreign.metrics.children.jobs.of(["test", "answered"]).get(), 1);
    let Foreign { programs, folder, .. } = foreign;
    drop(programs);
    until("the folder of folders goes with the last of them", || {
        std::fs::read_dir(folder.path()).unwrap().count() == 0
    })
    .await;
}

#[tokio::test]
async fn inputs_cannot_be_placed_outside_the_run_folder() {
    let foreign = Foreign::new();
    for name in ["../out", "/etc/out", "a/../../out", "", "a//b", "."] {
        let mut run = foreign.bash("true");
        run.inputs = vec![Input::bytes(name, Bytes::new())];
        assert!(matches!(foreign.programs.run(run).await, Err(ProgramError::Input(_))), "{name}");
    }
    let mut run = foreign.bash("true");
    run.inputs = vec![Input::bytes("a", Bytes::new()), Input::bytes("a", Bytes::new())];
    assert!(matches!(foreign.programs.run(run).await, Err(ProgramError::Input(_))));
    until("their folders are gone", || foreign.runs() == 0).await;
}

#[tokio::test]
async fn a_yielding_program_has_low_priority_from_its_start() {
    let foreign = Foreign::new();
    for (yields, niceness) in [(false, "0\n"), (true, "10\n")] {
        let mark = format!("4949494949{}", u8::from(yields));
        let mut run = foreign.bash(&format!("nice; while [ ! -e enough ]; do sleep 0.1; done # {mark}"));
        run.profile = Arc::new(SandboxProfile { yields, ..profile() });
        let programs = foreign.programs.clone();
        let job = tokio::spawn(async move { programs.run(run).await });
        until("it is at work", || !marked(&mark).is_empty()).await;
        let mut session = String::new();
        // Our own sub-command has the mark in its arguments as well, before it is the program.
        until("its session is as nice", || {
            let Some(process) = marked(&mark).first().copied() else { return false };
            session = std::fs::read_to_string(format!("/proc/{process}/autogroup")).unwrap_or_default();
            session.is_empty() || session.ends_with(&format!(" nice {niceness}"))
        })
        .await;
        let files = foreign.files();
        std::fs::write(files[0].join("enough"), "").unwrap();
        let finished = job.await.unwrap().unwrap();
        assert_eq!(text(&finished.stdout), niceness, "{}", printed(&finished));
        drop(finished);
        until("its folder is gone", || foreign.runs() == 0).await;
    }
}

#[tokio::test]
async fn a_program_that_computes_for_long_has_the_lowest_priority_beside_another() {
    let foreign = Foreign::new();
    let run = |code| {
        let mut run = foreign.perl(code);
        run.profile = Arc::new(SandboxProfile { yields: true, ..profile() });
        run.bounds.undisturbed = Duration::from_millis(100);
        run.bounds.deadline = Duration::from_mins(1);
        foreign.programs.run(run)
    };
    // Alone it has low priority only.
    let alone = run("1 while times < 0.7; print getpriority(0, 0)").await.unwrap();
    assert_eq!(text(&alone.stdout), "10", "{}", printed(&alone));
    let beside = run("sleep 60");
    let long = run("while (getpriority(0, 0) < 19) {} print getpriority(0, 0)");
    tokio::select! {
        beside = beside => panic!("{beside:?}"),
        long = long => assert_eq!(text(&long.unwrap().stdout), "19"),
    }
}

#[tokio::test]
async fn a_failed_start_is_reported_with_its_reason() {
    let foreign = Foreign::new();
    let error = foreign.programs.run(foreign.program("/nowhere/program", &[])).await.unwrap_err();
    assert!(
        matches!(&error, ProgramError::NotStarted(why) if why.contains("cannot start '/nowhere/program'")),
        "{error}"
    );
    assert_eq!(foreign.metrics.children.jobs.of(["test", "not_started"]).get(), 1);
    let nowhere = WorkersConfig { scratch_dir: "/nowhere".to_owned(), ..config(foreign.folder.path()) };
    let metrics = Metrics::new().children;
    let programs = Programs::new(starter(), &nowhere, Landlock::Available, metrics);
    programs.clone().prepare().await;
    let error = programs.run(foreign.bash("true")).await.unwrap_err();
    let is_right = |why: &String| why.contains("workers.scratch_dir");
    assert!(matches!(&error, ProgramError::NotStarted(why) if is_right(why)), "{error}");
    if somebody_else().is_some() {
        let root = Foreign::with(|config| (config.slots, config.first_uid) = (2, 0));
        let error = root.programs.run(foreign.bash("true")).await.unwrap_err();
        assert!(
            matches!(&error, ProgramError::NotStarted(why) if why.contains("workers.first_uid")),
            "{error}"
        );
    }
}

/// Capabilities are a thread's own, and each test has one.
#[tokio::test]
async fn root_without_cap_sys_ptrace_runs_no_programs() {
    if somebody_else().is_none() {
        return;
    }
    let sees = Foreign::new();
    caps::drop(None, caps::CapSet::Effective, caps::Capability::CAP_SYS_PTRACE).unwrap();
    let blind = Foreign::new();
    assert!(sees.programs.check().is_ok());
    for error in
        [blind.programs.check().unwrap_err(), blind.programs.run(blind.bash("true")).await.unwrap_err()]
    {
        assert!(matches!(&error, ProgramError::NotStarted(why) if why.contains("CAP_SYS_PTRACE")), "{error}");
    }
}

#[tokio::test]
async fn inputs_end_at_the_deadline_and_at_the_limit() {
    let foreign = Foreign::new();
    let (mut late, mut large) = (foreign.bash("true"), foreign.bash("true"));
    let (reader, _writer) = tokio::io::duplex(1);
    late.inputs = vec![Input::stream("late", reader)];
    late.bounds.deadline = Duration::from_millis(100);
    let error = foreign.programs.run(late).await.unwrap_err();
    assert!(matches!(error, ProgramError::Deadline), "{error}");
    large.inputs =
        vec![Input::bytes("small", Bytes::from_static(b"x")), Input::stream("endless", tokio::io::repeat(7))];
    let error = foreign.programs.run(large).await.unwrap_err();
    assert!(matches!(error, ProgramError::TooMuch(Excess::Written)), "{error}");
    until("their folders are gone", || foreign.runs() == 0).await;
}

#[tokio::test]
async fn without_landlock_nothing_runs_unless_the_operator_allows_it() {
    let folder = traversable_folder();
    for (allow_unfenced_files, runs) in [(false, false), (true, true)] {
        let config = WorkersConfig { allow_unfenced_files, ..config(folder.path()) };
        let programs = Programs::new(starter(), &config, Landlock::Missing, Metrics::new().children);
        let foreign = Foreign { programs, folder: traversable_folder(), metrics: Metrics::new() };
        let ended = foreign.programs.run(foreign.bash("true")).await;
        assert_eq!(ended.is_ok(), runs);
        assert_eq!(foreign.programs.check().is_ok(), runs);
        if let Err(error) = ended {
            assert!(matches!(error, ProgramError::NotConfined), "{error}");
            assert!(error.to_string().contains("workers.allow_unfenced_files"));
        }
    }
}

#[tokio::test]
async fn all_processes_of_a_run_end_at_its_deadline_and_on_cancel() {
    let foreign = Foreign::new();
    let script = "trap '' TERM HUP INT; for n in 1 2 3; do sleep 41414141414 & done; wait";
    let mut run = foreign.bash(script);
    run.bounds.deadline = Duration::from_millis(300);
    let error = foreign.programs.run(run).await.unwrap_err();
    assert!(matches!(error, ProgramError::Deadline), "{error}");
    assert_eq!(marked("41414141414"), [0; 0], "dead when the answer is there");

    let programs = foreign.programs.clone();
    let run = foreign.bash(&script.replace("41414141414", "42424242424"));
    let job = tokio::spawn(async move { programs.run(run).await });
    until("it is at work", || marked("42424242424").len() == 4).await;
    let working = || foreign.metrics.children.children.of(["test", "working"]).get();
    assert_eq!((foreign.runs(), working()), (1, 1));
    job.abort();
    until("nobody is left", || marked("42424242424").is_empty()).await;
    until("nor its folder", || foreign.runs() == 0).await;
    assert_eq!(working(), 0);
}

#[tokio::test]
async fn a_further_program_continues_in_the_same_folder() {
    let foreign = Foreign::new();
    let first = foreign.bash("echo one > kept; ln -s /etc/passwd link; (sleep 45454545454 &); echo $$");
    let finished = foreign.programs.run(first).await.unwrap();
    let mut second = foreign.bash("cat kept new; echo two >> kept; pwd");
    second.inputs = vec![Input::bytes("new", Bytes::from_static(b"new\n"))];
    let finished = foreign.programs.run_on(finished, second).await.unwrap();
    assert!(text(&finished.stdout).starts_with("one\nnew\n"), "{}", printed(&finished));
    assert_eq!(marked("45454545454"), [0; 0]);
    assert_eq!((finished.read("kept", 9).await.unwrap(), foreign.runs()), (Bytes::from("one\ntwo\n"), 1));
    // A link that the program before put at an input's path is not followed.
    let mut third = foreign.bash("exit");
    third.inputs = vec![Input::bytes("link", Bytes::from_static(b"x"))];
    let refused = foreign.programs.run_on(finished, third).await.unwrap_err();
    assert!(matches!(refused, ProgramError::Input(_)), "{refused}");
    until("its folder is gone", || foreign.runs() == 0).await;
}

#[tokio::test]
async fn processes_started_by_a_program_end_with_it() {
    let foreign = Foreign::new();
    let begun = Instant::now();
    let finished = foreign
        .programs
        .run(foreign.bash("(sleep 43434343434 &) ; sleep 43434343434 & echo done"))
        .await
        .unwrap();
    assert_eq!(text(&finished.stdout), "done\n");
    assert_eq!(marked("43434343434"), [0; 0]);
    assert!(begun.elapsed() < Duration::from_secs(10), "whoever keeps the pipe open is not waited for");
}

#[tokio::test]
async fn no_more_programs_run_at_once_than_there_are_slots() {
    let foreign = Foreign::with(|config| (config.slots, config.first_uid) = (2, 64_400));
    let run = || {
        let (programs, run) = (foreign.programs.clone(), foreign.bash("sleep 0.2; echo done"));
        tokio::spawn(async move { programs.run(run).await })
    };
    let first: Vec<_> = (0..2).map(|_| run()).collect();
    let mut held = Vec::new();
    for job in first {
        held.push(job.await.unwrap().unwrap());
    }
    let third = run();
    until("the runs' folders are held", || foreign.runs() == 2).await;
    assert!(!third.is_finished());
    drop(held);
    assert!(third.await.unwrap().is_ok(), "a seat is free when its folder is gone");
}

#[tokio::test]
async fn leftover_processes_of_a_user_are_ended_before_its_id_is_reused() {
    if somebody_else().is_none() {
        return;
    }
    let uid = 64_321;
    let foreign = Foreign::with(|config| (config.slots, config.first_uid) = (1, u64::from(uid)));
    let left = ChildSpec { user: Some(User { uid, gid: uid }), ..bash("sleep 600") };
    let starter = starter();
    let mut child = starter.spawn(left, Streams::null()).await.unwrap();
    let id = child.id().unwrap();
    until("it runs as that user", || field(id, "Uid:").is_some_and(|uids| uids.starts_with("64321"))).await;
    let finished = foreign.programs.run(foreign.bash("id -u; id -g; id -G")).await.unwrap();
    assert_eq!(text(&finished.stdout), "64321\n64321\n64321\n", "{}", printed(&finished));
    assert!(!is_alive(id));
    child.wait().await.unwrap();
}

#[tokio::test]
async fn each_bound_ends_a_run_and_is_named() {
    let foreign = Foreign::new();
    let bounds = foreign.bounds();
    let cases = [
        ("memory", "$x = 'x' x 300_000_000; sleep 60", bounds, Excess::Memory),
        ("memory of many", "fork; fork; $x = 'x' x 60_000_000; sleep 60", bounds, Excess::Memory),
        ("processor", "1 while 1", Bounds { processor_s: 1, ..bounds }, Excess::Processor),
        ("one file", "open F, '>f'; print F 'x' x 65536 while 1", bounds, Excess::Written),
        (
            "files",
            "for (1..99) { open F, \">f$_\"; print F 'x' x 200_000 } sleep 60",
            bounds,
            Excess::Written,
        ),
        ("names", "for (1..250) { open F, \">f$_\" } sleep 60", bounds, Excess::Files),
        ("depth", "for (1..50) { mkdir 'd'; chdir 'd' } sleep 60", bounds, Excess::Files),
        (
            "names that are gone",
            "for (1..9) { open $f[$_], \">f$_\"; unlink \"f$_\"; print {$f[$_]} 'x' x 2_000_000 } sleep 60",
            bounds,
            Excess::Written,
        ),
        ("standard output", "print 'x' x 65536 while 1", bounds, Excess::Printed),
        ("standard error", "print STDERR 'x' x 65536 while 1", bounds, Excess::Printed),
    ];
    for (name, script, bounds, excess) in cases {
        let run = ProgramRun { bounds, ..foreign.perl(script) };
        let ended = foreign.programs.run(run).await;
        let found = match ended {
            Err(ProgramError::TooMuch(found)) => found,
            Err(other) => panic!("{name}: {other}"),
            Ok(finished) => panic!("{name}: {:?}", finished.status),
        };
        assert_eq!(found, excess, "{name}");
    }
    // As a user of its own a program cannot start more; otherwise the watch sees them.
    let run = ProgramRun {
        bounds: Bounds { processes: 4, deadline: Duration::from_secs(1), ..bounds },
        ..foreign.perl("for (1..8) { $n++ if defined($p = fork) && $p; last if !$p } print $n if $p || !defined $p; sleep 60")
    };
    let error = foreign.programs.run(run).await.unwrap_err();
    let is_right = match somebody_else() {
        Some(_) => matches!(error, ProgramError::Deadline),
        None => matches!(error, ProgramError::TooMuch(Excess::Processes)),
    };
    assert!(is_right, "{error}");
    until("all folders are gone", || foreign.runs() == 0).await;
    assert_eq!(field(std::process::id(), "State:").map(|state| state.starts_with('Z')), Some(false));
}
