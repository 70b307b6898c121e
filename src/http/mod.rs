//! The HTTP layer: handlers only send messages. The only place that names actix-web.
