//! The processes that EJS runs in: no traces between jobs, their cage, how many run.

use std::fs::Permissions;
use std::os::unix::fs::PermissionsExt as _;

use bytes::Bytes;
use platen::config::AssembleConfig;
use platen::domain::error::ErrorCode;
use platen::domain::error::Warnings;
use platen::domain::ids::AccountId;
use platen::slots::AccountShare;
use platen::telemetry::metrics::Metrics;
use platen::workers::assemble::{AssembleLimits, assemble_child};
use platen::workers::{Job, Pool, PoolSettings, Starter, WorkerError};

use crate::ejs::{assembler, config, site};
use crate::processes::{DEADLINE, field, platen, platen_script, processes, somebody_else, starter, until};

#[tokio::test]
async fn no_job_sees_another() {
    let config = AssembleConfig { spares: 2, processes: 2, child_jobs: 3, ..config() };
    let assembler = assembler(&config);
    let text = "<%= globalThis.seen ?? 'fresh' %><% globalThis.seen = 'used'; Array.prototype.map = 1; \
                ({}).__proto__.seen = 'used'; %>";
    let site = site(&[("index.html", text)]);
    let (one, other) = (AccountId::generate(), AccountId::generate());
    for account in [one, one, other, one, one, other, one] {
        let page = assembler
            .assemble(account, &site, &Bytes::from_static(b"{}"), &mut Warnings::default())
            .await
            .unwrap();
        assert_eq!(page, "fresh");
    }
    // Neither 5 nor 2 is a multiple of 3: of each account at least one child has jobs left.
    until("a child of each is kept", || assembler.script.pool.kept() >= 2).await;
    until("the spares come back", || assembler.script.pool.spares() == 2).await;
}

#[tokio::test]
async fn a_child_that_needed_much_memory_is_not_kept() {
    let assembler = assembler(&AssembleConfig { spares: 1, ..config() });
    let account = AccountId::generate();
    let small = site(&[("index.html", "<%= 1 %>")]);
    assembler.assemble(account, &small, &Bytes::from_static(b"{}"), &mut Warnings::default()).await.unwrap();
    until("the child is kept", || assembler.script.pool.kept() == 1).await;
    let large = site(&[("index.html", "<%= 'x'.repeat(80e6).length %>")]);
    assembler.assemble(account, &large, &Bytes::from_static(b"{}"), &mut Warnings::default()).await.unwrap();
    until("its replacement waits", || assembler.script.pool.spares() == 1).await;
    assert_eq!(assembler.script.pool.kept(), 0);
}

#[tokio::test]
async fn the_child_is_locked_in_before_it_has_a_job() {
    let assembler = assembler(&AssembleConfig { spares: 1, ..config() });
    until("a spare waits", || assembler.script.pool.spares() == 1).await;
    let spares = assembling();
    assert!(!spares.is_empty());
    for pid in spares {
        // A child of another test may end meanwhile, or has only begun to lock itself in.
        let has = |name: &str, value: &str| field(pid, name).is_none_or(|found| found == value);
        until("three filters are on", || has("Seccomp_filters:", "3")).await;
        assert!(has("NoNewPrivs:", "1"));
        assert!(has("Threads:", "1"));
        if somebody_else().is_some() {
            assert!(has("CapBnd:", "0000000000000000"));
            assert!(has("Uid:", "65534\t65534\t65534\t65534"));
        }
    }
}

#[tokio::test]
async fn the_program_may_lie_where_the_childs_user_cannot_go() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::set_permissions(folder.path(), Permissions::from_mode(0o700)).unwrap();
    let program = folder.path().join("platen");
    std::fs::copy(platen(), &program).unwrap();
    std::fs::copy(platen_script(), folder.path().join("platen-script")).unwrap();
    let starter = Starter::new(program).unwrap();
    let assembler = crate::assembler::assembler(starter, &config(), Metrics::new().children);
    let page = assembler
        .assemble(
            AccountId::generate(),
            &site(&[("index.html", "<%= 1 + 1 %>")]),
            &Bytes::from_static(b"{}"),
            &mut Warnings::default(),
        )
        .await;
    assert_eq!(page.unwrap(), "2");
}

/// Our children that are past `platen exec`.
fn assembling() -> Vec<u32> {
    let ours = std::process::id().to_string();
    let command = |pid| std::fs::read(format!("/proc/{pid}/cmdline")).unwrap_or_default();
    let is_assembling = |pid: &u32| String::from_utf8_lossy(&command(*pid)).contains("assemble-child");
    let pids = processes().into_iter().filter(|&pid| field(pid, "PPid:").as_deref() == Some(&*ours));
    pids.filter(is_assembling).collect()
}

#[tokio::test(flavor = "multi_thread")]
async fn jobs_run_side_by_side() {
    let assembler = assembler(&AssembleConfig { timeout_ms: 2_000, ..config() });
    let good = site(&[("index.html", "<%= n * 2 %>")]);
    let endless = site(&[("index.html", "<% for (;;) {} %>")]);
    let jobs = (0..12).map(|n| {
        let (assembler, good, endless) = (assembler.clone(), good.clone(), endless.clone());
        tokio::spawn(async move {
            let site = if n == 0 { endless } else { good };
            (
                n,
                assembler
                    .assemble(
                        AccountId::generate(),
                        &site,
                        &Bytes::from(format!("{{\"n\":{n}}}")),
                        &mut Warnings::default(),
                    )
                    .await,
            )
        })
    });
    for job in jobs.collect::<Vec<_>>() {
        let (n, page) = job.await.unwrap();
        if n == 0 {
            assert_eq!(page.unwrap_err().code, ErrorCode::TemplateLimit);
        } else {
            assert_eq!(page.unwrap(), (n * 2).to_string());
        }
    }
}

#[tokio::test]
async fn a_program_that_cannot_start_says_why() {
    let folder = tempfile::tempdir().unwrap();
    let missing = folder.path().join("platen-script");
    let lost = folder.path().join("lost");
    // What the dynamic loader says where a library is missing.
    let complaint =
        "error while loading shared libraries: libjavascriptcoregtk-6.0.so.1: cannot open shared object file";
    std::fs::write(&lost, format!("#!/bin/sh\necho '{complaint}' >&2\nexit 127\n")).unwrap();
    std::fs::set_permissions(&lost, Permissions::from_mode(0o755)).unwrap();
    let limits = AssembleLimits { memory_bytes: 64 << 20, output_bytes: 1_000, include_depth: 1, cpu_s: 1 };
    for (program, words) in [(missing, "No such file or directory"), (lost, "libjavascriptcoregtk-6.0.so.1")]
    {
        let metrics = Metrics::new();
        let path = program.display().to_string();
        let settings = PoolSettings {
            name: "assemble",
            spec: assemble_child(program, limits, "UTC", None),
            spares: 1,
            kept: 0,
            child_jobs: 1,
            processes: 1,
            share: AccountShare::whole(),
            waiting: 1,
            start_timeout: DEADLINE,
            undisturbed: DEADLINE,
            deadline: DEADLINE,
            still: DEADLINE,
            answer_limit_bytes: 1_000,
            resident_limit_bytes: None,
            server: None,
        };
        let pool = Pool::new(starter(), settings, metrics.children.clone());
        for _ in 0..3 {
            let job = Job { header: &(), body: &[], files: &|_: &str| None, environment: &[] };
            let error = pool.run::<_, ()>(AccountId::generate(), job).await.unwrap_err();
            let message = error.to_string();
            assert!(matches!(error, WorkerError::NotStarted(_)), "{message}");
            assert!(message.contains(words), "{message}");
            assert!(words.starts_with("lib") || message.contains(&path), "{message}");
        }
        // A spare is tried once at the start, and not again by itself.
        let starting = metrics.children.children.of(["assemble", "starting"]);
        until("nothing is being started", || starting.get() == 0).await;
        assert_eq!(pool.spares(), 0);
    }
}
