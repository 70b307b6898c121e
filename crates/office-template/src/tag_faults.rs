//! Faults of tags that are known by their numbers, with the places of these tags.

use crate::Template;
use crate::error::{Fault, Faults};
use crate::location::Locator;

impl Template {
    /// The faults of tags (their numbers, and what is wrong), with their places; `count` is how many there are.
    pub(crate) fn faults(&self, mut faults: Vec<(usize, String)>, count: usize) -> Faults {
        let count = count.max(faults.len());
        faults.sort_by_key(|&(id, _)| id);
        let reported = faults.into_iter().filter_map(|(id, message)| {
            let place = self.tags.get(id)?;
            let part = self.names.get(place.part)?;
            let fault = Fault::new(part, place.paragraph, &place.shown, &message);
            Some(Fault { spot: place.spot.clone(), ..fault })
        });
        let mut faults = Faults::new(reported.collect(), count);
        if !faults.first.is_empty() {
            let locator = self.locator();
            for fault in &mut faults.first {
                locator.locate(fault);
            }
        }
        faults
    }

    /// What finds the places of its tags.
    pub(crate) fn locator(&self) -> Locator {
        let are_given = self.delimiters.is_some();
        let mut locator = Locator::read(&self.file, self.family, are_given, &self.limits);
        for document in &self.documents {
            locator.add(document, are_given, &self.limits);
        }
        locator
    }
}
