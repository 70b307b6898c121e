//! A chart's data.

use serde::Deserialize;

/// A chart's data, as the program answers them.
#[derive(Debug, PartialEq, Deserialize)]
pub(crate) struct Chart {
    /// How Excel shows the categories that are numbers or days.
    pub(super) format: Option<String>,
    pub(super) categories: Option<Vec<Option<Name>>>,
    pub(super) series: Vec<Series>,
}

#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(untagged)]
pub(super) enum Name {
    Number(f64),
    Text(String),
}

#[derive(Debug, PartialEq, Deserialize)]
pub(super) struct Series {
    pub(super) name: Option<String>,
    pub(super) color: Option<String>,
    pub(super) values: Vec<Option<Value>>,
}

#[derive(Clone, Copy, Debug, PartialEq, Deserialize)]
#[serde(untagged)]
pub(super) enum Value {
    Number(f64),
    /// X, Y and size.
    Point(Option<f64>, Option<f64>, Option<f64>),
}

impl Chart {
    pub(crate) fn read(json: &str) -> Result<Self, String> {
        serde_json::from_str(json).map_err(|error| format!("the chart's data cannot be read ({error})"))
    }
}
