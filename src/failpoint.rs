//! Fail points, for tests only: a fault before or after the n-th step of the service.
//!
//! Not in release builds; in debug builds only if [`FAULT_FILE`] names a file. While that file exists ([`Fault::at`] says what
//! is in it), its number is counted down at each step that its fault can meet: before and after each change of index and
//! store, and before each read of the store. At zero the fault is met; it ends when the file is removed. So tests cover every
//! step of every operation, future ones included.
//!
//! [`SledIndex`](crate::storage::index::SledIndex) and [`MeteredStore`](crate::storage::metered::MeteredStore) have the fail
//! points, and turn a fault into the error that a real one causes there. [`SystemClock`](crate::clock::SystemClock) goes back.

use std::io::{Error, ErrorKind};
use std::path::PathBuf;
use std::sync::OnceLock;
use std::time::Duration;

use nix::errno::Errno;
use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;
use parking_lot::{Mutex, MutexGuard};

/// The variable that names the file with number and fault.
pub const FAULT_FILE: &str = "PLATEN_FAULT_FILE";

/// The longest that a slow step takes.
const SLOW_LIMIT: Duration = Duration::from_secs(10);
const SLOW_LOOK: Duration = Duration::from_millis(1);
const CLOCK_BACK: Duration = Duration::from_hours(1);

/// What happens at a fail point.
#[derive(Clone, Copy, Debug, PartialEq, Eq, strum::VariantArray, strum::EnumString, strum::IntoStaticStr)]
pub enum Fault {
    /// The process gets SIGKILL.
    Abort,
    /// From here on there is no space for what is written.
    DiskFull,
    /// There is no space for this, and for the next again.
    DiskFullOnce,
    /// From here on the store answers 500.
    StoreFails,
    /// The store answers 500, and the next time again what is asked.
    StoreFailsOnce,
    /// The step waits until the file is removed, for ten seconds at most.
    Slow,
    /// From here on the clock is an hour behind.
    ClockBack,
}

/// A step of the service, as faults see it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Step {
    /// A change of the index.
    Index,
    /// An object is made.
    Write,
    /// A part of an object is written that nobody sees yet.
    Stage,
    /// An object is deleted.
    Delete,
    /// The store is read.
    Read,
}

impl Fault {
    /// The content of the file for this fault at the `number`-th step that it can meet; the first is 1.
    pub fn at(self, number: u64) -> String {
        format!("{number} {}", <&str>::from(self))
    }

    fn can_meet(self, step: Step) -> bool {
        match self {
            Self::Abort | Self::ClockBack => matches!(step, Step::Index | Step::Write | Step::Delete),
            Self::DiskFull | Self::DiskFullOnce => matches!(step, Step::Index | Step::Write | Step::Stage),
            Self::StoreFails | Self::StoreFailsOnce => step != Step::Index,
            Self::Slow => true,
        }
    }

    fn lasts(self) -> bool {
        matches!(self, Self::DiskFull | Self::StoreFails | Self::ClockBack)
    }

    /// The error of the system, or of a store behind a network.
    fn error(self) -> Option<Error> {
        match self {
            Self::DiskFull | Self::DiskFullOnce => Some(Errno::ENOSPC.into()),
            Self::StoreFails | Self::StoreFailsOnce => Some(ErrorKind::NetworkDown.into()),
            Self::Abort | Self::Slow | Self::ClockBack => None,
        }
    }
}

/// What the file says.
struct Order {
    text: String,
    fault: Fault,
    /// Steps until the fault is met; zero from then on.
    left: u64,
}

impl Order {
    fn read(text: String) -> Option<Self> {
        let (number, fault) = text.trim().split_once(' ')?;
        let (left, fault) = (number.parse().ok()?, fault.parse().ok()?);
        Some(Self { text, fault, left })
    }

    /// Counts the step; the fault, if this step has it.
    fn count(&mut self, step: Step) -> Option<Fault> {
        if !self.fault.can_meet(step) {
            return None;
        }
        let was_met = self.left == 0;
        self.left = self.left.saturating_sub(1);
        (self.left == 0 && (!was_met || self.fault.lasts())).then_some(self.fault)
    }
}

/// The file, and its order: read when the file appears or changes, dropped when it is removed.
struct Switch {
    file: PathBuf,
    order: Mutex<Option<Order>>,
}

impl Switch {
    /// The one switch of this process, where the environment asks for it.
    fn get() -> Option<&'static Self> {
        static SWITCH: OnceLock<Option<Switch>> = OnceLock::new();
        let open = || Some(Self { file: std::env::var_os(FAULT_FILE)?.into(), order: Mutex::default() });
        SWITCH.get_or_init(open).as_ref()
    }

    /// The order as the file says now.
    fn order(&self) -> MutexGuard<'_, Option<Order>> {
        let mut order = self.order.lock();
        let text = std::fs::read_to_string(&self.file).ok();
        if order.as_ref().map(|order| &order.text) != text.as_ref() {
            *order = text.and_then(Order::read);
        }
        order
    }
}

/// Whether this process has fail points.
pub fn is_armed() -> bool {
    Switch::get().is_some()
}

/// Whether the fault of the file was met, and has not ended.
pub fn is_met() -> bool {
    Switch::get().is_some_and(|switch| switch.order().as_ref().is_some_and(|order| order.left == 0))
}

/// How far behind the clock is.
pub fn clock_behind() -> Duration {
    let is_behind = |order: &Order| order.fault == Fault::ClockBack && order.left == 0;
    let behind = Switch::get().is_some_and(|switch| switch.order().as_ref().is_some_and(is_behind));
    if behind { CLOCK_BACK } else { Duration::ZERO }
}

/// One fail point. Called directly around changes that go through neither index nor store; there no step is slow.
///
/// # Errors
/// `ENOSPC` where the disk is full, `NetworkDown` where the store fails.
pub fn pass(step: Step) -> Result<(), Error> {
    met_at(step).and_then(Fault::error).map_or(Ok(()), Err)
}

/// One fail point of an asynchronous step.
///
/// # Errors
/// As of [`pass`].
pub async fn meet(step: Step) -> Result<(), Error> {
    let fault = met_at(step);
    if fault == Some(Fault::Slow) {
        let until_removed = async {
            while is_met() {
                tokio::time::sleep(SLOW_LOOK).await;
            }
        };
        let _ = tokio::time::timeout(SLOW_LIMIT, until_removed).await;
    }
    fault.and_then(Fault::error).map_or(Ok(()), Err)
}

fn met_at(step: Step) -> Option<Fault> {
    let fault = Switch::get()?.order().as_mut()?.count(step)?;
    if fault == Fault::Abort {
        // SIGKILL cannot be caught: nothing of this process runs after it.
        let _ = kill(Pid::this(), Signal::SIGKILL);
    }
    Some(fault)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn met(fault: Fault, number: u64, steps: &[Step]) -> Vec<bool> {
        let mut order = Order::read(fault.at(number)).unwrap();
        steps.iter().map(|step| order.count(*step).is_some()).collect()
    }

    #[test]
    fn a_fault_is_met_at_its_step_once_or_from_then_on() {
        let steps = [Step::Write, Step::Read, Step::Write, Step::Index];
        assert_eq!(met(Fault::DiskFullOnce, 2, &steps), [false, false, true, false]);
        assert_eq!(met(Fault::DiskFull, 2, &steps), [false, false, true, true]);
        assert_eq!(met(Fault::StoreFails, 2, &steps), [false, true, true, false]);
        assert_eq!(met(Fault::Slow, 4, &steps), [false, false, false, true]);
        assert!(Order::read("7".to_owned()).is_none() && Order::read("7 Flood".to_owned()).is_none());
    }
}
