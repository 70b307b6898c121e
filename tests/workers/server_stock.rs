//! How many servers there are and when: while some start, fail, end or are replaced, jobs are done by the others.

use std::os::unix::fs::PermissionsExt as _;
use std::path::PathBuf;
use std::time::Duration;

use bytes::Bytes;
use platen::domain::ids::AccountId;
use platen::slots::AccountShare;
use platen::workers::{ChildSpec, Job, Pool, PoolSettings, SandboxProfile, ServerSettings, Signals};
use serde_json::json;
use tempfile::TempDir;
use tokio::task::JoinHandle;

use crate::foreign::{Foreign, profile, traversable_folder};
use crate::processes::{is_alive, starter, until};

/// Records its start and number, waits or fails where a control file says so, and reports ready; answers with its process
/// id, where the job names a control file once that is gone.
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

/// Servers that a test controls by files in a folder.
struct ServerFixture {
    foreign: Foreign,
    folder: TempDir,
}

impl ServerFixture {
    fn new() -> Self {
        let folder = traversable_folder();
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
        let mut profile = SandboxProfile { signals: Signals::Anybody, ..profile() };
        profile.write.push(self.folder.path().to_owned());
        let fixture = self.folder.path().display().to_string();
        settings.spec = ChildSpec::new("/usr/bin/perl").arguments(["-e", SERVER]).arguments([fixture]);
        let server = ServerSettings {
            programs: self.foreign.programs.clone(),
            profile,
            bounds: self.foreign.bounds(),
        };
        settings.server = Some(server);
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
        still: Duration::from_secs(5),
        answer_limit_bytes: 1_000,
        resident_limit_bytes: None,
        server: None,
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

/// The same, for a job that must end while others are held.
async fn done(what: &str, job: JoinHandle<u32>) -> u32 {
    until(what, || job.is_finished()).await;
    job.await.unwrap()
}

#[tokio::test]
async fn a_waiting_job_takes_a_freed_server_before_the_starting_one() {
    let fixture = ServerFixture::new();
    fixture.set("hold-2");
    fixture.set("hold-first");
    let pool = fixture.pool(servers(2));
    until("one of them is ready", || pool.spares() == 1).await;
    let first = begin(&pool, "hold-first");
    until("it has a job", || pool.spares() == 0).await;
    let waiting = begin(&pool, "nothing");
    until("the other job has its place and waits", || fixture.started() == 2 && fixture.starting() == 1)
        .await;
    // Lets ready tasks run, so that the job is in the queue.
    for _ in 0..100 {
        tokio::task::yield_now().await;
    }
    fixture.unset("hold-first");
    let server = done("the first job is done", first).await;
    assert_eq!(done("the waiting job is done by the same server", waiting).await, server);
    assert_eq!(fixture.starting(), 1, "the other one is still on its way");
    fixture.unset("hold-2");
}

#[tokio::test]
async fn a_server_that_is_started_for_a_job_counts_from_then_on() {
    let fixture = ServerFixture::new();
    for name in ["fail-1", "hold-3", "hold-first"] {
        fixture.set(name);
    }
    let pool = fixture.pool(servers(2));
    until("one is ready, the other failed", || pool.spares() == 1 && fixture.starting() == 0).await;
    let first = begin(&pool, "hold-first");
    until("it has a job", || pool.spares() == 0).await;
    let second = begin(&pool, "nothing");
    until("one is started for the other job", || fixture.started() == 3).await;
    fixture.unset("hold-first");
    let server = done("the first job is done", first).await;
    until("its server is kept", || pool.kept() == 1).await;
    let third = done("and does a further one", begin(&pool, "nothing")).await;
    assert_eq!(server, third);
    until("its server is kept", || pool.kept() == 1).await;
    fixture.unset("hold-3");
    assert_ne!(done("the second job is done", second).await, server);
    until("both are kept", || pool.kept() == 2).await;
    assert_eq!(
        (fixture.started(), pool.spares(), fixture.starting()),
        (3, 0, 0),
        "and no other one was started"
    );
}

#[tokio::test]
async fn a_used_up_server_works_until_its_successor_is_ready() {
    let lazy = PoolSettings { spares: 0, ..servers(1) };
    for (settings, enough) in [
        (PoolSettings { child_jobs: 2, ..servers(1) }, 2),
        (PoolSettings { child_jobs: 2, ..lazy.clone() }, 2),
        (PoolSettings { resident_limit_bytes: Some(1), ..lazy }, 1),
    ] {
        let fixture = ServerFixture::new();
        fixture.set("hold-2");
        let pool = fixture.pool(settings);
        let server = done("the first job is done", begin(&pool, "nothing")).await;
        for _ in 1..enough {
            assert_eq!(done("and a further one", begin(&pool, "nothing")).await, server);
        }
        until("another one is started", || fixture.started() == 2).await;
        for _ in 0..3 {
            let job = begin(&pool, "nothing");
            assert_eq!(done("a job while that is not ready", job).await, server, "by the first");
        }
        assert_eq!((fixture.started(), fixture.starting()), (2, 1), "one at a time");
        until("the server is kept", || pool.kept() == 1).await;
        fixture.set("hold-job");
        let job = begin(&pool, "hold-job");
        until("the server is at work", || pool.kept() == 0).await;
        fixture.set("hold-3");
        fixture.unset("hold-2");
        until("the other one is ready", || pool.spares() == 1).await;
        assert!(is_alive(server), "its job is finished");
        fixture.unset("hold-job");
        assert_eq!(done("the job is done", job).await, server);
        until("it ends", || !is_alive(server)).await;
        assert_ne!(done("the next job is done by the other one", begin(&pool, "nothing")).await, server);
        until("that is kept", || pool.kept() == 1).await;
        fixture.unset("hold-3");
    }
}

#[tokio::test]
async fn a_used_up_server_ends_while_idle_and_goes_on_without_a_successor() {
    let fixture = ServerFixture::new();
    fixture.set("fail-2");
    let pool = fixture.pool(PoolSettings { child_jobs: 1, ..servers(1) });
    let server = done("the first job is done", begin(&pool, "nothing")).await;
    until("another one could not start", || fixture.started() == 2 && fixture.starting() == 0).await;
    assert_eq!(done("the first goes on", begin(&pool, "nothing")).await, server);
    until("one more is started, and the first ends", || !is_alive(server)).await;
    until("that one is ready", || pool.spares() == 1 && pool.kept() == 0).await;
    assert_eq!((fixture.started(), fixture.starting()), (3, 0));
}
