//! Which arguments of Excel's functions take a range: there a reference to one repeated cell means all that the cell became.
//!
//! From the descriptions of the functions in ECMA-376 part 1, 18.17.7, and, for newer ones, in Microsoft's "Excel functions
//! (alphabetical)".

/// What an argument takes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Takes {
    /// One value.
    Value,
    /// A range whose rows and columns are told apart: a table to look up in.
    Range,
    /// A range of values that may as well stand in a row as in a column: `COUNTIF(A1:D1,"x")`.
    Set,
    /// A range, of which there may be any number: `SUM(A1,B1)`.
    List,
    /// Where a range begins: `OFFSET(A1,…)`.
    First,
    /// An array that is calculated with: in `SUMPRODUCT(A1*B1)` both are ranges.
    Array,
}

/// Functions by what their arguments take: `v`alue, `r`ange, `s`et, `l`ist, `f`irst cell, `a`rray; what follows `|` is repeated.
const FUNCTIONS: &[(&str, &str)] = &[
    (
        "|l",
        "SUM AVERAGE AVERAGEA COUNT COUNTA MIN MINA MAX MAXA PRODUCT SUMSQ MEDIAN MODE MODE.SNGL MODE.MULT STDEV STDEV.S \
         STDEV.P STDEVP STDEVA STDEVPA VAR VAR.S VAR.P VARP VARA VARPA GEOMEAN HARMEAN AVEDEV DEVSQ SKEW SKEW.P KURT \
         AND OR XOR GCD LCM MULTINOMIAL CONCAT",
    ),
    ("|a", "SUMPRODUCT"),
    ("|r", "VSTACK HSTACK"),
    ("v|l", "SUBTOTAL NPV"),
    ("vv|l", "AGGREGATE TEXTJOIN"),
    (
        "s|v",
        "COUNTBLANK COUNTIF LARGE SMALL PERCENTILE PERCENTILE.INC PERCENTILE.EXC QUARTILE QUARTILE.INC QUARTILE.EXC \
             PERCENTRANK PERCENTRANK.INC PERCENTRANK.EXC TRIMMEAN IRR MIRR ARRAYTOTEXT",
    ),
    (
        "r|v",
        "ROWS COLUMNS INDEX SORT UNIQUE TRANSPOSE TOCOL TOROW TAKE DROP CHOOSEROWS CHOOSECOLS WRAPROWS WRAPCOLS AREAS MDETERM \
             MINVERSE EXPAND",
    ),
    ("svs", "SUMIF AVERAGEIF"),
    ("rvr", "DSUM DAVERAGE DCOUNT DCOUNTA DMAX DMIN DGET DPRODUCT DSTDEV DSTDEVP DVAR DVARP"),
    ("s|sv", "SUMIFS AVERAGEIFS MAXIFS MINIFS"),
    ("r|rv", "SORTBY"),
    ("|sv", "COUNTIFS"),
    ("v|rv", "VLOOKUP HLOOKUP MATCH XMATCH RANK RANK.EQ RANK.AVG"),
    ("vrr|v", "LOOKUP XLOOKUP FORECAST FORECAST.LINEAR XNPV"),
    (
        "|r",
        "CORREL COVAR COVARIANCE.P COVARIANCE.S PEARSON RSQ SLOPE INTERCEPT STEYX FREQUENCY MMULT SUMX2MY2 SUMX2PY2 \
            SUMXMY2 CHITEST CHISQ.TEST FTEST F.TEST",
    ),
    ("rr|v", "XIRR PROB LINEST LOGEST TTEST T.TEST"),
    ("rrr|v", "TREND GROWTH"),
    ("ra|v", "FILTER"),
    ("f|v", "OFFSET"),
];

/// What the arguments of a function take.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Signature(&'static str);

impl Signature {
    /// `None` for a function that is not known here: its arguments are taken for values.
    pub fn of(name: &str) -> Option<Self> {
        let name = ["_xlfn.", "_xlws."].iter().fold(name, |name, prefix| {
            let (start, rest) = name.split_at_checked(prefix.len()).unwrap_or((name, name));
            if start.eq_ignore_ascii_case(prefix) { rest } else { name }
        });
        let is_it = |other: &str| other.eq_ignore_ascii_case(name);
        let found = FUNCTIONS.iter().find(|(_, names)| names.split_ascii_whitespace().any(is_it));
        found.map(|(signature, _)| Self(signature))
    }

    /// What the argument at an index takes.
    pub fn argument(self, index: usize) -> Takes {
        let (once, repeated) = self.0.split_once('|').unwrap_or((self.0, "v"));
        let again = index.checked_sub(once.len()).map(|index| index % repeated.len().max(1));
        let sign = match again {
            None => once.as_bytes().get(index),
            Some(index) => repeated.as_bytes().get(index),
        };
        match sign {
            Some(b'r') => Takes::Range,
            Some(b's') => Takes::Set,
            Some(b'l') => Takes::List,
            Some(b'f') => Takes::First,
            Some(b'a') => Takes::Array,
            _ => Takes::Value,
        }
    }
}
