//! The pool with children that misbehave: shells in place of an engine, speaking its protocol or not.

use std::path::Path;
use std::time::{Duration, Instant};

use bytes::Bytes;
use platen::domain::ids::AccountId;
use platen::slots::AccountShare;
use platen::slots::meter::CostMeter;
use platen::telemetry::metrics::Metrics;
use platen::workers::{Hung, Job, Pool, PoolSettings, WorkerError};
use serde_json::json;

use crate::processes::{bash, is_alive, starter, until};

/// Says `Ready`.
pub const READY: &str = r#"printf '\x07\0\0\0\0\0\0\0\0\0\0\0"ready"'; "#;
/// Reads the whole frame of the job: its lengths, then 16 bytes of header and 42 of body. A child that
/// ends before that breaks the pipe to which the job is still written.
pub const LISTEN: &str = "head -c 70 > /dev/null; ";
/// Answers with a header and the body `hello`.
pub const ANSWER: &str = r#"printf '\x0a\0\0\0\x05\0\0\0\0\0\0\0{"done":1}hello'; "#;

pub fn settings(script: &str, spares: usize) -> PoolSettings {
    PoolSettings {
        name: "test",
        spec: bash(script),
        spares,
        kept: 0,
        child_jobs: 1,
        processes: 2,
        share: AccountShare::whole(),
        waiting: 1,
        start_timeout: Duration::from_secs(10),
        undisturbed: Duration::from_secs(10),
        deadline: Duration::from_secs(10),
        still: Duration::from_secs(5),
        answer_limit_bytes: 5,
        resident_limit_bytes: None,
        server: None,
    }
}

async fn run(pool: &Pool) -> Result<(u32, Bytes), WorkerError> {
    run_for(pool, AccountId::generate()).await
}

async fn run_for(pool: &Pool, meter: impl Into<CostMeter>) -> Result<(u32, Bytes), WorkerError> {
    let body = [Bytes::from_static(b"some bytes that make the frame long enough")];
    let header = json!({"what": "a job"});
    pool.run(meter, Job { header: &header, body: &body, files: &|_: &str| None, environment: &[] }).await
}

async fn run_in(settings: PoolSettings) -> Result<(u32, Bytes), WorkerError> {
    run(&Pool::new(starter(), settings, Metrics::new().children)).await
}

fn read_pids(file: &Path) -> Vec<u32> {
    let text = std::fs::read_to_string(file).unwrap_or_default();
    text.lines().filter_map(|line| line.parse().ok()).collect()
}

#[tokio::test]
async fn a_child_answers_and_is_gone() {
    let folder = tempfile::tempdir().unwrap();
    let pids = folder.path().join("pids");
    let script = format!("echo $$ >> {}; {READY}{LISTEN}{ANSWER} sleep 600", pids.display());
    let pool = Pool::new(starter(), settings(&script, 1), Metrics::new().children);
    for _ in 0..3 {
        let (answer, body) = run(&pool).await.unwrap();
        assert_eq!((answer, &body[..]), (1, &b"hello"[..]));
    }
    until("a spare waits", || pool.spares() == 1).await;
    let started = read_pids(&pids);
    assert!(started.len() >= 4, "a child a job and a spare: {started:?}");
    until("only the spare is left", || started.iter().filter(|&&pid| is_alive(pid)).count() == 1).await;
    drop(pool);
    until("the spare dies with its pool", || !started.iter().any(|&pid| is_alive(pid))).await;
}

#[tokio::test]
async fn a_child_that_is_killed_or_stopped_while_it_starts_was_so_from_outside() {
    let error = run_in(settings("kill -9 $$; sleep 600", 0)).await.unwrap_err();
    assert!(matches!(error, WorkerError::KilledFromOutside(_)), "{error}");
    let error = run_in(settings("kill -STOP $$; sleep 600", 0)).await.unwrap_err();
    assert!(matches!(error, WorkerError::Hung(Hung::Stopped)), "{error}");
    let error = run_in(settings("exit 3", 0)).await.unwrap_err();
    assert!(matches!(error, WorkerError::NotStarted(_)), "{error}");
}

#[tokio::test]
async fn a_child_serves_one_account_up_to_its_limits() {
    let folder = tempfile::tempdir().unwrap();
    let pids = folder.path().join("pids");
    // Each turn of the loop reads one whole frame: its lengths, then 15 bytes of header and 41 of body.
    let listen = format!("head -c 68 > /dev/null; echo $$ >> {}; ", pids.display());
    let script = format!("while :; do {READY}{listen}{ANSWER} done");
    let pool = Pool::new(
        starter(),
        PoolSettings { kept: 2, child_jobs: 3, ..settings(&script, 0) },
        Metrics::new().children,
    );
    let (one, other) = (AccountId::generate(), AccountId::generate());
    for (account, kept) in [(one, 1), (one, 1), (other, 2), (one, 1), (one, 2)] {
        run_for(&pool, account).await.unwrap();
        until("the child is kept or gone", || pool.kept() == kept).await;
    }
    let [first, second, others, third, new] = read_pids(&pids)[..] else { panic!("five jobs") };
    assert_eq!((first, first), (second, third), "one child does the jobs of its account");
    assert_ne!(first, others, "another account has another child");
    assert_ne!(first, new, "after three jobs it is replaced");
    run(&pool).await.unwrap();
    until("the one kept longest makes room", || !is_alive(others)).await;
    assert_eq!(pool.kept(), 2);
    assert!(is_alive(new));
}

#[tokio::test]
async fn a_job_that_computes_for_long_yields_and_its_child_does_no_other() {
    let folder = tempfile::tempdir().unwrap();
    let pids = folder.path().join("pids");
    let script = format!(
        "echo $$ >> {0}; while :; do {READY}head -c 68 > /dev/null; while [ ! -e {0}.done ]; do :; done; {ANSWER} done",
        pids.display()
    );
    let patient = PoolSettings { kept: 1, undisturbed: Duration::from_millis(50), ..settings(&script, 0) };
    let pool = Pool::new(starter(), patient, Metrics::new().children);
    let job = tokio::spawn({
        let pool = pool.clone();
        async move { run(&pool).await }
    });
    let niceness = || {
        let stat = read_pids(&pids).first().map(|pid| std::fs::read_to_string(format!("/proc/{pid}/stat")));
        let stat = stat.and_then(Result::ok).unwrap_or_default();
        stat.rsplit_once(") ").and_then(|(_, rest)| rest.split(' ').nth(16).map(str::to_owned))
    };
    let yields = |wanted: &str| {
        let of = |pid: &u32| std::fs::read_to_string(format!("/proc/{pid}/autogroup")).ok();
        let session = read_pids(&pids).first().and_then(of).unwrap_or_default();
        // Root alone may always change that of a session.
        let is_root = nix::unistd::geteuid().is_root();
        let has_session = session.is_empty() || session.ends_with(&format!(" nice {wanted}\n")) || !is_root;
        niceness().as_deref() == Some(wanted) && has_session
    };
    until("it has low priority", || yields("10")).await;
    let beside = tokio::spawn({
        let pool = pool.clone();
        async move { run(&pool).await }
    });
    until("beside another job it has the lowest", || yields("19")).await;
    beside.abort();
    std::fs::write(folder.path().join("pids.done"), "").unwrap();
    assert_eq!(job.await.unwrap().unwrap().0, 1);
    let child = read_pids(&pids)[0];
    until("it is not kept", || !is_alive(child)).await;
    assert_eq!(pool.kept(), 0);
}

#[tokio::test]
async fn no_account_has_all_children() {
    let metrics = Metrics::new().children;
    let busy = PoolSettings {
        processes: 3,
        share: AccountShare::new(0),
        ..settings(&format!("{READY}{LISTEN} read -t 1 line; while :; do read -t 60 line; done"), 0)
    };
    let pool = Pool::new(starter(), busy, metrics.clone());
    let (many, other) = (AccountId::generate(), AccountId::generate());
    let working = || metrics.children.of(["test", "working"]).get();
    let run = |account| {
        let pool = pool.clone();
        tokio::spawn(async move { run_for(&pool, account).await })
    };
    let jobs: Vec<_> = (0..4).map(|_| run(many)).collect();
    until("its share works", || working() == 2).await;
    let theirs = run(other);
    until("the other's works beside it", || working() == 3).await;
    for job in jobs.into_iter().chain([theirs]) {
        job.abort();
    }
    until("all are gone", || working() == 0).await;
}

#[tokio::test]
async fn waiting_for_another_accounts_child_is_not_charged() {
    let busy =
        PoolSettings { processes: 1, ..settings(&format!("{READY}{LISTEN} sleep 1; {ANSWER} sleep 60"), 0) };
    let pool = Pool::new(starter(), busy, Metrics::new().children);
    let meters = [CostMeter::new(AccountId::generate()), CostMeter::new(AccountId::generate())];
    let began = Instant::now();
    let cost = async |meter: &CostMeter| {
        let turn = meter.begin_turn();
        run_for(&pool, meter).await.unwrap();
        drop(turn);
        meter.cost()
    };
    let (first, second) = tokio::join!(cost(&meters[0]), cost(&meters[1]));
    let (took, each) = (began.elapsed(), Duration::from_secs(1));
    assert!(first >= each && second >= each, "{first:?}, {second:?}");
    assert!(
        first + second <= took + each / 2,
        "one after the other: {first:?} + {second:?}, {took:?} in all"
    );
}

#[tokio::test]
async fn background_work_gets_a_fresh_child_and_a_free_slot() {
    let folder = tempfile::tempdir().unwrap();
    let pids = folder.path().join("pids");
    let listen = format!("head -c 68 > /dev/null; echo $$ >> {}; ", pids.display());
    let script = format!("while :; do {READY}{listen}{ANSWER} done");
    let settings = PoolSettings { kept: 2, child_jobs: 3, ..settings(&script, 0) };
    let pool = Pool::new(starter(), settings, Metrics::new().children);
    let account = AccountId::generate();
    run_for(&pool, account).await.unwrap();
    until("its child is kept", || pool.kept() == 1).await;
    let body = [Bytes::from_static(b"some bytes that make the frame long enough")];
    let header = json!({"what": "a job"});
    let job = Job { header: &header, body: &body, files: &|_: &str| None, environment: &[] };
    let background: Option<(u32, Bytes)> =
        pool.run_in_background(account, job, Duration::from_secs(10)).await.unwrap();
    assert!(background.is_some());
    until("both are kept", || pool.kept() == 2).await;
    let [first, fresh] = read_pids(&pids)[..] else { panic!("two jobs") };
    assert_ne!(first, fresh);

    let busy = PoolSettings {
        processes: 1,
        deadline: Duration::from_mins(1),
        ..self::settings(&format!("{READY}{LISTEN} sleep 60"), 0)
    };
    let metrics = Metrics::new().children;
    let pool = Pool::new(starter(), busy, metrics.clone());
    let (limit, started) = (Duration::from_secs(2), Instant::now());
    let background = || {
        pool.run_in_background::<_, u32>(
            account,
            Job { header: &header, body: &body, files: &|_: &str| None, environment: &[] },
            limit,
        )
    };
    assert!(matches!(background().await, Err(WorkerError::Deadline)), "of its own");
    let job = tokio::spawn({
        let pool = pool.clone();
        async move { run_for(&pool, account).await }
    });
    until("the job works", || metrics.children.of(["test", "working"]).get() == 1).await;
    assert!(matches!(background().await, Ok(None)), "the only slot is a job's");
    job.abort();
    assert!(started.elapsed() < Duration::from_secs(30));
}

#[tokio::test]
async fn a_child_that_cannot_start_is_reported_from_one_that_fails() {
    let error = run_in(settings("echo no library >&2; exit 3", 0)).await.unwrap_err();
    assert!(matches!(&error, WorkerError::NotStarted(why) if why.contains("no library")), "{error}");
    let slow = PoolSettings { start_timeout: Duration::from_millis(50), ..settings("sleep 60", 0) };
    let error = run_in(slow).await.unwrap_err();
    assert!(
        matches!(&error, WorkerError::NotStarted(why) if why.contains("not ready after 50 ms")),
        "{error}"
    );
    let error = run_in(settings(&format!("{READY}{LISTEN} echo broken >&2; exit 4"), 0)).await.unwrap_err();
    let WorkerError::Died { status, stderr } = error else { panic!("{error}") };
    assert_eq!((status.code(), stderr.as_str()), (Some(4), "broken"));
}

#[tokio::test]
async fn a_child_that_breaks_the_protocol_is_dropped() {
    let cases = [
        (r"printf '\x02\0\0\0\0\0\0\0\0\0\0\0{}'", "protocol"),
        (r"printf '\xff\xff\xff\xff\0\0\0\0\0\0\0\0'", "protocol"),
        (r#"printf '\x07\0\0\0\0\0\0\0\0\0\0\0"ready"'"#, "protocol"),
        (r#"printf '\x0a\0\0\0\x06\0\0\0\0\0\0\0{"done":1}hello!'"#, "too long"),
        (r#"printf '\x0a\0\0\0\xff\xff\xff\xff\xff\xff\xff\xff{"done":1}'"#, "too long"),
        (r#"printf '\x0a\0\0\0\x05\0\0\0\0\0\0\0{"done":1}hell'"#, "without an answer"),
    ];
    for (speech, words) in cases {
        let error = run_in(settings(&format!("{READY}{LISTEN}{speech}"), 0)).await.unwrap_err();
        assert!(error.to_string().contains(words), "{speech}: {error}");
    }
}

#[tokio::test]
async fn a_child_is_killed_at_its_deadline_and_on_cancel() {
    let folder = tempfile::tempdir().unwrap();
    let pids = folder.path().join("pids");
    let script = format!("{READY}{LISTEN} sleep 600 & echo $! >> {0}; echo $$ >> {0}; wait", pids.display());
    let late = PoolSettings { deadline: Duration::from_millis(300), ..settings(&script, 0) };
    let error = run_in(late).await.unwrap_err();
    assert!(matches!(error, WorkerError::Deadline), "{error}");
    until("the whole group is dead", || !read_pids(&pids).into_iter().any(is_alive)).await;

    let pool = Pool::new(starter(), settings(&script, 0), Metrics::new().children);
    let before = read_pids(&pids).len();
    let job = tokio::spawn(async move { run(&pool).await });
    until("the child is at work", || read_pids(&pids).len() == before + 2).await;
    assert!(read_pids(&pids).into_iter().any(is_alive));
    job.abort();
    until("the whole group is dead", || !read_pids(&pids).into_iter().any(is_alive)).await;
}

#[tokio::test]
async fn a_spare_that_died_is_replaced() {
    let folder = tempfile::tempdir().unwrap();
    let pids = folder.path().join("pids");
    let script = format!("echo $$ >> {}; {READY}{LISTEN}{ANSWER}", pids.display());
    let pool = Pool::new(starter(), settings(&script, 1), Metrics::new().children);
    until("a spare waits", || pool.spares() == 1).await;
    let spare = read_pids(&pids)[0];
    nix::sys::signal::kill(
        nix::unistd::Pid::from_raw(i32::try_from(spare).unwrap()),
        nix::sys::signal::Signal::SIGKILL,
    )
    .unwrap();
    until("the spare is dead", || !is_alive(spare)).await;
    assert_eq!(run(&pool).await.unwrap().0, 1);
}

#[tokio::test]
async fn no_more_run_at_once_than_allowed() {
    let folder = tempfile::tempdir().unwrap();
    // Each child counts those that are there: a folder for each, made while it works.
    let script = format!(
        "cd {}; {READY}{LISTEN} mkdir at-work-$$; ls -d at-work-* | wc -l >> most; \
         for n in 1 2 3; do /bin/true; done; rmdir at-work-$$; {ANSWER} sleep 60",
        folder.path().display()
    );
    let pool = Pool::new(starter(), settings(&script, 2), Metrics::new().children);
    let jobs: Vec<_> = (0..10)
        .map(|_| {
            tokio::spawn({
                let pool = pool.clone();
                async move { run(&pool).await }
            })
        })
        .collect();
    for job in jobs {
        job.await.unwrap().unwrap();
    }
    let most = read_pids(&folder.path().join("most"));
    assert_eq!(most.len(), 10);
    assert!(most.iter().all(|&count| count <= 2), "{most:?}");
}
