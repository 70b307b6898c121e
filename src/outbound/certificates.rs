//! The machine's certificate authorities, by which the service knows those it connects to.

/// How many there are; without one no https address can be delivered to.
pub fn certificate_authorities() -> usize {
    rustls_native_certs::load_native_certs().certs.len()
}
