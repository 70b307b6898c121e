//! Canvases that ask for WebGL or WebGPU and do not get it (`assets/canvas.js`): the page moves to a browser that has WebGL,
//! or its author is warned.

use super::idle::{BINDING, BindingCalled};
use crate::browser::cdp::event::Event;

/// How a report of `assets/canvas.js` begins.
const REPORT: &str = "canvas:";

/// What a canvas did not get, and its name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct CanvasReport {
    lack: Lack,
    canvas: String,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Lack {
    WebGl,
    /// It had WebGL and lost it.
    Lost,
    WebGpu,
}

/// Whether a page gets WebGL, and what follows if it asks for it in vain.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum PageGraphics {
    /// Its browser has none; a page that asks for it is rendered again where there is.
    #[default]
    OnDemand,
    /// Its browser has WebGL.
    Given,
    /// None, since `browser.graphics_processes` is 0.
    Off,
    /// None, since no browser for it starts here.
    Unavailable,
}

impl CanvasReport {
    /// What the script reports by `event`; `None` where it is something else.
    pub(super) fn of(event: Event<'_>) -> Option<Self> {
        let called = event.parse::<BindingCalled<'_>>().filter(|called| called.name == BINDING)?;
        let (lack, canvas) = called.payload.strip_prefix(REPORT)?.split_once(':')?;
        let lack = match lack {
            "webgl" => Lack::WebGl,
            "lost" => Lack::Lost,
            "webgpu" => Lack::WebGpu,
            _ => return None,
        };
        Some(Self { lack, canvas: canvas.to_owned() })
    }

    /// The warning of it; `None` where the page is to be rendered again with `graphics`.
    pub(super) fn warning(&self, graphics: PageGraphics) -> Option<String> {
        let canvas = &self.canvas;
        let warning = match (self.lack, graphics) {
            (Lack::WebGl, PageGraphics::OnDemand) => return None,
            (Lack::WebGl, PageGraphics::Off) => format!(
                "{canvas} asked for WebGL and did not get it: it is switched off (browser.graphics_processes)"
            ),
            (Lack::WebGl, PageGraphics::Unavailable) => format!(
                "{canvas} asked for WebGL and did not get it: this machine cannot draw it; `platen doctor` says why"
            ),
            (Lack::WebGl, PageGraphics::Given) => format!(
                "{canvas} asked for WebGL and did not get it: the canvas has a context of another kind, or drawing it failed"
            ),
            (Lack::Lost, _) => {
                format!(
                    "{canvas} lost its WebGL context, and what it had drawn: let the page have fewer of them"
                )
            }
            (Lack::WebGpu, _) => {
                format!(
                    "{canvas} asked for WebGPU, which pages do not have here: let it draw with WebGL instead"
                )
            }
        };
        Some(warning)
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;
    use serde_json::value::to_raw_value;

    use super::*;

    #[test]
    fn reports_name_the_canvas_and_what_it_lacks() {
        for (payload, graphics, wanted) in [
            ("canvas:webgl:canvas#a", PageGraphics::Off, Some("browser.graphics_processes")),
            ("canvas:webgl:canvas#a", PageGraphics::Unavailable, Some("platen doctor")),
            ("canvas:webgl:canvas#a", PageGraphics::Given, Some("another kind")),
            ("canvas:webgl:canvas#a", PageGraphics::OnDemand, None),
            ("canvas:webgpu:canvas#a", PageGraphics::OnDemand, Some("WebGPU")),
            ("canvas:lost:canvas#a", PageGraphics::Given, Some("lost")),
        ] {
            let params =
                to_raw_value(&json!({"name": BINDING, "payload": payload, "executionContextId": 1})).unwrap();
            let report = CanvasReport::of(Event::of("Runtime.bindingCalled", &params)).unwrap();
            let warning = report.warning(graphics);
            let is_named =
                |text: &str| text.starts_with("canvas#a ") && text.contains(wanted.unwrap_or_default());
            assert!(warning.as_deref().map_or(wanted.is_none(), is_named), "{payload}: {warning:?}");
        }
        for payload in ["canvas:hats:a", "excess:blobs", "top:busy:canvas:webgl:a"] {
            let params =
                to_raw_value(&json!({"name": BINDING, "payload": payload, "executionContextId": 1})).unwrap();
            assert_eq!(CanvasReport::of(Event::of("Runtime.bindingCalled", &params)), None, "{payload}");
        }
    }
}
