//! A pool with a Chromium of its own, and what the tests ask of it.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Arc;
use std::time::{Duration, Instant};

use actix::{Actor, Addr};
use bytes::Bytes;
use platen::browser::{
    BrowserPool, Delivery, GetPoolStatus, Lease, LeaseError, LeaseTab, PageError, PageGraphics, PageOutput,
    PageTask, PoolStatus, Retry, ShutDown, open, print,
};
use platen::config::{BrowserConfig, Config, EnginesConfig, OutboundConfig};
use platen::domain::error::JobError;
use platen::domain::format_opts::{self, CssPage, OptionLimits, PageOptions};
use platen::domain::ids::AccountId;
use platen::domain::lane::Lane;
use platen::domain::reach::Reach;
use platen::domain::site::Site;
use platen::outbound::{Outbound, SystemResolver};
use platen::slots::AccountShare;
use platen::slots::engines::EngineBudget;
use platen::telemetry::BrowserMetrics;
use platen::telemetry::metrics::Metrics;
use platen::workers::Starter;

/// Longest wait for anything that should come at once, on a loaded machine.
pub const SOON: Duration = Duration::from_mins(1);

/// A pool under test. `finish` it: that is where leftovers are found.
pub struct TestPool {
    pub address: Addr<BrowserPool>,
    pub config: BrowserConfig,
    pub engines: EngineBudget,
    pub metrics: BrowserMetrics,
}

/// A file and its warnings.
#[derive(Debug)]
pub struct Rendered {
    pub bytes: Vec<u8>,
    pub warnings: Vec<String>,
    pub pages: Option<u32>,
}

impl TestPool {
    /// A pool of one browser and two tabs, changed by `change`.
    pub fn start(change: impl FnOnce(&mut BrowserConfig)) -> Self {
        Self::with_outbound(Config::default().outbound, change)
    }

    /// The same, of which one account does not get all tabs.
    pub fn shared(change: impl FnOnce(&mut BrowserConfig)) -> Self {
        let outbound = Outbound::new(Config::default().outbound, &[], Arc::new(SystemResolver));
        Self::of(outbound, AccountShare::default(), change)
    }

    /// A pool whose pages reach what `outbound` allows.
    pub fn with_outbound(outbound: OutboundConfig, change: impl FnOnce(&mut BrowserConfig)) -> Self {
        Self::with(Outbound::new(outbound, &[], Arc::new(SystemResolver)), change)
    }

    /// A pool whose pages go by `outbound`.
    pub fn with(outbound: Outbound, change: impl FnOnce(&mut BrowserConfig)) -> Self {
        Self::of(outbound, AccountShare::whole(), change)
    }

    fn of(outbound: Outbound, share: AccountShare, change: impl FnOnce(&mut BrowserConfig)) -> Self {
        let mut config = Config::default().browser;
        config.tabs = 2;
        // One Chromium a test is enough for what most of them ask.
        config.static_processes = 0;
        config.quiet_window_ms = 50;
        // Long enough that a tab is reused on a loaded machine, too.
        config.reset_timeout_ms = 20_000;
        change(&mut config);
        let starter = Starter::new(PathBuf::from(env!("CARGO_BIN_EXE_platen"))).unwrap();
        let metrics = Metrics::new();
        let engines = EngineBudget::new(&EnginesConfig::default(), share, metrics.slots.clone());
        let pool =
            BrowserPool::new(config.clone(), starter, outbound, engines.clone(), metrics.browser.clone());
        let address = pool.start();
        Self { address, config, engines, metrics: metrics.browser }
    }

    /// The same pool with other limits for its pages.
    pub fn limited(&self, change: impl FnOnce(&mut BrowserConfig)) -> Self {
        let mut config = self.config.clone();
        change(&mut config);
        let (address, engines) = (self.address.clone(), self.engines.clone());
        Self { address, config, engines, metrics: self.metrics.clone() }
    }

    pub async fn lease(&self, lane: Lane) -> Result<Lease, LeaseError> {
        self.lease_for(AccountId::generate(), lane).await
    }

    pub async fn lease_for(&self, account: AccountId, lane: Lane) -> Result<Lease, LeaseError> {
        self.address.send(LeaseTab::new(account, lane)).await.unwrap()
    }

    pub async fn render(&self, task: &PageTask) -> Result<Rendered, PageError> {
        self.render_for(AccountId::generate(), task).await
    }

    /// The same, and once more where its browser was lost.
    pub async fn render_again(&self, task: &PageTask) -> Result<Rendered, PageError> {
        match self.render(task).await {
            Err(error) if error.retry != Retry::No => self.render(task).await,
            rendered => rendered,
        }
    }

    /// Renders a page of `account`, once more where it asks for WebGL.
    pub async fn render_for(&self, account: AccountId, task: &PageTask) -> Result<Rendered, PageError> {
        // As the pipeline does: a picture is painted.
        let lane = if task.output.is_picture() { Lane::Scripted } else { task.lane };
        let task = PageTask { lane, ..task.clone() };
        let lease = self.lease_for(account, lane).await.unwrap();
        match self.render_in(lease, &task).await {
            Err(error) if error.retry == Retry::WithGraphics => self.draw_for(account, &task).await,
            rendered => rendered,
        }
    }

    /// The same in a browser that has WebGL.
    pub async fn draw_for(&self, account: AccountId, task: &PageTask) -> Result<Rendered, PageError> {
        let asked = LeaseTab { graphics: PageGraphics::Given, ..LeaseTab::new(account, Lane::Scripted) };
        let lease = self.address.send(asked).await.unwrap().unwrap();
        self.render_in(lease, task).await
    }

    /// The same for a page with script of a template: in a tab that a page of the same template had before, if one is kept.
    pub async fn render_template(
        &self,
        account: AccountId,
        template: &Site,
        task: &PageTask,
    ) -> Result<Rendered, PageError> {
        let content = Some(template.content_hash());
        let asked = LeaseTab { content, ..LeaseTab::new(account, Lane::Scripted) };
        let lease = self.address.send(asked).await.unwrap().unwrap();
        self.render_in(lease, task).await
    }

    pub async fn render_in(&self, lease: Lease, task: &PageTask) -> Result<Rendered, PageError> {
        let ready = Box::pin(open(lease, task, &self.config, |_| {})).await?;
        let mut printed = Box::pin(print(ready)).await?;
        let mut bytes = Vec::new();
        while let Some(chunk) = printed.next_chunk().await? {
            bytes.extend_from_slice(&chunk);
        }
        Ok(Rendered { bytes, warnings: printed.warnings().lines(), pages: printed.pages() })
    }

    /// The error of a page that is late. A loaded machine lets it name too late what it waits for, or its browser seem lost: then
    /// it is rendered again, twice at most, until the error contains `named`.
    pub async fn late(&self, task: &PageTask, named: &str) -> JobError {
        let mut tries = 1;
        loop {
            let error = self.render(task).await.unwrap_err();
            let message = &error.error.message;
            let is_slow = error.retry != Retry::No || message.contains("keeps the page busy");
            if message.contains(named) || !is_slow || tries == 3 {
                return error.error;
            }
            tries += 1;
        }
    }

    pub async fn status(&self) -> PoolStatus {
        self.address.send(GetPoolStatus).await.unwrap()
    }

    /// How many pages had a tab that was used before.
    pub fn reused(&self) -> u64 {
        self.metrics.leases.of(["static", "kept"]).get()
    }

    /// How many browsers were lost, for whatever reason.
    pub fn lost(&self) -> u64 {
        ["died", "silent", "filled", "hung"].iter().map(|reason| self.metrics.lost.of([*reason]).get()).sum()
    }

    /// Waits until the pool is as `wanted`.
    pub async fn until(&self, what: &str, wanted: impl Fn(&PoolStatus) -> bool) -> PoolStatus {
        let started = Instant::now();
        loop {
            let status = self.status().await;
            if wanted(&status) {
                return status;
            }
            assert!(started.elapsed() < SOON, "not in time: {what}; {status:?}");
            tokio::time::sleep(Duration::from_millis(5)).await; // poll
        }
    }

    /// Waits for something that is not in the pool's status.
    pub async fn eventually(&self, what: &str, holds: impl Fn() -> bool) {
        self.until(what, |_| holds()).await;
    }

    /// Ends the pool; nothing may be left of it.
    pub async fn finish(self) {
        let is_idle = |status: &PoolStatus| status.leased == 0 && status.draining.is_empty();
        let status = self.until("no tab is leased", is_idle).await;
        let folders: Vec<PathBuf> = status.browsers.iter().map(|&id| folder_of(id)).collect();
        assert!(folders.iter().all(|folder| folder.exists()));
        self.address.send(ShutDown).await.unwrap();
        for (process, folder) in status.browsers.iter().zip(folders) {
            assert_eq!(group_members(*process), Vec::<i32>::new(), "processes are left");
            assert!(!folder.exists(), "{} is left", folder.display());
        }
    }
}

/// A page of its own with script.
pub fn scripted(html: &str) -> PageTask {
    PageTask {
        site: Site::single("index.html", Bytes::from(html.to_owned())),
        data: Bytes::from_static(b"{}"),
        lane: Lane::Scripted,
        delivery: Delivery::Served,
        inlined: None,
        has_page_rules: true,
        css_page: CssPage::default(),
        may_have_links: true,
        options: PageOptions::default(),
        reach: Reach::AllowedHosts,
        output: PageOutput::Pdf,
        limit_bytes: 1 << 29,
    }
}

/// A page without script.
pub fn static_page(html: &str) -> PageTask {
    PageTask { lane: Lane::Static, ..scripted(html) }
}

/// A page that is put into the tab.
pub fn put_page(html: &str) -> PageTask {
    PageTask { delivery: Delivery::Put, ..static_page(html) }
}

/// The same page with the `formatOpts` of a caller.
pub fn asking(opts: &str, task: PageTask) -> PageTask {
    let reading = format_opts::read(serde_json::from_str(opts).unwrap(), &OptionLimits::ADMITTED);
    assert_eq!(reading.errors, [], "{opts}");
    PageTask { options: reading.options, ..task }
}

/// A page with files beside it.
pub fn with_files(html: &str, files: &[(&str, &str)]) -> PageTask {
    let files: Vec<_> = files.iter().map(|(name, text)| (*name, text.as_bytes())).collect();
    with_bytes(html, &files)
}

/// A page with files beside it that are no text.
pub fn with_bytes(html: &str, files: &[(&str, &[u8])]) -> PageTask {
    let all = files.iter().copied().chain([("index.html", html.as_bytes())]);
    let all = all.map(|(name, content)| (name.to_owned(), Bytes::copy_from_slice(content)));
    PageTask { site: Site::new("index.html", all.collect()), ..scripted("") }
}

/// The file without its dates and the numbers of its elements.
pub fn without_dates_and_ids(file: &[u8]) -> Vec<u8> {
    let mut kept = Vec::with_capacity(file.len());
    let mut rest = file;
    while let Some(&byte) = rest.first() {
        let changing = ["(D:", "(node"].iter().any(|begin| rest.starts_with(begin.as_bytes()));
        let end = if changing { rest.iter().position(|&byte| byte == b')') } else { None };
        kept.push(byte);
        rest = &rest[end.unwrap_or(1)..];
    }
    kept
}

/// The text of a PDF, its white space made single.
pub fn text_of(pdf: &[u8]) -> String {
    let file = tempfile::NamedTempFile::new().unwrap();
    fs::write(&file, pdf).unwrap();
    let output = Command::new("pdftotext").arg(file.path()).arg("-").output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).unwrap().split_whitespace().collect::<Vec<_>>().join(" ")
}

/// A word of a PDF and its position, in points from the left and the top.
#[derive(Clone, Debug)]
pub struct Word {
    pub sheet: usize,
    pub left: f64,
    pub top: f64,
    pub right: f64,
    pub text: String,
}

/// The words of a PDF in the order of its sheets.
pub fn words_of(pdf: &[u8]) -> Vec<Word> {
    let file = tempfile::NamedTempFile::new().unwrap();
    fs::write(&file, pdf).unwrap();
    let output = Command::new("pdftotext").arg("-bbox").arg(file.path()).arg("-").output().unwrap();
    let text = String::from_utf8(output.stdout).unwrap();
    let mut sheet = 0;
    let mut words = Vec::new();
    for line in text.lines() {
        sheet += usize::from(line.contains("<page "));
        let Some((head, word)) = line.split_once("</word>").and_then(|(word, _)| word.split_once('>')) else {
            continue;
        };
        let at = |name: &str| head.split_once(name).unwrap().1.split('"').nth(1).unwrap().parse().unwrap();
        words.push(Word {
            sheet,
            left: at("xMin"),
            top: at("yMin"),
            right: at("xMax"),
            text: word.to_owned(),
        });
    }
    words
}

/// The sheets of a PDF: width and height in whole points.
pub fn sheets_of(pdf: &[u8]) -> Vec<(i64, i64)> {
    let file = tempfile::NamedTempFile::new().unwrap();
    fs::write(&file, pdf).unwrap();
    let output = Command::new("pdfinfo").args(["-l", "1000"]).arg(file.path()).output().unwrap();
    let text = String::from_utf8(output.stdout).unwrap();
    let sizes = text.lines().filter(|line| line.starts_with("Page ") && line.contains(" size:"));
    let size = |line: &str| {
        let words: Vec<&str> = line.split_once("size:")?.1.split_whitespace().collect();
        #[expect(clippy::cast_possible_truncation, reason = "points of a sheet")]
        let points = |word: &str| word.parse::<f64>().map(|points| points.round() as i64).ok();
        Some((points(words.first()?)?, points(words.get(2)?)?))
    };
    sizes.filter_map(size).collect()
}

/// What `pdfinfo` says of a PDF under `name`.
pub fn info_of(pdf: &[u8], name: &str) -> String {
    let file = tempfile::NamedTempFile::new().unwrap();
    fs::write(&file, pdf).unwrap();
    let output = Command::new("pdfinfo").arg(file.path()).output().unwrap();
    let text = String::from_utf8(output.stdout).unwrap();
    let line = text.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(':'));
    line.unwrap_or_default().trim().to_owned()
}

/// The pixels of a picture.
pub struct Picture {
    pub width: u32,
    pub height: u32,
    pixels: Vec<u8>,
}

impl Picture {
    /// Red, green, blue, opacity.
    pub fn at(&self, x: u32, y: u32) -> [u8; 4] {
        let at = 4 * (y as usize * self.width as usize + x as usize);
        self.pixels[at..at + 4].try_into().unwrap()
    }
}

impl Picture {
    /// How many pixels differ by more than a rounding.
    pub fn differs_from(&self, other: &Self) -> usize {
        assert_eq!((self.width, self.height), (other.width, other.height));
        let pixels = self.pixels.chunks_exact(4).zip(other.pixels.chunks_exact(4));
        pixels.filter(|(one, two)| one.iter().zip(*two).any(|(a, b)| a.abs_diff(*b) > 8)).count()
    }

    /// How many pixels are of this colour.
    pub fn count(&self, color: [u8; 4]) -> usize {
        self.pixels.chunks_exact(4).filter(|pixel| **pixel == color).count()
    }
}

/// Decodes a PNG.
pub fn picture_of(png: &[u8]) -> Picture {
    let mut decoder = png::Decoder::new(std::io::Cursor::new(png));
    decoder.set_transformations(png::Transformations::ALPHA);
    let mut reader = decoder.read_info().unwrap();
    let mut pixels = vec![0; reader.output_buffer_size().unwrap()];
    let info = reader.next_frame(&mut pixels).unwrap();
    assert_eq!(info.color_type, png::ColorType::Rgba);
    Picture { width: info.width, height: info.height, pixels }
}

/// The living processes of a group.
pub fn group_members(group: i32) -> Vec<i32> {
    let processes = fs::read_dir("/proc").unwrap().flatten();
    let ids = processes.filter_map(|entry| entry.file_name().to_str()?.parse::<i32>().ok());
    ids.filter(|id| {
        let Ok(line) = fs::read_to_string(format!("/proc/{id}/stat")) else { return false };
        let fields: Vec<&str> =
            line.rsplit_once(") ").map_or_else(Vec::new, |(_, rest)| rest.split(' ').collect());
        fields.get(2) == Some(&group.to_string().as_str()) && fields.first() != Some(&"Z")
    })
    .collect()
}

/// The renderers of a Chromium.
pub fn renderers_of(browser: i32) -> Vec<i32> {
    processes_of(browser, "--type=renderer")
}

/// The processes of a Chromium whose command line contains `argument`.
pub fn processes_of(browser: i32, argument: &str) -> Vec<i32> {
    let is_meant = |id: &i32| {
        let line = fs::read(format!("/proc/{id}/cmdline")).unwrap_or_default();
        String::from_utf8_lossy(&line).contains(argument)
    };
    group_members(browser).into_iter().filter(is_meant).collect()
}

/// The private folder of a Chromium, read off its command line.
pub fn folder_of(process: i32) -> PathBuf {
    let line = fs::read(format!("/proc/{process}/cmdline")).unwrap();
    let line = String::from_utf8(line).unwrap();
    let profile = line.split('\0').find_map(|argument| argument.strip_prefix("--user-data-dir="));
    Path::new(profile.unwrap()).parent().unwrap().to_owned()
}

/// An executable that runs a line of shell and becomes Chromium.
pub fn chromium_after(line: &str) -> tempfile::TempPath {
    let chromium = platen::browser::find_executable("").unwrap();
    let script = tempfile::NamedTempFile::new().unwrap();
    fs::write(&script, format!("#!/bin/sh\n{line}\nexec {} \"$@\"\n", chromium.display())).unwrap();
    fs::set_permissions(script.path(), fs::Permissions::from_mode(0o755)).unwrap();
    // A file that is open for writing cannot be executed.
    script.into_temp_path()
}

/// A folder that Chromium writes to, though it may be another user's.
pub fn open_folder() -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    fs::set_permissions(folder.path(), fs::Permissions::from_mode(0o777)).unwrap();
    folder
}
