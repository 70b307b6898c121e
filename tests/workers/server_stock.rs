//! How many servers there are and when: while some start, fail, end or are replaced, jobs are done by the others.

use std::os::unix::fs::PermissionsExt as _;
use std::path::PathBuf;
use std::time::Duration;

use bytes::Bytes;
use platen::domain::ids::AccountId;
use platen::slots::AccountShare;
use platen::workers::{ChildSpec, Housing, Job, Pool, PoolSettings, Profile, Signals};
use serde_json::json;
use tempfile::TempDir;
use tokio::task::JoinHandle;

use crate::foreign::{Foreign, passable, profile};
use crate::processes::{is_alive, starter, until};

/// Writes down that it starts and which one it is, waits or fails where a file says so, and is ready; answers who it is, and
/// not before a file is gone where the job names one.
const SERVER: &str = r#"
use strict; my $stage = shift;
sub take { my ($length, $bytes) = (shift, '');
  while (length $bytes < $length) { sysread(STDIN, $bytes, $length - length $bytes, length $bytes) or exit } $bytes }
sub tell_it { my ($head, $body) = @_; syswrite STDOUT, pack('V Q<', length $head, length $body) . $head . $body }
sub pass { my $name = shift; while (-e "$stage/$name") { select undef, undef, undef, 0.005 } }
my $which = 1; $which++ until mkdir "$stage/started-$which";
pass("hold-$which"); exit 1 if -e "$stage/fail-$which";
while (1) {
  tell_it('"ready"', '');
  my ($head, $body) = unpack 'V Q<', take(12); $head = take($head); take($body);
  pass($1) if $head =~ /"(hold-\w+)"/;
  tell_it('{"done":"made"}', "$$");
}
"#;

/// Where a test says what happens to its servers.
struct Stage {
    foreign: Foreign,
    folder: TempDir,
}

impl Stage {
    fn new() -> Self {
        let folder = passable();
        std::fs::set_permissions(folder.path(), std::fs::Permissions::from_mode(0o777)).unwrap();
        Self { foreign: Foreign::new(), folder }
    }

    fn file(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    fn set(&self, name: &str) {
        std::fs::write(self.file(name), "").unwrap();
    }

    fn unset(&self, name: &str) {
        std::fs::remove_file(self.file(name)).unwrap();
    }

    /// How many servers were ever started.
    fn started(&self) -> usize {
        let entries = std::fs::read_dir(self.folder.path()).unwrap().flatten();
        entries.filter(|entry| entry.file_name().to_string_lossy().starts_with("started-")).count()
    }

    fn starting(&self) -> i64 {
        self.foreign.metrics.children.children.of(["server", "starting"]).get()
    }

    fn pool(&self, mut settings: PoolSettings) -> Pool {
        let mut profile = Profile { signals: Signals::Anybody, ..profile() };
        profile.write.push(self.folder.path().to_owned());
        let stage = self.folder.path().display().to_string();
        settings.spec = ChildSpec::new("/usr/bin/perl").arguments(["-e", SERVER]).arguments([stage]);
        let housing =
            Housing { programs: self.foreign.programs.clone(), profile, bounds: self.foreign.bounds() };
        settings.housing = Some(housing);
        Pool::new(starter(), settings, self.foreign.metrics.children.clone())
    }
}

/// So many servers, started ahead.
fn servers(count: usize) -> PoolSettings {
    PoolSettings {
        name: "server",
        spec: ChildSpec::new("/nonexistent"),
        spares: count,
        kept: count,
        child_jobs: 100,
        processes: count,
        share: AccountShare::whole(),
        waiting: 1,
        start_timeout: Duration::from_mins(1),
        undisturbed: Duration::from_mins(1),
        deadline: Duration::from_mins(1),
        answer_limit_bytes: 1_000,
        resident_limit_bytes: None,
        housing: None,
    }
}

/// The server that does a job, which is held as long as a file of that name is there.
fn begin(pool: &Pool, hold: &'static str) -> JoinHandle<u32> {
    let pool = pool.clone();
    tokio::spawn(async move {
        let header = json!({ "hold": hold });
        let job = Job { header: &header, body: &[], files: &|_: &str| None, environment: &[] };
        let (_, body): (String, Bytes) = pool.run(AccountId::generate(), job).await.unwrap();
        String::from_utf8_lossy(&body).parse().unwrap()
    })
}

/// The same, which must come while others are held.
async fn done(what: &str, job: JoinHandle<u32>) -> u32 {
    until(what, || job.is_finished()).await;
    job.await.unwrap()
}

#[tokio::test]
async fn who_waits_for_a_server_on_its_way_is_served_by_one_that_is_free_before() {
    let stage = Stage::new();
    stage.set("hold-2");
    stage.set("hold-first");
    let pool = stage.pool(servers(2));
    until("one of them is ready", || pool.spares() == 1).await;
    let first = begin(&pool, "hold-first");
    until("it has a job", || pool.spares() == 0).await;
    let waiting = begin(&pool, "nothing");
    until("the other job has its place and waits", || stage.started() == 2 && stage.starting() == 1).await;
    // What is ready to run here runs, so the job is on its way to wait.
    for _ in 0..100 {
        tokio::task::yield_now().await;
    }
    stage.unset("hold-first");
    let server = done("the first job is done", first).await;
    assert_eq!(done("the waiting job is done by the same server", waiting).await, server);
    assert_eq!(stage.starting(), 1, "the other one is still on its way");
    stage.unset("hold-2");
}

#[tokio::test]
async fn a_server_that_is_started_for_a_job_counts_from_then_on() {
    let stage = Stage::new();
    for name in ["fail-1", "hold-3", "hold-first"] {
        stage.set(name);
    }
    let pool = stage.pool(servers(2));
    until("one is ready, the other failed", || pool.spares() == 1 && stage.starting() == 0).await;
    let first = begin(&pool, "hold-first");
    until("it has a job", || pool.spares() == 0).await;
    let second = begin(&pool, "nothing");
    until("one is started for the other job", || stage.started() == 3).await;
    stage.unset("hold-first");
    let server = done("the first job is done", first).await;
    until("its server is kept", || pool.kept() == 1).await;
    let third = done("and does a further one", begin(&pool, "nothing")).await;
    assert_eq!(server, third);
    until("its server is kept", || pool.kept() == 1).await;
    stage.unset("hold-3");
    assert_ne!(done("the second job is done", second).await, server);
    until("both are kept", || pool.kept() == 2).await;
    assert_eq!((stage.started(), pool.spares(), stage.starting()), (3, 0, 0), "and no other one was started");
}

#[tokio::test]
async fn a_server_that_did_enough_works_until_another_one_is_ready() {
    let lazy = PoolSettings { spares: 0, ..servers(1) };
    for (settings, enough) in [
        (PoolSettings { child_jobs: 2, ..servers(1) }, 2),
        (PoolSettings { child_jobs: 2, ..lazy.clone() }, 2),
        (PoolSettings { resident_limit_bytes: Some(1), ..lazy }, 1),
    ] {
        let stage = Stage::new();
        stage.set("hold-2");
        let pool = stage.pool(settings);
        let server = done("the first job is done", begin(&pool, "nothing")).await;
        for _ in 1..enough {
            assert_eq!(done("and a further one", begin(&pool, "nothing")).await, server);
        }
        until("another one is started", || stage.started() == 2).await;
        for _ in 0..3 {
            let job = begin(&pool, "nothing");
            assert_eq!(done("a job while that is not ready", job).await, server, "by the first");
        }
        assert_eq!((stage.started(), stage.starting()), (2, 1), "one at a time");
        until("the server is kept", || pool.kept() == 1).await;
        stage.set("hold-job");
        let job = begin(&pool, "hold-job");
        until("the server is at work", || pool.kept() == 0).await;
        stage.set("hold-3");
        stage.unset("hold-2");
        until("the other one is ready", || pool.spares() == 1).await;
        assert!(is_alive(server), "its job is finished");
        stage.unset("hold-job");
        assert_eq!(done("the job is done", job).await, server);
        until("it ends", || !is_alive(server)).await;
        assert_ne!(done("the next job is done by the other one", begin(&pool, "nothing")).await, server);
        until("that is kept", || pool.kept() == 1).await;
        stage.unset("hold-3");
    }
}

#[tokio::test]
async fn a_server_that_did_enough_ends_without_a_further_job_and_goes_on_where_no_other_one_starts() {
    let stage = Stage::new();
    stage.set("fail-2");
    let pool = stage.pool(PoolSettings { child_jobs: 1, ..servers(1) });
    let server = done("the first job is done", begin(&pool, "nothing")).await;
    until("another one could not start", || stage.started() == 2 && stage.starting() == 0).await;
    assert_eq!(done("the first goes on", begin(&pool, "nothing")).await, server);
    until("one more is started, and the first ends", || !is_alive(server)).await;
    until("that one is ready", || pool.spares() == 1 && pool.kept() == 0).await;
    assert_eq!((stage.started(), stage.starting()), (3, 0));
}
