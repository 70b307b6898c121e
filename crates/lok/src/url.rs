//! Paths as the addresses that LibreOffice takes.

use std::ffi::CString;
use std::os::unix::ffi::OsStrExt as _;
use std::path::Path;

/// The `file:` address of an absolute path. No byte of it can end a text of C: every one that is not plain is escaped.
pub fn of(path: &Path) -> CString {
    let mut address = b"file://".to_vec();
    for &byte in path.as_os_str().as_bytes() {
        if byte.is_ascii_alphanumeric() || matches!(byte, b'/' | b'-' | b'.' | b'_' | b'~') {
            address.push(byte);
        } else {
            address.extend(format!("%{byte:02X}").into_bytes());
        }
    }
    CString::new(address).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_not_plain_is_escaped() {
        assert_eq!(of(Path::new("/a b/ü%?#.docx")).to_str(), Ok("file:///a%20b/%C3%BC%25%3F%23.docx"));
        assert_eq!(of(Path::new("/a\0b")).to_str(), Ok("file:///a%00b"));
    }
}
