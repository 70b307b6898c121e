//! Every fault at every step of a job: nothing acknowledged is lost, nothing is half visible, and what is refused is refused
//! for that fault. Each test walks through the steps of each operation until one ends without having met the fault.
//!
//! Faults are those of a whole process. So each test runs again, alone in one, and kills come to a process a kill.

mod kill;
mod operation;
mod state;

use std::cell::Cell;
use std::time::Duration;

use platen::domain::ids::AccountId;
use platen::failpoint::{self, Fault};
use platen::jobs::registry::requests::ResumeJobs;
use platen::jobs::registry::shutdown::StopJobs;
use platen::problem::Code;
use strum::VariantArray as _;

use crate::fault_file::{FaultFile, alone_with_each};
use crate::faults::operation::{Case, Operation};
use crate::service::TestService;

/// More steps than any operation has.
const STEPS_LIMIT: u64 = 60;
/// Inputs beyond this are objects. No engine is made ahead, and none is waited for.
const SETTINGS: [(&str, &str); 2] = [("jobs.journaled_input_limit_bytes", "100"), ("assemble.spares", "0")];

#[actix::test]
async fn a_full_disk_at_any_step_of_a_job_loses_nothing() {
    let name = "faults::a_full_disk_at_any_step_of_a_job_loses_nothing";
    walk(name, &[Fault::DiskFull, Fault::DiskFullOnce]).await;
}

#[actix::test]
async fn a_store_that_fails_at_any_step_of_a_job_loses_nothing() {
    let name = "faults::a_store_that_fails_at_any_step_of_a_job_loses_nothing";
    walk(name, &[Fault::StoreFails, Fault::StoreFailsOnce]).await;
}

#[actix::test]
async fn between_any_two_slow_steps_of_a_job_nothing_is_half_visible() {
    let name = "faults::between_any_two_slow_steps_of_a_job_nothing_is_half_visible";
    walk(name, &[Fault::Slow]).await;
}

#[actix::test]
async fn a_clock_that_goes_back_at_any_step_of_a_job_changes_nothing() {
    let name = "faults::a_clock_that_goes_back_at_any_step_of_a_job_changes_nothing";
    walk(name, &[Fault::ClockBack]).await;
}

/// Runs the test again in a process for each fault; there it goes through all steps of all operations.
async fn walk(name: &'static str, faults: &[Fault]) {
    let Some((file, fault)) = alone_with_each(name, faults).await else { return };
    let mut bench = Bench::new(file).await;
    for &operation in Operation::VARIANTS {
        let mut met = 0;
        while Some(met) != operation.last_step(fault) && bench.run(operation, fault, met + 1).await {
            met += 1;
            assert!(met < STEPS_LIMIT, "{operation:?} does not end");
        }
        println!("{operation:?} met {fault:?} at {met} steps");
        let fewest = operation.fewest_steps(fault);
        assert!(met >= fewest, "{operation:?} met {fault:?} at {met} steps only, of {fewest}");
    }
}

/// The service that the faults come to, one case after the other.
struct Bench {
    folder: tempfile::TempDir,
    service: TestService,
    account: AccountId,
    file: FaultFile,
    cases: u64,
    /// Documents that the account has used so far.
    documents: usize,
}

impl Bench {
    async fn new(file: FaultFile) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let mut service = TestService::open(folder.path(), 2, &SETTINGS, None).await;
        service.account("one", None).await;
        let account = service.accounts["one"];
        Self { folder, service, account, file, cases: 0, documents: 0 }
    }

    /// One operation with one fault; whether it met it.
    async fn run(&mut self, operation: Operation, fault: Fault, number: u64) -> bool {
        let when = format!("{operation:?} with {fault:?} at step {number}");
        self.cases += 1;
        let case = operation.prepare(&self.service, self.cases).await;
        self.file.arm(fault, number);
        let was_slow = Cell::new(false);
        let watch = async {
            while !failpoint::is_met() {
                tokio::time::sleep(Duration::from_millis(1)).await; // poll
            }
            self.service.assert_named_are_there(&when).await;
            if fault == Fault::Slow {
                was_slow.set(self.file.disarm());
            }
            std::future::pending::<()>().await;
        };
        let act = async {
            let answer = operation.act(&self.service, &case).await;
            self.service.background().await;
            answer
        };
        let answer = tokio::select! {
            biased;
            () = watch => unreachable!("it never ends"),
            answer = act => answer,
        };
        let was_met = self.file.disarm() || was_slow.get();
        let is_broken = self.service.is_index_broken().await;
        if is_broken {
            self.restart().await;
        }
        assert_honest(answer, fault, is_broken, &when);
        self.documents += verify(&self.service, operation, &case, (answer, fault), &when).await;
        assert_eq!(self.service.documents(&when).await, self.documents, "{when}: documents");
        self.service.assert_nothing_stays(&when).await;
        was_met
    }

    async fn restart(&mut self) {
        let service = &self.service;
        service.registry.send(StopJobs { grace: Duration::ZERO }).await.unwrap();
        service.index.close().await;
        let passed_ms = service.passed_ms.load(std::sync::atomic::Ordering::SeqCst);
        self.service = reopen(self.folder.path(), self.account, passed_ms).await;
    }
}

/// A service on a folder that an earlier one used, with its account, when so much time has passed.
async fn reopen(folder: &std::path::Path, account: AccountId, passed_ms: u64) -> TestService {
    let mut service = TestService::open(folder, 2, &SETTINGS, None).await;
    service.accounts.insert("one", account);
    service.pass(passed_ms);
    let unfinished = service.journal.unfinished().await.unwrap();
    service.context.restore_stored_inputs(&unfinished).await;
    service.registry.send(ResumeJobs(unfinished)).await.unwrap();
    service
}

/// Looks at everything when the fault is gone; how many documents were made.
async fn verify(
    service: &TestService,
    operation: Operation,
    case: &Case,
    (answer, fault): (Result<(), Code>, Fault),
    when: &str,
) -> usize {
    service.assert_named_are_there(when).await;
    service.assert_template_is_whole(case, when).await;
    if answer.is_err() {
        operation.repeat(service, case).await;
    }
    if operation.is_sweep() {
        service.sweep_all().await;
    }
    if answer.is_ok() || operation.is_repeated() {
        service.assert_done(operation, case, when).await;
    }
    if !operation.runs() {
        service.assert_counted(when).await;
    }
    let may_fail = !matches!(fault, Fault::Abort | Fault::Slow | Fault::ClockBack);
    let made = service.finish((operation, case), may_fail, when).await;
    service.assert_counted(when).await;
    made + usize::from(operation.has_document())
}

/// What is refused is refused for the fault, and by its code.
fn assert_honest(answer: Result<(), Code>, fault: Fault, is_broken: bool, when: &str) {
    let may_refuse = match fault {
        Fault::DiskFull | Fault::DiskFullOnce | Fault::StoreFails | Fault::StoreFailsOnce => true,
        Fault::Abort | Fault::Slow | Fault::ClockBack => false,
    };
    match answer {
        Ok(()) => {}
        // The service cannot know whether it was written, and says what its operator must do.
        Err(Code::Internal) => assert!(is_broken, "{when}: an internal error"),
        Err(code) => assert!(may_refuse && code == Code::Overloaded, "{when}: refused as {code:?}"),
    }
}
