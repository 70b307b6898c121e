//! WebGL, which `SwiftShader` draws on the processor, in a process of Chromium's own and inside Chromium's sandbox.
//!
//! Hazard: inside of its sandbox that process can load no library, and graphics that are loaded before run threads which the
//! sandbox leaves out. So the dynamic loader maps the library at the start, while it does nothing yet, under the name by which
//! Chromium's graphics look for their driver: they find it there without opening a file.

use std::io;
use std::path::{Path, PathBuf};
use std::time::Duration;

use headless_chrome::protocol::cdp::types::Method;
use serde::{Deserialize, Serialize};

use super::launch_error::LaunchError;
use super::profile::Profile;
use crate::browser::cdp::connection::Connection;
use crate::workers::ChildSpec;

/// `SwiftShader`, beside Chromium's program.
const LIBRARY: &str = "libvk_swiftshader.so";
/// The name by which graphics look for a driver.
const DRIVER: &str = "libvulkan.so";

/// The same Chromium with `SwiftShader` in memory before anything of it runs.
///
/// # Errors
/// `SwiftShader` is not installed beside `executable`, or cannot be linked into `profile`.
pub(super) fn preloaded(
    spec: ChildSpec,
    executable: &Path,
    profile: &Profile,
) -> Result<ChildSpec, LaunchError> {
    let folder = profile.link(&library(executable)?, DRIVER)?;
    Ok(spec.variable("LD_LIBRARY_PATH", folder.display().to_string()).variable("LD_PRELOAD", DRIVER))
}

fn library(executable: &Path) -> Result<PathBuf, LaunchError> {
    let library = executable.canonicalize().map(|program| program.with_file_name(LIBRARY));
    let library = library.ok().filter(|library| library.exists());
    library.ok_or_else(|| {
        LaunchError::NoGraphics(format!("there is no {LIBRARY} beside {}", executable.display()))
    })
}

/// Makes sure that WebGL is drawn, and in the sandbox if `sandbox` is wanted.
///
/// # Errors
/// What is wrong with its graphics, or why it does not say.
pub(super) async fn check(
    connection: &Connection,
    sandbox: bool,
    limit: Duration,
) -> Result<(), LaunchError> {
    let answer = connection.call(None, GetInfo {}, limit).await;
    let attributes = answer.map_err(|error| io::Error::other(error.to_string()))?.gpu.aux_attributes;
    attributes.judge(sandbox).map_err(|why| LaunchError::NoGraphics(why.to_owned()))
}

/// `SystemInfo.getInfo`, with what the protocol calls an object without members.
#[derive(Debug, Serialize)]
struct GetInfo {}

#[derive(Debug, Deserialize)]
struct Info {
    gpu: GpuInfo,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
struct GpuInfo {
    aux_attributes: Attributes,
}

#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
struct Attributes {
    sandboxed: bool,
    gl_renderer: String,
}

impl Method for GetInfo {
    const NAME: &'static str = "SystemInfo.getInfo";
    type ReturnObject = Info;
}

impl Attributes {
    fn judge(&self, sandbox: bool) -> Result<(), &'static str> {
        if !self.gl_renderer.contains("SwiftShader") {
            return Err("its graphics process does not start");
        }
        if sandbox && !self.sandboxed {
            return Err("its graphics process is in no sandbox");
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn graphics_count_only_in_their_sandbox() {
        let judged = |text: &str, sandbox: bool| {
            let info: Info = serde_json::from_str(text).unwrap();
            info.gpu.aux_attributes.judge(sandbox).is_ok()
        };
        let caged = r#"{"gpu": {"auxAttributes": {"sandboxed": true, "glRenderer": "ANGLE (SwiftShader)"}}}"#;
        let free = r#"{"gpu": {"auxAttributes": {"sandboxed": false, "glRenderer": "ANGLE (SwiftShader)"}}}"#;
        assert_eq!([judged(caged, true), judged(free, true), judged(free, false)], [true, false, true]);
        assert!(!judged(r#"{"gpu": {"auxAttributes": {"sandboxed": true, "glRenderer": ""}}}"#, true));
    }

    #[test]
    fn a_chromium_without_swiftshader_is_told() {
        let folder = tempfile::tempdir().unwrap();
        let program = folder.path().join("chromium");
        std::fs::write(&program, "").unwrap();
        assert!(library(&program).unwrap_err().to_string().contains(LIBRARY));
        std::fs::write(folder.path().join(LIBRARY), "").unwrap();
        assert!(library(&program).unwrap().ends_with(LIBRARY));
    }
}
