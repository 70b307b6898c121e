//! Chromium: installed, started as the service starts it, in its sandbox.

use std::path::Path;

use super::report::Finding;
use crate::browser::{self, Graphics, LaunchError};
use crate::config::BrowserConfig;
use crate::workers::Starter;

const CHROMIUM: &str = "Chromium";
const SANDBOX: &str = "Sandbox";
const WEBGL: &str = "WebGL";
const DISABLED: &str = "PDF, PNG and JPG: nothing but html can be made";
/// Kernel settings: the file, the value that forbids user namespaces, and the remedy.
const SWITCHES: &[(&str, &str, &str)] = &[
    ("/proc/sys/user/max_user_namespaces", "0", "sysctl -w user.max_user_namespaces=10000"),
    ("/proc/sys/kernel/unprivileged_userns_clone", "0", "sysctl -w kernel.unprivileged_userns_clone=1"),
    (
        "/proc/sys/kernel/apparmor_restrict_unprivileged_userns",
        "1",
        "an AppArmor profile for Chromium with 'userns,', or: \
         sysctl -w kernel.apparmor_restrict_unprivileged_userns=0",
    ),
];

const INSTALL: &str = "apt-get install --no-install-recommends chromium-headless-shell";

/// A short message where Chromium is missing.
pub(super) fn lack(config: &BrowserConfig) -> Option<String> {
    match browser::find_executable(&config.executable) {
        Ok(path) if path.exists() => None,
        Ok(path) => Some(format!("missing: {} (browser.executable)", path.display())),
        Err(_) => Some(format!("missing: {CHROMIUM} ({INSTALL})")),
    }
}

pub(super) async fn findings(starter: &Starter, config: &BrowserConfig) -> Vec<Finding> {
    let path = match browser::find_executable(&config.executable) {
        Ok(path) if path.exists() => path,
        Ok(path) => {
            let detail = format!("{} is not there (browser.executable)", path.display());
            return vec![
                Finding::missing(CHROMIUM, detail)
                    .with_remedy(DISABLED, "name one that is, or leave it empty"),
            ];
        }
        Err(_) => {
            return vec![Finding::missing(CHROMIUM, "is not installed").with_remedy(DISABLED, INSTALL)];
        }
    };
    let user = match user(config) {
        Ok(user) => user,
        Err(finding) => return vec![*finding],
    };
    let probed = browser::probe(starter, config, Graphics::Without).await;
    let is_started = probed.is_ok();
    let mut findings = judge(&path, &user, config.sandbox, probed);
    if is_started && config.graphics_processes > 0 {
        findings.push(judge_graphics(browser::probe(starter, config, Graphics::WebGl).await));
    }
    findings
}

/// Whether pages that draw with WebGL get it.
fn judge_graphics(probed: Result<String, LaunchError>) -> Finding {
    match probed {
        Ok(_) => Finding::ok(WEBGL, "is drawn by SwiftShader, in a process of its own"),
        Err(error) => Finding::warning(WEBGL, error.to_string()).with_remedy(
            "canvases that ask for WebGL: they stay empty, with a warning",
            "name Chromium's own program in browser.executable, not a script, or \
             apt-get install --reinstall --no-install-recommends chromium-headless-shell; \
             or set browser.graphics_processes = 0",
        ),
    }
}

/// The user that Chromium is started as.
fn user(config: &BrowserConfig) -> Result<String, Box<Finding>> {
    if !nix::unistd::geteuid().is_root() {
        return Ok("the service's own user".to_owned());
    }
    if let Ok(Some(user)) = nix::unistd::User::from_name(&config.user) {
        return Ok(format!("the user {} (uid {})", user.name, user.uid));
    }
    let detail = format!("its user '{}' (browser.user) does not exist", config.user);
    let remedy = format!("useradd --system --no-create-home --shell /usr/sbin/nologin {}", config.user);
    Err(Box::new(Finding::missing(CHROMIUM, detail).with_remedy(DISABLED, remedy)))
}

fn judge(path: &Path, user: &str, sandbox: bool, probed: Result<String, LaunchError>) -> Vec<Finding> {
    let path = path.display();
    match probed {
        Ok(version) => {
            let chromium = Finding::ok(CHROMIUM, format!("{version} ({path}) starts as {user}"));
            let sandbox = if sandbox { Finding::ok(SANDBOX, "on") } else { sandbox_off(user) };
            vec![chromium, sandbox]
        }
        Err(LaunchError::NoSandbox) => {
            let remedy = remedy(|file| std::fs::read_to_string(file).ok());
            vec![
                Finding::ok(CHROMIUM, path.to_string()),
                Finding::missing(SANDBOX, "no user namespace is to be had, which it is made of")
                    .with_remedy(DISABLED, remedy),
            ]
        }
        Err(error) => {
            let remedy = "the lines it printed say why; all it needs: \
                          apt-get install --reinstall --no-install-recommends chromium-headless-shell";
            vec![Finding::missing(CHROMIUM, format!("{path}: {error}")).with_remedy(DISABLED, remedy)]
        }
    }
}

fn sandbox_off(user: &str) -> Finding {
    let disables =
        format!("the fence between a page that breaks out of its renderer and the rights of {user}");
    Finding::warning(SANDBOX, "off (browser.sandbox)").with_remedy(disables, "browser.sandbox = true")
}

/// The remedy for missing user namespaces, by the kernel setting or filter that forbids them.
fn remedy(read: impl Fn(&str) -> Option<String>) -> String {
    let forbidding =
        SWITCHES.iter().find(|(file, value, _)| read(file).is_some_and(|text| text.trim() == *value));
    if let Some((_, _, remedy)) = forbidding {
        return (*remedy).to_owned();
    }
    let filtered = |text: String| text.lines().any(|line| line.trim_end() == "Seccomp:\t2");
    if read("/proc/self/status").is_some_and(filtered) {
        return "a seccomp filter refuses them; Docker: --security-opt seccomp=config/chromium-seccomp.json; \
                systemd: RestrictNamespaces=user pid net"
            .to_owned();
    }
    "a kernel with CONFIG_USER_NS, and a security module that lets Chromium make user namespaces".to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cli::doctor::report::State;

    fn judged(sandbox: bool, probed: Result<String, LaunchError>) -> Vec<Finding> {
        judge(Path::new("/c"), "the service's own user", sandbox, probed)
    }

    #[test]
    fn a_sandbox_that_is_off_is_a_warning_and_one_that_fails_is_missing() {
        let states =
            |findings: Vec<Finding>| findings.iter().map(|finding| finding.state).collect::<Vec<_>>();
        assert_eq!(states(judged(true, Ok("C/1".to_owned()))), [State::Ok, State::Ok]);
        assert_eq!(states(judged(false, Ok("C/1".to_owned()))), [State::Ok, State::Warning]);
        assert_eq!(states(judged(true, Err(LaunchError::NoSandbox))), [State::Ok, State::Missing]);
        assert_eq!(states(judged(true, Err(LaunchError::NotInstalled))), [State::Missing]);
    }

    #[test]
    fn a_chromium_without_webgl_is_a_warning() {
        assert_eq!(judge_graphics(Ok("C/1".to_owned())).state, State::Ok);
        let missing = judge_graphics(Err(LaunchError::NoGraphics("why".to_owned())));
        assert_eq!(missing.state, State::Warning);
        assert!(missing.detail.contains("why"), "{}", missing.detail);
    }

    #[test]
    fn the_remedy_fits_the_setting_that_forbids_user_namespaces() {
        let remedy_with = |file: &'static str, text: &'static str| {
            remedy(move |asked| (asked == file).then(|| text.to_owned()))
        };
        assert!(remedy_with(SWITCHES[0].0, "0\n").contains("max_user_namespaces=10000"));
        assert!(remedy_with(SWITCHES[1].0, "0\n").contains("unprivileged_userns_clone=1"));
        assert!(remedy_with(SWITCHES[2].0, "1\n").contains("AppArmor"));
        assert!(remedy_with(SWITCHES[0].0, "96365\n").contains("CONFIG_USER_NS"));
        assert!(
            remedy_with("/proc/self/status", "Name:\tx\nSeccomp:\t2\n").contains("chromium-seccomp.json")
        );
        assert!(remedy_with("/proc/self/status", "Seccomp:\t0\n").contains("CONFIG_USER_NS"));
    }
}
