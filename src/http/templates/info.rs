//! `templateInfo`: what a caller says of a template, read from a body.

use serde_json::value::RawValue;

use crate::config::TemplatesConfig;
use crate::domain::members::Members;
use crate::http::jobs::job_request::{read_kind, require};
use crate::http::state::HttpState;
use crate::templates::registry::messages::TemplateInfo;

/// Reads `templateInfo`; errors are with the members. Existing clients leave out what is empty.
pub(super) fn read(members: &mut Members<'_>, state: &HttpState) -> Option<TemplateInfo> {
    let limits = &state.config.templates;
    require(members, "templateInfo");
    let mut sent = members.nested("templateInfo", "an object")?;
    require(&mut sent, "title");
    let mut text = |name, most, key| bounded(&mut sent, name, (most, key));
    let title = text("title", limits.title_limit_chars, "templates.title_limit_chars").unwrap_or_default();
    let longest = limits.description_limit_chars;
    let description = text("description", longest, "templates.description_limit_chars").unwrap_or_default();
    let link = text("sourceCode", limits.link_limit_chars, "templates.link_limit_chars");
    let kind = read_kind(&mut sent, state);
    let sample_data = sent.object("sampleData").unwrap_or("{}");
    let sample_data = RawValue::from_string(sample_data.to_owned());
    let categories = read_categories(&mut sent, limits);
    let permissions = sent.word("permissions");
    members.add_errors(sent.into_errors());
    let (kind, sample_data) = (kind?, sample_data.ok()?);
    Some(TemplateInfo { title, description, kind, sample_data, categories, permissions, link })
}

/// A text of at most `most` characters, which the setting `key` says.
fn bounded(members: &mut Members<'_>, name: &str, (most, key): (u64, &str)) -> Option<String> {
    let text = members.text(name)?;
    if text.chars().count() as u64 > most {
        members.error(name, format!("is longer than {most} characters ({key}); shorten it"));
    }
    Some(text)
}

fn read_categories(members: &mut Members<'_>, limits: &TemplatesConfig) -> Vec<String> {
    let Some(sent) = members.raw("categories").filter(|sent| sent.get() != "\"\"") else {
        return Vec::new();
    };
    let Ok(categories) = serde_json::from_str::<Vec<String>>(sent.get()) else {
        members.error("categories", "must be an array of strings, such as [\"invoice\"]");
        return Vec::new();
    };
    let (most, longest) = (limits.categories_limit, limits.category_limit_chars);
    if categories.len() as u64 > most {
        members.error("categories", format!("has more than {most} entries (templates.categories_limit)"));
    }
    if categories.iter().any(|category| category.chars().count() as u64 > longest) {
        let detail =
            format!("has an entry longer than {longest} characters (templates.category_limit_chars)");
        members.error("categories", detail);
    }
    categories
}
