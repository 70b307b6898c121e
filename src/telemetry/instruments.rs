//! What metrics are made of: counters, gauges and histograms, with and without labels.

use prometheus_client::metrics::counter::Counter;
use prometheus_client::metrics::gauge::Gauge;
use prometheus_client::metrics::histogram::Histogram;

use super::register::Labelled;

/// A number that only grows.
pub type Count = Counter;
/// A number of the present.
pub type Level = Gauge;
/// How long, or how many, in buckets.
pub type Spread = Histogram;
/// Numbers that only grow, by labels.
pub type Counts<const N: usize> = Labelled<N, Counter>;
/// Numbers of the present, by labels.
pub type Levels<const N: usize> = Labelled<N, Gauge>;
/// Spreads by labels.
pub type Spreads<const N: usize> = Labelled<N, Histogram>;
