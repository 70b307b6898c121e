//! Programs of engines that somebody kills or stops: the job runs again once and says so, and a second time it is an error of
//! the service.

use std::cell::Cell;
use std::collections::HashSet;
use std::time::{Duration, Instant};

use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;
use serde_json::{Value, json};

use crate::app::{TestApp, descendants};

/// How a job is attacked.
#[derive(Clone, Copy)]
struct Attack {
    signal: Signal,
    /// How many programs get the signal.
    times: usize,
}

/// A job whose program is attacked.
struct Victim {
    kind: &'static str,
    target: &'static str,
    template: String,
    options: Value,
    /// How the first word of the program's command line ends while it works for long, or a part of another word.
    program: &'static str,
    /// The program's name in messages.
    name: &'static str,
}

const TEX: &str = "\\documentclass{article}\\begin{document}here\\directlua{local e = os.clock() + 0.7 \
    while os.clock() < e do end}\\end{document}";
/// By steps, not by the clock: on a busy machine it gets little of the processor in any time.
const CODE: &str = "<p>here<% for (let step = 0; step < 1e9; step++); %>";
const SHEETS: &str = "\\documentclass{article}\\newcount\\sheet\\begin{document}\\loop\\advance\\sheet1 \
    here\\newpage\\ifnum\\sheet<12\\repeat\\end{document}";

fn victims() -> [Victim; 4] {
    let victim = |kind, target, template: &str, (program, name)| Victim {
        kind,
        target,
        template: template.to_owned(),
        options: json!({}),
        program,
        name,
    };
    let paragraphs = "here \\emph{is} a paragraph.\n\n".repeat(8_000);
    let long = format!("\\documentclass{{article}}\\begin{{document}}{paragraphs}\\end{{document}}");
    [
        Victim { options: json!({"engine": "lualatex"}), ..victim("latex", "pdf", TEX, ("lualatex", "TeX")) },
        victim("ejs", "html", CODE, ("platen-script", "the template engine")),
        victim("latex", "docx", &long, ("pandoc", "pandoc")),
        Victim {
            options: json!({"pages": "all", "dpi": 300}),
            ..victim("latex", "png", SHEETS, ("[\"raster", "the process that draws the pictures"))
        },
    ]
}

/// The processes of the service that were started as this program.
fn processes_of(app: &TestApp, program: &str) -> Vec<u32> {
    let is_wanted = |pid: &u32| {
        let line = std::fs::read(format!("/proc/{pid}/cmdline")).unwrap_or_default();
        let line = String::from_utf8_lossy(&line);
        let mut words = line.split('\0');
        words.next().is_some_and(|first| first.ends_with(program)) || words.any(|word| word.contains(program))
    };
    descendants(app.pid()).into_iter().map(|(pid, _)| pid).filter(is_wanted).collect()
}

/// Its processor time, in ticks: it works for the job.
fn ticks(pid: u32) -> u64 {
    let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
    let fields: Vec<_> = stat.rsplit_once(')').map_or("", |(_, rest)| rest).split_whitespace().collect();
    fields.get(11..13).unwrap_or_default().iter().map(|field| field.parse::<u64>().unwrap()).sum()
}

/// The job's view and how long it took, its program attacked each time as soon as it has computed for a while.
async fn attacked(app: &TestApp, victim: &Victim, attack: Attack) -> (Value, Duration) {
    for _ in 0..5 {
        if let Some(done) = attempt(app, victim, attack).await {
            return done;
        }
    }
    panic!("{} was always done before it was attacked", victim.name);
}

/// The same; `None` where the job was done before.
async fn attempt(app: &TestApp, victim: &Victim, attack: Attack) -> Option<(Value, Duration)> {
    let Victim { kind, target, options, .. } = victim;
    let job = app.init(json!({"type": kind, "target": target, "data": {}, "formatOpts": options})).await;
    assert_eq!(app.put(&job.template_url.unwrap(), victim.template.clone()).await, 200);
    // Those that wait for a job have computed before.
    let begun_with: Vec<_> =
        processes_of(app, victim.program).iter().map(|pid| (*pid, ticks(*pid))).collect();
    let worked = |pid: u32| {
        let before = begun_with.iter().find(|(known, _)| *known == pid).map_or(0, |(_, ticks)| *ticks);
        ticks(pid) > before + 10
    };
    let begun = Instant::now();
    let is_over = Cell::new(false);
    let finished = async {
        let view = app.finish(&job.id).await;
        is_over.set(true);
        view
    };
    let mut hit = HashSet::new();
    let attacking = app.until("its programs have been attacked", async || {
        for pid in processes_of(app, victim.program).into_iter().filter(|pid| worked(*pid)) {
            let process = Pid::from_raw(i32::try_from(pid).unwrap());
            // One that has ended meanwhile is no hit.
            if hit.len() < attack.times && !hit.contains(&pid) && kill(process, attack.signal).is_ok() {
                hit.insert(pid);
            }
        }
        hit.len() == attack.times || is_over.get()
    });
    let (view, ()) = tokio::join!(finished, attacking);
    (hit.len() == attack.times).then(|| (view, begun.elapsed()))
}

#[tokio::test]
async fn a_job_whose_program_is_killed_or_stopped_runs_again_once_and_says_so() {
    let app = TestApp::with(&[("assemble.timeout_ms", "60000")]).await;
    let victims = victims();
    let tex = &victims[0];
    // What is made once for all jobs, such as a cache of fonts, is no victim.
    let (view, _) = attacked(&app, tex, Attack { signal: Signal::SIGKILL, times: 0 }).await;
    assert_eq!((&view["success"], &view["warnings"]), (&json!(true), &json!([])), "{view}");
    let (view, _) = attacked(&app, tex, Attack { signal: Signal::SIGKILL, times: 2 }).await;
    assert_eq!((&view["success"], &view["errorCode"]), (&json!(false), &json!("engine_lost")), "{view}");
    assert!(view["error"].as_str().unwrap().contains("was killed from outside"), "{view}");
    for victim in &victims {
        for (signal, how) in
            [(Signal::SIGKILL, "was killed from outside"), (Signal::SIGSTOP, "was stopped from outside")]
        {
            let once = Attack { signal, times: 1 };
            let (view, took) = attacked(&app, victim, once).await;
            assert_eq!(view["success"], true, "{signal}: {view}");
            assert!(took < Duration::from_secs(30), "{signal}: {took:?}");
            let warning = view["warnings"][0].as_str().unwrap_or_default();
            assert!(warning.starts_with(&format!("{} {how}", victim.name)), "{view}");
            assert!(warning.ends_with("and the job was run again"), "{view}");
            assert_eq!(view["warnings"].as_array().unwrap().len(), 1, "{view}");
        }
    }
}
