//! kill -9 at every step of a job. The child does one operation and is killed; this process is the service's next start.
//! Operations whose steps are all those of another one are left to the other faults.

use std::io::Write as _;
use std::os::unix::process::ExitStatusExt as _;
use std::path::{Path, PathBuf};
use std::sync::atomic::Ordering;

use platen::domain::ids::JobId;
use platen::failpoint::Fault;
use platen::problem::Code;

use super::{SETTINGS, STEPS_LIMIT, reopen, verify};
use crate::fault_file::{FaultFile, alone, output_of, text};
use crate::faults::operation::{Case, Operation};
use crate::service::TestService;

/// For the child: operation, number of the case, account, the step at which it is killed, and the folder.
const CASE: &str = "PLATEN_TEST_FAULT_CASE";
const SIGKILL: i32 = 9;

#[actix::test]
async fn a_kill_at_any_step_until_a_job_has_ended_loses_nothing() {
    let operations =
        [Operation::Init, Operation::InitLarge, Operation::Immediate, Operation::UploadAgain, Operation::Run];
    kill_everywhere("faults::kill::a_kill_at_any_step_until_a_job_has_ended_loses_nothing", &operations)
        .await;
}

#[actix::test]
async fn a_kill_at_any_step_of_a_cancel_a_deletion_or_a_sweep_loses_nothing() {
    let operations = [
        Operation::CancelRunning,
        Operation::Delete,
        Operation::Expire,
        Operation::SweepDocument,
        Operation::SweepRecord,
    ];
    let name = "faults::kill::a_kill_at_any_step_of_a_cancel_a_deletion_or_a_sweep_loses_nothing";
    kill_everywhere(name, &operations).await;
}

async fn kill_everywhere(name: &'static str, operations: &[Operation]) {
    if let Some(file) = FaultFile::of_this_process() {
        return until_killed(&file).await;
    }
    let folder = tempfile::tempdir().unwrap();
    let mut service = TestService::open(folder.path(), 2, &SETTINGS, None).await;
    service.account("one", None).await;
    let account = service.accounts["one"];
    service.index.close().await;
    let (mut cases, mut documents) = (0, 0);
    for &operation in operations {
        let mut killed = 0;
        while Some(killed) != operation.last_step(Fault::Abort) {
            cases += 1;
            let when = format!("{operation:?} killed at step {}", killed + 1);
            let path = folder.path().to_owned();
            let child = format!("{operation:?} {cases} {account} {}", killed + 1);
            let said = tokio::task::spawn_blocking(move || child_says(name, &path, &child)).await.unwrap();
            let service = reopen(folder.path(), account, said.passed_ms).await;
            let mut case = Case::of(operation, cases);
            case.job = said.job;
            documents += verify(&service, operation, &case, (said.answer, Fault::Abort), &when).await;
            assert_eq!(service.documents(&when).await, documents, "{when}: documents");
            service.assert_nothing_stays(&when).await;
            service.index.close().await;
            if !said.was_killed {
                break;
            }
            killed += 1;
            assert!(killed < STEPS_LIMIT, "{operation:?} does not end");
        }
        println!("{operation:?} was killed at {killed} steps");
        let fewest = operation.fewest_steps(Fault::Abort);
        assert!(killed >= fewest, "{operation:?} was killed at {killed} steps only, of {fewest}");
    }
}

/// What the child said before it was killed, or before it ended.
struct Said {
    job: Option<JobId>,
    passed_ms: u64,
    answer: Result<(), Code>,
    was_killed: bool,
}

fn child_says(name: &str, folder: &Path, case: &str) -> Said {
    let mut child = alone(name, folder);
    child.env(CASE, format!("{case} {}", folder.display()));
    let output = output_of(&mut child);
    let (out, errors) = (text(&output.stdout), text(&output.stderr));
    let was_killed = output.status.signal() == Some(SIGKILL);
    assert!(was_killed || output.status.success(), "{case}: {}\n{out}\n{errors}", output.status);
    let said = |what: &str| Some(out.split_once(what)?.1.split_whitespace().next()?.to_owned());
    let passed_ms =
        said("passed ").unwrap_or_else(|| panic!("{case} was not prepared: {out}")).parse().unwrap();
    // One that was not answered may be repeated, as one that was refused.
    let answer = said("answer ").filter(|answer| answer == "ok").map(drop).ok_or(Code::Overloaded);
    Said { job: said("job ").map(|job| job.parse().unwrap()), passed_ms, answer, was_killed }
}

/// The child: prepares the case, and does the operation until it is killed.
async fn until_killed(file: &FaultFile) {
    // The one before it was killed with its file in place.
    file.disarm();
    let case = std::env::var_os(CASE).unwrap().into_string().unwrap();
    let parts: Vec<_> = case.splitn(5, ' ').collect();
    let [operation, number, account, step, folder] = parts[..] else { panic!("{case}") };
    let operation: Operation = operation.parse().unwrap();
    let service = reopen(&PathBuf::from(folder), account.parse().unwrap(), 0).await;
    let case = operation.prepare(&service, number.parse().unwrap()).await;
    let say = |line: String| {
        let mut out = std::io::stdout().lock();
        writeln!(out, "{line}").and_then(|()| out.flush()).unwrap();
    };
    if let Some(job) = case.job {
        say(format!("job {job}"));
    }
    say(format!("passed {}", service.passed_ms.load(Ordering::SeqCst)));
    file.arm(Fault::Abort, step.parse().unwrap());
    let answer = operation.act(&service, &case).await;
    say(format!("answer {}", if answer.is_ok() { "ok" } else { "no" }));
    service.background().await;
    file.disarm();
    service.index.close().await;
}
