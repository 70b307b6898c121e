//! The formats that come with TeX's programs, unpacked once: each run would unpack 20 MB again, longer than typesetting a letter.

use std::fs::{File, Metadata};
use std::io::{self, Read as _, Seek as _};
use std::os::unix::fs::MetadataExt as _;
use std::path::Path;
use std::sync::Arc;

use flate2::read::GzDecoder;
use tokio::sync::Mutex;

use crate::domain::format_opts::TexProgram;
use crate::workers::{ProgramError, Programs, SharedFile};

pub(super) const EXTENSION: &str = "fmt";
/// The longest format that is unpacked.
const LIMIT_BYTES: u64 = 256 << 20;
/// What a packed file begins with (RFC 1952).
const MAGIC: [u8; 2] = [0x1f, 0x8b];

/// Device, inode, length and time of a file: they change when the system makes the format anew.
pub(super) type Stamp = (u64, u64, u64, i64, i64);

/// One format, unpacked when the first document needs it.
#[derive(Debug, Default)]
pub(in crate::engines::tex) struct BaseFormat(Mutex<Option<(Stamp, Option<Arc<SharedFile>>)>>);

impl BaseFormat {
    /// The unpacked format of `program`; `None` where that fails, then each run unpacks it itself.
    pub async fn file(&self, programs: &Programs, program: TexProgram) -> Option<Arc<SharedFile>> {
        let path = Path::new(path_of(program));
        let mut made = self.0.lock().await;
        let now = stamp(path)?;
        if let Some((stamp, file)) = &*made
            && *stamp == now
            && file.as_ref().is_none_or(|file| file.exists())
        {
            return file.clone();
        }
        let packed = File::open(path).ok()?;
        let file = programs.share(EXTENSION, move |file| unpack(packed, file, LIMIT_BYTES)).await;
        let file = file.inspect_err(|error| {
            tracing::warn!(program = program.name(), %error, "each run of TeX unpacks its format itself");
        });
        // Other failures, such as a full disk, may pass: the next document tries again.
        let is_final = matches!(&file, Ok(_) | Err(ProgramError::NotConfined));
        let file = file.ok().map(Arc::new);
        *made = is_final.then(|| (now, file.clone()));
        file
    }
}

/// Where Debian's packages write the format when they are installed.
pub(super) fn path_of(program: TexProgram) -> &'static str {
    match program {
        TexProgram::Pdflatex => "/var/lib/texmf/web2c/pdftex/pdflatex.fmt",
        TexProgram::Lualatex => "/var/lib/texmf/web2c/luahbtex/lualatex.fmt",
        TexProgram::Xelatex => "/var/lib/texmf/web2c/xetex/xelatex.fmt",
    }
}

/// The stamp of the file at `path`.
pub(super) fn stamp(path: &Path) -> Option<Stamp> {
    let of = |found: Metadata| (found.dev(), found.ino(), found.len(), found.mtime(), found.mtime_nsec());
    std::fs::metadata(path).ok().map(of)
}

/// Copies `packed`, which may be gzip or plain, unpacked into `into`.
///
/// # Errors
/// When the content is longer than `limit_bytes`, or damaged.
pub(super) fn unpack(mut packed: File, into: &mut File, limit_bytes: u64) -> io::Result<()> {
    let mut magic = [0; MAGIC.len()];
    packed.read_exact(&mut magic)?;
    packed.rewind()?;
    let most = limit_bytes.saturating_add(1);
    let bytes = if magic == MAGIC {
        io::copy(&mut GzDecoder::new(io::BufReader::new(packed)).take(most), into)?
    } else {
        io::copy(&mut packed.take(most), into)?
    };
    if bytes > limit_bytes { Err(io::ErrorKind::FileTooLarge.into()) } else { Ok(()) }
}

#[cfg(test)]
mod tests {
    use std::io::Write as _;

    use flate2::Compression;
    use flate2::write::GzEncoder;

    use super::*;

    #[test]
    fn what_is_packed_and_what_is_not_become_the_same_within_the_limit() {
        let content = vec![7; 100_000];
        let mut encoder = GzEncoder::new(Vec::new(), Compression::fast());
        encoder.write_all(&content).unwrap();
        for stored in [encoder.finish().unwrap(), content.clone()] {
            let mut packed = tempfile::tempfile().unwrap();
            packed.write_all(&stored).unwrap();
            packed.rewind().unwrap();
            for (limit_bytes, fits) in [(100_000, true), (99_999, false)] {
                let mut into = tempfile::tempfile().unwrap();
                let done = unpack(packed.try_clone().unwrap(), &mut into, limit_bytes);
                assert_eq!(done.is_ok(), fits);
                into.rewind().unwrap();
                let mut found = Vec::new();
                into.read_to_end(&mut found).unwrap();
                assert!(!fits || found == content);
                packed.rewind().unwrap();
            }
        }
    }
}
