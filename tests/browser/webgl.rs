//! Canvases that draw with WebGL are in each file, drawn in a sandboxed process of their own; other browsers have no WebGL.

use std::fs;
use std::process::Command;
use std::time::{Duration, Instant};

use platen::browser::{PageOutput, PageTask, Retry};
use platen::domain::ids::AccountId;
use platen::domain::lane::Lane;

use crate::support::{
    Picture, Rendered, TestPool, chromium_after, group_members, picture_of, scripted, static_page, text_of,
    with_files,
};

/// A page; `fill(canvas, kind, red, green, blue)` fills a canvas with WebGL, or says so where it cannot.
fn drawing(rest: &str) -> String {
    format!(
        "<!doctype html><style>body{{margin:0}}canvas,iframe{{border:0}}</style><p id=p></p><script>\
         const fill = (canvas, kind, ...color) => {{ const gl = canvas.getContext(kind); \
         if (!gl) return void (p.textContent += 'none '); gl.clearColor(...color, 1); gl.clear(gl.COLOR_BUFFER_BIT) }};\
         </script>{rest}"
    )
}

const TWO: &str = "<canvas id=red width=80 height=50></canvas><canvas class='big blue' width=80 height=50></canvas>\
    <script>fill(red, 'webgl', 1, 0, 0); fill(document.querySelector('.blue'), 'webgl2', 0, 0, 1)</script>";
const RED: [u8; 4] = [255, 0, 0, 255];
const GREEN: [u8; 4] = [0, 255, 0, 255];
const BLUE: [u8; 4] = [0, 0, 255, 255];

/// The first sheet of a PDF, a pixel for each pixel of CSS.
fn sheet_of(pdf: &[u8]) -> Picture {
    let folder = tempfile::tempdir().unwrap();
    let (file, sheet) = (folder.path().join("a.pdf"), folder.path().join("sheet"));
    fs::write(&file, pdf).unwrap();
    let drawn =
        Command::new("pdftoppm").args(["-png", "-r", "96", "-singlefile"]).args([&file, &sheet]).status();
    assert!(drawn.unwrap().success());
    picture_of(&fs::read(sheet.with_extension("png")).unwrap())
}

/// Renders the page as PDF, picture and document, and shows each as a picture.
async fn shown(pool: &TestPool, html: &str) -> [Picture; 3] {
    let page = with_files(html, &[("a.txt", "a")]);
    let rendered = async |output| {
        let Rendered { bytes, warnings, .. } =
            pool.render(&PageTask { output, ..page.clone() }).await.unwrap();
        assert_eq!(warnings, Vec::<String>::new(), "{output:?}");
        bytes
    };
    let document = String::from_utf8(rendered(PageOutput::Html).await).unwrap();
    let document = PageTask { output: PageOutput::Png, ..static_page(&document) };
    [
        sheet_of(&rendered(PageOutput::Pdf).await),
        picture_of(&rendered(PageOutput::Png).await),
        picture_of(&pool.render(&document).await.unwrap().bytes),
    ]
}

/// How many pixels are of about this colour: a PDF rounds them.
fn count_of(picture: &Picture, color: [u8; 4]) -> usize {
    let pixels = (0..picture.height).flat_map(|y| (0..picture.width).map(move |x| picture.at(x, y)));
    pixels.filter(|pixel| pixel.iter().zip(color).all(|(one, two)| one.abs_diff(two) <= 3)).count()
}

/// Asserts that each colour fills about so many pixels of each picture: the edges of a PDF's pictures are soft.
fn assert_filled(pictures: &[Picture; 3], colors: &[[u8; 4]], pixels: usize) {
    for (at, picture) in pictures.iter().enumerate() {
        for color in colors {
            let count = count_of(picture, *color);
            assert!(count.abs_diff(pixels) <= pixels / 10, "{color:?} in file {at}: {count} of {pixels}");
        }
    }
}

#[actix::test]
async fn two_canvases_are_in_each_file() {
    let pool = TestPool::start(|_| {});
    assert_filled(&shown(&pool, &drawing(TWO)).await, &[RED, BLUE], 80 * 50);
    pool.finish().await;
}

#[actix::test]
async fn frames_workers_and_offscreen_canvases_draw() {
    let pool = TestPool::start(|_| {});
    let frame =
        drawing("<canvas id=a width=80 height=50></canvas><script>fill(a, 'webgl', 1, 0, 0)</script>");
    let page = drawing(&format!(
        "<iframe width=80 height=50 srcdoc=\"{}\"></iframe><canvas id=a width=80 height=50></canvas>\
         <canvas id=b width=80 height=50></canvas><script>\
         const own = new OffscreenCanvas(80, 50); fill(own, 'webgl2', 0, 1, 0); a.getContext('2d').drawImage(own, 0, 0);\
         const code = `onmessage = ({{data}}) => {{ const gl = data.getContext('webgl'); gl.clearColor(0, 0, 1, 1); \
         gl.clear(gl.COLOR_BUFFER_BIT); postMessage(1) }}`;\
         const moved = b.transferControlToOffscreen();\
         new Worker(URL.createObjectURL(new Blob([code]))).postMessage(moved, [moved])</script>",
        frame.replace("<p id=p></p>", "").replace('"', "&quot;")
    ));
    assert_filled(&shown(&pool, &page).await, &[RED, GREEN, BLUE], 80 * 50);
    pool.finish().await;
}

#[actix::test]
async fn an_offscreen_canvas_without_webgl_needs_no_other_browser() {
    let pool = TestPool::start(|_| {});
    let page = drawing(
        "<canvas id=a width=80 height=50></canvas><script>const own = new OffscreenCanvas(80, 50), x = own.getContext('2d');\
         x.fillStyle = '#0f0'; x.fillRect(0, 0, 80, 50); a.getContext('2d').drawImage(own, 0, 0)</script>",
    );
    assert_filled(&shown(&pool, &page).await, &[GREEN], 80 * 50);
    assert_eq!(pool.status().await.browsers.len(), 1);
    pool.finish().await;
}

#[actix::test]
async fn a_template_that_asked_for_webgl_gets_it_at_once_the_next_time() {
    let pool = TestPool::start(|_| {});
    let (account, task) = (AccountId::generate(), scripted(&drawing(TWO)));
    let first = pool.render_template(account, &task.site, &task).await.unwrap_err();
    assert_eq!(first.retry, Retry::WithGraphics, "{first}");
    let next = pool.render_template(account, &task.site, &task).await.unwrap();
    assert_eq!((text_of(&next.bytes), next.warnings), (String::new(), Vec::<String>::new()));
    pool.finish().await;
}

#[actix::test]
async fn graphics_are_in_a_sandboxed_process_of_their_own_that_no_two_accounts_share() {
    let pool = TestPool::start(|config| {
        config.graphics_processes = 1;
        config.graphics_idle_s = 1;
        config.ping_interval_ms = 200;
    });
    let ordinary = pool.until("a browser runs", |status| status.ready).await.browsers;
    let of_kind = |browser: i32, kind: &str| {
        let is_it = |id: &i32| {
            let line = fs::read(format!("/proc/{id}/cmdline")).unwrap_or_default();
            String::from_utf8_lossy(&line).contains(kind)
        };
        group_members(browser).into_iter().filter(is_it).collect::<Vec<_>>()
    };
    let mut before = None;
    for account in [AccountId::generate(), AccountId::generate()] {
        let lease = pool.address.send(graphics_of(account)).await.unwrap().unwrap();
        let drawing_one = pool.status().await.browsers.into_iter().find(|id| !ordinary.contains(id)).unwrap();
        assert_ne!(
            before.replace(drawing_one),
            Some(drawing_one),
            "another account's page has a new browser"
        );
        let processes = of_kind(drawing_one, "--type=gpu-process");
        assert!(!processes.is_empty(), "graphics have a process of their own");
        for process in processes {
            for thread in fs::read_dir(format!("/proc/{process}/task")).unwrap().flatten() {
                let Ok(status) = fs::read_to_string(thread.path().join("status")) else { continue };
                assert!(status.contains("Seccomp:\t2\n"), "a thread outside of the sandbox: {status}");
            }
        }
        let page = scripted(&drawing(TWO));
        assert_eq!(text_of(&pool.render_in(lease, &page).await.unwrap().bytes), "");
    }
    assert_eq!(of_kind(ordinary[0], "--type=gpu-process"), Vec::<i32>::new());
    pool.until("the browser is not needed any more", |status| status.browsers == ordinary).await;
    pool.finish().await;
}

fn graphics_of(account: AccountId) -> platen::browser::LeaseTab {
    let graphics = platen::browser::PageGraphics::Given;
    platen::browser::LeaseTab { graphics, ..platen::browser::LeaseTab::new(account, Lane::Scripted) }
}

#[actix::test]
async fn a_canvas_without_webgl_is_named_with_the_reason() {
    let task = scripted(&drawing(TWO));
    let off = TestPool::start(|config| config.graphics_processes = 0);
    // There is no library of graphics beside a script.
    let program = chromium_after("true");
    let unavailable = TestPool::start(|config| config.executable = program.display().to_string());
    for (pool, why) in [(off, "(browser.graphics_processes)"), (unavailable, "`platen doctor`")] {
        let rendered = pool.render(&task).await.unwrap();
        assert_eq!(text_of(&rendered.bytes), "none none");
        for canvas in ["canvas#red asked for WebGL", "canvas.big blue asked for WebGL"] {
            let is_said = |line: &String| line.starts_with(canvas) && line.contains(why);
            assert!(rendered.warnings.iter().any(is_said), "{canvas}: {:?}", rendered.warnings);
        }
        assert_eq!(rendered.warnings.len(), 2, "{:?}", rendered.warnings);
        pool.finish().await;
    }
}

#[actix::test]
async fn a_canvas_that_asks_for_webgpu_is_named() {
    let pool = TestPool::start(|_| {});
    let page = "<canvas id=chart></canvas><script>chart.getContext('webgpu'); navigator.gpu?.requestAdapter()</script>";
    let warnings = pool.render(&scripted(page)).await.unwrap().warnings;
    for begin in ["canvas#chart asked for WebGPU", "the page asked for WebGPU"] {
        assert!(warnings.iter().any(|line| line.starts_with(begin)), "{begin}: {warnings:?}");
    }
    pool.finish().await;
}

/// Each gets `getContext` as it is from where no script of ours was, or where nobody listens.
#[actix::test]
async fn an_ordinary_browser_draws_no_webgl_whatever_the_page_does() {
    let pool = TestPool::start(|config| {
        config.graphics_processes = 0;
        config.watched_workers_limit = 0;
        config.rest_cap_ms = 5_000;
    });
    let page = "<p id=p></p><iframe id=blank></iframe><iframe id=given srcdoc=x></iframe><script>\
        const KINDS = ['webgl', 'webgl2', 'experimental-webgl'], found = [];\
        const ask = (where, make) => KINDS.forEach(kind => { let got = 'none'; \
            try { got = make().getContext(kind) ? 'WEBGL' : 'none' } catch {} found.push(where + ' ' + got) });\
        const all = (where, its) => { ask(where, () => its.document.createElement('canvas'));\
            ask(where, () => new its.OffscreenCanvas(9, 9)) };\
        const code = `const got = ${JSON.stringify(KINDS.slice(0, 2))}.map(kind => new OffscreenCanvas(9, 9).getContext(kind) ? 'WEBGL' : 'none');\
            postMessage(got.join())`;\
        const worker = new Promise(done => new Worker(URL.createObjectURL(new Blob([code]))).onmessage = e => done(e.data));\
        all('page', window); all('blank', blank.contentWindow);\
        const late = document.body.appendChild(document.createElement('iframe')); all('late', late.contentWindow);\
        onload = async () => { all('given', given.contentWindow); p.textContent = found.length + ' ' + \
            (await worker + ' ' + found.join()) }</script>";
    let text = text_of(&pool.render(&scripted(page)).await.unwrap().bytes);
    assert!(text.starts_with("24 none,none page none"), "{text}");
    assert!(!text.contains("WEBGL"), "{text}");
    pool.finish().await;
}

#[actix::test]
async fn a_shader_without_end_costs_its_own_page_alone() {
    let pool = TestPool::start(|config| {
        config.graphics_processes = 1;
        config.tabs = 4;
        config.load_timeout_ms = 3_000;
        config.rest_cap_ms = 2_000;
        config.readiness_timeout_ms = 2_000;
        config.print_timeout_ms = 5_000;
    });
    let endless = drawing(
        "<canvas id=c width=300 height=300></canvas><script>const gl = c.getContext('webgl2');\
         const shader = (kind, text) => { const it = gl.createShader(kind); gl.shaderSource(it, '#version 300 es\\n' + text);\
         gl.compileShader(it); gl.attachShader(program, it) };\
         const program = gl.createProgram();\
         shader(gl.VERTEX_SHADER, 'void main() { gl_Position = vec4(0, 0, 0, 1); gl_PointSize = 300.0; }');\
         shader(gl.FRAGMENT_SHADER, 'precision highp float; uniform float u; out vec4 o; void main() { float x = 0.0; \
         while (u < 1.0) { x = sin(x + gl_FragCoord.x); } o = vec4(x); }');\
         gl.linkProgram(program); gl.useProgram(program); gl.drawArrays(gl.POINTS, 0, 1);\
         const seen = new Uint8Array(4); gl.readPixels(0, 0, 1, 1, gl.RGBA, gl.UNSIGNED_BYTE, seen)</script>",
    );
    let (hostile, innocent) = (AccountId::generate(), AccountId::generate());
    let (endless, plain, draws) = (scripted(&endless), scripted("<p>plain"), scripted(&drawing(TWO)));
    let begun = Instant::now();
    let failing = pool.draw_for(hostile, &endless);
    let (failed, plain) = tokio::join!(failing, pool.render_for(innocent, &plain));
    assert_eq!(text_of(&plain.unwrap().bytes), "plain");
    let failed = failed.unwrap_err();
    assert!(begun.elapsed() < Duration::from_mins(1), "{failed} after {:?}", begun.elapsed());
    // The browser in which the shader still runs is ended: the only one that draws is free for others.
    assert_eq!(text_of(&pool.render_for(innocent, &draws).await.unwrap().bytes), "");
    pool.finish().await;
}
