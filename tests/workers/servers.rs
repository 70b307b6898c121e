//! Servers that make a child a document, as an office program will be: here one in perl, which speaks the protocol of a pool.

use std::time::Duration;

use bytes::Bytes;
use platen::domain::ids::AccountId;
use platen::slots::AccountShare;
use platen::workers::{
    Bounds, ChildSpec, Excess, Hung, Job, Pool, PoolSettings, SandboxProfile, ServerSettings, Signals,
    WorkerError,
};
use serde_json::json;
use tokio::time::timeout;

use crate::foreign::{Foreign, profile};
use crate::processes::{group_members, is_alive, starter, text, until};

/// Says that it is ready, takes a document, has a child make it, ends the child when that is late, and so on.
const SERVER: &str = r#"
use strict; use POSIX ':sys_wait_h';
sub take { my ($length, $bytes) = (shift, '');
  while (length $bytes < $length) { sysread(STDIN, $bytes, $length - length $bytes, length $bytes) or exit } $bytes }
sub tell_it { my ($head, $body) = @_; syswrite STDOUT, pack('V Q<', length $head, length $body) . $head . $body }
sub make { my ($what, $document) = @_;
  if ($what =~ /late/) { $SIG{$_} = 'IGNORE' for keys %SIG; sleep 600 }
  if ($what =~ /memory/) { my $much = 400_000_000; my $x = 'x' x $much; sleep 600 }
  if ($what =~ /stop/) { kill 'STOP', getppid; sleep 600 }
  if ($what =~ /orphan/) { kill 'KILL', getppid; sleep 600 }
  if ($what =~ /long/) { 1 until -e 'enough' }
  open my $made, '>', 'made'; print $made uc $document; exit }
while (1) {
  tell_it('"ready"', '');
  my ($head, $body) = unpack 'V Q<', take(12); $head = take($head); $body = take($body);
  my $child = fork // die; make($head, $body) if !$child;
  my $turns = 0; my $ended = 0;
  until ($ended || $turns++ > 100 && $head !~ /memory|long/) { $ended = waitpid $child, WNOHANG; select undef, undef, undef, 0.005 }
  if (!$ended) { kill 'KILL', $child; waitpid $child, 0; tell_it('{"done":"late"}', "$$"); next }
  open my $made, '<', 'made'; tell_it('{"done":"made"}', "$$ " . join '', <$made>); unlink 'made';
}
"#;

fn settings() -> PoolSettings {
    PoolSettings {
        name: "server",
        spec: ChildSpec::new("/usr/bin/perl").arguments(["-e", SERVER]),
        spares: 1,
        kept: 2,
        child_jobs: 100,
        processes: 2,
        share: AccountShare::whole(),
        waiting: 1,
        start_timeout: Duration::from_secs(10),
        undisturbed: Duration::from_secs(10),
        deadline: Duration::from_secs(10),
        still: Duration::from_secs(5),
        answer_limit_bytes: 1_000,
        resident_limit_bytes: None,
        server: None,
    }
}

fn pool(foreign: &Foreign) -> Pool {
    pool_of(foreign, settings())
}

fn pool_of(foreign: &Foreign, settings: PoolSettings) -> Pool {
    let profile = SandboxProfile { signals: Signals::Anybody, yields: true, ..profile() };
    let bounds = Bounds { memory_bytes: 100 << 20, ..foreign.bounds() };
    let server = ServerSettings { programs: foreign.programs.clone(), profile, bounds };
    let settings = PoolSettings { server: Some(server), ..settings };
    Pool::new(starter(), settings, foreign.metrics.children.clone())
}

/// What came of it, and the server that did it.
async fn run(pool: &Pool, what: &str) -> Result<(String, u32, String), WorkerError> {
    let body = [Bytes::from_static(b"a document")];
    let header = json!({ "what": what });
    let job = Job { header: &header, body: &body, files: &|_: &str| None, environment: &[] };
    let (done, body) = pool.run::<_, String>(AccountId::generate(), job).await?;
    let body = text(&body);
    let (server, made) = body.split_once(' ').unwrap_or((&body, ""));
    Ok((done, server.parse().unwrap(), made.to_owned()))
}

#[tokio::test]
async fn a_server_serves_all_accounts_and_kills_its_late_child() {
    let foreign = Foreign::new();
    let pool = pool(&foreign);
    until("a spare waits", || pool.spares() == 1).await;
    let (done, server, made) = run(&pool, "document").await.unwrap();
    assert_eq!((done.as_str(), made.as_str()), ("made", "A DOCUMENT"));
    for (what, end) in [("late", "late"), ("document", "made"), ("late", "late"), ("document", "made")] {
        until("the server is kept", || pool.kept() == 1).await;
        assert_eq!(group_members(server), [server], "a document's child is gone with its document");
        let (done, by, _) = run(&pool, what).await.unwrap();
        assert_eq!((done.as_str(), by), (end, server), "{what}: of another account, by the same server");
    }
    drop(pool);
    until("the server ends with its pool", || !is_alive(server)).await;
    until("and its folder goes", || foreign.runs() == 0).await;
}

#[tokio::test]
async fn a_server_has_the_lowest_priority_while_its_document_is_long() {
    let foreign = Foreign::new();
    let pool = pool_of(&foreign, PoolSettings { undisturbed: Duration::from_millis(100), ..settings() });
    let (_, server, _) = run(&pool, "document").await.unwrap();
    until("the server is kept", || pool.kept() == 1).await;
    let has_sessions = std::path::Path::new("/proc/self/autogroup").exists();
    let session = |niceness: &str| {
        let group = std::fs::read_to_string(format!("/proc/{server}/autogroup")).unwrap_or_default();
        !has_sessions || group.ends_with(&format!(" nice {niceness}\n"))
    };
    assert!(session("10"), "as its profile says");
    let long = run(&pool, "long");
    let ending = async {
        // Another one works meanwhile.
        tokio::select! {
            beside = run(&pool, "long") => panic!("{beside:?}"),
            () = until("its session goes last in line", || session("19")) => {}
        }
        for folder in foreign.files() {
            std::fs::write(folder.join("enough"), "").unwrap();
        }
    };
    let (done, ()) = tokio::join!(long, ending);
    assert_eq!(done.unwrap().1, server);
    until("the server is kept", || pool.kept() == 1).await;
    assert!(session("10"), "it has its share again");
    assert_eq!(run(&pool, "document").await.unwrap().1, server, "and serves the next document");
}

#[tokio::test]
async fn a_failed_server_ends_with_its_whole_process_group() {
    let foreign = Foreign::new();
    for what in ["stop", "orphan", "memory"] {
        let pool = pool_of(&foreign, settings());
        let (_, server, _) = run(&pool, "document").await.unwrap();
        until("the server is kept", || pool.kept() == 1).await;
        let error = run(&pool, what).await.unwrap_err();
        let is_right = match what {
            "stop" => matches!(error, WorkerError::Hung(Hung::Stopped)),
            "orphan" => matches!(error, WorkerError::KilledFromOutside(_)),
            _ => matches!(error, WorkerError::TooMuch(Excess::Memory)),
        };
        assert!(is_right, "{what}: {error}");
        until("its whole group is dead", || group_members(server).is_empty()).await;
        assert_ne!(run(&pool, "document").await.unwrap().1, server, "another one works on");
        until("it is kept", || pool.kept() == 1).await;
    }
}

#[tokio::test]
async fn a_server_that_dies_idle_leaves_no_process() {
    let foreign = Foreign::new();
    let pool = pool(&foreign);
    let (_, server, _) = run(&pool, "document").await.unwrap();
    until("the server is kept", || pool.kept() == 1).await;
    let process = nix::unistd::Pid::from_raw(i32::try_from(server).unwrap());
    nix::sys::signal::kill(process, nix::sys::signal::Signal::SIGKILL).unwrap();
    until("it is dead", || !is_alive(server)).await;
    assert_ne!(run(&pool, "document").await.unwrap().1, server);
}

#[tokio::test]
async fn servers_use_no_slot_of_programs() {
    // Programs of other tests have other users than its only one.
    let foreign = Foreign::with(|config| (config.slots, config.first_uid) = (1, 62_000));
    let pool = pool_of(&foreign, PoolSettings { spares: 2, ..settings() });
    until("more servers than there are seats", || pool.spares() == 2).await;
    let program = timeout(Duration::from_secs(10), foreign.programs.run(foreign.bash("echo done")));
    let finished = program.await.expect("a program has its seat").unwrap();
    assert_eq!(text(&finished.stdout), "done\n");
    let (done, ..) = run(&pool, "document").await.unwrap();
    assert_eq!(done, "made");
}
