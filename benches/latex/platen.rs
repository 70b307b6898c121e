//! The service over HTTP: a document is rendered in one request and downloaded in another.

use std::io;
use std::time::Duration;

use serde_json::json;

use crate::Way;
use crate::common::program::{Program, make_account};
use crate::common::usage::{Stat, engines, process_time};
use crate::documents::Document;

/// A service that uses no processor time for so long is idle.
const IDLE_AFTER: Duration = Duration::from_millis(300);
/// One process of template code at work, and one of each kind that waits.
const SETTINGS: [(&str, &str); 4] = [
    ("PLATEN__ASSEMBLE__SPARES", "1"),
    ("PLATEN__ASSEMBLE__KEPT", "1"),
    ("PLATEN__ASSEMBLE__PROCESSES", "1"),
    ("PLATEN__BROWSER__TABS", "1"),
];

/// What becomes of preambles that come again.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Preambles {
    /// Each document reads its own.
    EachTime,
    /// They are read ahead.
    Ahead,
}

/// A running service.
pub struct Service {
    program: Program,
    preambles: Preambles,
    _folder: tempfile::TempDir,
}

impl Service {
    /// Starts it and waits until it is ready.
    pub fn start(preambles: Preambles) -> io::Result<Self> {
        let folder = tempfile::tempdir()?;
        let token = make_account(folder.path(), "bench")?;
        let limit = if preambles == Preambles::Ahead { "256" } else { "0" };
        let settings = [&SETTINGS[..], &[("PLATEN__TEX__FORMATS_LIMIT_MB", limit)]].concat();
        let program = Program::start(folder.path(), token, &settings)?;
        program.runtime.block_on(program.ready())?;
        Ok(Self { program, preambles, _folder: folder })
    }

    /// Waits until nothing is made beside the jobs.
    fn settle(&self) {
        let mut last = [Duration::MAX; 2];
        // A format is made by a child process, whose processor time grows.
        while self.used() != last {
            last = self.used();
            std::thread::sleep(IDLE_AFTER);
        }
    }
}

impl Way for Service {
    fn name(&self) -> &'static str {
        match self.preambles {
            Preambles::EachTime => "Platen, no preamble read ahead",
            Preambles::Ahead => "Platen, preamble read ahead",
        }
    }

    fn make(&mut self, document: &Document) -> io::Result<Vec<u8>> {
        let body = json!({
            "type": "latex",
            "target": "pdf",
            "template": document.template,
            "data": document.data,
        });
        self.program.runtime.block_on(self.program.render(body.to_string()))
    }

    fn wait_until_idle(&self) {
        self.settle();
    }

    fn used(&self) -> [Duration; 2] {
        let id = self.program.id();
        let ended = Stat::of(id).map(|stat| stat.ended_time()).unwrap_or_default();
        let living: Duration = engines(id).into_iter().map(process_time).sum();
        [ended, living + process_time(id)]
    }

    fn is_service(&self) -> bool {
        true
    }
}
