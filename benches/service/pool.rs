//! Our own path to the browser, by clients that ask at once.

use std::io;

use platen::config::{BrowserConfig, Config};

use crate::common::clients::at_once;
use crate::common::document::Document;
use crate::common::figures::{Figures, Used};
use crate::common::usage::{group_time, own_time};
use crate::lines;
use crate::path::{OwnPath, task};

/// Clients for the comparison of numbers of tabs; more than tabs.
const MANY_CLIENTS: usize = 12;

/// Renders `documents` documents, `clients` at once, in as many tabs as the configuration says.
pub fn measure(document: &Document, clients: usize, documents: usize) -> io::Result<Figures> {
    measure_with(Config::default().browser, document, clients, documents)
}

/// The throughput of different numbers of tabs.
pub fn compare_tabs(documents: usize) -> io::Result<()> {
    lines::print_head(&format!("tabs, {MANY_CLIENTS} clients"));
    let put = Document::invoice()?;
    let served = Document { served: true, ..put.clone() };
    let scripted = Document { scripted: true, ..served.clone() };
    for (name, document) in [("put", put), ("served", served), ("with script", scripted)] {
        for tabs in [1, 2, 3, 4, 6, 8] {
            let config = BrowserConfig { tabs, ..Config::default().browser };
            let figures = measure_with(config, &document, MANY_CLIENTS, documents)?;
            lines::print(&format!("{name}, {tabs} tabs"), &figures, &[]);
        }
    }
    Ok(())
}

fn measure_with(
    config: BrowserConfig,
    document: &Document,
    clients: usize,
    documents: usize,
) -> io::Result<Figures> {
    let (path, task) = (OwnPath::start(config)?, task(document));
    let render_all = |documents| {
        let render = async |_| document.check(&path.render(&task).await?.1);
        path.block_on(at_once(clients, documents, render))
    };
    // Its Chromium has made nothing yet.
    render_all(clients * 4)?;
    let browsers = path.browsers()?;
    let used = || Used {
        chromium: browsers.iter().map(|&browser| group_time(browser)).sum(),
        own: own_time(),
        ..Used::default()
    };
    let figures = Figures::measure(used, || render_all(documents))?;
    path.finish()?;
    Ok(figures)
}
