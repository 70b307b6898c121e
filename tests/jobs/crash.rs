//! Kills a process in the middle of its sweeps: no record may name a document that is deleted.
//!
//! The test runs twice: as itself, and in a child process (chosen by an environment variable) as the sweeper.

use std::io::{BufRead as _, BufReader, Write as _};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

use platen::domain::ids::AccountId;
use platen::jobs::cleanup::sweeper::Swept;

use crate::retention::{DAY_MS, keep, output};
use crate::service::TestService;

const FOLDER: &str = "PLATEN_TEST_SWEEPER_FOLDER";
const DAYS: &str = "PLATEN_TEST_SWEEPER_DAYS";
const TEST: &str = "crash::kill_9_in_the_middle_of_a_sweep_leaves_no_document_half_deleted";
const JOBS: usize = 240;
/// Small, so that there are many sweeps to kill.
const SETTINGS: [(&str, &str); 2] = [("jobs.sweep_limit", "12"), ("jobs.sweep_objects_limit", "10")];

/// The child: sweeps until it is killed; writes a line to stdout for each sweep.
async fn sweep_until_killed(folder: &Path) {
    let service = TestService::open(folder, 1, &SETTINGS, None).await;
    let days: u64 = std::env::var_os(DAYS).unwrap().to_str().unwrap().parse().unwrap();
    service.pass(days * DAY_MS);
    let mut sweeper = service.sweeper();
    let say = |word: &str| {
        let mut out = std::io::stdout().lock();
        writeln!(out, "swept {word}").and_then(|()| out.flush()).unwrap();
    };
    say("begins");
    for number in 0.. {
        sweeper.sweep().await.unwrap();
        say(&number.to_string());
    }
}

/// Starts a sweeper whose clock is `days` ahead.
fn start_sweeper(folder: &Path, days: u64) -> Child {
    Command::new(std::env::current_exe().unwrap())
        .args(["--exact", TEST, "--nocapture", "--test-threads=1"])
        .env(FOLDER, folder)
        .env(DAYS, days.to_string())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .unwrap()
}

/// Kills the sweeper after so many sweeps and a moment more.
fn kill_after(child: &mut Child, sweeps: usize, spins: usize) {
    let lines = BufReader::new(child.stdout.take().unwrap()).lines().map_while(Result::ok);
    let seen = lines.filter(|line| line.contains("swept ")).take(sweeps + 1).count();
    assert_eq!(seen, sweeps + 1, "the sweeper ended by itself");
    for _ in 0..spins {
        std::thread::yield_now();
    }
    child.kill().unwrap();
    child.wait().unwrap();
}

/// Every document that a record names is there.
async fn assert_named_are_there(service: &TestService) -> usize {
    let mut documents = 0;
    for entry in service.index.scan("job/", None, usize::MAX).await.unwrap() {
        let mut ids = entry.key.split('/').skip(1);
        let (account, job) = (ids.next().unwrap().parse().unwrap(), ids.next().unwrap().parse().unwrap());
        let record = service.journal.read(account, job).await.unwrap().unwrap();
        if record.output.is_some() {
            assert!(
                service.store.head(&output(&record)).await.is_ok(),
                "{} is named and gone",
                output(&record)
            );
            documents += 1;
        }
    }
    documents
}

#[actix::test]
async fn kill_9_in_the_middle_of_a_sweep_leaves_no_document_half_deleted() {
    if let Some(folder) = std::env::var_os(FOLDER).map(PathBuf::from) {
        return sweep_until_killed(&folder).await;
    }
    let folder = tempfile::tempdir().unwrap();
    let service = TestService::open(folder.path(), 1, &[], None).await;
    let (account, now) = (AccountId::generate(), service.context.clock.now());
    for number in 0..JOBS {
        keep(&service, account, now.plus_ms(number as u64)).await;
    }
    let mut left = assert_named_are_there(&service).await;
    assert_eq!(left, JOBS);
    service.index.close().await;
    drop(service);
    // After 8 days documents are due, after 40 records too.
    for (round, days) in [8, 8, 8, 8, 40, 40, 40, 40].into_iter().enumerate() {
        let mut child = start_sweeper(folder.path(), days);
        let spins = (round % 5) * 400;
        tokio::task::spawn_blocking(move || kill_after(&mut child, round % 4, spins)).await.unwrap();
        let service = TestService::open(folder.path(), 1, &[], None).await;
        left = assert_named_are_there(&service).await.min(left);
        service.index.close().await;
    }
    assert!(left < JOBS, "nothing was swept before a kill");
    let service = TestService::open(folder.path(), 1, &[], None).await;
    service.pass(40 * DAY_MS);
    while service.sweep().await != Swept::default() {}
    assert_eq!((service.objects().await, service.keys().await), (0, Vec::new()));
}
