//! Routes with their methods: 405 with `Allow` for other methods, 404 where there is no route.

use actix_web::dev::{AppService, Handler, HttpServiceFactory};
use actix_web::http::{Method, header};
use actix_web::{FromRequest, HttpRequest, HttpResponse, Resource, Responder, Route, web};

use crate::http::problem::{HandlerResult, ProblemResponse};
use crate::problem::{Code, Problem};

/// Answer to a CORS preflight.
const CORS_HEADERS: [(header::HeaderName, &str); 3] = [
    (header::ACCESS_CONTROL_ALLOW_ORIGIN, "*"),
    (header::ACCESS_CONTROL_ALLOW_HEADERS, "*"),
    (header::ACCESS_CONTROL_MAX_AGE, "86400"),
];

/// A path and the methods it has.
pub(super) struct Methods {
    resource: Resource,
    allowed: Vec<Method>,
}

/// A path that has no method yet.
pub(super) fn resource(path: &str) -> Methods {
    Methods { resource: web::resource(path), allowed: Vec::new() }
}

macro_rules! methods {
    ($($name:ident $method:ident)+) => {
        impl Methods {
            $(pub(super) fn $name<F, Args>(self, handler: F) -> Self
            where
                F: Handler<Args>,
                Args: FromRequest + 'static,
                F::Output: Responder + 'static,
            {
                self.route(Method::$method, Route::new().to(handler))
            })+
        }
    };
}

// `get_only` is a `GET` without `HEAD`, for one that changes something: a `HEAD` must not.
methods! { delete DELETE patch PATCH post POST put PUT options OPTIONS get_only GET }

impl Methods {
    /// `GET`, and `HEAD` with it: the server answers the same without the body.
    pub(super) fn get<F, Args>(self, handler: F) -> Self
    where
        F: Handler<Args>,
        Args: FromRequest + 'static,
        F::Output: Responder + 'static,
    {
        self.route(Method::GET, Route::new().to(handler.clone()))
            .route(Method::HEAD, Route::new().to(handler))
    }

    fn route(mut self, method: Method, route: Route) -> Self {
        self.resource = self.resource.route(route.method(method.clone()));
        self.allowed.push(method);
        self
    }
}

impl HttpServiceFactory for Methods {
    fn register(self, config: &mut AppService) {
        let allow = self.allowed.iter().map(Method::as_str).collect::<Vec<_>>().join(", ");
        let refuse = move |request: HttpRequest| {
            let failure = not_allowed(&request, &allow);
            async move { HandlerResult::Err(failure) }
        };
        self.resource.default_service(web::to(refuse)).register(config);
    }
}

fn not_allowed(request: &HttpRequest, allow: &str) -> ProblemResponse {
    let detail = format!("{} is not allowed at '{}'; use {allow}", request.method(), request.path());
    ProblemResponse::from(Problem::new(Code::MethodNotAllowed, detail)).header(header::ALLOW, allow)
}

pub(super) async fn no_such_route(request: HttpRequest) -> HandlerResult {
    let shown: String = request.path().chars().take(200).collect();
    let detail = format!("There is nothing at '{shown}'; look up the path in the documentation.");
    Err(Problem::new(Code::RouteNotFound, detail).into())
}

/// Answers the CORS preflight of a presigned URL. Every origin may use one: whoever holds the URL already has the right.
pub(super) async fn allow_any_origin() -> HttpResponse {
    let mut answer = HttpResponse::NoContent();
    answer.insert_header((header::ACCESS_CONTROL_ALLOW_METHODS, "GET, HEAD, PUT"));
    for pair in CORS_HEADERS {
        answer.insert_header(pair);
    }
    answer.finish()
}
