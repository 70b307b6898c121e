//! The files of an unpacked template in a folder.

use std::fs;
use std::io::Read as _;
use std::path::Path;

use crate::config::TemplatesConfig;
use crate::domain::site::Files;

/// All files below `folder`, within the limits of an archive. Links are not followed, hidden files are left out.
pub(super) fn files(folder: &Path, limits: &TemplatesConfig) -> Result<Files, String> {
    let mut reader = FolderReader { files: Files::new(), bytes_left: limits.archive_bytes_limit, limits };
    reader.add(folder, "", limits.archive_depth_limit)?;
    Ok(reader.files)
}

/// Reads the files of a folder as long as the limits of an archive allow.
struct FolderReader<'a> {
    files: Files,
    bytes_left: u64,
    limits: &'a TemplatesConfig,
}

impl FolderReader<'_> {
    fn add(&mut self, folder: &Path, prefix: &str, depth: u64) -> Result<(), String> {
        let unreadable = |error: std::io::Error| format!("cannot read {}: {error}", folder.display());
        for entry in fs::read_dir(folder).map_err(unreadable)? {
            let entry = entry.map_err(unreadable)?;
            let (path, kind) = (entry.path(), entry.file_type().map_err(unreadable)?);
            let name = entry.file_name();
            let Some(name) = name.to_str().filter(|name| !name.starts_with('.')) else { continue };
            let inside = format!("{prefix}{name}");
            if kind.is_dir() {
                let depth = depth.checked_sub(1).ok_or_else(|| {
                    format!("{} is nested too deeply (templates.archive_depth_limit)", path.display())
                })?;
                self.add(&path, &format!("{inside}/"), depth)?;
            } else if kind.is_file() {
                self.take(&path, inside)?;
            }
        }
        Ok(())
    }

    fn take(&mut self, path: &Path, inside: String) -> Result<(), String> {
        let entries = self.limits.archive_entries_limit;
        if self.files.len() as u64 >= entries {
            return Err(format!(
                "the folder holds more than {entries} files (templates.archive_entries_limit)"
            ));
        }
        let unreadable = |error: std::io::Error| format!("cannot read {}: {error}", path.display());
        let file = fs::File::open(path).map_err(unreadable)?;
        let mut content = Vec::new();
        file.take(self.bytes_left.saturating_add(1)).read_to_end(&mut content).map_err(unreadable)?;
        let left = self.bytes_left.checked_sub(content.len() as u64);
        self.bytes_left = left.ok_or_else(|| {
            let most = self.limits.archive_bytes_limit;
            format!("the folder holds more than {most} bytes (templates.archive_bytes_limit)")
        })?;
        self.files.insert(inside, content.into());
        Ok(())
    }
}
