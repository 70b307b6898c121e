//! The job registry and its actors over the real index, store and accounts: what no HTTP client can
//! cause at will. Documents are html pages, which need no browser.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use actix::prelude::*;
use bytes::Bytes;
use platen::app::Engines;
use platen::clock::{Clock, SystemClock, Timestamp};
use platen::config::Config;
use platen::domain::fault::FaultCode;
use platen::domain::ids::{AccountId, JobId};
use platen::domain::job::JobState;
use platen::domain::kinds::{Target, TemplateKind};
use platen::jobs::deps::Deps;
use platen::jobs::journal::Journal;
use platen::jobs::messages::{InitJob, JobSpec, StartJob, WatchJob};
use platen::jobs::record::JobRecord;
use platen::jobs::registry::JobRegistry;
use platen::jobs::view::JobView;
use platen::jobs::ResumeJobs;
use platen::problem::{Code, Problem};
use platen::storage::disk::DiskStore;
use platen::storage::folder::DataDir;
use platen::storage::index::{Change, Index, SledIndex};
use tokio::sync::watch;

mod house;
