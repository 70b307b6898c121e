//! Members of a body that nobody reads: each is a warning, and a promise among them may be refused.

use actix_web::HttpResponse;
use actix_web::http::header::HeaderName;
use json_members::Members;

use crate::domain::error::{Warnings, shortened};
use crate::domain::format_opts::{self, Key};

/// The header that counts the warnings of an answer without a place for them.
pub(super) const HEADER: HeaderName = HeaderName::from_static("x-warnings");
/// Most unknown members that are compared with the known ones; there may be any number.
const COMPARED: usize = 50;

/// Warnings about the members that no reader has asked for. Call it when all is read.
pub(super) fn warnings(members: &Members<'_>) -> Warnings {
    let mut warnings = Warnings::default();
    for (at, name) in members.unknown().iter().enumerate() {
        let compared = Some(members).filter(|_| at < COMPARED);
        warnings.push(&sentence(name, compared));
    }
    for path in members.unknown_within() {
        warnings.push(&format!("{} is not known to this service and was ignored", shortened(path)));
    }
    warnings
}

/// Makes a fault of each unknown member that promises protection or conformance.
///
/// Hazard: a caller sends `password` beside `formatOpts` and passes the file on, which is open. So it is refused, not warned of.
pub(super) fn refuse_promises(members: &mut Members<'_>) {
    for name in members.unknown() {
        let sent = members.peek(&name);
        if let Some(detail) = sent.and_then(|sent| format_opts::refusal_beside(&name, sent)) {
            members.fault(&name, detail);
        }
    }
}

/// 204, with the number of warnings.
pub(super) fn no_content(warnings: &Warnings) -> HttpResponse {
    HttpResponse::NoContent().insert_header((HEADER, warnings.count())).finish()
}

fn sentence(name: &str, compared: Option<&Members<'_>>) -> String {
    let shown = shortened(name);
    if let Some(key) = Key::from_name(name) {
        return format!("{shown} is an option: send it as formatOpts.{key}; here it was ignored");
    }
    if let Some(here) = format_opts::name_here(name) {
        return format!("{shown} is an option: send it as formatOpts.{here}; here it was ignored");
    }
    let near = compared.and_then(|members| members.nearest(name));
    let hint = near.map(|near| format!("; did you mean {near}?")).unwrap_or_default();
    format!("{shown} is not known to this service and was ignored{hint}")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> (Vec<String>, Vec<String>) {
        let mut members = Members::of(text, "").unwrap();
        for name in ["type", "target", "formatOpts", "data"] {
            members.text(name);
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
            r#"{"formatOptions":"x","landscape":true,"paperWidth":1,"xyzzy":0,"none":null,
            "templateInfo":{"tilte":"x"}}"#,
        );
        assert_eq!(
            warnings,
            [
                "formatOptions is not known to this service and was ignored; did you mean formatOpts?",
                "landscape is an option: send it as formatOpts.landscape; here it was ignored",
                "paperWidth is an option: send it as formatOpts.width; here it was ignored",
                "xyzzy is not known to this service and was ignored",
                "templateInfo.tilte is not known to this service and was ignored",
            ]
        );
        assert_eq!(faults, [""; 0]);
    }

    #[test]
    fn a_promise_beside_the_options_is_refused_in_any_spelling_where_it_asks() {
        let sent =
            r#"{"password":"x","Owner-Password":7,"PDF/A":"1b","sign":true,"pdfua":false,"encrypt":null}"#;
        let told = "belongs in formatOpts, and would not be kept here: send it there";
        let pointers = ["/Owner-Password", "/PDF~1A", "/password", "/sign"];
        assert_eq!(read(sent).1, pointers.map(|pointer| format!("{pointer} {told}")));
    }
}
