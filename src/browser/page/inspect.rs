//! One scan of a page that is idle: its fonts, its pictures, how large it is, and what is loaded only when it is scrolled to.
//! All of it is asked in one call, and of a page without script only what cannot be known without asking.

use serde::Deserialize;

use super::error::StepError;
use super::fonts::{self, FontReport};
use super::open_page::OpenPage;
use super::pictures::{self, Pictures};
use super::scripts;
use super::task::PageTask;
use crate::domain::lane::Lane;

/// Answers width and height of all that can be scrolled to. Hazard: an element's name hides a member of the document, so
/// members are read from their prototypes.
const CONTENT: &str = "const read = (of, name, it) => Object.getOwnPropertyDescriptor(of, name).get.call(it);
    const root = read(Document.prototype, 'scrollingElement', document);
    return ['scrollWidth', 'scrollHeight'].map(name => read(Element.prototype, name, root));";

/// What a page answers.
#[derive(Default, Deserialize)]
struct Seen {
    fonts: Option<FontReport>,
    pictures: Option<Pictures>,
    /// Width and height of its content, in CSS pixels; a page without script is not asked.
    content: Option<(f64, f64)>,
    /// Pictures and frames that are loaded only now.
    woken: u32,
}

/// Warns of missing fonts and broken pictures. True where lazy pictures or frames began to load by that: the page is busy
/// again.
pub(super) async fn inspect(page: &mut OpenPage, task: &PageTask) -> Result<bool, StepError> {
    let seen = scan(page, task).await?;
    page.content_px = seen.content;
    if let Some(report) = seen.fonts {
        fonts::warn(page, report)?;
    }
    pictures::check(page, seen.pictures.unwrap_or_default()).await?;
    Ok(seen.woken > 0)
}

async fn scan(page: &OpenPage, task: &PageTask) -> Result<Seen, StepError> {
    let fonts = fonts::question(page, task)?;
    let question = match (task.lane, fonts) {
        // Its broken pictures came with the answer whether it is ready (`scripts::readiness`).
        (Lane::Static, None) => return Ok(Seen::default()),
        (Lane::Static, Some(fonts)) => question(&fonts, "null", "null", "0"),
        (Lane::Scripted, fonts) => {
            let fonts = fonts.unwrap_or_else(|| "null".to_owned());
            let called = |function| format!("({function})()");
            let content = format!("(() => {{{CONTENT}}})()");
            question(&fonts, &called(pictures::SEEN), &content, &called(scripts::LAZY))
        }
    };
    // There is no answer from a document without fonts (an image, a plain text), from one that was replaced meanwhile, and from
    // a page that is busy again for longer than a warning is worth. Then nothing is warned of.
    let answer = page.ask_for_warning(question).await?;
    Ok(answer.and_then(|answer| serde_json::from_str(&answer).ok()).unwrap_or_default())
}

/// One expression for all questions; where one throws, the others are answered all the same.
fn question(fonts: &str, pictures: &str, content: &str, woken: &str) -> String {
    format!(
        "(async()=>{{const asked=async question=>{{try{{return await question()}}catch{{return null}}}};\
         const fonts=await asked(()=>{fonts}),pictures=await asked(()=>{pictures}),\
         content=await asked(()=>{content}),woken=await asked(()=>{woken})??0;\
         return JSON.stringify({{fonts,pictures,content,woken}}).toWellFormed()}})()"
    )
}
