//! `templateInfo`: what a caller says of a template, read from a body.

use serde_json::value::RawValue;

use crate::config::TemplatesConfig;
use crate::domain::members::Members;
use crate::http::job_request::{read_kind, require};
use crate::templates::messages::TemplateInfo;
use crate::templates::record::Permissions;

/// The longest words that a caller may use.
struct Limits<'a>(&'a TemplatesConfig);

/// Reads `templateInfo`; faults are with the members. Existing clients leave out what is empty.
pub(super) fn read(members: &mut Members<'_>, limits: &TemplatesConfig) -> Option<TemplateInfo> {
    require(members, "templateInfo");
    let mut sent = members.nested("templateInfo", "an object")?;
    let limits = Limits(limits);
    require(&mut sent, "title");
    let title = sent.text("title").unwrap_or_default();
    let description = sent.text("description").unwrap_or_default();
    limits.check(&mut sent, "title", &title, (limits.0.title_limit_chars, "templates.title_limit_chars"));
    let longest = (limits.0.description_limit_chars, "templates.description_limit_chars");
    limits.check(&mut sent, "description", &description, longest);
    let link = sent.text("sourceCode");
    let longest = (limits.0.link_limit_chars, "templates.link_limit_chars");
    limits.check(&mut sent, "sourceCode", link.as_deref().unwrap_or_default(), longest);
    let kind = read_kind(&mut sent);
    let sample_data = sent.object("sampleData").unwrap_or("{}");
    let sample_data = RawValue::from_string(sample_data.to_owned());
    let categories = limits.categories(&mut sent);
    let names = Permissions::ALL.map(Permissions::name);
    let permissions = sent.word("permissions", &names, Permissions::from_name);
    members.take_over(sent.into_faults());
    let (kind, sample_data) = (kind?, sample_data.ok()?);
    Some(TemplateInfo { title, description, kind, sample_data, categories, permissions, link })
}

impl Limits<'_> {
    fn check(&self, members: &mut Members<'_>, name: &str, text: &str, (most, key): (u64, &str)) {
        if text.chars().count() as u64 > most {
            members.fault(name, format!("is longer than {most} characters ({key}); shorten it"));
        }
    }

    fn categories(&self, members: &mut Members<'_>) -> Vec<String> {
        let Some(sent) = members.raw("categories").filter(|sent| sent.get() != "\"\"") else {
            return Vec::new();
        };
        let Ok(categories) = serde_json::from_str::<Vec<String>>(sent.get()) else {
            members.fault("categories", "must be an array of strings, such as [\"invoice\"]");
            return Vec::new();
        };
        let (most, longest) = (self.0.categories_limit, self.0.category_limit_chars);
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
}
