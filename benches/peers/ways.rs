//! A way to make documents that can be measured: a floor, the service, a peer.

use std::io;

use crate::common::document::Document;
use crate::common::figures::Figures;
use crate::common::floor::Floor;
use crate::common::service::Service;
use crate::common::supply::Kind;

/// One way.
pub trait Way {
    /// Its name in the table.
    fn name(&self) -> String;

    /// Renders `documents` times, `clients` at once, after a few that warm up.
    fn measure(&mut self, document: &Document, clients: usize, documents: usize) -> io::Result<Figures>;
}

/// One of the floors.
pub struct Bare<'a> {
    pub floor: &'a Floor,
    pub kind: Kind,
}

impl Way for Bare<'_> {
    fn name(&self) -> String {
        format!("floor, {}", self.kind)
    }

    fn measure(&mut self, document: &Document, clients: usize, documents: usize) -> io::Result<Figures> {
        self.floor.measure(self.kind, document, clients, documents)
    }
}

/// The service, of this version or of another.
pub struct Platen<'a> {
    pub service: &'a Service,
    pub name: &'static str,
}

impl Way for Platen<'_> {
    fn name(&self) -> String {
        self.name.to_owned()
    }

    fn measure(&mut self, document: &Document, clients: usize, documents: usize) -> io::Result<Figures> {
        self.service.measure(document, clients, documents)
    }
}
