//! The limits of a page, as they are configured.

use std::time::Duration;

use crate::browser::chromium::capacity;
use crate::config::BrowserConfig;
use crate::domain::format_opts::OptionLimits;

/// The part of the configuration that a page is bound by.
#[derive(Clone, Copy, Debug)]
pub(in crate::browser) struct PageLimits {
    pub reset: Duration,
    pub load: Duration,
    pub readiness: Duration,
    pub print: Duration,
    /// How much of these three a long page gets beyond what is configured for all.
    pub for_length: Duration,
    pub rest_cap: Duration,
    pub quiet: Duration,
    pub timer: Duration,
    pub call: Duration,
    pub heap_mb: u64,
    pub renderer_mb: u64,
    pub own_mb: u64,
    pub events_mb: u64,
    pub blob_mb: u64,
    pub locks: u64,
    pub frame_address_mb: u64,
    pub chunk_bytes: u32,
    pub header_files_bytes: usize,
    pub picture_pixels: f64,
    pub tagged_pages: u64,
    pub wait: Duration,
    pub seen_steps: u64,
}

impl PageLimits {
    /// The limits of a page that is `bytes` long with its data.
    pub(super) fn of(config: &BrowserConfig, bytes: usize) -> Self {
        let for_length = Duration::from_millis((bytes as u64 >> 20) * config.long_page_ms_per_mb);
        let longer = |limit_ms: u64| Duration::from_millis(limit_ms) + for_length;
        Self {
            for_length,
            reset: Duration::from_millis(config.reset_timeout_ms),
            load: longer(config.load_timeout_ms),
            readiness: longer(config.readiness_timeout_ms),
            print: longer(config.print_timeout_ms),
            timer: Duration::from_millis(config.timer_limit_ms),
            rest_cap: Duration::from_millis(config.rest_cap_ms),
            quiet: Duration::from_millis(config.quiet_window_ms),
            call: Duration::from_millis(config.call_timeout_ms),
            heap_mb: config.heap_limit_mb,
            renderer_mb: capacity::renderer_limit_mb(config.renderer_memory_limit_mb),
            own_mb: config.own_memory_limit_mb,
            events_mb: config.told_limit_mb,
            blob_mb: config.blob_limit_mb,
            locks: config.lock_limit,
            frame_address_mb: config.frame_address_limit_mb,
            chunk_bytes: u32::try_from(config.output_chunk_bytes).unwrap_or(u32::MAX),
            header_files_bytes: usize::try_from(config.header_files_limit_bytes).unwrap_or(usize::MAX),
            picture_pixels: OptionLimits::of(config).picture_pixels,
            tagged_pages: config.tagged_pages_limit,
            wait: Duration::from_millis(config.wait_limit_ms),
            seen_steps: config.seen_steps_limit,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::Config;

    #[test]
    fn a_long_page_has_more_time_for_each_mb() {
        let config = Config::default().browser;
        let (short, long) = (PageLimits::of(&config, (1 << 20) - 1), PageLimits::of(&config, 5 << 20));
        assert_eq!((short.for_length, short.load), (Duration::ZERO, Duration::from_secs(15)));
        let seconds = [long.load, long.readiness, long.print].map(|limit| limit.as_secs());
        assert_eq!(seconds, [65, 65, 80]);
    }
}
