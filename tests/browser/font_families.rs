//! Which fonts pages get: what generic families mean, letters in columns, formulas.

use std::process::Command;

use platen::browser::PageTask;
use platen::config::BrowserConfig;

use crate::support::{TestPool, asking, put_page, scripted, static_page};

/// Runs a tool of Poppler's over a PDF.
fn tool(name: &str, arguments: &[&str], pdf: &[u8]) -> String {
    let file = tempfile::NamedTempFile::new().unwrap();
    std::fs::write(&file, pdf).unwrap();
    let mut command = Command::new(name);
    command.args(arguments).arg(file.path());
    if name == "pdftotext" {
        command.arg("-");
    }
    String::from_utf8(command.output().unwrap().stdout).unwrap()
}

/// The names of a PDF's fonts, without the prefix of a subset.
pub(crate) fn fonts_of(pdf: &[u8]) -> Vec<String> {
    let table = tool("pdffonts", &[], pdf);
    let names = table.lines().skip(2).filter_map(|line| line.split_whitespace().next());
    let mut names: Vec<String> =
        names.map(|name| name.split_once('+').map_or(name, |(_, name)| name).to_owned()).collect();
    names.sort_unstable();
    names.dedup();
    names
}

async fn fonts_with(change: impl FnOnce(&mut BrowserConfig), tasks: &[PageTask]) -> Vec<Vec<String>> {
    let pool = TestPool::start(change);
    let mut fonts = Vec::new();
    for task in tasks {
        fonts.push(fonts_of(&pool.render(task).await.unwrap().bytes));
    }
    pool.finish().await;
    fonts
}

#[actix::test]
async fn generic_families_are_what_the_operator_configures() {
    let unstyled = "<!doctype html><p>unstyled";
    let header = r#"{"headerTemplate":"<i>header</i>","margin":{"top":"3cm"}}"#;
    let tasks = [
        static_page(unstyled),
        scripted(unstyled),
        put_page(unstyled),
        static_page("<p style='font-family:sans-serif'>sans"),
        static_page("<p style='font-family:serif'>serif"),
        static_page("<p style='font-family:monospace'>mono"),
        static_page("<p style='font-family:\"Times New Roman\"'>named"),
        scripted("<iframe srcdoc='<p>in a frame'></iframe>"),
        asking(header, static_page("<p style='font-family:Arial'>")),
        static_page("<p style='font-family:system-ui'>the system's"),
    ];
    let [serif, sans, mono] = ["LiberationSerif", "LiberationSans", "LiberationMono"].map(str::to_owned);
    let plain = fonts_with(|_| {}, &tasks).await;
    assert_eq!(plain[..3], [[serif.clone()], [serif.clone()], [serif.clone()]]);
    assert_eq!(plain[3..7], [[sans.clone()], [serif.clone()], [mono.clone()], [serif.clone()]]);
    assert_eq!(plain[9], ["NotoSans-Regular"]);
    let open = ["OpenSans".to_owned()];
    let chosen = fonts_with(|config| config.default_font = "Open Sans".to_owned(), &tasks).await;
    for (at, fonts) in chosen.iter().enumerate().take(5) {
        assert_eq!(*fonts, open, "page {at}");
    }
    assert_eq!(chosen[5..7], [[mono], [serif]], "what is named, or of one width, stays");
    assert_eq!(chosen[7], open, "a frame");
    assert!(chosen[8][0].starts_with("OpenSans"), "header and footer: {:?}", chosen[8]);
    let own = fonts_with(
        |config| {
            config.default_font = "Open Sans".to_owned();
            config.serif_font = "DejaVu Serif".to_owned();
            config.monospace_font = "DejaVu Sans Mono".to_owned();
        },
        &tasks[..6],
    )
    .await;
    assert_eq!([&own[0], &own[3]], [&open, &open]);
    assert_eq!([&own[4][0], &own[5][0]], ["DejaVuSerif", "DejaVuSansMono"]);
}

#[actix::test]
async fn letters_in_columns_do_not_lie_over_each_other() {
    let pool = TestPool::start(|_| {});
    for (language, text) in
        [("ja", "縦書日本語組版"), ("", "縦書日本語組版"), ("zh-TW", "中文直排標題"), ("ko", "세로쓰기")]
    {
        let page = format!(
            "<!doctype html><meta charset=utf-8><body style='margin:0'><div lang='{language}' \
             style='writing-mode:vertical-rl;font-size:40px;height:800px'>{text}</div>"
        );
        let pdf = pool.render(&static_page(&page)).await.unwrap().bytes;
        let page = tool("pdftotext", &["-bbox"], &pdf);
        let number = |word: &str, name: &str| {
            let rest = word.split_once(&format!("{name}=\"")).unwrap().1;
            rest.split_once('"').unwrap().0.parse::<f64>().unwrap()
        };
        let words = page.lines().filter(|line| line.contains("<word"));
        let tops: Vec<f64> = words.map(|word| number(word, "yMin")).collect();
        assert_eq!(tops.len(), text.chars().count(), "{language} {text}: {page}");
        // 40 px are 30 pt, and so much of its column each letter takes.
        let steps: Vec<f64> = tops.windows(2).map(|pair| pair[1] - pair[0]).collect();
        assert!(steps.iter().all(|step| (step - 30.0).abs() < 1.0), "{language} {text}: {steps:?}");
    }
    pool.finish().await;
}

#[actix::test]
async fn signs_of_formulas_grow_with_their_contents() {
    let pool = TestPool::start(|_| {});
    let rows = "<mtr><mtd><mi>a</mi></mtd></mtr>".repeat(6);
    let formula = |inner: &str| {
        format!("<!doctype html><math display=block><mrow><mo>(</mo>{inner}<mo>)</mo></mrow></math>")
    };
    let height = async |inner: &str| {
        let page = formula(inner);
        let script = "const box = document.querySelector('mo').getBoundingClientRect();\
            document.body.append(document.createTextNode(`tall ${Math.round(box.height)}`))";
        let pdf = pool.render(&scripted(&format!("{page}<script>{script}</script>"))).await.unwrap().bytes;
        let text = tool("pdftotext", &[], &pdf);
        let tall = text.split_once("tall ").unwrap().1.split_whitespace().next().unwrap();
        tall.parse::<f64>().unwrap()
    };
    let (low, high) = (height("<mi>a</mi>").await, height(&format!("<mtable>{rows}</mtable>")).await);
    assert!(high > 3.0 * low, "a bracket of {high} px around six rows, of {low} px around one letter");
    pool.finish().await;
}
