//! Members of a body that nobody reads: each is a warning, and a promise among them may be refused.

use actix_web::HttpResponse;
use actix_web::http::header::HeaderName;
use json_members::Members;
use serde_json::value::RawValue;

use crate::domain::error::Warnings;
use crate::domain::format_opts::{self, Key};
use crate::domain::shown::shown;

/// The header that counts the warnings of an answer without a place for them.
pub(in crate::http) const HEADER: HeaderName = HeaderName::from_static("x-warnings");
/// The member that has the options.
const OPTIONS: &str = "formatOpts";
/// Why an object that was to be the options is refused.
const MISSPELT: &str = "is not known to this call, and something in it promises what would not be kept; \
                        did you mean formatOpts?";
/// Most unknown members that are told one by one; there may be any number.
const TOLD: usize = 20;

/// Warnings about the members that no reader has asked for. Call it when all is read.
pub(in crate::http) fn warnings(members: &Members<'_>) -> Warnings {
    let mut warnings = Warnings::default();
    let mut unknown = members.unknown();
    for name in unknown.by_ref().take(TOLD) {
        warnings.push(&sentence(name, members));
    }
    let more = unknown.count();
    if more > 0 {
        warnings.push(&format!("{more} more members are not known to this call and were ignored"));
    }
    for within in members.unknown_within().iter().take(TOLD) {
        warnings.push(&unread(&within.path, within.near));
    }
    warnings
}

/// Makes a fault of each unknown member that promises protection or conformance, also of one in a misspelt `formatOpts`.
///
/// Hazard: a caller sends `password` beside `formatOpts` and passes the file on, which is open. So it is refused, not warned of.
pub(in crate::http) fn refuse_promises(members: &mut Members<'_>) {
    let refused = members.unknown().enumerate().filter_map(|(at, name)| {
        let sent = members.peek(name)?;
        let is_misspelt = || at < TOLD && members.nearest(name) == Some(OPTIONS) && has_promise(sent);
        let detail = format_opts::refusal_beside(name, sent);
        let detail = detail.or_else(|| is_misspelt().then(|| MISSPELT.to_owned()))?;
        Some((name.to_owned(), detail))
    });
    for (name, detail) in refused.collect::<Vec<_>>() {
        members.fault(name, detail);
    }
}

fn has_promise(sent: &RawValue) -> bool {
    let Ok(members) = Members::of(sent.get(), "") else { return false };
    let is_promise =
        |name: &str| members.peek(name).is_some_and(|sent| format_opts::refusal_beside(name, sent).is_some());
    members.sent().any(is_promise)
}

/// 204, with the number of warnings.
pub(in crate::http) fn no_content(warnings: &Warnings) -> HttpResponse {
    HttpResponse::NoContent().insert_header((HEADER, warnings.count())).finish()
}

fn sentence(name: &str, members: &Members<'_>) -> String {
    let key = Key::from_name(name).map(|key| format!("formatOpts.{key}"));
    let Some(here) = key.or_else(|| format_opts::name_here(name).map(str::to_owned)) else {
        return unread(name, members.nearest(name));
    };
    let to = if members.asked().contains(&OPTIONS) { "" } else { " when the job is created" };
    format!("{} is an option: send {here}{to}; here it was ignored", shown(name))
}

fn unread(path: &str, near: Option<&str>) -> String {
    let hint = near.map(|near| format!("; did you mean {near}?")).unwrap_or_default();
    format!("{} is not known to this call and was ignored{hint}", shown(path))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> (Vec<String>, Vec<String>) {
        let mut members = Members::of(text, "").unwrap();
        for name in ["type", "target", "formatOpts", "data"] {
            members.raw(name, || json_members::Shape::Any);
        }
        members.object("templateInfo", ("TemplateInfo", "an object"), |info| info.text("title"));
        refuse_promises(&mut members);
        let warnings = warnings(&members).lines();
        let faults = members.into_faults().into_iter();
        (warnings, faults.map(|fault| format!("{} {}", fault.pointer, fault.detail)).collect())
    }

    #[test]
    fn what_nobody_reads_is_told_with_what_was_meant() {
        let (warnings, faults) = read(
            r#"{"formatOptions":{"scale":1},"landscape":true,"paperWidth":1,"xyzzy":0,"none":null,
            "templateInfo":{"tilte":"x"},"data":{"password":"x"}}"#,
        );
        assert_eq!(
            warnings,
            [
                "formatOptions is not known to this call and was ignored; did you mean formatOpts?",
                "landscape is an option: send formatOpts.landscape; here it was ignored",
                "paperWidth is an option: send formatOpts.width; here it was ignored",
                "xyzzy is not known to this call and was ignored",
                "templateInfo.tilte is not known to this call and was ignored; did you mean title?",
            ]
        );
        assert_eq!(faults, [""; 0]);
        let start = Members::of(r#"{"landscape":true}"#, "").unwrap();
        let told =
            "landscape is an option: send formatOpts.landscape when the job is created; here it was ignored";
        assert_eq!(super::warnings(&start).lines(), [told]);
    }

    #[test]
    fn many_and_long_names_are_told_in_few_words() {
        let many: Vec<_> = (0..50_000).map(|n| format!("\"member{n}\":0")).collect();
        let (warnings, _) = read(&format!("{{{}}}", many.join(",")));
        assert_eq!((warnings.len(), warnings[20].split(' ').next()), (21, Some("49980")));
        let (warnings, _) = read(&format!("{{\"{}\":0}}", "formatOpts".repeat(100_000)));
        assert!(warnings[0].len() < 200 && warnings[0].contains('…'), "{warnings:?}");
    }

    #[test]
    fn a_promise_beside_the_options_is_refused_in_any_spelling_where_it_asks() {
        let sent =
            r#"{"password":"x","Owner-Password":7,"PDF/A":"1b","sign":true,"pdfua":false,"encrypt":null}"#;
        let belongs = "belongs in formatOpts and would not be kept here; send formatOpts.";
        let faults = read(sent).1;
        let told = [
            format!("/Owner-Password {belongs}ownerPassword"),
            format!("/PDF~1A {belongs}pdfa"),
            format!("/password {belongs}password"),
        ];
        assert_eq!(faults[..3], told);
        assert!(faults[3].starts_with("/sign cannot be kept") && faults.len() == 4, "{faults:?}");
        let misspelt = read(r#"{"formatOptions":{"password":"x"},"formatOpt":{"password":false}}"#).1;
        assert!(misspelt[0].starts_with("/formatOptions ") && misspelt.len() == 1, "{misspelt:?}");
    }
}
