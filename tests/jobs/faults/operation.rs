//! What is done to jobs while a fault comes.

use bytes::Bytes;
use platen::domain::error::Warnings;
use platen::domain::format_opts::{Password, Passwords, Secrets};
use platen::domain::ids::JobId;
use platen::failpoint::Fault;
use platen::jobs::messages::{CloseUpload, Idempotency, InitJob, InputPart, OpenUpload, StartJob};
use platen::jobs::registry::delete::{DeleteJob, DeleteOutcome};
use platen::problem::{Code, Problem};

use crate::fault_file::until;
use crate::retention::DAY_MS;
use crate::service::{PATIENCE, TestService, View, html_spec};

/// Larger than what the journal keeps, so that inputs are objects.
const LARGE: usize = 400;

/// One thing that a caller asks, or a sweep does, of one job.
#[derive(Clone, Copy, Debug, PartialEq, Eq, strum::VariantArray, strum::EnumString)]
pub enum Operation {
    Init,
    InitLarge,
    InitWithKey,
    Immediate,
    Upload,
    UploadAgain,
    Run,
    CancelOpen,
    CancelRunning,
    Delete,
    Expire,
    SweepDocument,
    SweepRecord,
}

/// A job and what it must become.
pub struct Case {
    /// The job that was there before, if there was one.
    pub job: Option<JobId>,
    /// Its template is one of these, and so is its document. The last one is that of the operation.
    pub templates: Vec<String>,
    number: u64,
}

impl Operation {
    /// The fewest steps at which the fault can meet it: before and after each object that it writes or deletes, and each
    /// change of the index.
    pub fn fewest_steps(self, fault: Fault) -> u64 {
        let (index, written, deleted) = match self {
            Self::Init | Self::InitWithKey => (1, 0, 0),
            // Data, template, secret.
            Self::InitLarge | Self::Immediate => (1, 3, 0),
            Self::Upload | Self::UploadAgain => (0, 1, 0),
            Self::Run => (4, 1, 3),
            // A document that may be there is deleted too.
            Self::CancelOpen | Self::CancelRunning | Self::Delete | Self::SweepRecord => (2, 0, 4),
            // The mark of the time, as well.
            Self::Expire => (3, 0, 4),
            Self::SweepDocument => (2, 0, 1),
        };
        2 * match fault {
            Fault::Abort | Fault::ClockBack | Fault::Slow => index + written + deleted,
            Fault::DiskFull | Fault::DiskFullOnce => index + written,
            Fault::StoreFails | Fault::StoreFailsOnce => written + deleted,
        }
    }

    /// The last step to be looked at: from its answer on, a job that is started at once is as any run.
    pub fn last_step(self, fault: Fault) -> Option<u64> {
        (self == Self::Immediate).then(|| self.fewest_steps(fault))
    }

    /// Whether its job has made its document before.
    pub fn has_document(self) -> bool {
        matches!(self, Self::Delete | Self::SweepDocument | Self::SweepRecord)
    }

    /// Whether it starts a job.
    pub fn runs(self) -> bool {
        matches!(self, Self::Immediate | Self::Run)
    }

    pub fn is_sweep(self) -> bool {
        matches!(self, Self::Expire | Self::SweepDocument | Self::SweepRecord)
    }

    /// Whether its caller repeats it when it fails.
    pub fn is_repeated(self) -> bool {
        let is_single = matches!(self, Self::Init | Self::InitLarge | Self::Immediate | Self::Run);
        !is_single && !self.is_sweep()
    }

    /// The state before it.
    pub async fn prepare(self, service: &TestService, number: u64) -> Case {
        let mut case = Case::of(self, number);
        let job = match self {
            Self::Init | Self::InitLarge | Self::InitWithKey | Self::Immediate => return case,
            Self::Upload | Self::UploadAgain => service.init("one", "", false).await,
            Self::Run | Self::CancelOpen | Self::Expire => service.init_large(&case, false).await,
            Self::CancelRunning | Self::Delete | Self::SweepDocument | Self::SweepRecord => {
                service.init_large(&case, true).await
            }
        };
        let mut job = job.unwrap();
        case.job = Some(job.borrow().id);
        if self == Self::UploadAgain {
            service.upload_template(&case, &case.templates[0]).await.unwrap();
        } else if self == Self::CancelRunning {
            let started = job.wait_for(|view| view.started_at.is_some());
            tokio::time::timeout(PATIENCE, started).await.unwrap().unwrap();
        } else if self.has_document() {
            assert!(service.ended(&job).await.output.is_some());
            service.until_objects(1).await;
        }
        match self {
            Self::Expire => service.pass(2 * DAY_MS),
            Self::SweepDocument => service.pass(8 * DAY_MS),
            Self::SweepRecord => {
                // The document goes first; the record waits for its own time.
                service.pass(8 * DAY_MS);
                service.sweep().await;
                service.pass(32 * DAY_MS);
            }
            Self::Init
            | Self::InitLarge
            | Self::InitWithKey
            | Self::Immediate
            | Self::Upload
            | Self::UploadAgain
            | Self::Run
            | Self::CancelOpen
            | Self::CancelRunning
            | Self::Delete => {}
        }
        case
    }

    /// Does it once. Sweeps answer nobody.
    pub async fn act(self, service: &TestService, case: &Case) -> Result<(), Code> {
        match self {
            Self::Init => service.init_with("one", &case.templates[0], false, None).await.map(drop),
            Self::InitLarge => service.init_large(case, false).await.map(drop),
            Self::InitWithKey => service.init_with_key(case).await.map(drop),
            Self::Immediate => {
                let started = service.init_large(case, true).await;
                if let Ok(job) = &started {
                    under_fault(job).await;
                }
                started.map(drop)
            }
            Self::Upload | Self::UploadAgain => {
                service.upload_template(case, case.templates.last().unwrap()).await
            }
            Self::Run => {
                let start = StartJob {
                    account: service.accounts["one"],
                    job: case.job(),
                    deliver_to: None,
                    warnings: Warnings::default(),
                };
                let started = service.registry.send(start).await.unwrap();
                if let Ok(job) = &started {
                    under_fault(job).await;
                }
                started.map(drop)
            }
            Self::CancelOpen | Self::CancelRunning | Self::Delete => service.erase(case).await.map(drop),
            Self::Expire | Self::SweepDocument | Self::SweepRecord => {
                // What fails is done by the next sweep.
                drop(service.sweeper().sweep().await);
                Ok(())
            }
        }
        .map_err(|problem| problem.code)
    }

    /// What its caller does when it failed: the same again.
    pub async fn repeat(self, service: &TestService, case: &Case) {
        match self {
            Self::InitWithKey => drop(service.init_with_key(case).await.unwrap()),
            Self::Upload | Self::UploadAgain => {
                service.upload_template(case, case.templates.last().unwrap()).await.unwrap();
            }
            Self::CancelOpen | Self::CancelRunning => {
                let cancelled = service.erase(case).await;
                assert!(matches!(cancelled, Ok(DeleteOutcome::Ended(_))), "{cancelled:?}");
            }
            Self::Delete => {
                let deleted = service.erase(case).await.map_err(|problem| problem.code);
                let is_gone = matches!(deleted, Ok(DeleteOutcome::Deleted) | Err(Code::JobNotFound));
                assert!(is_gone, "{deleted:?}");
            }
            Self::Init
            | Self::InitLarge
            | Self::Immediate
            | Self::Run
            | Self::Expire
            | Self::SweepDocument
            | Self::SweepRecord => {}
        }
    }
}

impl Case {
    /// That of an operation, before its job is made.
    pub fn of(operation: Operation, number: u64) -> Self {
        let page = |name| format!("<p>{name} {number}</p>{}", "x".repeat(LARGE));
        let templates = if operation == Operation::CancelRunning {
            vec![format!("<% for (;;) {{}} %>{}", page("endless"))]
        } else if operation == Operation::UploadAgain {
            vec![page("first"), page("second, and longer")]
        } else {
            vec![page("only")]
        };
        Self { job: None, templates, number }
    }

    pub fn job(&self) -> JobId {
        self.job.unwrap()
    }
}

/// Waits for the end of a run, as long as a fault lets it end.
async fn under_fault(job: &View) {
    // A view closes when its job is evicted: it has ended.
    until(async || job.has_changed().is_err() || job.borrow().is_done()).await;
}

impl TestService {
    /// A job whose data, template and secrets are objects.
    async fn init_large(&self, case: &Case, start: bool) -> Result<View, Problem> {
        let passwords = Passwords { user: Password::new("secret".to_owned()), owner: None };
        let spec = html_spec(Secrets { passwords, ..Secrets::default() });
        let data = Some(Bytes::from(format!("{{\"pad\": \"{}\"}}", "x".repeat(LARGE))));
        let template = Some(Bytes::copy_from_slice(case.templates[0].as_bytes()));
        let account = self.accounts["one"];
        let (deliver_to, refusal, idempotency, request_id) = (None, None, None, None);
        let message =
            InitJob { account, spec, data, template, start, deliver_to, refusal, idempotency, request_id };
        self.registry.send(message).await.unwrap()
    }

    async fn init_with_key(&self, case: &Case) -> Result<View, Problem> {
        let mut key = [0; 32];
        key[..8].copy_from_slice(&case.number.to_le_bytes());
        let idempotency = Some(Idempotency { key, request: [7; 32] });
        self.init_with("one", &case.templates[0], false, idempotency).await
    }

    /// Cancels or deletes the case's job.
    async fn erase(&self, case: &Case) -> Result<DeleteOutcome, Problem> {
        self.registry.send(DeleteJob { account: self.accounts["one"], job: case.job() }).await.unwrap()
    }

    /// Uploads a template to the case's job, as the handler does it.
    async fn upload_template(&self, case: &Case, template: &str) -> Result<(), Problem> {
        let (account, job) = (self.accounts["one"], case.job());
        let (part, bytes) = (InputPart::Template, Bytes::from(template.to_owned()));
        let opened = self.registry.send(OpenUpload { account, job, part, limit_bytes: 10_000 }).await;
        let mut upload = opened.unwrap()?;
        upload.count(bytes.len())?;
        upload.write(bytes).await?;
        self.registry.send(CloseUpload { account, job, part, upload }).await.unwrap()
    }
}
