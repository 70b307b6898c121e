//! Suite I, foreign programs that hostile input has taken over: no attack reaches beyond its own run, and the run beside
//! it is unharmed. As root, where each run has a user of its own, and as an unprivileged user.

use std::os::unix::fs::PermissionsExt as _;
use std::os::unix::net::UnixListener;
use std::path::Path;
use std::process::Stdio;

use bytes::Bytes;
use futures_util::StreamExt as _;
use platen::workers::{Finished, Input, OutputError, ProgramError, ProgramRun};
use tempfile::TempDir;
use tokio::task::JoinHandle;

use crate::foreign::{Foreign, traversable_folder};
use crate::processes::{field, is_alive, platen, processes, text, until};
use crate::programs_scripts::{Attack, End, PRELUDE, attacks};
use crate::table::{Outcome, report};

/// An unprivileged user that nothing else runs as; template code is 65534.
const SOMEBODY: u32 = 65_533;
const SECRET: &str = "s3cret of the machine";

/// What programs attack: a secret, listeners, and the runs of others.
struct ProgramTargets {
    foreign: Foreign,
    listeners: (std::net::TcpListener, UnixListener, UnixListener),
    /// A world-writable folder with a world-readable secret.
    open: TempDir,
    abstract_name: String,
}

impl ProgramTargets {
    fn new() -> Self {
        use std::os::linux::net::SocketAddrExt as _;
        let (foreign, open) = (Foreign::with(|config| config.watch_ms = 20), traversable_folder());
        let path = open.path().join("secret");
        std::fs::write(&path, SECRET).unwrap();
        let abstract_name = format!("platen-test-{}", std::process::id());
        let address = std::os::unix::net::SocketAddr::from_abstract_name(&abstract_name).unwrap();
        let listeners = (
            std::net::TcpListener::bind("127.0.0.1:0").unwrap(),
            UnixListener::bind(open.path().join("socket")).unwrap(),
            UnixListener::bind_addr(&address).unwrap(),
        );
        listeners.0.set_nonblocking(true).unwrap();
        listeners.1.set_nonblocking(true).unwrap();
        listeners.2.set_nonblocking(true).unwrap();
        for path in [open.path(), &path, &open.path().join("socket")] {
            std::fs::set_permissions(path, std::fs::Permissions::from_mode(0o777)).unwrap();
        }
        Self { foreign, listeners, open, abstract_name }
    }

    fn arguments(&self, sibling: u32, mark: &str) -> Vec<String> {
        let open = self.open.path().display();
        vec![
            std::process::id().to_string(),
            sibling.to_string(),
            self.listeners.0.local_addr().unwrap().port().to_string(),
            format!("{open}/secret"),
            open.to_string(),
            format!("{open}/socket"),
            self.abstract_name.clone(),
            mark.to_owned(),
        ]
    }

    /// Traces of programs: connections, a changed secret, files.
    fn traces(&self) -> Vec<String> {
        let (tcp, path, hidden) = &self.listeners;
        let came = [tcp.accept().is_ok(), path.accept().is_ok(), hidden.accept().is_ok()];
        let secret = std::fs::read_to_string(self.open.path().join("secret")).unwrap_or_default();
        let others = std::fs::read_dir(self.open.path()).unwrap().count();
        let mut traces = Vec::new();
        traces.extend(came.contains(&true).then(|| "somebody was connected to".to_owned()));
        traces.extend((secret != SECRET).then(|| "the secret was changed".to_owned()));
        traces.extend((others != 2).then(|| format!("{others} files where there were 2")));
        traces
    }
}

/// A run that works beside the attack: it computes, starts processes, writes.
fn neighbour(foreign: &Foreign, mark: &str) -> ProgramRun {
    let script = "for n in 1 2 3 4 5 6 7 8; do head -c 1000 /dev/urandom > part$n; cat in part$n | sort > /dev/null || exit 1; done; \
                  sleep 0.5; cat in > out; echo whole";
    let mut run = foreign.bash(script);
    run.arguments.push(mark.to_owned());
    run.inputs = vec![Input::bytes("in", Bytes::from_static(b"kept"))];
    run
}

/// A run that works, and a process of it. One that has ended before it was seen is started again.
async fn working_neighbour(
    foreign: &Foreign,
    mark: &str,
) -> (JoinHandle<Result<Finished, ProgramError>>, u32) {
    loop {
        let (programs, run) = (foreign.programs.clone(), neighbour(foreign, mark));
        let beside = tokio::spawn(async move { programs.run(run).await });
        let mut seen = None;
        until("the neighbour works", || {
            seen = marked(mark).first().copied();
            seen.is_some() || beside.is_finished()
        })
        .await;
        match seen {
            Some(process) => return (beside, process),
            None => is_whole(beside.await.unwrap()).await.unwrap(),
        }
    }
}

async fn is_whole(ended: Result<Finished, ProgramError>) -> Result<(), String> {
    let finished = ended.map_err(|error| error.to_string())?;
    let kept = finished.read("out", 100).await.map_err(|error| error.to_string())?;
    let whole = finished.status.success() && kept == "kept" && finished.stdout == "whole\n";
    if whole { Ok(()) } else { Err(format!("{:?} {}", finished.status, text(&finished.stderr))) }
}

fn marked(mark: &str) -> Vec<u32> {
    let holds = |pid: &u32| {
        let line = std::fs::read(format!("/proc/{pid}/cmdline")).unwrap_or_default();
        text(&line).contains(mark) && is_alive(*pid)
    };
    processes().into_iter().filter(holds).collect()
}

/// This process' children that are dead and not waited for.
fn zombies() -> Vec<u32> {
    let own = std::process::id().to_string();
    let is_zombie = |pid: &u32| {
        field(*pid, "PPid:").as_deref() == Some(&own)
            && field(*pid, "State:").is_some_and(|it| it.starts_with('Z'))
    };
    processes().into_iter().filter(is_zombie).collect()
}

async fn try_attack(targets: &ProgramTargets, attack: Attack) -> Outcome {
    let name = format!("{} {}", attack.way, attack.name);
    let mark = format!("mark-{}-{}-end", std::process::id(), name.replace([' ', '/'], "-"));
    let beside_mark = format!("beside-{}", mark.replace("mark", "m"));
    let (beside, sibling) = working_neighbour(&targets.foreign, &beside_mark).await;
    let mut run = targets.foreign.perl(&[PRELUDE, attack.script].concat());
    run.arguments.extend(targets.arguments(sibling, &mark));
    run.bounds = (attack.bounds)(targets.foreign.bounds());
    let ended = targets.foreign.programs.run(run).await;
    let messages = match &ended {
        Ok(finished) => text(&finished.stdout).replace('\n', "; "),
        Err(error) => error.to_string(),
    };
    let mut leaks = judge(&attack.end, &ended).await;
    if let Err(how) = is_whole(beside.await.unwrap()).await {
        leaks.push(format!("the neighbour suffered: {how}"));
    }
    leaks.extend(marked(&mark).into_iter().map(|pid| format!("process {pid} is left")));
    leaks.extend(targets.traces());
    Outcome { name, carrier: "perl".to_owned(), leaks, messages }
}

async fn judge(end: &End, ended: &Result<Finished, ProgramError>) -> Vec<String> {
    let finished = match (end, ended) {
        (End::Late(_), Err(ProgramError::Deadline)) => return Vec::new(),
        (End::Killed(excesses) | End::Late(excesses), Err(ProgramError::TooMuch(excess)))
            if excesses.contains(excess) =>
        {
            return Vec::new();
        }
        (End::Itself | End::NoOutput, Ok(finished)) => finished,
        (_, Ok(finished)) => return vec![format!("ended by itself: {:?}", finished.status)],
        (_, Err(error)) => return vec![format!("ended otherwise: {error}")],
    };
    let words = text(&finished.stdout);
    let mut leaks: Vec<String> =
        words.lines().filter(|line| line.starts_with("GOT")).map(str::to_owned).collect();
    if !words.contains("done") {
        leaks.push(format!("not tried: {words} {}", text(&finished.stderr)));
    }
    if matches!(end, End::NoOutput) {
        for name in ["out", "sub/secret"] {
            match finished.read(name, 6_000_000).await {
                Ok(_) => leaks.push(format!("{name} was taken")),
                Err(OutputError::System(error)) => leaks.push(format!("{name} was tried: {error}")),
                Err(_) => {}
            }
        }
    }
    leaks
}

#[tokio::test(flavor = "multi_thread")]
async fn no_attack_reaches_beyond_its_own_run() {
    let targets = ProgramTargets::new();
    // Uncaged, the secret is there to be read and written, and the listeners to be connected to.
    let readable = std::fs::read_to_string(targets.open.path().join("secret")).unwrap();
    assert_eq!(readable, SECRET);
    let outcomes = futures_util::stream::iter(attacks()).map(|attack| try_attack(&targets, attack));
    let outcomes = outcomes.buffer_unordered(2).collect().await;
    until("no folder is left", || targets.foreign.runs() == 0).await;
    // A child that was re-parented to this process would stay a zombie.
    until("nobody's dead child is left to this process", || zombies().is_empty()).await;
    let who =
        if nix::unistd::geteuid().is_root() { "as users of their own" } else { "as the service's user" };
    report(&format!("suite I, foreign programs {who}"), outcomes);
}

/// The same without any privilege. Where the tests run unprivileged themselves, the other test has done it.
#[test]
fn no_attack_reaches_beyond_its_own_run_without_privileges() {
    if !nix::unistd::geteuid().is_root() {
        return;
    }
    let folder = traversable_folder();
    let copy = |from: &Path, name: &str| {
        let to = folder.path().join(name);
        // By another process: a child that this one starts meanwhile would hold the file open for writing,
        // and what is written to cannot be executed.
        assert!(std::process::Command::new("cp").arg(from).arg(&to).status().unwrap().success());
        std::fs::set_permissions(&to, std::fs::Permissions::from_mode(0o755)).unwrap();
        to
    };
    let tests = copy(&std::env::current_exe().unwrap(), "tests");
    let program = copy(&platen(), "platen");
    let temporary = folder.path().join("tmp");
    std::fs::create_dir(&temporary).unwrap();
    std::fs::set_permissions(&temporary, std::fs::Permissions::from_mode(0o777)).unwrap();
    let user = [format!("--reuid={SOMEBODY}"), format!("--regid={SOMEBODY}")];
    let ended = std::process::Command::new("setpriv")
        .args(user)
        .args(["--clear-groups", "--inh-caps=-all", "--bounding-set=-all", "--"])
        .arg(tests)
        .args(["--exact", "programs::no_attack_reaches_beyond_its_own_run"])
        .env("PLATEN_TEST_PROGRAM", program)
        .env("TMPDIR", &temporary)
        .current_dir(folder.path())
        .stdin(Stdio::null())
        .output()
        .unwrap();
    let output = format!("{}{}", text(&ended.stdout), text(&ended.stderr));
    std::io::Write::write_all(&mut std::io::stderr(), output.as_bytes()).unwrap();
    assert!(ended.status.success() && output.contains("1 passed"), "without privileges");
    assert_eq!(std::fs::read_dir(&temporary).unwrap().count(), 0, "nothing is left behind");
}
