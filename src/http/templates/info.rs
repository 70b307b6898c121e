//! `templateInfo`: what a caller says of a template, read from a body.

use json_members::{Members, Named, Shape};
use serde_json::value::RawValue;
use strum::VariantNames as _;

use crate::config::TemplatesConfig;
use crate::http::body::members::{BodyContext, read_kind};
use crate::http::schema::PERMISSIONS_TITLE;
use crate::templates::registry::messages::TemplateInfo;
use crate::templates::registry::record::Permissions;

/// Reads `templateInfo`; errors are with the members. Existing clients leave out what is empty.
pub(super) fn read(members: &mut Members<'_>, context: BodyContext<'_>) -> Option<TemplateInfo> {
    const INFO: (&str, &str) = ("templateInfo", "What is said of the template.");
    members.require(INFO);
    let read = |sent: &mut Members<'_>| read_members(sent, context);
    members.object(INFO, ("TemplateInfo", "an object"), read).flatten()
}

fn read_members(sent: &mut Members<'_>, context: BodyContext<'_>) -> Option<TemplateInfo> {
    const TITLE: (&str, &str) = ("title", "What it is called.");
    const DESCRIPTION: (&str, &str) = ("description", "What it is for.");
    const SOURCE_CODE: (&str, &str) = ("sourceCode", "Where its source code is kept: a link.");
    const SAMPLE_DATA: (&str, &str) = ("sampleData", "Data to try the template with.");
    const PERMISSIONS: (&str, &str) = (
        "permissions",
        "Who may read, render and clone it beside its owner; `private` unless something else was said before.",
    );
    let limits = &context.config.templates;
    sent.require(TITLE);
    let mut text = |name, most, key| bounded(sent, name, (most, key));
    let title = text(TITLE, limits.title_limit_chars, "templates.title_limit_chars").unwrap_or_default();
    let longest = limits.description_limit_chars;
    let description = text(DESCRIPTION, longest, "templates.description_limit_chars").unwrap_or_default();
    let link = text(SOURCE_CODE, limits.link_limit_chars, "templates.link_limit_chars");
    let kind = read_kind(sent, context);
    let sample_data = sent.any(SAMPLE_DATA).unwrap_or("{}");
    let sample_data = RawValue::from_string(sample_data.to_owned());
    let categories = read_categories(sent, limits);
    let all = (PERMISSIONS_TITLE, Permissions::VARIANTS);
    let known = || Permissions::VARIANTS.to_vec();
    let permissions = sent.word_among(PERMISSIONS, all, known, |word| word.parse().ok());
    let (kind, sample_data) = (kind?, sample_data.ok()?);
    Some(TemplateInfo { title, description, kind, sample_data, categories, permissions, link })
}

/// A text of at most `most` characters, which the setting `key` says.
fn bounded(members: &mut Members<'_>, name: impl Named, (most, key): (u64, &str)) -> Option<String> {
    let text = members.text(name)?;
    if text.chars().count() as u64 > most {
        members.fault(name.name(), format!("is longer than {most} characters ({key}); shorten it"));
    }
    Some(text)
}

fn read_categories(members: &mut Members<'_>, limits: &TemplatesConfig) -> Vec<String> {
    let shape = || Shape::List(Box::new(Shape::Text));
    let Some(sent) =
        members.raw(("categories", "Words to find it by."), shape).filter(|sent| sent.get() != "\"\"")
    else {
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
