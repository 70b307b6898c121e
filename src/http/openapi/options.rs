//! `GET /schemas/format-opts.json`: `formatOpts` as JSON Schema, with which editors complete and check them.

use actix_web::HttpResponse;
use actix_web::web::Data;
use serde_json::{Value, json};

use crate::config::Config;
use crate::domain::format_opts::{OptionLimits, described};
use crate::http::schema::Schemas;
use crate::http::state::HttpState;

/// The media type of JSON Schema (draft 2020-12, 13).
const MEDIA_TYPE: &str = "application/schema+json";

pub(super) async fn format_opts(state: Data<HttpState>) -> HttpResponse {
    HttpResponse::Ok().content_type(MEDIA_TYPE).body(schema(&state.config).to_string())
}

fn schema(config: &Config) -> Value {
    let mut schemas = Schemas::alone();
    let mut schema = schemas.object(&described(&OptionLimits::of(&config.browser)));
    schema["$schema"] = json!("https://json-schema.org/draft/2020-12/schema");
    schema["title"] = json!("formatOpts");
    schema["description"] = json!("How Platen makes a document.");
    schema["properties"]["$schema"] = json!({"type": "string", "description": "Where this schema is."});
    schema["$defs"] = json!(schemas.titled);
    schema
}

#[cfg(test)]
mod tests {
    use actix_web::http::{Method, StatusCode};

    use crate::domain::format_opts::Key;
    use crate::http::testing::TestServer;

    #[actix_web::test]
    async fn editors_get_every_option_with_its_sentence() {
        let server = TestServer::with(|config| config.browser.viewport_side_limit_px = 4_000).await;
        let (status, schema) = server.call(Method::GET, "/schemas/format-opts.json", "").await;
        assert_eq!(status, StatusCode::OK);
        let options = schema["properties"].as_object().unwrap();
        let names: Vec<_> = Key::ALL.iter().filter(|key| !key.is_refused()).map(|key| key.name()).collect();
        assert!(names.iter().all(|name| options[*name]["description"].is_string()), "{schema}");
        assert_eq!(options.len(), names.len() + 1, "and where the schema is");
        assert_eq!(schema["$defs"]["Viewport"]["additionalProperties"], false);
        let references = schema.to_string();
        let references = references.split("#/$defs/").skip(1).map(|rest| rest.split('"').next().unwrap());
        for name in references {
            assert!(schema["$defs"][name].is_object(), "{name}");
        }
        assert_eq!(schema["$defs"]["Viewport"]["properties"]["width"]["maximum"], 4_000);
    }
}
