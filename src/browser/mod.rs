//! Chromium: process, connection, pool of tabs, one page. The only place that names `headless_chrome`.
