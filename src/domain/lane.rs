//! The two lanes of a page: whether script may run in it.

/// Which kind of tab a page needs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Lane {
    /// No script can run, execution is disabled in the tab. A tab is used again for pages of the same account.
    Static,
    /// Script may run. A tab may be used again for pages of the same account's same template (`browser.scripted_reuse`) and is
    /// cleaned in between; without reuse its browser context is disposed at the end of the job.
    Scripted,
}

/// One for each lane.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct PerLane<T> {
    /// Of pages without script.
    pub static_: T,
    /// Of pages with script.
    pub scripted: T,
}

impl Lane {
    /// The lane's name in logs and metrics.
    pub fn name(self) -> &'static str {
        match self {
            Self::Static => "static",
            Self::Scripted => "scripted",
        }
    }
}

impl<T> PerLane<T> {
    /// The value of `lane`.
    pub fn of_mut(&mut self, lane: Lane) -> &mut T {
        match lane {
            Lane::Static => &mut self.static_,
            Lane::Scripted => &mut self.scripted,
        }
    }
}

impl PerLane<usize> {
    /// The sum of both lanes.
    pub fn sum(self) -> usize {
        self.static_ + self.scripted
    }

    /// Each lane, repeated by its number.
    pub fn each(self) -> impl Iterator<Item = Lane> {
        let scripted = std::iter::repeat_n(Lane::Scripted, self.scripted);
        scripted.chain(std::iter::repeat_n(Lane::Static, self.static_))
    }

    /// Combines the numbers of each lane by `combine`.
    pub fn with(self, other: Self, combine: impl Fn(usize, usize) -> usize) -> Self {
        Self {
            static_: combine(self.static_, other.static_),
            scripted: combine(self.scripted, other.scripted),
        }
    }
}
