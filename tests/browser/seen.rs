//! What waits until somebody scrolls to it is on paper, on a picture of the whole page, and in a document.

use platen::browser::{PageOutput, PageTask};

use crate::support::{TestPool, asking, picture_of, scripted, text_of, with_bytes, with_files, words_of};

const OBSERVED: &str = "<div style='height:3000px'></div><p id=x>WAITING</p><script>new IntersectionObserver(seen => { \
    if (seen[0].isIntersecting) x.textContent = 'SEEN' }).observe(x)</script>";
const BLUE: [u8; 4] = [0, 0, 255, 255];
const SQUARE: &[u8] =
    b"<svg xmlns='http://www.w3.org/2000/svg' width='40' height='40'><rect width='40' height='40' fill='#00f'/></svg>";

#[actix::test]
async fn what_waits_to_be_seen_is_seen() {
    let pool = TestPool::start(|_| {});
    let fading = "<style>p{opacity:0;height:900px;transition:.3s}.in{opacity:1}</style><p>SEEN<p>TWO<p>THREE<script>\
        const o = new IntersectionObserver(all => all.forEach(it => { if (it.isIntersecting) { it.target.classList.add('in'); \
        o.unobserve(it.target) } }), { threshold: .1, rootMargin: '0px 0px -100px' }); \
        document.querySelectorAll('p').forEach(p => o.observe(p))</script>";
    let by_scrolling = "<style>p{visibility:hidden;height:900px}.in{visibility:visible}</style><p>SEEN<p>TWO<p>THREE<script>\
        const look = () => document.querySelectorAll('p').forEach(p => \
        p.classList.toggle('in', p.getBoundingClientRect().top < innerHeight - 100)); \
        document.addEventListener('scroll', look, { passive: true }); look()</script>";
    let by_handler = "<div style='height:3000px'></div><p id=x>WAITING</p><script>onscroll = () => { \
        if (x.getBoundingClientRect().top < innerHeight) x.textContent = 'SEEN' }</script>";
    let by_attribute = "<body onscroll=\"if (x.getBoundingClientRect().top < innerHeight) x.textContent = 'SEEN'\">\
        <div style='height:3000px'></div><p id=x>WAITING</p><script></script>";
    // An observer that is given up at once, as frameworks do that try each effect twice, keeps nothing pending.
    let given_up = "<p id=x>WAITING</p><script>for (const last of [false, true]) { const o = new IntersectionObserver(seen => { \
        x.textContent = 'SEEN' }); o.observe(x); if (!last) o.disconnect() }</script>";
    let in_scroller = "<style>main{height:200px;overflow:auto}@media print{main{height:auto;overflow:visible}}</style><main>\
        <div style='height:3000px'></div><p id=x>WAITING</p></main><script>new IntersectionObserver(seen => { \
        if (seen[0].isIntersecting) x.textContent = 'SEEN' }).observe(x)</script>";
    let late = "<div style='height:3000px'></div><p id=x></p><script>setTimeout(() => { new IntersectionObserver((seen, o) => { \
        if (seen[0].isIntersecting) { o.disconnect(); fetch('t.txt').then(it => it.text()).then(it => x.textContent = it) } \
        }).observe(x) }, 200)</script>";
    let frame = "<div style='height:3000px'></div><iframe src=f.html height=4000></iframe>";
    let module = "<div style='height:3000px'></div><p id=x>WAITING</p><script type=module src=m.js></script>";
    let observes =
        "new IntersectionObserver(seen => { if (seen[0].isIntersecting) x.textContent = 'SEEN' }).observe(x)";
    for (page, text) in [
        (OBSERVED, "SEEN"),
        (fading, "SEEN TWO THREE"),
        (by_scrolling, "SEEN TWO THREE"),
        (by_handler, "SEEN"),
        (by_attribute, "SEEN"),
        (given_up, "SEEN"),
        (in_scroller, "SEEN"),
        (late, "SEEN"),
        (frame, "SEEN"),
        (module, "SEEN"),
    ] {
        let files = [("f.html", OBSERVED), ("t.txt", "SEEN"), ("m.js", observes)];
        let task = with_files(page, &files);
        let rendered = pool.render(&task).await.unwrap();
        assert_eq!(text_of(&rendered.bytes), text, "{page}");
        assert_eq!(rendered.warnings, [""; 0], "{page}");
        let html = pool.render(&PageTask { output: PageOutput::Html, ..task }).await.unwrap().bytes;
        let html = String::from_utf8(html).unwrap();
        assert!(html.contains("SEEN") && !html.contains(">WAITING"), "{page}: {html}");
    }
    pool.finish().await;
}

#[actix::test]
async fn pictures_loaded_when_they_are_seen_are_on_a_picture_of_the_whole_page() {
    let pool = TestPool::start(|_| {});
    let observed = "new IntersectionObserver((all, o) => all.forEach(it => { if (it.isIntersecting) { o.unobserve(it.target); \
        it.target.src = it.target.dataset.src } })).observe(i)";
    let scrolled = "addEventListener('scroll', () => { if (i.getBoundingClientRect().top < innerHeight) i.src = i.dataset.src })";
    let lazy = "setTimeout(() => { i.loading = 'lazy'; i.src = i.dataset.src }, 50)";
    for script in [observed, scrolled, lazy] {
        let page = format!(
            "<body style='margin:0'><div style='height:3000px'></div><img id=i data-src=s.svg width=40 height=40><script>{script}</script>"
        );
        let task = PageTask { output: PageOutput::Png, ..with_bytes(&page, &[("s.svg", SQUARE)]) };
        let whole = pool.render(&asking(r#"{"fullPage":true}"#, task.clone())).await.unwrap();
        assert_eq!(picture_of(&whole.bytes).count(BLUE), 1_600, "{script}");
        let first = picture_of(&pool.render(&task).await.unwrap().bytes);
        assert_eq!((first.count(BLUE), first.at(10, 10)), (0, [255; 4]), "{script}");
    }
    pool.finish().await;
}

#[actix::test]
async fn what_sticks_to_the_window_stays_at_the_beginning() {
    let pool = TestPool::start(|_| {});
    let page = "<body style='margin:0'><header style='position:sticky;top:0;background:#00f;height:40px'>STICKY</header>\
        <p style='height:2500px'>A<p id=x>WAITING<script>addEventListener('scroll', () => setTimeout(() => x.textContent = \
        x.getBoundingClientRect().top < innerHeight ? 'SEEN' : 'HIDDEN', 100))</script>";
    let pdf = pool.render(&scripted(page)).await.unwrap().bytes;
    assert_eq!(text_of(&pdf), "STICKY A SEEN");
    let words = words_of(&pdf);
    let sticky = words.iter().find(|word| word.text == "STICKY").unwrap();
    assert!(sticky.sheet == 1 && sticky.top < 20.0, "{sticky:?}");
    let task = PageTask { output: PageOutput::Png, ..scripted(page) };
    let picture = pool.render(&asking(r#"{"fullPage":true}"#, task)).await.unwrap();
    assert_eq!(picture_of(&picture.bytes).at(200, 20), BLUE);
    pool.finish().await;
}

#[actix::test]
async fn a_band_within_the_window_is_left_as_it_is() {
    let pool = TestPool::start(|_| {});
    let page = "<p id=a>A</p><div style='height:3000px'></div><p id=b>B</p><script>const o = new IntersectionObserver(all => \
        all.forEach(it => it.target.textContent += it.isIntersecting), { rootMargin: '-1px 0px -1px' }); \
        o.observe(a); o.observe(b)</script>";
    assert_eq!(text_of(&pool.render(&scripted(page)).await.unwrap().bytes), "Atrue Bfalse");
    pool.finish().await;
}

#[actix::test]
async fn a_list_without_end_and_a_page_without_end_are_bounded_and_warned_of() {
    let pool = TestPool::start(|config| config.seen_steps_limit = 5);
    let endless = "<div id=l></div><p id=s>END</p><script>let n = 0; const o = new IntersectionObserver(seen => { \
        if (!seen[0].isIntersecting) return; l.insertAdjacentHTML('beforeend', `<p>item${++n}`); o.unobserve(s); o.observe(s) \
        }); o.observe(s)</script>";
    let rendered = pool.render(&scripted(endless)).await.unwrap();
    assert_eq!(text_of(&rendered.bytes), "item1 item2 item3 item4 item5 END");
    assert!(
        rendered.warnings[0]
            .contains("a list that grows whenever its end is seen (browser.seen_steps_limit)")
    );
    let long = "<div style='height:30000px'></div><p id=x>WAITING</p><script>onscroll = () => { \
        if (x.getBoundingClientRect().top < innerHeight) x.textContent = 'SEEN' }</script>";
    let rendered = pool.render(&scripted(long)).await.unwrap();
    assert_eq!(text_of(&rendered.bytes), "SEEN");
    assert!(rendered.warnings[0].starts_with("the page is longer than 5 windows (browser.seen_steps_limit)"));
    pool.finish().await;
    let pool = TestPool::start(|config| config.seen_steps_limit = 0);
    assert_eq!(text_of(&pool.render(&scripted(OBSERVED)).await.unwrap().bytes), "WAITING");
    pool.finish().await;
}
