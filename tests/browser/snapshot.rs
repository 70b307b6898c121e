//! Target html of a page with files: one document that opens by itself and looks the same.

use platen::browser::{Delivery, PageOutput, PageTask};
use platen::domain::error::ErrorCode;

use crate::support::{
    Picture, Rendered, TestPool, asking, picture_of, scripted, static_page, text_of, with_bytes, with_files,
};

const GREEN: [u8; 4] = [0, 255, 0, 255];

/// A green picture of 20 pixels by 20.
pub fn green_png() -> Vec<u8> {
    let mut bytes = Vec::new();
    let mut encoder = png::Encoder::new(&mut bytes, 20, 20);
    encoder.set_color(png::ColorType::Rgb);
    encoder.write_header().unwrap().write_image_data(&[0, 255, 0].repeat(400)).unwrap();
    bytes
}

/// The document of a page; nothing in it may name the job's host, run, or refer to a file.
pub async fn document(pool: &TestPool, task: &PageTask) -> (String, Vec<String>) {
    let task = PageTask { output: PageOutput::Html, ..task.clone() };
    let Rendered { bytes, warnings, .. } = pool.render(&task).await.unwrap();
    let html = String::from_utf8(bytes).unwrap();
    for never in [".localhost", "javascript:", "<base", "<noscript", "onload=", "onclick=", "nonce="] {
        assert!(!html.contains(never), "{never} in {html}");
    }
    (html, warnings)
}

async fn picture(pool: &TestPool, task: &PageTask) -> Picture {
    let task = PageTask { output: PageOutput::Png, ..task.clone() };
    picture_of(&pool.render(&task).await.unwrap().bytes)
}

/// The document, which by itself and without script looks and reads like the page.
pub async fn same(pool: &TestPool, task: &PageTask) -> (String, Vec<String>) {
    let (html, warnings) = document(pool, task).await;
    let alone = static_page(&html);
    let (before, after) = (picture(pool, task).await, picture(pool, &alone).await);
    let differing = before.differs_from(&after);
    assert!(
        differing * 10_000 < (before.width * before.height) as usize,
        "{differing} pixels differ: {html}"
    );
    let text = text_of(&pool.render(task).await.unwrap().bytes);
    let printed = pool.render(&alone).await.unwrap();
    assert_eq!(text_of(&printed.bytes), text);
    // In a PDF a relative link leads nowhere, which is told.
    let mut told = printed.warnings;
    told.retain(|warning| !warning.starts_with("relative links lead nowhere in a PDF"));
    assert_eq!(told, warnings, "{html}");
    (html, warnings)
}

#[actix::test]
async fn a_page_made_by_a_module_becomes_one_file_that_looks_the_same() {
    let pool = TestPool::start(|_| {});
    let task = with_bytes(
        "<!DOCTYPE html><html lang=de><head><meta charset=utf-8><title>A &amp; B</title><base href=/>\
         <link rel=modulepreload href=/assets/app.js><link rel=icon href=/logo.png>\
         <link rel=manifest href=/m.webmanifest><meta http-equiv=refresh content='900;url=/x'>\
         <meta http-equiv=Content-Security-Policy content=\"style-src 'self' 'unsafe-inline'; connect-src 'none'; \
         img-src 'self' data:\"><script type=module crossorigin src=/assets/app.js></script>\
         <link rel=stylesheet crossorigin href=/assets/app.css></head><body onload='1' class=x>\
         <noscript>off</noscript><div id=root></div><script type=application/ld+json>{\"a\":\"<b>\"}</script></body>",
        &[
            (
                "assets/app.js",
                b"root.innerHTML = '<h1>Gr\xc3\xbc\xc3\x9fe &lt;b&gt;</h1><p style=\"background:url(/logo.png)\">'\
                + '<a href=\"/invoice/7\" onclick=\"go()\">a</a><a href=\"next.html\">b</a>'\
                + '<a href=\"javascript:go()\">c</a><img src=\"./logo.png\" loading=lazy alt=\"\">'\
                + '<img srcset=\"logo.png 1x, /logo.png?v=2 2x\"><img src=gone.png>';\
                document.body.append(Object.assign(document.createElement('a'), {href: location.href + '#x'}))",
            ),
            ("assets/app.css", b"@import 'more.css' print; @charset 'x'; h1{color:var(--c);border:var(--b);\
                border-top:0;background:url( \"../logo.png\" ) no-repeat} :root{--c:#00f;--b:3px solid red}"),
            ("assets/more.css", b"@import url(deep/deep.css) layer(base) screen; p{padding:9px}"),
            ("assets/deep/deep.css", b"body{background:url('../../logo.png') right bottom no-repeat}"),
            ("logo.png", &green_png()),
            ("m.webmanifest", b"{}"),
        ],
    );
    let (html, warnings) = same(&pool, &task).await;
    assert!(html.starts_with("<!DOCTYPE html>\n<html lang=\"de\"><head><meta charset=\"utf-8\">"), "{html}");
    for part in [
        "href=\"/invoice/7\"",
        "href=\"next.html\"",
        "<a href=\"#0\">c</a>",
        "<link rel=\"icon\" href=\"data:image/png;base64,iVBOR",
        "border:var(--b)",
        "{\"a\":\"<b>\"}",
        "Grüße &lt;b&gt;",
        "<title>A &amp; B</title>",
        "src=\"gone.png\"",
        "href=\"/#x\"",
    ] {
        assert!(html.contains(part), "{part} in {html}");
    }
    for part in [
        "modulepreload",
        "manifest",
        "refresh",
        "Security-Policy",
        "app.js",
        "app.css",
        "more.css",
        "logo.png",
    ] {
        assert!(!html.contains(part), "{part} in {html}");
    }
    assert_eq!(warnings, ["asset not found: /gone.png"]);
    pool.finish().await;
}

#[actix::test]
async fn a_name_may_differ_from_its_files_in_unicode_normalisation() {
    let pool = TestPool::start(|_| {});
    let page = "<!doctype html><meta charset=utf-8><link rel=stylesheet href=\u{f6}.css><img src=\u{e9}.png><img src=u\u{308}.png><p>x</p>";
    let files: [(&str, &[u8]); 4] = [
        ("e\u{301}.png", &green_png()),
        ("\u{fc}.png", &green_png()),
        ("o\u{308}.css", "p{background:url(\u{e4}/\u{e9}.png)}".as_bytes()),
        ("a\u{308}/\u{e9}.png", &green_png()),
    ];
    for page in [page.to_owned(), format!("{page}<script></script>")] {
        let task = with_bytes(&page, &files);
        let (html, warnings) = same(&pool, &task).await;
        assert_eq!((html.matches("data:image/png").count(), warnings), (3, Vec::<String>::new()), "{html}");
        assert!(picture(&pool, &task).await.count(GREEN) > 800);
    }
    let (html, warnings) =
        document(&pool, &with_bytes("<img src=\u{e9}.png>", &[("e.png", &green_png())])).await;
    assert!(html.contains("src=\"\u{e9}.png\""), "{html}");
    assert_eq!(warnings, ["asset not found: /%C3%A9.png"]);
    pool.finish().await;
}

#[actix::test]
async fn style_sheets_are_saved_as_scripts_changed_them() {
    let pool = TestPool::start(|_| {});
    let page = "<link rel=stylesheet href=a.css><style id=made></style><style id=off>body{background:red}</style>\
        <link rel='alternate stylesheet' title=dark href=dark.css><link id=late rel=stylesheet href=p.css media=print>\
        <style>p::after{content:'</sty\\6c e>'} b{color:red}</style>\
        <p>one <b>two</b></p><i>three</i><u>four</u><my-box></my-box><script>\
        made.sheet.insertRule('p{color:green;background:url(/x.png)}');\
        made.sheet.insertRule('p::before{content:\"</style><b>\\\\\"\"}');\
        off.sheet.disabled = true; late.media = 'all';\
        document.styleSheets[0].deleteRule(0);\
        const sheet = new CSSStyleSheet({media: 'all'}); sheet.replaceSync('i{font-size:30px}');\
        const gone = new CSSStyleSheet({disabled: true}); gone.replaceSync('i{display:none}');\
        document.adoptedStyleSheets = [sheet, gone]</script>";
    let task = with_bytes(
        page,
        &[
            ("a.css", b"p{display:none} b{letter-spacing:9px;color:var(--x)}"),
            ("dark.css", b"body{background:#000}"),
            ("p.css", b"u{background:#ff0}"),
            ("x.png", &green_png()),
        ],
    );
    let (html, warnings) = same(&pool, &task).await;
    assert_eq!(warnings, Vec::<String>::new());
    assert!(
        !html.contains("background:red") && !html.contains("#000") && !html.contains("display:none"),
        "{html}"
    );
    pool.finish().await;
}

#[actix::test]
async fn shadow_roots_frames_canvases_and_forms_keep_what_is_in_them() {
    let pool = TestPool::start(|_| {});
    let page = "<!doctype html><style>my-box:not(:defined),no-box:not(:defined){visibility:hidden} iframe{border:0}\
        canvas{border:3px solid red;display:block;width:50%}</style><my-box>light</my-box><no-box>never</no-box>\
        <canvas id=c width=60 height=40></canvas>\
        <iframe src=frame.html width=200 height=60></iframe><iframe srcdoc='<p>in \"srcdoc\" &amp;amp;'></iframe>\
        <form><input name=attributes value=old><input type=checkbox id=k><input type=radio checked id=r>\
        <select id=s><option>1<option id=o>2</select><textarea id=t>old</textarea><input type=image src=x.png></form>\
        <script>customElements.define('my-box', class extends HTMLElement { constructor() { super();\
        const root = this.attachShadow({mode: 'open'});\
        root.innerHTML = '<style>b{color:blue}</style><b>shadow <slot></slot></b><img src=/x.png>';\
        const sheet = new CSSStyleSheet(); sheet.replaceSync('b{background:url(x.png)}');\
        root.adoptedStyleSheets = [sheet]; } });\
        c.getContext('2d').fillStyle = '#00ff00'; c.getContext('2d').fillRect(0, 0, 60, 20);\
        document.forms[0][0].value = 'new \"<'; k.checked = true; r.checked = false; s.value = '2'; t.value = '\\nnew</textarea>'\
        </script>";
    let task = with_bytes(
        page,
        &[
            (
                "frame.html",
                b"<!doctype html><link rel=stylesheet href=f.css><p id=f>frame</p><script>f.textContent += ' ran'</script>",
            ),
            ("f.css", b"p{background:url(x.png)}"),
            ("x.png", &green_png()),
        ],
    );
    let (html, warnings) = same(&pool, &task).await;
    assert_eq!(warnings, Vec::<String>::new());
    for part in [
        "<my-box><template shadowrootmode=\"open\">",
        "value=\"new &quot;&lt;\"",
        "type=\"checkbox\" id=\"k\" checked=\"\"",
        "<option id=\"o\" selected=\"\">2",
        "new&lt;/textarea&gt;</textarea>",
        "frame ran",
    ] {
        assert!(html.contains(part), "{part} in {html}");
    }
    assert!(
        !html.contains("id=\"r\" checked") && !html.contains("<canvas") && !html.contains("<script"),
        "{html}"
    );
    pool.finish().await;
}

#[actix::test]
async fn pictures_of_every_carrier_are_in_the_file() {
    let pool = TestPool::start(|_| {});
    let page = "<!doctype html><body style='margin:0'><table background='b%20%C3%BC+1.png'><td>t</table>\
        <picture><source srcset='x.png 1x, y.png 2x' media=all><img src=gone.png></picture>\
        <svg width=90 height=20><image href=x.png width=20 height=20 /><use href='/sprite.svg#box' x=30 />\
        <use xlink:href='sprite.svg#box' x=60 /><rect fill='url(#none) #0f0' x=50 width=9 height=9 /></svg>\
        <picture><source srcset='x.png 40w' sizes=10px><img></picture><object data=d.svg width=20 height=20></object>\
        <embed src=d.svg width=20 height=20><div style=\"width:20px;height:20px;\
        background:image-set('x.png' 1x, url(x.png) 2x type('image/png'))\"></div><img id=i><img id=j>\
                <div style='width:9px;height:9px;mask:url(x.png);background:#0f0'></div><script>\
        fetch('x.png').then(r => r.blob()).then(blob => { i.src = URL.createObjectURL(blob);\
        j.src = URL.createObjectURL(blob); j.onload = () => URL.revokeObjectURL(j.src) })</script>";
    let png = green_png();
    let sprite = b"<svg xmlns='http://www.w3.org/2000/svg'><defs><linearGradient id='g'>\
        <stop stop-color='#0f0'/></linearGradient></defs><symbol id='box'><rect id='r' fill='url(#g)' width='20' \
        height='20'/></symbol><symbol id='other'><text>other</text></symbol></svg>";
    let drawing =
        b"<svg xmlns='http://www.w3.org/2000/svg' width='20' height='20'><rect fill='#0f0' width='20' \
        height='20'/></svg>";
    let files: &[(&str, &[u8])] =
        &[("x.png", &png), ("y.png", &png), ("b ü+1.png", &png), ("sprite.svg", sprite), ("d.svg", drawing)];
    let (html, warnings) = same(&pool, &with_bytes(page, files)).await;
    assert_eq!(warnings, Vec::<String>::new());
    assert!(!html.contains("x.png") && !html.contains(".svg") && !html.contains("blob:"), "{html}");
    assert!(!html.contains("other"), "{html}");
    let shown = picture(&pool, &static_page(&html)).await;
    assert!(shown.count(GREEN) > 10 * 400, "{}", shown.count(GREEN));
    // Where no script runs, a browser shows its own controls on it.
    let film = with_bytes(
        "<video poster=x.png src=f.mp4 preload=none><track src=t.vtt></video>",
        &[("x.png", &png), ("f.mp4", b"film"), ("t.vtt", b"WEBVTT")],
    );
    let (html, _) = document(&pool, &film).await;
    for part in [
        "poster=\"data:image/png;base64,iV",
        "src=\"data:video/mp4;base64,ZmlsbQ==\"",
        "src=\"data:text/vtt;base64,V0VCVlRU\"",
    ] {
        assert!(html.contains(part), "{part} in {html}");
    }
    pool.finish().await;
}

#[actix::test]
async fn drawings_in_plugins_are_shown_and_run_nothing() {
    let pool = TestPool::start(|_| {});
    let drawing = "<svg xmlns='http://www.w3.org/2000/svg' width='20' height='20'><rect id='r' fill='#0f0' width='20' \
        height='20'/><script>document.getElementById('r').setAttribute('fill', '#f00')</script></svg>";
    let encoded = drawing.replace('#', "%23").replace('<', "%3C").replace('>', "%3E");
    let page = format!(
        "<!doctype html><body style='margin:0'><object data=d.svg type='image/svg+xml'>none</object>\
        <embed src=/d.svg?x=1#y width=20 height=20><object data=\"data:image/svg+xml,{encoded}\"></object>\
        <object data=gone.svg>instead</object><script></script>"
    );
    let (html, warnings) = document(&pool, &with_files(&page, &[("d.svg", drawing)])).await;
    assert_eq!(warnings, ["asset not found: /gone.svg"]);
    assert!(html.contains("<object data=\"gone.svg\">instead</object>"), "{html}");
    // With scripts on, as a browser opens it.
    let shown = picture(&pool, &scripted(&html)).await;
    assert_eq!((shown.count(GREEN), shown.count([255, 0, 0, 255])), (3 * 400, 0), "{html}");
    pool.finish().await;
}

#[actix::test]
async fn a_page_of_the_static_lane_is_written_in_the_same_way() {
    let pool = TestPool::start(|_| {});
    let page = "<!doctype html><link rel=stylesheet href=a.css><p>here <img src=x.png><textarea>\n\nx</textarea>\
        <a href=a.css>sheet</a><pre>\n\n two</pre>";
    let files: &[(&str, &[u8])] = &[("a.css", b"p{background:url(x.png)}"), ("x.png", &green_png())];
    let task = PageTask { lane: platen::domain::lane::Lane::Static, ..with_bytes(page, files) };
    let (html, warnings) = same(&pool, &task).await;
    assert_eq!(warnings, Vec::<String>::new());
    assert!(html.contains("href=\"a.css\"") && html.contains("<pre>\n\n two"), "{html}");
    let put_page = PageTask { delivery: Delivery::Put, ..task };
    let nothing = PageTask { site: with_bytes("<p>plain", files).site, ..put_page };
    assert!(document(&pool, &nothing).await.0.contains("<p>plain</p>"));
    pool.finish().await;
}

#[actix::test]
async fn a_document_that_would_grow_too_large_fails_before_it_is_written() {
    let pool = TestPool::start(|_| {});
    let large = "x".repeat(3 << 20);
    let page = format!("<p>{}</p>", "<img src=large.png>".repeat(100));
    let task = PageTask { limit_bytes: 50 << 20, ..with_files(&page, &[("large.png", &large)]) };
    let error = pool.render(&PageTask { output: PageOutput::Html, ..task }).await.unwrap_err().error;
    assert_eq!(error.code, ErrorCode::OutputTooLarge);
    for part in
        ["52428800 (storage.output_limit_bytes)", "large.png takes 4194", "(it stands there 100 times)"]
    {
        assert!(error.message.contains(part), "{part} in {}", error.message);
    }
    let talkative = "<body><script>document.body.append('x'.repeat(3e6))</script>";
    let task = PageTask { limit_bytes: 1 << 20, ..scripted(talkative) };
    let error = pool.render(&PageTask { output: PageOutput::Html, ..task }).await.unwrap_err().error;
    assert_eq!(error.code, ErrorCode::OutputTooLarge, "{}", error.message);
    pool.finish().await;
}

#[actix::test]
async fn a_large_document_comes_in_pieces() {
    let pool = TestPool::start(|config| config.output_chunk_bytes = 1 << 20);
    let large: Vec<u8> = (0..7_000_001_u32).map(|at| at.to_le_bytes()[0]).collect();
    let page =
        "<img src=large.png><p id=p hidden></p><script>p.textContent = '\u{1f600}ä'.repeat(2e6)</script>";
    let (html, _) = document(&pool, &with_bytes(page, &[("large.png", &large)])).await;
    assert!(html.contains(&"\u{1f600}ä".repeat(2_000_000)));
    let address = html.split("data:image/png;base64,").nth(1).unwrap().split('"').next().unwrap();
    let decoded = base64::Engine::decode(&base64::engine::general_purpose::STANDARD, address).unwrap();
    assert!(decoded == large);
    pool.finish().await;
}

#[actix::test]
async fn state_known_only_to_the_engine_is_saved_or_warned_of() {
    let pool = TestPool::start(|_| {});
    let font = std::fs::read("/usr/share/fonts/truetype/liberation/LiberationMono-Bold.ttf").unwrap();
    let page = "<!doctype html><p id=p style='width:9px'>p</p><p id=q>q</p><script>(async () => {\
        const face = await new FontFace('Made', 'url(f.ttf)').load(); document.fonts.add(face);\
        await p.animate({width: ['9px', '70px']}, {duration: 1, fill: 'forwards'}).finished;\
        document.adoptedStyleSheets = [Object.assign(new CSSStyleSheet({media: 'print'}))];\
        document.adoptedStyleSheets[0].replaceSync('q{color:red}') })()</script>";
    let task = asking(r##"{"selector":"#p"}"##, with_bytes(page, &[("f.ttf", &font)]));
    let (html, warnings) = document(&pool, &task).await;
    assert!(html.contains("<style media=\"print\">q { color: red; }"), "{html}");
    assert!(html.contains("id=\"p\" style=\"width: 70px;\""), "{html}");
    assert!(html.contains("id=\"q\" style=\"display: none !important;\"></p>"), "{html}");
    assert_eq!(warnings.len(), 1, "{warnings:?}");
    assert!(warnings[0].starts_with("the font 'Made' was loaded by a script"), "{warnings:?}");
    pool.finish().await;
}
