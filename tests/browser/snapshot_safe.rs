//! Target html: text of the page stays text in the file, nothing in the file runs, and no template blocks the browser for
//! the others.

use platen::browser::{PageOutput, PageTask};
use platen::domain::error::ErrorCode;

use crate::snapshot::{document, green_png, same};
use crate::support::{TestPool, asking, picture_of, scripted, static_page, text_of, with_bytes, with_files};

/// Names for the scripts below. Script that runs where it must not writes 4711.
const NAMES: &str = "const RUN = 'document.body.append(4700+11)', P = `<img src=x onerror=${RUN}>`,\
    SCRIPT = `<script>${RUN}<\\/script>`, SVG = 'http://www.w3.org/2000/svg', XHTML = 'http://www.w3.org/1999/xhtml';\
    const make = (name, text = '', space = XHTML) => Object.assign(document.createElementNS(space, name), {textContent: text});\
    const show = (...nodes) => document.body.append('shown ', ...nodes); const quoted = text => text.replaceAll('&', '&amp;')\
    .replaceAll('\"', '&quot;');";

/// What scripts make of text, and what the parser would make of it.
const TEXTS: [&str; 26] = [
    "show(document.createComment('-<!--->' + P), document.createComment('--!>' + P), document.createComment('>' + P))",
    "show(make('xmp', 'a</xmp>' + P))",
    "const xmp = make('xmp', 'a'); xmp.append(make('b', P)); show(xmp)",
    "show(make('noembed', 'a</noembed>' + P), make('noframes', 'a</noframes>' + P))",
    "show(make('plaintext', 'a</plaintext>' + P), 'after')",
    "show(make('style', '</style>' + P)); document.body.lastChild.type = 'text/less'",
    "const title = make('title'); title.append('a', document.createComment('</title>' + P)); document.head.append(title); show()",
    "const area = make('textarea', 'a</textarea>' + P); area.append(document.createComment('</textarea>' + P)); show(area)",
    "show(make('SCRIPT', RUN), make('Style', P), make('IFRAME', P))",
    "const svg = make('svg', '', SVG); svg.append(make('SCRIPT', RUN, SVG)); show(svg)",
    "show(make('script', RUN, 'urn:x'), make('xmp', '</xmp>' + P, 'urn:x'))",
    "const frame = make('iframe', '', 'urn:x'); frame.setAttribute('srcdoc', SCRIPT); show(frame)",
    "const frame = make('iframe', '', SVG); frame.setAttribute('srcdoc', SCRIPT); show(frame)",
    "const svg = make('svg', '', SVG); svg.append(make('style', `/*${P}*/`), make('xmp', P), make('title', P)); show(svg)",
    "const svg = make('svg'); svg.append(make('style', `/*${P}*/`)); show(svg)",
    "const math = make('math'); math.append(make('style', `/*${P}*/`), make('xmp', P)); show(math)",
    "document.body.innerHTML = '<math><mi>x</mi><style>a</style></math>'; show()",
    "const data = make('script', `\"${P}\"`); data.type = 'application/json'; const svg = make('svg', '', SVG);\
     svg.append(data, make('style', `/*${P}*/`)); show(svg)",
    "const image = make('image'); image.setAttribute('src', 'x'); image.setAttribute('srcset', 'x'); show(image, 'after')",
    "show(...['constructor', 'toString', '__proto__', 'hasOwnProperty'].map(name => make(name, 'text')))",
    "show(make('x', 'a', 'constructor'), make('x', 'b', '__proto__'), make('constructor', '', SVG))",
    "const frame = make('iframe'); frame.setAttribute('sandbox', 'allow-allow-scriptsscripts allow-forms');\
     frame.srcdoc = 'frame' + SCRIPT; show(frame)",
    "const x = make('script', `<${location.origin.slice(5)}/script>${P}`); x.type = 'text/x-template'; show(x)",
    "const p = make('p', 'a'); p.setAttribute('data-x', '\"><' + 'script>' + RUN); show(p)",
    "show(make('_x', 'a'), make('svg:b', 'b'), make('x-y', 'c'))",
    "const frames = make('template'); frames.innerHTML = P; show(frames)",
];

/// What runs in the page, and not in the file.
const PROGRAMS: [&str; 6] = [
    "let inner = SCRIPT; for (let depth = 0; depth < 10; depth++) inner = `<iframe srcdoc=\"${quoted(inner)}\"></iframe>`;\
     document.body.innerHTML = inner",
    "const frame = make('iframe'); frame.src = 'data:text/html,' + SCRIPT; show(frame)",
    "const frame = make('iframe'); frame.sandbox = 'ALLOW-SCRIPTS allow-forms'; frame.srcdoc = SCRIPT; show(frame)",
    "const page = make('object'); page.data = 'data:text/html,' + SCRIPT; show(page)",
    "const page = make('embed'); page.src = 'data:text/html,' + SCRIPT; show(page)",
    "const page = make('object'); page.data = 'run.html'; const again = make('embed'); again.src = 'run.html'; show(page, again)",
];

#[actix::test]
async fn a_sheet_of_control_bytes_does_not_end_the_browser() {
    let pool = TestPool::start(|_| {});
    let sheet = format!("p{{color:#123456}}/*{}*/", "\u{1}".repeat((16 << 20) - 30));
    let page = "<!doctype html><link rel=stylesheet href=a.css><p>p<script></script>";
    let task = PageTask { limit_bytes: 1 << 29, ..with_files(page, &[("a.css", &sheet)]) };
    let (html, warnings) = document(&pool, &task).await;
    assert_eq!(warnings, Vec::<String>::new());
    assert!(html.contains("p{color:#123456}/*\u{1}"), "{}", html.len());
    assert!(pool.render(&static_page("<p>next")).await.is_ok());
    pool.finish().await;
}

fn made_by(script: &str) -> PageTask {
    let page = format!("<!doctype html><body><script>{NAMES}{script}</script>");
    let run = "<body><script>document.body.append(4700+11)</script>";
    with_files(&page, &[("run.html", run)])
}

/// The page of `script` as text, and that of its file, opened where script runs.
async fn texts(pool: &TestPool, script: &str) -> [String; 2] {
    let task = made_by(script);
    let before = text_of(&pool.render(&task).await.unwrap().bytes);
    let written = PageTask { output: PageOutput::Html, ..task };
    let html = match pool.render(&written).await {
        Ok(written) => String::from_utf8(written.bytes).unwrap(),
        Err(failed) => return [before, failed.to_string()],
    };
    [before, text_of(&pool.render(&scripted(&html)).await.unwrap().bytes)]
}

#[actix::test]
async fn text_of_the_page_stays_text_in_the_file() {
    let pool = TestPool::start(|_| {});
    let mut wrong = Vec::new();
    for script in TEXTS {
        let [before, after] = texts(&pool, script).await;
        assert!(before.contains("shown") && !before.contains("4711"), "{script}: {before}");
        if before != after {
            wrong.push(format!("{script}: {before} | {after}"));
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
    pool.finish().await;
}

#[actix::test]
async fn scripts_of_the_page_do_not_run_in_the_file() {
    let pool = TestPool::start(|_| {});
    let mut wrong = Vec::new();
    for script in PROGRAMS {
        let (html, _) = document(&pool, &made_by(script)).await;
        let text = text_of(&pool.render(&scripted(&html)).await.unwrap().bytes);
        // What runs in a frame of no origin, or deep down, is not printed.
        let holds_script = ["data:text/html", "body.append"].iter().any(|part| html.contains(part));
        let is_held = !holds_script || html.contains(" sandbox=");
        if text.contains("4711") || !is_held {
            wrong.push(script);
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
    pool.finish().await;
}

#[actix::test]
async fn addresses_that_a_script_made_are_kept_in_sheets_or_warned_of() {
    let pool = TestPool::start(|_| {});
    let page = "<!doctype html><img name=implementation id=i><style id=s></style><p>p</p><script>(async () => {\
        const blob = await (await fetch('x.png')).blob(); const [one, two, gone, drawn] = [1, 2, 3, 4].map(() => URL.createObjectURL(blob));\
        s.textContent = `p{background:url(${one})}`; const sheet = new CSSStyleSheet();\
        sheet.replaceSync(`p{border-image:url(${two}) 1}`); document.adoptedStyleSheets = [sheet];\
        i.src = drawn; await i.decode(); URL.revokeObjectURL(drawn);\
        if (location.hash === '' && __PLATEN_DATA__.gone) { s.textContent += `i{background:url(${gone})}`; URL.revokeObjectURL(gone) }\
        })()</script>";
    let task = with_bytes(page, &[("x.png", &green_png())]);
    let (html, warnings) = same(&pool, &task).await;
    assert_eq!(warnings, Vec::<String>::new());
    assert_eq!(html.matches("data:image/png;base64,iV").count(), 3, "{html}");
    let task = PageTask { data: bytes::Bytes::from_static(b"{\"gone\":true}"), ..task };
    let (_, warnings) = document(&pool, &task).await;
    assert_eq!(warnings, ["an address made by URL.createObjectURL could not be kept"]);
    pool.finish().await;
}

#[actix::test]
async fn sheets_with_many_comments_and_roots_with_one_sheet_are_written_in_time() {
    let pool = TestPool::start(|_| {});
    let sheet = format!("@import {}x;p{{color:#123456}}", "/**/".repeat(900));
    let page = "<!doctype html><link rel=stylesheet href=a.css><p>p<script></script>";
    let (html, _) = document(&pool, &with_files(page, &[("a.css", &sheet)])).await;
    assert!(html.contains("p{color:#123456}"), "{html}");
    let page = "<body><script>const sheet = new CSSStyleSheet();\
        sheet.replaceSync(Array.from({length: 5000}, (_, n) => `.c${n}{color:#123456;background:#abcdef}`).join(''));\
        for (let n = 0; n < 1500; n++) document.body.appendChild(document.createElement('div'))\
        .attachShadow({mode: 'open'}).adoptedStyleSheets = [sheet]</script>";
    let task =
        PageTask { limit_bytes: 8 << 20, output: PageOutput::Html, ..with_files(page, &[("a.txt", "a")]) };
    let error = pool.render(&task).await.unwrap_err().error;
    assert_eq!(error.code, ErrorCode::OutputTooLarge, "{}", error.message);
    let page = "<body><script>document.body.append('\u{20ac}'.repeat(4e5))</script>";
    let task =
        PageTask { limit_bytes: 1 << 20, output: PageOutput::Html, ..with_files(page, &[("a.txt", "a")]) };
    let error = pool.render(&task).await.unwrap_err().error;
    assert!(error.message.contains("1048576 bytes (storage.output_limit_bytes)"), "{}", error.message);
    pool.finish().await;
}

#[actix::test]
async fn content_outside_the_selected_element_is_not_in_the_file() {
    let pool = TestPool::start(|_| {});
    let page = "<!doctype html><p class=a title=secret>secret <b>secret</b><style>#q{color:#123456}</style></p>\
        <input value=secret><table class=a><td>secret</table><svg><text>secret</text></svg><img alt=secret>\
        <iframe srcdoc=secret></iframe><div>secret<p id=q>here</p><p>secret<textarea>secret</textarea></div><script></script>";
    let task = asking(r##"{"selector":"#q"}"##, with_files(page, &[("a.txt", "a")]));
    let (html, warnings) = document(&pool, &task).await;
    assert_eq!(warnings, Vec::<String>::new());
    assert!(
        !html.contains("secret") && html.contains("#q{color:#123456}") && html.contains(">here</p>"),
        "{html}"
    );
    pool.finish().await;
}

#[actix::test]
async fn a_closed_shadow_root_is_warned_of() {
    let pool = TestPool::start(|_| {});
    let page = "<!doctype html><x-closed></x-closed><x-open></x-open><x-empty></x-empty><script>\
        for (const mode of ['closed', 'open']) customElements.define(`x-${mode}`, class extends HTMLElement {\
        constructor() { super(); this.attachShadow({mode}).innerHTML = `<p>${mode} text</p>` } })</script>";
    let (html, warnings) = document(&pool, &with_files(page, &[("a.txt", "a")])).await;
    assert!(html.contains("open text") && !html.contains("closed text"), "{html}");
    assert_eq!(warnings.len(), 1, "{warnings:?}");
    assert!(warnings[0].starts_with("<x-closed> shows what only its own script sees"), "{warnings:?}");
    pool.finish().await;
}

#[actix::test]
async fn webgl_drawings_are_in_the_file() {
    let pool = TestPool::start(|_| {});
    let page = "<!doctype html><body style='margin:0'><script>for (const [kind, given] of [['webgl'], ['webgl2', null],\
        ['webgl', {antialias: false, preserveDrawingBuffer: false}]]) {\
        const canvas = document.body.appendChild(Object.assign(document.createElement('canvas'), {width: 60, height: 40}));\
        const gl = canvas.getContext(kind, given); gl.clearColor(0, 1, 0, 1); gl.clear(gl.COLOR_BUFFER_BIT) }</script>";
    let (html, warnings) = same(&pool, &with_files(page, &[("a.txt", "a")])).await;
    assert_eq!(warnings, Vec::<String>::new());
    let shot = PageTask { output: PageOutput::Png, ..static_page(&html) };
    let shown = picture_of(&pool.render(&shot).await.unwrap().bytes);
    assert_eq!(shown.count([0, 255, 0, 255]), 3 * 60 * 40);
    pool.finish().await;
}
