//! The clip: which part of a page becomes the file (one element, the whole page, or one viewport).

use headless_chrome::protocol::cdp::{DOM, Page};
use serde::Deserialize;
use serde_json::json;

use super::measure::PIXELS_PER_INCH;
use crate::browser::page::error::StepError;
use crate::browser::page::open_page::OpenPage;
use crate::domain::error::ErrorCode;
use crate::domain::format_opts::{Layout, PageOptions};

/// What a script of ours answers about `selector`.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "lowercase")]
enum Found {
    /// The element's box in the page, in CSS pixels.
    Box {
        x: f64,
        y: f64,
        width: f64,
        height: f64,
    },
    Nothing,
    /// The selector cannot be read.
    #[serde(rename = "fault")]
    Invalid(String),
}

/// The part of the page that a picture shows; `None`: one viewport.
pub(super) async fn clip(
    page: &OpenPage,
    options: &PageOptions,
) -> Result<Option<Page::Viewport>, StepError> {
    let area = match &options.selector {
        Some(selector) => Some(area_of(page, selector).await?),
        None if options.picture.full_page => Some(content_of(page).await?),
        None => None,
    };
    let Some(DOM::Rect { x, y, width, height }) = area else { return Ok(None) };
    let pixels = width * height * options.emulation.viewport.device_scale.powi(2);
    let limit = page.limits.picture_pixels;
    if pixels > limit {
        let key = if options.selector.is_some() { "selector" } else { "fullPage" };
        return Err(StepError::job(
            ErrorCode::OptionsInvalid,
            format!(
                "{key}: {width} × {height} CSS pixels make a picture of more than {limit} pixels \
                 (browser.picture_limit_pixels)"
            ),
        ));
    }
    Ok(Some(Page::Viewport { x, y, width, height, scale: 1.0 }))
}

/// Hides all but the element of `selector`, if there is one.
pub(super) async fn isolate(page: &OpenPage, options: &PageOptions) -> Result<(), StepError> {
    if let Some(selector) = &options.selector {
        found(page, ISOLATE, selector).await?;
    }
    Ok(())
}

/// About how many sheets the page fills: its area in the viewport, laid on paper.
pub(super) async fn estimated_pages(
    page: &OpenPage,
    options: &PageOptions,
    layout: &Layout,
) -> Result<f64, StepError> {
    let (width, height) = match page.content_px {
        // Found before the page was reduced to an element of it, or measured for a sheet of its height.
        Some(seen) if options.selector.is_none() && !page.is_measured => seen,
        _ => content_of(page).await.map(|content| (content.width, content.height))?,
    };
    let sheet = layout.content_area_in2() * PIXELS_PER_INCH.powi(2);
    let pages = width * height * options.scale.powi(2) / sheet;
    let range = match (options.from_page, options.to_page) {
        (from, Some(to)) => f64::from(to - from.unwrap_or(1)) + 1.0,
        (_, None) => f64::INFINITY,
    };
    Ok(pages.min(range))
}

/// All that can be scrolled to.
async fn content_of(page: &OpenPage) -> Result<DOM::Rect, StepError> {
    let metrics = page.tab()?.call_within(Page::GetLayoutMetrics(None), page.limits.call).await?;
    Ok(metrics.css_content_size)
}

async fn area_of(page: &OpenPage, selector: &str) -> Result<DOM::Rect, StepError> {
    let (x, y, width, height) = found(page, AREA, selector).await?;
    if width < 1.0 || height < 1.0 {
        return Err(StepError::job(
            ErrorCode::OptionsInvalid,
            format!("the element that the selector '{selector}' matches has no area (selector)"),
        ));
    }
    Ok(DOM::Rect { x, y, width, height })
}

/// Runs a script on the element; one that is not there makes the options invalid.
async fn found(page: &OpenPage, script: &str, selector: &str) -> Result<(f64, f64, f64, f64), StepError> {
    let expression = format!("({script})({FIND}, {})", json!(selector));
    let answer = page.ask(expression, page.limits.call).await?;
    let answer = answer.as_deref().map(serde_json::from_str);
    let sentence = match answer {
        Some(Ok(Found::Box { x, y, width, height })) => return Ok((x, y, width, height)),
        Some(Ok(Found::Nothing)) => format!("nothing matches the selector '{selector}' (selector)"),
        Some(Ok(Found::Invalid(reason))) => format!("selector: {reason}"),
        Some(Err(_)) | None => "selector: the page left while its element was looked for".to_owned(),
    };
    Err(StepError::job(ErrorCode::OptionsInvalid, sentence))
}

/// Finds the element and gives it to `then`. Hazard: an element's name hides a member of the document, or of the form around
/// it. So members are read from their prototypes.
const FIND: &str = "(selector, then) => {
    let element;
    try { element = Document.prototype.querySelector.call(document, selector); }
    catch (error) { return JSON.stringify({ fault: error.message }); }
    return JSON.stringify(element === null ? 'nothing' : { box: then(element) });
}";

/// Whole pixels around the element.
const AREA: &str = "(find, selector) => find(selector, element => {
    const box = Element.prototype.getBoundingClientRect.call(element);
    const x = Math.floor(box.left + scrollX), y = Math.floor(box.top + scrollY);
    return { x, y, width: Math.ceil(box.right + scrollX) - x, height: Math.ceil(box.bottom + scrollY) - y };
})";

/// Moving the element would cost it the styles that depend on its ancestors. So it stays, its siblings and those of its
/// ancestors are hidden, and a document is written without them (`assets/snapshot.js`).
const ISOLATE: &str = "(find, selector) => find(selector, element => {
    const aside = globalThis.platenAside = new WeakSet();
    const its = (owner, name, node) => Reflect.get(owner.prototype, name, node);
    const [body, head] = ['body', 'head'].map(name => its(Document, name, document));
    let parent;
    for (let node = element; (parent = its(Node, 'parentNode', node)) && node !== body; node = parent) {
        for (const other of its(Node, 'childNodes', parent)) {
            if (other === node || other === head) continue;
            aside.add(other);
            const style = other instanceof HTMLElement ? its(HTMLElement, 'style', other) : other.style;
            if (its(Node, 'nodeType', other) === Node.TEXT_NODE) other.data = '';
            else style?.setProperty('display', 'none', 'important');
        }
    }
    return { x: 0, y: 0, width: 0, height: 0 };
})";
