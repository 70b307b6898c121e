//! What a reader reads, as JSON Schema: for the OpenAPI document, and for editors. Names of bodies and words for the handlers'
//! attributes.

use std::borrow::Cow;
use std::collections::BTreeMap;

use json_members::{Member, Shape};
use serde_json::{Map, Value, json};
use strum::VariantNames as _;
use utoipa::openapi::RefOr;
use utoipa::openapi::schema::{Object, ObjectBuilder, Schema, Type};
use utoipa::{PartialSchema, ToSchema};

use crate::domain::format_opts::plain;
use crate::domain::kinds::{Target, TemplateKind};
use crate::jobs::view::WireStatus;
use crate::templates::registry::record::Permissions;

/// The type of templates in a schema.
pub(super) const KIND_TITLE: &str = "TemplateType";
/// The target in a schema.
pub(super) const TARGET_TITLE: &str = "Target";
/// Who may use a template, in a schema.
pub(super) const PERMISSIONS_TITLE: &str = "Permissions";

/// Schemas of titled shapes, and where they are found.
pub(super) struct Schemas {
    /// Whether objects refuse names that the service would ignore: an editor shows them while they are written.
    is_strict: bool,
    /// What a reference begins with: `#/components/schemas/`.
    prefix: &'static str,
    /// By title.
    pub(super) titled: BTreeMap<&'static str, Value>,
}

impl Schemas {
    /// None yet, for a document of OpenAPI.
    pub(super) fn of_openapi() -> Self {
        Self { is_strict: false, prefix: "#/components/schemas/", titled: BTreeMap::new() }
    }

    /// None yet, for a schema by itself, which is strict.
    pub(super) fn alone() -> Self {
        Self { is_strict: true, prefix: "#/$defs/", titled: BTreeMap::new() }
    }

    /// An object of these members. No member has a `default`: a generated client would send it, and what is sent counts as asked
    /// for.
    pub(super) fn object(&mut self, members: &[Member]) -> Value {
        let properties: Map<_, _> =
            members.iter().map(|member| (member.name.to_owned(), self.member(member))).collect();
        let required: Vec<_> =
            members.iter().filter(|member| member.is_required).map(|member| member.name).collect();
        let mut object = json!({"type": "object", "properties": properties});
        if !required.is_empty() {
            object["required"] = json!(required);
        }
        if self.is_strict {
            object["additionalProperties"] = json!(false);
        }
        object
    }

    /// A member that is not required may be null, which counts as left out.
    fn member(&mut self, member: &Member) -> Value {
        let schema = self.of(&member.shape);
        let mut schema = match schema.get("type") {
            _ if member.is_required => schema,
            Some(Value::String(kind)) => {
                let kinds = json!([kind, "null"]);
                let mut schema = schema;
                schema["type"] = kinds;
                schema
            }
            _ => json!({"oneOf": [schema, {"type": "null"}]}),
        };
        if !member.about.is_empty() {
            schema["description"] = json!(plain(member.about));
        }
        if member.is_old {
            schema["deprecated"] = json!(true);
        }
        schema
    }

    fn of(&mut self, shape: &Shape) -> Value {
        match shape {
            Shape::Flag => json!({"type": "boolean"}),
            Shape::Text => json!({"type": "string"}),
            Shape::Whole { least, most: u32::MAX } => {
                json!({"type": "integer", "format": "int32", "minimum": least})
            }
            Shape::Whole { least, most } => {
                json!({"type": "integer", "format": "int32", "minimum": least, "maximum": most})
            }
            Shape::Number { least, most } => {
                json!({"type": "number", "format": "double", "minimum": least, "maximum": most})
            }
            Shape::Words { title, words } => {
                // Words of options are taken in any case, and an `enum` would forbid `A4`.
                if title.is_empty() {
                    json!({"type": "string", "examples": words})
                } else {
                    self.titled(title, json!({"type": "string", "enum": words}))
                }
            }
            Shape::Length => {
                let length = json!({
                    "description": "A CSS length, or a number of pixels.",
                    "oneOf": [{"title": "CssLength", "type": "string"}, {"title": "Pixels", "type": "number"}],
                });
                self.titled("Length", length)
            }
            Shape::File => {
                json!({"type": "string", "format": "binary", "contentMediaType": "application/octet-stream"})
            }
            Shape::Any => json!({"type": "object", "additionalProperties": {}}),
            Shape::List(item) => json!({"type": "array", "items": self.of(item)}),
            Shape::Map(value) => json!({"type": "object", "additionalProperties": self.of(value)}),
            Shape::Object { title, members } => {
                let object = self.object(members);
                self.titled(title, object)
            }
            Shape::OneOf { title, shapes } => {
                let shapes: Vec<_> = shapes.iter().map(|shape| self.of(shape)).collect();
                self.titled(title, json!({"oneOf": shapes}))
            }
        }
    }

    fn titled(&mut self, title: &'static str, schema: Value) -> Value {
        self.titled.insert(title, schema);
        json!({"$ref": format!("{}{title}", self.prefix)})
    }
}

/// Bodies by name; the document describes them by their readers.
macro_rules! bodies {
    ($($name:ident)*) => {$(
        pub(super) struct $name;

        impl PartialSchema for $name {
            fn schema() -> RefOr<Schema> {
                Object::new().into()
            }
        }

        impl ToSchema for $name {
            fn name() -> Cow<'static, str> {
                stringify!($name).into()
            }
        }
    )*};
}

bodies! {
    InitRequest StartRequest ImmediateRequest ImmediateForm PreviewsRequest SaveRequest UpdateRequest IndexHtmlRequest
}

/// Types of a text that is one of `$names`; `$title` is what the document calls the type.
macro_rules! words {
    ($($type:ident, $title:expr, $description:literal, $names:expr;)*) => {$(
        pub(super) struct $type;

        impl PartialSchema for $type {
            fn schema() -> RefOr<Schema> {
                let names: &[&str] = $names;
                let schema = ObjectBuilder::new().schema_type(Type::String).description(Some($description));
                schema.enum_values(Some(names.iter().copied())).into()
            }
        }

        impl ToSchema for $type {
            fn name() -> Cow<'static, str> {
                $title.into()
            }
        }
    )*};
}

words! {
    KindName, KIND_TITLE,
    "What the template is; `react` means `framework`. Older and foreign Office formats go with their younger kin: odt, \
     doc and rtf with `docx`, ods and xls with `xlsx`, odp and ppt with `pptx`.",
    &TemplateKind::ALL.map(TemplateKind::name);
    TargetName, TARGET_TITLE, "What it becomes; `jpeg` means `jpg`.", &Target::ALL.map(Target::name);
    StatusName, "Status", "Where the job stands.", WireStatus::VARIANTS;
    PermissionsName, PERMISSIONS_TITLE, "Who may read, render and clone the template beside its owner.",
    Permissions::VARIANTS;
}
