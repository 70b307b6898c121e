//! What is installed beside the program (image, unit, seccomp profile) agrees with its defaults, with
//! `scripts/packages.sh`, and with what Chromium's sandbox needs.

#![expect(clippy::expect_used, reason = "a test fails by panicking")]

use std::collections::BTreeSet;
use std::process::Command;

use platen::config::Config;
use serde_json::Value;

use crate::tree;

/// `CLONE_NEWNS`, `NEWCGROUP`, `NEWUTS`, `NEWIPC`.
const REFUSED_NAMESPACES: u64 = 0x0002_0000 | 0x0200_0000 | 0x0400_0000 | 0x0800_0000;
/// `CLONE_NEWUSER`, `NEWPID`, `NEWNET`: seen at the start of a Chromium.
const SANDBOX_NAMESPACES: u64 = 0x1000_0000 | 0x2000_0000 | 0x4000_0000;
/// What exploits of the kernel or of neighbours begin with.
const DOORS: &[&str] = &[
    "add_key",
    "bpf",
    "delete_module",
    "fsopen",
    "init_module",
    "io_uring_setup",
    "kexec_load",
    "keyctl",
    "mount",
    "open_by_handle_at",
    "perf_event_open",
    "pivot_root",
    "process_vm_readv",
    "ptrace",
    "reboot",
    "setns",
    "syslog",
    "umount2",
    "userfaultfd",
];

/// The rules of the profile that name `call`.
fn rules<'a>(profile: &'a Value, call: &str) -> Vec<&'a Value> {
    let all = profile["syscalls"].as_array().expect("the profile has rules");
    let names = |rule: &Value| rule["names"].as_array().expect("a rule has names").clone();
    all.iter().filter(|rule| names(rule).iter().any(|name| name == call)).collect()
}

/// The names of the lists that a script uses, as in `"${office_packages[@]}"`.
fn lists(script: &str) -> BTreeSet<&str> {
    script.split("\"${").skip(1).filter_map(|rest| Some(rest.split_once("[@]}\"")?.0)).collect()
}

#[test]
fn the_seccomp_profile_opens_the_sandbox_and_nothing_else() {
    let profile: Value =
        serde_json::from_str(&tree::read("config/chromium-seccomp.json")).expect("it is JSON");
    assert_eq!(profile["defaultAction"], "SCMP_ACT_ERRNO");
    for door in DOORS {
        assert!(rules(&profile, door).is_empty(), "{door} is open");
    }
    for call in ["clone", "unshare"] {
        let [rule] = rules(&profile, call)[..] else { panic!("{call} has one rule") };
        let argument = &rule["args"][0];
        assert_eq!(argument["op"], "SCMP_CMP_MASKED_EQ", "{call}");
        assert_eq!(argument["valueTwo"], 0, "{call}: allowed when none of these flags is set");
        let mask = argument["value"].as_u64().expect("a mask");
        assert_eq!(mask & REFUSED_NAMESPACES, REFUSED_NAMESPACES, "{call}");
        assert_eq!(mask & SANDBOX_NAMESPACES, 0, "{call}");
    }
    let clone3 = &rules(&profile, "clone3")[0];
    assert_eq!((&clone3["action"], &clone3["errnoRet"]), (&"SCMP_ACT_ERRNO".into(), &38.into()));
    for needed in ["chroot", "seccomp", "landlock_restrict_self", "execve"] {
        assert_eq!(rules(&profile, needed)[0]["action"], "SCMP_ACT_ALLOW", "{needed}");
    }
}

#[test]
fn the_image_installs_lists_of_packages_that_others_install_too() {
    let (dockerfile, packages) = (tree::read("Dockerfile"), tree::read("scripts/packages.sh"));
    let used = lists(&dockerfile);
    assert_eq!(used, ["latex_packages", "office_packages", "password_packages"].into());
    for list in used {
        assert!(packages.contains(&format!("\n{list}=(")), "scripts/packages.sh has no {list}");
    }
    for prefix in ["chromium-", "fonts-", "libreoffice-", "texlive-"] {
        let instructions = dockerfile.lines().filter(|line| !line.starts_with('#'));
        let named = instructions.flat_map(str::split_whitespace).find(|word| word.starts_with(prefix));
        assert_eq!(named, None, "a package belongs to a list of scripts/packages.sh");
    }
}

#[test]
fn the_image_and_the_readme_have_the_rust_that_the_manifest_asks_for() {
    let manifest = tree::read("Cargo.toml");
    let (_, version) = manifest.split_once("rust-version = \"").expect("Cargo.toml has a rust-version");
    let version = version.split('"').next().unwrap_or_default();
    for (file, part) in [
        ("Dockerfile", format!("FROM rust:{version}-")),
        (
            "README.md",
            format!("| source | Debian 12 or 13, and [Rust](https://rustup.rs) {version} or newer |"),
        ),
    ] {
        assert!(tree::read(file).contains(&part), "{file} has another Rust than {version}");
    }
}

#[test]
fn the_unit_leaves_the_service_its_time_and_its_files() {
    let unit = tree::read("config/platen.service");
    let setting = |name: &str| {
        let line = unit.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix('='));
        line.unwrap_or_else(|| panic!("the unit sets no {name}"))
    };
    let number = |name: &str| setting(name).parse::<u64>().expect("a number");
    let defaults = Config::default();
    assert!(number("TimeoutStopSec") > defaults.http.shutdown_grace_s, "a stop would be cut short");
    assert!(number("LimitNOFILE") > defaults.http.connection_limit, "connections would be refused");
    let namespaces: BTreeSet<_> = setting("RestrictNamespaces").split(' ').collect();
    assert_eq!(namespaces, ["net", "pid", "user"].into(), "Chromium's sandbox is made of these");
    assert!(
        !unit.lines().any(|line| line.starts_with("MemoryDenyWriteExecute=")),
        "no page with a script lives"
    );
    assert_eq!(setting("KillMode"), "mixed", "else a stop ends Chromium under the jobs that run");
}

/// Each systemd knows other settings and rates by them, so the page names the versions of Debian 12 and 13.
#[test]
fn the_unit_is_rated_as_its_page_says() {
    let unit = tree::read("config/platen.service").replace("@bindir@", "/usr/bin");
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join("platen.service");
    std::fs::write(&file, unit).expect("the unit is written");
    let analyze = |arguments: &[&str]| {
        let run = Command::new("systemd-analyze").args(arguments).output();
        let output = run.expect("systemd-analyze is installed by scripts/setup --test");
        String::from_utf8(output.stdout).expect("it is text")
    };
    let version = analyze(&["--version"]);
    let version = version.split_whitespace().nth(1).expect("it has a version");
    let report = analyze(&["security", "--offline=true", "--no-pager", &file.display().to_string()]);
    let (_, rating) = report.split_once("Overall exposure level for platen.service: ").expect("a rating");
    let rating = rating.split_whitespace().next().unwrap_or_default();
    if ["252", "257"].contains(&version) {
        let sentence = format!("{rating} with systemd {version} ");
        assert!(tree::read("docs/deployment.md").contains(&sentence), "it is rated {sentence}");
    }
    assert!(rating.parse::<f64>().is_ok_and(|rating| rating < 2.5), "rated {rating} with systemd {version}");
}

#[test]
fn the_package_asks_for_the_libreoffice_that_doctor_asks_for() {
    let packages = tree::read("scripts/packages.sh");
    let line = packages.lines().find_map(|line| line.strip_prefix("oldest_libreoffice=4:"));
    assert_eq!(line.expect("it has a version"), platen::engines::libreoffice::OLDEST_TESTED.to_string());
}

#[test]
fn the_container_has_the_time_and_the_limits_of_the_unit() {
    let compose = tree::read("config/compose.yaml");
    let value = |name: &str| {
        let line = compose.lines().find_map(|line| line.trim_start().strip_prefix(name)?.strip_prefix(": "));
        line.unwrap_or_else(|| panic!("config/compose.yaml sets no {name}"))
    };
    let unit = tree::read("config/platen.service");
    assert!(
        unit.contains(&format!("\nTimeoutStopSec={}\n", value("stop_grace_period").trim_end_matches('s')))
    );
    assert!(unit.contains(&format!("\nLimitNOFILE={}\n", value("nofile"))));
    assert_eq!(value("read_only"), "true");
    for option in ["seccomp=./chromium-seccomp.json", "no-new-privileges", "ALL", "/tmp:mode=1777"] {
        assert!(compose.contains(&format!("\n      - {option}\n")), "config/compose.yaml lacks {option}");
    }
    let script = tree::read("scripts/image");
    assert!(
        script.contains(&format!("\nprocesses_limit={}\n", value("pids_limit"))),
        "it is tried with another limit"
    );
}

/// What `scripts/package` reads is all that git keeps: a file left out of the context would give the packages the version of a
/// changed checkout.
#[test]
fn the_image_is_built_of_all_that_git_keeps() {
    let rules = |file: &str| -> Vec<String> {
        tree::read(file).lines().filter(|line| !line.starts_with('#')).map(str::to_owned).collect()
    };
    assert_eq!(rules(".dockerignore"), rules(".gitignore"));
}

#[test]
fn the_package_has_the_files_of_config_that_its_pages_lead_to() {
    let script = tree::read("scripts/package");
    let copy = script.lines().find(|line| line.ends_with(" \"$1/config\"")).expect("it copies into config");
    // Compose reads it.
    assert!(copy.contains(" config/chromium-seccomp.json "));
    for page in ["README.md", "docs/deployment.md", "docs/configuration.md"] {
        let text = tree::read(page);
        let links = text.split("](").skip(1).filter_map(|rest| rest.split(')').next());
        for link in
            links.map(|link| link.trim_start_matches("../")).filter(|link| link.starts_with("config/"))
        {
            assert!(copy.contains(&format!(" {link} ")), "{page} leads to {link}");
        }
    }
}
