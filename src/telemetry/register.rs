//! The registry of metrics: each is registered together with its row of `docs/metrics.txt`.

use std::borrow::Cow;

use prometheus_client::encoding::EncodeLabelSet;
pub use prometheus_client::metrics::counter::Counter;
use prometheus_client::metrics::family::{Family, MetricConstructor};
pub use prometheus_client::metrics::gauge::Gauge;
pub use prometheus_client::metrics::histogram::Histogram;
use prometheus_client::metrics::info::Info;
use prometheus_client::metrics::{MetricType, TypedMetric};
use prometheus_client::registry::{Metric, Registry};

/// The value of a label: a word from a small closed set, never an id, a path as sent or a caller's text, which would make
/// unboundedly many series.
pub type Label = Cow<'static, str>;

type Set<const N: usize> = [(&'static str, Label); N];

/// One metric for every combination of the values of `N` labels.
#[derive(Debug)]
pub struct Labelled<const N: usize, M> {
    names: [&'static str; N],
    family: Family<Set<N>, M>,
}

/// Counters by labels.
pub type Counters<const N: usize> = Labelled<N, Counter>;
/// Gauges by labels.
pub type Gauges<const N: usize> = Labelled<N, Gauge>;
/// Histograms by labels.
pub type Histograms<const N: usize> = Labelled<N, Histogram>;

/// Collects metrics for the registry.
#[derive(Default)]
pub(super) struct Register {
    registry: Registry,
    rows: Vec<String>,
}

impl<const N: usize, M: Clone> Labelled<N, M> {
    fn new(names: [&'static str; N], make: fn() -> M) -> Self {
        Self { names, family: Family::new_with_constructor(make) }
    }

    /// The metric of these values, in the order in which the labels are named.
    pub fn of(&self, values: [impl Into<Label>; N]) -> M {
        let mut values = values.map(Into::into).into_iter();
        let set = self.names.map(|name| (name, values.next().unwrap_or_default()));
        self.family.get_or_create_owned(&set)
    }

    /// Creates the metrics of these values at once, so that they are exported as zero before anything has happened.
    pub(super) fn preset(self, known: impl IntoIterator<Item = [&'static str; N]>) -> Self {
        for values in known {
            self.of(values);
        }
        self
    }
}

impl<const N: usize, M> Clone for Labelled<N, M> {
    fn clone(&self) -> Self {
        Self { names: self.names, family: self.family.clone() }
    }
}

impl Register {
    /// Registers one metric. A counter's name gets the suffix `_total`, as the format requires.
    pub(super) fn single<M>(&mut self, name: &'static str, meaning: &'static str, metric: M) -> M
    where
        M: Metric + TypedMetric + Clone,
    {
        self.add_row(name, M::TYPE, &[], meaning);
        self.registry.register(name, meaning, metric.clone());
        metric
    }

    /// Registers a family of metrics with these labels.
    pub(super) fn labelled<const N: usize, M>(
        &mut self,
        name: &'static str,
        labels: [&'static str; N],
        meaning: &'static str,
        make: fn() -> M,
    ) -> Labelled<N, M>
    where
        M: Metric + TypedMetric + Clone,
        Set<N>: EncodeLabelSet,
        fn() -> M: MetricConstructor<M>,
    {
        self.add_row(name, M::TYPE, &labels, meaning);
        let labelled = Labelled::new(labels, make);
        self.registry.register(name, meaning, labelled.family.clone());
        labelled
    }

    /// Registers a constant about this service, such as its version.
    pub(super) fn info(
        &mut self,
        name: &'static str,
        label: &'static str,
        meaning: &'static str,
        value: &'static str,
    ) {
        self.add_row(name, MetricType::Info, &[label], meaning);
        self.registry.register(name, meaning, Info::new([(label, value)]));
    }

    /// Registers a collector, which is called at each request of the metrics.
    pub(super) fn collector(&mut self, collector: impl prometheus_client::collector::Collector) {
        self.registry.register_collector(Box::new(collector));
    }

    pub(super) fn add_row(&mut self, name: &str, kind: MetricType, labels: &[&str], meaning: &str) {
        let suffix = match kind {
            MetricType::Counter => "_total",
            MetricType::Info => "_info",
            MetricType::Gauge | MetricType::Histogram | MetricType::Unknown => "",
        };
        let (name, labels) = (format!("{name}{suffix}"), labels.join(" "));
        self.rows.push(format!("{name:<38}{:<11}{labels:<21}{meaning}\n", kind.as_str()));
    }

    /// The registry, and the table of all its metrics.
    pub(super) fn finish(self) -> (Registry, String) {
        (self.registry, self.rows.concat())
    }
}
