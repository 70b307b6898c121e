//! Authentication: `Authorization: Bearer <token>` becomes an account.

use std::future::Future;
use std::pin::Pin;

use actix_web::dev::Payload;
use actix_web::http::header::AUTHORIZATION;
use actix_web::{FromRequest, HttpMessage as _, HttpRequest, web};

use super::access_log::CallerCell;
use super::rate_limit::RateLimit;
use crate::domain::ids::AccountId;
use crate::http::actors;
use crate::http::connections;
use crate::http::problem::ProblemResponse;
use crate::http::state::HttpState;
use crate::problem::{Code, Problem};

/// The account that a valid token belongs to. A handler that takes a `Caller` answers 401 to requests without one.
#[derive(Clone, Copy, Debug)]
pub(in crate::http) struct Caller(pub(in crate::http) AccountId);

impl FromRequest for Caller {
    type Error = ProblemResponse;
    type Future = Pin<Box<dyn Future<Output = Result<Self, ProblemResponse>>>>;

    fn from_request(request: &HttpRequest, _: &mut Payload) -> Self::Future {
        let request = request.clone();
        Box::pin(async move { identify(&request).await.map_err(ProblemResponse::from) })
    }
}

/// The account of a request whose handler takes a [`Caller`].
///
/// # Errors
/// `internal` where it takes none.
pub(in crate::http) fn caller(request: &HttpRequest) -> Result<Caller, Problem> {
    let known = request.extensions().get::<Caller>().copied();
    known.ok_or_else(|| Problem::internal("a handler that takes no caller reads a body"))
}

async fn identify(request: &HttpRequest) -> Result<Caller, Problem> {
    let Some(state) = request.app_data::<web::Data<HttpState>>() else {
        return Err(Problem::internal("the application has no state"));
    };
    let Some(token) = bearer(request) else {
        let detail = "Send your token as 'Authorization: Bearer <token>'; `platen token create` makes one.";
        return Err(Problem::new(Code::Unauthorized, detail));
    };
    let token_name = RateLimit::name(&token);
    let account = actors::authenticate(state, token).await?;
    state.rate_limit.admit(token_name)?;
    connections::count_for_account(request, account);
    tracing::Span::current().record("account.id", tracing::field::display(account));
    let mut extensions = request.extensions_mut();
    if let Some(cell) = extensions.get::<CallerCell>() {
        cell.set(account);
    }
    extensions.insert(Caller(account));
    Ok(Caller(account))
}

/// The token. The scheme is case-insensitive (RFC 9110, section 11.1).
fn bearer(request: &HttpRequest) -> Option<String> {
    let (scheme, token) = request.headers().get(AUTHORIZATION)?.to_str().ok()?.trim().split_once(' ')?;
    let token = token.trim();
    (scheme.eq_ignore_ascii_case("bearer") && !token.is_empty()).then(|| token.to_owned())
}

#[cfg(test)]
mod tests {
    use actix_web::test::TestRequest;

    use super::*;

    #[test]
    fn the_scheme_is_read_in_any_case() {
        for (sent, token) in [
            ("Bearer abc", Some("abc")),
            ("bearer  abc ", Some("abc")),
            ("BEARER abc", Some("abc")),
            ("Basic abc", None),
            ("Bearer", None),
            ("Bearer ", None),
            ("abc", None),
        ] {
            let request = TestRequest::default().insert_header((AUTHORIZATION, sent)).to_http_request();
            assert_eq!(bearer(&request).as_deref(), token, "{sent}");
        }
    }
}
