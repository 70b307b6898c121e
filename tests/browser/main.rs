//! Pages in a real Chromium: what they become, how they fail, what they cannot reach.

mod support;

mod faults;
mod fence;
mod life;
mod pages;
