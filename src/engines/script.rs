//! What runs the code of templates, of whatever kind: a library that must be installed, and the processes that use it.

use super::requirement::{Part, Requirement};

/// The engine of template code (docs/decisions/001-template-code.md).
pub const JAVASCRIPT_CORE: Requirement = Requirement {
    name: "JavaScriptCore",
    part: Part::Library,
    paths: &[
        "/usr/lib/x86_64-linux-gnu/libjavascriptcoregtk-6.0.so.1",
        "/usr/lib/aarch64-linux-gnu/libjavascriptcoregtk-6.0.so.1",
        "/usr/lib64/libjavascriptcoregtk-6.0.so.1",
        "/usr/lib/libjavascriptcoregtk-6.0.so.1",
    ],
    version: None,
    package: "libjavascriptcoregtk-6.0-1",
    command: "apt-get install libjavascriptcoregtk-6.0-1",
};
