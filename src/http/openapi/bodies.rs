//! The bodies that callers send: each is described by its reader.

use json_members::{Member, Shape, describe};
use serde_json::{Value, json};

use crate::domain::format_opts::{OptionLimits, described};
use crate::http::body::members::BodyContext;
use crate::http::jobs::{immediate, init, start};
use crate::http::schema::Schemas;
use crate::http::templates::{index_html, previews, save};

/// A body in the document.
struct Body {
    /// The name that the handler's attribute has.
    name: &'static str,
    about: &'static str,
    members: fn(BodyContext<'_>) -> Vec<Member>,
    /// One that works as it stands; null where it needs ids.
    example: Value,
}

/// Every body as a schema, by name; the schemas that they refer to are added to `schemas`.
pub(super) fn described_bodies(
    context: BodyContext<'_>,
    schemas: &mut Schemas,
) -> Vec<(&'static str, Value)> {
    let described = bodies().into_iter().map(|body| {
        let mut schema = schemas.object(&(body.members)(context));
        schema["description"] = json!(body.about);
        if !body.example.is_null() {
            schema["example"] = body.example;
        }
        (body.name, schema)
    });
    described.collect()
}

fn bodies() -> [Body; 8] {
    let options = json!({"format": "a5", "margin": "15mm"});
    let page = "<h1>Hello, <%= name %>!</h1>";
    let data = json!({"name": "Zoë"});
    [
        Body {
            name: "InitRequest",
            about: "A new job.",
            members: |context| describe(|sent| init::read_members(sent, context)),
            example: json!({"type": "html", "target": "pdf", "data": data, "formatOpts": options}),
        },
        Body {
            name: "StartRequest",
            about: "How a job is started.",
            members: |_| describe(start::read_members),
            example: json!({"shouldWaitForRenderCompletion": true}),
        },
        Body {
            name: "ImmediateRequest",
            about: "A job that is created, started and waited for in one call.",
            members: |context| describe(|sent| immediate::read_members(sent, context)),
            example: json!({
                "type": "html", "target": "pdf", "template": page, "data": data, "formatOpts": options
            }),
        },
        Body {
            name: "ImmediateForm",
            about: "The same as a form: files with their names, and everything else as parts of the same names as in JSON. \
                    Options may be parts of their own; objects and lists are JSON. `type` is `html` and `target` is `pdf` when left out; a single Office \
                    file needs its `type`.",
            members: form_members,
            example: json!({"template": page, "data": data.to_string(), "target": "html"}),
        },
        Body {
            name: "PreviewsRequest",
            about: "What the template looks like with this data. Where the picture is one of a PDF's pages, `pages`, `fromPage` \
                    and `toPage` are refused unless `page` says which.",
            members: |context| describe(|sent| previews::read_members(sent, context)),
            example: json!({"type": "html", "data": data}),
        },
        Body {
            name: "SaveRequest",
            about: "What is said of a template when it is saved.",
            members: |context| describe(|sent| save::read_members(sent, context)),
            example: Value::Null,
        },
        Body {
            name: "UpdateRequest",
            about: "What is said of a template, and the id under which its new content was uploaded.",
            members: |context| describe(|sent| save::read_update_members(sent, context)),
            example: Value::Null,
        },
        Body {
            name: "IndexHtmlRequest",
            about: "The new text of a template's entry.",
            members: |_| describe(index_html::read_members),
            example: json!({"indexHtml": "<p>Hello</p>"}),
        },
    ]
}

/// The parts of a form: files, the members of the body, and every option.
fn form_members(context: BodyContext<'_>) -> Vec<Member> {
    let files = Member {
        name: "files",
        about: "The page (`index.html`) and the files beside it, or one Office file, or one archive; instead of `template`.",
        shape: Shape::List(Box::new(Shape::File)),
        is_required: false,
        is_old: false,
    };
    let members = describe(|sent| immediate::read_members(sent, context));
    let options = described(&OptionLimits::of(&context.config.browser));
    let parts = members.into_iter().chain(options).map(|member| Member {
        shape: if is_one_value(&member.shape) { member.shape } else { Shape::Text },
        is_required: false,
        ..member
    });
    std::iter::once(files).chain(parts).collect()
}

/// Whether a part of a form says it as it stands; else the part is JSON.
fn is_one_value(shape: &Shape) -> bool {
    matches!(
        shape,
        Shape::Flag | Shape::Text | Shape::Whole { .. } | Shape::Number { .. } | Shape::Words { .. }
    )
}
