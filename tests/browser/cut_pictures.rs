//! Pictures whose end is missing: Chromium shows their beginning, and the author is warned.

use std::io::{BufRead as _, BufReader, Write as _};
use std::net::TcpListener;

use base64::Engine as _;
use base64::engine::general_purpose::{STANDARD, STANDARD_NO_PAD};
use platen::browser::{PageOutput, PageTask};
use platen::config::Config;
use platen::domain::lane::Lane;

use crate::support::{TestPool, put_page, scripted, static_page, with_bytes};

const PICTURES: [(&str, &[u8]); 8] = [
    ("picture.png", include_bytes!("pictures/picture.png")),
    ("baseline.jpg", include_bytes!("pictures/baseline.jpg")),
    ("progressive.jpg", include_bytes!("pictures/progressive.jpg")),
    ("picture.gif", include_bytes!("pictures/picture.gif")),
    ("lossy.webp", include_bytes!("pictures/lossy.webp")),
    ("lossless.webp", include_bytes!("pictures/lossless.webp")),
    ("picture.avif", include_bytes!("pictures/picture.avif")),
    ("picture.bmp", include_bytes!("pictures/picture.bmp")),
];
const WHY: &str = "(the end of the file is missing; only what came before it is shown)";

fn file(name: &str) -> &'static [u8] {
    PICTURES.iter().find(|(known, _)| *known == name).unwrap().1
}

/// The same JPEG with a small one in its Exif data, as cameras write it.
fn with_thumbnail(jpeg: &[u8]) -> Vec<u8> {
    let exif = [b"Exif\0\0".as_slice(), file("progressive.jpg")].concat();
    let length = u16::try_from(exif.len() + 2).unwrap().to_be_bytes();
    [&jpeg[..2], b"\xff\xe1", &length, &exif, &jpeg[2..]].concat()
}

fn cut(picture: &[u8]) -> &[u8] {
    &picture[..picture.len() * 3 / 4]
}

/// A page that shows all of `files`.
fn showing(files: &[(String, Vec<u8>)], rest: &str) -> PageTask {
    let page = files.iter().map(|(name, _)| format!("<img src='{name}'>")).collect::<Vec<_>>().concat();
    let files: Vec<_> = files.iter().map(|(name, content)| (name.as_str(), content.as_slice())).collect();
    with_bytes(&format!("<p>text{page}{rest}"), &files)
}

/// The page in each lane, and as each kind of file.
fn ways(task: &PageTask) -> Vec<PageTask> {
    let outputs = [PageOutput::Pdf, PageOutput::Png, PageOutput::Html];
    let lanes = [Lane::Static, Lane::Scripted].into_iter();
    lanes.flat_map(|lane| outputs.map(|output| PageTask { lane, output, ..task.clone() })).collect()
}

async fn warnings(pool: &TestPool, task: &PageTask) -> Vec<String> {
    let mut warnings = pool.render(task).await.unwrap().warnings;
    warnings.sort();
    warnings
}

#[actix::test]
async fn a_file_that_is_cut_off_is_warned_of_and_a_sound_one_never() {
    let pool = TestPool::start(|_| {});
    let jpeg = file("baseline.jpg");
    let whole = PICTURES.map(|(name, picture)| (name.to_owned(), picture.to_vec()));
    // Bytes behind the end, a GIF without the byte that only says so, two pictures in one file as some cameras write them.
    let behind = PICTURES.map(|(name, picture)| (format!("behind-{name}"), [picture, b"\0more"].concat()));
    let gif = file("picture.gif");
    let odd = [
        ("thumbnail.jpg".to_owned(), with_thumbnail(jpeg)),
        ("two.jpg".to_owned(), [jpeg, file("progressive.jpg")].concat()),
        ("end.gif".to_owned(), gif[..gif.len() - 1].to_vec()),
    ];
    let sound: Vec<_> = whole.into_iter().chain(behind).chain(odd).collect();
    for task in ways(&showing(&sound, "")) {
        assert_eq!(warnings(&pool, &task).await, [""; 0], "{:?}", task.lane);
    }
    let halves = PICTURES.map(|(name, picture)| (format!("cut-{name}"), cut(picture).to_vec()));
    let thumbnail = with_thumbnail(jpeg);
    let camera = [("cut-thumbnail.jpg".to_owned(), thumbnail[..thumbnail.len() - 9].to_vec())];
    let files: Vec<_> = halves.into_iter().chain(camera).chain(sound).collect();
    for task in ways(&showing(&files, "<img src=cut-picture.png?v=1><img src=picture.png>")) {
        let warnings = warnings(&pool, &task).await;
        let wanted: Vec<_> = files.iter().filter(|(name, _)| name.starts_with("cut-")).collect();
        assert_eq!(warnings.len(), wanted.len() + 1, "{warnings:#?}");
        for (name, _) in wanted {
            // Nothing of some is shown at all.
            let said =
                |what: &str| warnings.iter().any(|it| it.starts_with(&format!("picture {what}: /{name} (")));
            let is_opaque = name.ends_with("webp") || name.ends_with("avif");
            assert!(said("is cut off") || is_opaque && said("cannot be decoded"), "{name}: {warnings:#?}");
        }
        assert!(
            warnings.contains(&format!("picture is cut off: /cut-picture.png?v=1 {WHY}")),
            "{warnings:#?}"
        );
    }
    pool.finish().await;
}

#[actix::test]
async fn a_cut_picture_of_a_style_a_frame_or_a_drawing_is_warned_of() {
    let pool = TestPool::start(|_| {});
    let png = cut(file("picture.png"));
    let files: [(&str, &[u8]); 5] = [
        ("a.css", b"b{background:url(back.png)}"),
        ("back.png", png),
        ("f.html", b"<img src=in.jpg>"),
        ("in.jpg", cut(file("baseline.jpg"))),
        ("drawn.png", png),
    ];
    let page = "<link rel=stylesheet href=a.css><p>a<b>b</b><iframe src=f.html></iframe><svg><image href=drawn.png /></svg>";
    let wanted =
        ["/back.png", "/drawn.png", "/in.jpg"].map(|path| format!("picture is cut off: {path} {WHY}"));
    for task in ways(&with_bytes(page, &files)) {
        assert_eq!(warnings(&pool, &task).await, wanted, "{:?}", task.lane);
    }
    pool.finish().await;
}

#[actix::test]
async fn a_cut_picture_in_the_page_itself_is_warned_of() {
    let pool = TestPool::start(|_| {});
    let address =
        |kind: &str, content: &[u8]| format!("data:image/{kind};base64,{}", STANDARD.encode(content));
    for (kind, name) in
        [("png", "picture.png"), ("jpeg", "baseline.jpg"), ("gif", "picture.gif"), ("bmp", "picture.bmp")]
    {
        let whole = file(name);
        let page = |content: &[u8]| format!("<p>a<img src='{}'>", address(kind, content));
        let unpadded = format!("<p>a<img src='data:image/{kind};base64,{}'>", STANDARD_NO_PAD.encode(whole));
        for page in [page(whole), page(&[whole, b"\0more"].concat()), unpadded] {
            for task in [put_page(&page), static_page(&page), scripted(&page)] {
                assert_eq!(warnings(&pool, &task).await, [""; 0], "{name}");
            }
        }
        let both = format!("{}<img src='{}'>", page(cut(whole)), address(kind, whole));
        for task in [put_page(&both), static_page(&both), scripted(&both)] {
            let warnings = warnings(&pool, &task).await;
            let begin = format!("picture is cut off: data:image/{kind};base64,");
            assert!(warnings.len() == 1 && warnings[0].starts_with(&begin), "{name}: {warnings:?}");
        }
    }
    pool.finish().await;
}

#[actix::test]
async fn a_picture_of_one_pixel_without_its_data_holds_a_place_and_is_not_warned_of() {
    let pool = TestPool::start(|_| {});
    let page = "<p>a<img src='data:image/gif;base64,R0lGODlhAQABAAAAACwAAAAAAQABAAA='>";
    for task in [put_page(page), static_page(page), scripted(page)] {
        assert_eq!(warnings(&pool, &task).await, [""; 0], "{:?}", task.lane);
    }
    pool.finish().await;
}

/// Serves every picture over HTTP, whole and, below `/cut`, cut off; answers its port.
fn serve() -> u16 {
    let listener = TcpListener::bind(("127.0.0.1", 0)).unwrap();
    let port = listener.local_addr().unwrap().port();
    std::thread::spawn(move || {
        for stream in listener.incoming() {
            let Ok(mut stream) = stream else { return };
            let mut lines = BufReader::new(stream.try_clone().unwrap()).lines().map_while(Result::ok);
            let Some(first) = lines.next() else { continue };
            lines.take_while(|line| !line.is_empty()).for_each(drop);
            let path = first.split(' ').nth(1).unwrap_or_default().trim_start_matches('/');
            let (is_cut, name) = path.strip_prefix("cut/").map_or((false, path), |name| (true, name));
            let svg: &[u8] =
                b"<svg xmlns='http://www.w3.org/2000/svg' viewBox='0 0 1 1'><path d='M0 0h1v1z'/></svg>";
            let (kind, whole) = if name == "a.svg" { ("svg+xml", svg) } else { ("png", file(name)) };
            let content = if is_cut { cut(whole) } else { whole };
            let head = format!(
                "HTTP/1.1 200 OK\r\nContent-Type: image/{kind}\r\nContent-Length: {}\r\nConnection: close\r\n\r\n",
                content.len()
            );
            let _ = stream.write_all(head.as_bytes()).and_then(|()| stream.write_all(content));
        }
    });
    port
}

#[actix::test]
async fn a_cut_picture_of_an_allowed_host_is_warned_of() {
    let port = serve();
    let allow = format!("[{{ host = \"127.0.0.1:{port}\", private = true, http = true }}]");
    let outbound = Config::load(None, [("PLATEN__OUTBOUND__ALLOW".to_owned(), allow)]).unwrap().outbound;
    let pool = TestPool::with_outbound(outbound, |_| {});
    let base = format!("http://127.0.0.1:{port}");
    let page = format!(
        "<p>a<img src={base}/picture.png><img src={base}/a.svg><img src={base}/cut/picture.png><img src={base}/cut/baseline.jpg>"
    );
    let wanted =
        ["baseline.jpg", "picture.png"].map(|name| format!("picture is cut off: {base}/cut/{name} {WHY}"));
    for task in [static_page(&page), scripted(&page)] {
        assert_eq!(warnings(&pool, &task).await, wanted, "{:?}", task.lane);
    }
    pool.finish().await;
}
