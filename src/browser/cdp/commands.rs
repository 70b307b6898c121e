//! Calls that several rooms make, with their optional members left out.

use std::sync::Arc;
use std::time::Duration;

use headless_chrome::protocol::cdp::{Emulation, Network, Page, Runtime, Target};

use super::connection::Connection;
use super::error::CallError;
use crate::domain::format_opts::Viewport;

/// The world that our scripts run in, apart from the page's.
pub(in crate::browser) const WORLD: &str = "platen";

/// Goes to `url` in the main frame.
pub(in crate::browser) fn navigate(url: String) -> Page::Navigate {
    Page::Navigate { url, referrer: None, transition_Type: None, frame_id: None, referrer_policy: None }
}

/// A script that runs before those of each further document, in their world.
pub(in crate::browser) fn script_of_new_documents(source: String) -> Page::AddScriptToEvaluateOnNewDocument {
    Page::AddScriptToEvaluateOnNewDocument {
        source,
        world_name: None,
        include_command_line_api: None,
        run_immediately: None,
    }
}

/// An empty request, whose identifier names the process of the renderer (`PageEvents::requested`).
pub(in crate::browser) fn request_nothing() -> Runtime::Evaluate {
    evaluate("fetch('data:,').then(() => '', () => '')".to_owned())
}

/// Switches on the events of requests; Chromium keeps no response bodies for them.
pub(in crate::browser) fn report_requests() -> Network::Enable {
    Network::Enable {
        max_total_buffer_size: Some(0),
        max_resource_buffer_size: Some(0),
        max_post_data_size: None,
        report_direct_socket_traffic: None,
        enable_durable_messages: None,
    }
}

/// Runs an expression in the main world and answers its value, awaited if it is a promise.
pub(in crate::browser) fn evaluate(expression: String) -> Runtime::Evaluate {
    Runtime::Evaluate {
        expression,
        object_group: None,
        include_command_line_api: None,
        silent: Some(true),
        context_id: None,
        return_by_value: Some(true),
        generate_preview: None,
        user_gesture: None,
        await_promise: Some(true),
        throw_on_side_effect: None,
        timeout: None,
        disable_breaks: None,
        repl_mode: None,
        allow_unsafe_eval_blocked_by_csp: None,
        unique_context_id: None,
        serialization_options: None,
    }
}

/// Our isolated world of a frame's document, made where there is none.
pub(in crate::browser) fn isolated_world(frame: &str) -> Page::CreateIsolatedWorld {
    Page::CreateIsolatedWorld {
        frame_id: frame.to_owned(),
        world_name: Some(WORLD.to_owned()),
        grant_univeral_access: None,
    }
}

/// The viewport; `sizes_window`: the window is made as large.
pub(in crate::browser) fn device_metrics(
    viewport: Viewport,
    sizes_window: bool,
) -> Emulation::SetDeviceMetricsOverride {
    Emulation::SetDeviceMetricsOverride {
        width: viewport.width_px,
        height: viewport.height_px,
        device_scale_factor: viewport.device_scale,
        mobile: false,
        scale: None,
        screen_width: None,
        screen_height: None,
        position_x: None,
        position_y: None,
        dont_set_visible_size: Some(!sizes_window),
        screen_orientation: None,
        viewport: None,
        display_feature: None,
        device_posture: None,
    }
}

/// `about:blank` in `context`, or in the browser's own one; its window in CSS pixels.
pub(in crate::browser) fn blank_page(
    context: Option<&str>,
    withholds_frames: bool,
    (width, height): (u32, u32),
) -> Target::CreateTarget {
    Target::CreateTarget {
        url: "about:blank".to_owned(),
        left: None,
        top: None,
        width: Some(width),
        height: Some(height),
        window_state: None,
        browser_context_id: context.map(str::to_owned),
        enable_begin_frame_control: withholds_frames.then_some(true),
        new_window: None,
        background: None,
        for_tab: None,
        hidden: None,
    }
}

/// Opens a page; answers its identifier and that of the session in it.
pub(in crate::browser) async fn attach(
    connection: &Connection,
    page: Target::CreateTarget,
    limit: Duration,
) -> Result<(String, Arc<str>), CallError> {
    let target = connection.call(None, page, limit).await?.target_id;
    let attach = Target::AttachToTarget { target_id: target.clone(), flatten: Some(true) };
    let session = connection.call(None, attach, limit).await?.session_id;
    Ok((target, session.into()))
}
