//! The endpoints of templates, one file each (save and update share one).
//!
//! They read by `TemplateReader` and change by messages to the registry.

pub(super) mod archive;
pub(super) mod copy;
pub(super) mod delete;
pub(super) mod get;
pub(super) mod index_html;
mod info;
pub(super) mod init;
pub(super) mod list;
mod preview_jobs;
pub(super) mod previews;
pub(super) mod save;
pub(super) mod unzip;
mod view;

use actix_web::web::ServiceConfig;

use crate::http::routing::resource;

/// The routes of templates; `init` is no id.
pub(super) fn routes(config: &mut ServiceConfig) {
    config
        .service(resource("/templates").get(list::list))
        .service(resource("/templates/init").get_only(init::init))
        .service(
            resource("/templates/{templateId}")
                .get(get::get)
                .post(save::save)
                .put(save::update)
                .delete(delete::delete),
        )
        .service(resource("/templates/{templateId}/unzip").patch(unzip::unzip).post(unzip::unzip))
        .service(resource("/templates/{templateId}/render-previews").post(previews::render))
        .service(resource("/templates/{templateId}/index-html").get(index_html::read).post(index_html::write))
        .service(resource("/templates/{templateId}/presigned-url").get(archive::address))
        .service(resource("/templates/{templateId}/clone").post(copy::copy));
}
