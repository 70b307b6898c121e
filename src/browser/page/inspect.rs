//! One look at a page that is at rest: its fonts, its pictures, and what waits until somebody scrolls to it. All of it
//! is asked at once, and of a page without script only what cannot be known without asking.

use std::time::Duration;

use serde::Deserialize;

use super::error::StepError;
use super::fonts;
use super::load;
use super::open::{OpenPage, PageTask};
use super::pictures::{self, Pictures};
use super::scripts;
use crate::domain::lane::Lane;

/// A warning is not worth more of a page's time.
pub(in crate::browser) const ASKING_LIMIT: Duration = Duration::from_secs(1);

/// What a page answers.
#[derive(Default, Deserialize)]
struct Seen {
    fonts: Option<fonts::Answer>,
    pictures: Option<Pictures>,
    /// Pictures and frames that are loaded only now.
    woken: u32,
}

impl OpenPage {
    /// Warns of fonts and pictures that the page wants and cannot have. True when something of it has begun to load
    /// by that: then it is not at rest any more.
    pub(in crate::browser) async fn inspect(&mut self, task: &PageTask) -> Result<bool, StepError> {
        let seen = self.seen(task).await?;
        if let Some(fonts) = seen.fonts {
            self.take_fonts(fonts)?;
        }
        if let Some(pictures) = seen.pictures {
            self.check_pictures(pictures).await?;
        }
        Ok(seen.woken > 0)
    }

    async fn seen(&self, task: &PageTask) -> Result<Seen, StepError> {
        let fonts = self.fonts_question(task)?;
        let question = match (task.lane, fonts) {
            // Its pictures were asked for when it was asked whether it is ready.
            (Lane::Static, None) => return Ok(Seen::default()),
            (Lane::Static, Some(fonts)) => question(&fonts, "null", "0"),
            (Lane::Scripted, fonts) => {
                let fonts = fonts.unwrap_or_else(|| "null".to_owned());
                question(&fonts, &format!("({})()", pictures::SEEN), &format!("({})()", scripts::LAZY))
            }
        };
        let asking = load::ask(self.tab()?, task.lane, question, ASKING_LIMIT);
        match self.within(ASKING_LIMIT, asking).await {
            Ok(Some(answer)) => Ok(serde_json::from_str(&answer).unwrap_or_default()),
            // A page without fonts to speak of (an image, a plain text) is none the worse for it. One that is
            // busy again has no answer in time; printing it says more than a warning would.
            Ok(None) | Err(StepError::Fault(_) | StepError::Late) => Ok(Seen::default()),
            Err(trouble) => Err(trouble),
        }
    }
}

/// One expression of three; that one of them throws takes nothing from the others.
fn question(fonts: &str, pictures: &str, woken: &str) -> String {
    format!(
        "(async()=>{{const asked=async question=>{{try{{return await question()}}catch{{return null}}}};\
         const fonts=await asked(()=>{fonts}),pictures=await asked(()=>{pictures}),woken=await asked(()=>{woken})??0;\
         return JSON.stringify({{fonts,pictures,woken}}).toWellFormed()}})()"
    )
}
