//! `templateInfo`: what a caller says of a template, read from a body.

use json_members::{Members, Shape};
use serde_json::value::RawValue;

use crate::config::TemplatesConfig;
use crate::http::jobs::job_request::read_kind;
use crate::http::state::HttpState;
use crate::templates::registry::messages::TemplateInfo;

/// Reads `templateInfo`; errors are with the members. Existing clients leave out what is empty.
pub(super) fn read(members: &mut Members<'_>, state: &HttpState) -> Option<TemplateInfo> {
    members.require("templateInfo");
    let read = |sent: &mut Members<'_>| read_members(sent, state);
    members.object("templateInfo", ("TemplateInfo", "an object"), read).flatten()
}

fn read_members(sent: &mut Members<'_>, state: &HttpState) -> Option<TemplateInfo> {
    let limits = &state.config.templates;
    sent.require("title");
    let mut text = |name, most, key| bounded(sent, name, (most, key));
    let title = text("title", limits.title_limit_chars, "templates.title_limit_chars").unwrap_or_default();
    let longest = limits.description_limit_chars;
    let description = text("description", longest, "templates.description_limit_chars").unwrap_or_default();
    let link = text("sourceCode", limits.link_limit_chars, "templates.link_limit_chars");
    let kind = read_kind(sent, state);
    let sample_data = sent.any("sampleData").unwrap_or("{}");
    let sample_data = RawValue::from_string(sample_data.to_owned());
    let categories = read_categories(sent, limits);
    let permissions = sent.word("permissions");
    let (kind, sample_data) = (kind?, sample_data.ok()?);
    Some(TemplateInfo { title, description, kind, sample_data, categories, permissions, link })
}

/// A text of at most `most` characters, which the setting `key` says.
fn bounded(members: &mut Members<'_>, name: &'static str, (most, key): (u64, &str)) -> Option<String> {
    let text = members.text(name)?;
    if text.chars().count() as u64 > most {
        members.fault(name, format!("is longer than {most} characters ({key}); shorten it"));
    }
    Some(text)
}

fn read_categories(members: &mut Members<'_>, limits: &TemplatesConfig) -> Vec<String> {
    let shape = || Shape::List(Box::new(Shape::Text));
    let Some(sent) = members.raw("categories", shape).filter(|sent| sent.get() != "\"\"") else {
        return Vec::new();
    };
    let Ok(categories) = serde_json::from_str::<Vec<String>>(sent.get()) else {
        members.fault("categories", "must be an array of strings, such as [\"invoice\"]");
        return Vec::new();
    };
    let (most, longest) = (limits.categories_limit, limits.category_limit_chars);
    if categories.len() as u64 > most {
        members.fault("categories", format!("has more than {most} entries (templates.categories_limit)"));
    }
    if categories.iter().any(|category| category.chars().count() as u64 > longest) {
        let detail =
            format!("has an entry longer than {longest} characters (templates.category_limit_chars)");
        members.fault("categories", detail);
    }
    categories
}
