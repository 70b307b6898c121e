//! The two lanes of a page: whether script may run in it.

/// Which tab a page may have.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Lane {
    /// No script can run (execution is disabled in the tab): it may have a tab that its account had before.
    Static,
    /// Script may run: a browser context of its own, disposed at the end of the job.
    Scripted,
}

/// One for each lane.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct PerLane<T> {
    /// Of pages without script.
    pub unscripted: T,
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
    /// That of `lane`.
    pub fn of_mut(&mut self, lane: Lane) -> &mut T {
        match lane {
            Lane::Static => &mut self.unscripted,
            Lane::Scripted => &mut self.scripted,
        }
    }
}

impl PerLane<usize> {
    /// Of both lanes together.
    pub fn sum(self) -> usize {
        self.unscripted + self.scripted
    }

    /// Each lane as often as its number says.
    pub fn each(self) -> impl Iterator<Item = Lane> {
        let scripted = std::iter::repeat_n(Lane::Scripted, self.scripted);
        scripted.chain(std::iter::repeat_n(Lane::Static, self.unscripted))
    }

    /// What `make` says of each lane's two numbers.
    pub fn with(self, other: Self, make: impl Fn(usize, usize) -> usize) -> Self {
        Self {
            unscripted: make(self.unscripted, other.unscripted),
            scripted: make(self.scripted, other.scripted),
        }
    }
}
