//! URLs as warnings, errors and logs may show them.

/// The URL without what may be a secret: user and password, query (it may hold a signature), fragment. `address` may be
/// absolute, relative, or the `host:port` of a CONNECT.
pub fn redact_url(address: &str) -> String {
    let address = address.split(['?', '#']).next().unwrap_or_default();
    let host = address.find("//").map_or(0, |slashes| slashes + 2);
    let (scheme, rest) = address.split_at(host);
    let (authority, path) = rest.split_at(rest.find('/').unwrap_or(rest.len()));
    let host = authority.rsplit('@').next().unwrap_or_default();
    format!("{scheme}{host}{path}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_shown_url_has_no_password_query_or_fragment() {
        for (address, shown) in [
            ("http://user:word@a.example:81/p/q?key=secret", "http://a.example:81/p/q"),
            ("http://user:w@rd@a.example#secret", "http://a.example"),
            ("//user:word@a.example/x", "//a.example/x"),
            ("https://a.example/npm/package@1.2/x.js", "https://a.example/npm/package@1.2/x.js"),
            ("a.example:443", "a.example:443"),
            ("user:word@[::1]:443", "[::1]:443"),
            ("img/a@b.png?secret", "img/a@b.png"),
        ] {
            assert_eq!(redact_url(address), shown);
        }
    }
}
