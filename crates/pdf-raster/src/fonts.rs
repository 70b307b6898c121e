//! The fonts of the machine, for text whose font is not in the PDF.
//!
//! They are found once: what each is called, how heavy it is, whether it is slanted. Their files stay open, so that who
//! may open nothing any more can read one when it is wanted.

use std::collections::HashMap;
use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt as _;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use fontdb::{Database, FaceInfo, Source, Stretch, Style};
use hayro::hayro_interpret::font::{FallbackFontQuery, FontData, FontQuery, StandardFont};

use crate::font_names::{Wanted, key};
use crate::substitutes::{self, MONO, SANS, SERIF};

/// Most files that are kept open.
const FILE_LIMIT: usize = 2_000;
/// Largest font file that is read.
const FILE_LIMIT_BYTES: u64 = 128 << 20;

/// The fonts of the machine.
#[derive(Debug, Default)]
pub struct Fonts {
    files: Vec<File>,
    faces: Vec<Face>,
    /// Faces by the keys of their families.
    families: HashMap<String, Vec<usize>>,
    /// Faces by the keys of their own names.
    names: HashMap<String, usize>,
}

#[derive(Debug)]
struct Face {
    file: usize,
    index: u32,
    family: String,
    weight: u16,
    is_italic: bool,
    is_normal_width: bool,
}

/// What was found for a font that is not in the PDF.
pub(crate) struct Found {
    pub data: Option<(FontData, u32)>,
    /// What to say where it is another one, of other widths.
    pub replaced: Option<String>,
}

impl Fonts {
    /// Those in `folders` and below; what cannot be read is passed over.
    pub fn in_folders(folders: &[PathBuf]) -> Self {
        let mut database = Database::new();
        for folder in folders {
            database.load_fonts_dir(folder);
        }
        let mut fonts = Self::default();
        let mut places: HashMap<&Path, Option<usize>> = HashMap::new();
        for info in database.faces() {
            let (Source::File(path) | Source::SharedFile(path, _)) = &info.source else { continue };
            let place = places.entry(path).or_insert_with(|| fonts.keep(path));
            if let Some(file) = *place {
                fonts.add(info, file);
            }
        }
        fonts
    }

    /// How many there are.
    pub fn count(&self) -> usize {
        self.faces.len()
    }

    /// Opens a file for as long as this lives.
    fn keep(&mut self, path: &Path) -> Option<usize> {
        if self.files.len() == FILE_LIMIT {
            return None;
        }
        self.files.push(File::open(path).ok()?);
        Some(self.files.len() - 1)
    }

    fn add(&mut self, info: &FaceInfo, file: usize) {
        let at = self.faces.len();
        let family = info.families.first().map(|(name, _)| name.clone()).unwrap_or_default();
        self.faces.push(Face {
            file,
            index: info.index,
            family,
            weight: info.weight.0,
            is_italic: info.style != Style::Normal,
            is_normal_width: info.stretch == Stretch::Normal,
        });
        for (name, _) in &info.families {
            let faces = self.families.entry(key(name)).or_default();
            if !faces.contains(&at) {
                faces.push(at);
            }
        }
        self.names.entry(key(&info.post_script_name)).or_insert(at);
    }

    /// The font that stands in for what is asked for: the very one, one as wide, one of its script, one that looks alike.
    pub(crate) fn resolve(&self, query: &FontQuery) -> Found {
        match query {
            FontQuery::Standard(font) => Found { data: self.standard(*font), replaced: None },
            FontQuery::Fallback(asked) => self.fallback(asked),
        }
    }

    /// One of those that every reader of PDFs must have.
    fn standard(&self, font: StandardFont) -> Option<(FontData, u32)> {
        let wanted = Wanted::of_name(font.postscript_name());
        let mut families = substitutes::as_wide(&wanted.family).iter();
        let found = families.find_map(|family| self.of_family(family, &wanted));
        found.and_then(|face| self.read(face)).or_else(|| Some(font.get_font_data()))
    }

    fn fallback(&self, asked: &FallbackFontQuery) -> Found {
        let name = asked.post_script_name.as_deref().or(asked.font_name.as_deref());
        let name = name.or(asked.font_family.as_deref()).unwrap_or_default();
        let mut wanted = Wanted::of_name(name);
        wanted.is_italic |= asked.is_italic;
        if wanted.weight == 400 {
            wanted.weight = weight_of(asked);
        }
        let own_family = asked.font_family.as_deref().map(key);
        let same = self.names.get(&key(name)).copied().or_else(|| self.of_family(&wanted.family, &wanted));
        let same = same.or_else(|| self.of_family(own_family.as_deref()?, &wanted));
        let alike =
            || substitutes::as_wide(&wanted.family).iter().find_map(|family| self.of_family(family, &wanted));
        if let Some(data) = same.or_else(alike).and_then(|face| self.read(face)) {
            return Found { data: Some(data), replaced: None };
        }
        let face = self.of_kind(asked, &wanted);
        let data = face.and_then(|face| Some((self.read(face)?, self.faces.get(face)?.family.as_str())));
        let (data, taken) =
            data.unwrap_or_else(|| (asked.pick_standard_font().get_font_data(), "a built-in one"));
        let name = shortened(name);
        let replaced = format!("the font {name} is not in the PDF and not installed; {taken} was taken");
        Found { data: Some(data), replaced: Some(replaced) }
    }

    /// One that has the characters, or at least looks alike.
    fn of_kind(&self, asked: &FallbackFontQuery, wanted: &Wanted) -> Option<usize> {
        let is_serif = asked.is_serif || substitutes::is_named_serif(&wanted.family);
        let script = asked.character_collection.as_ref();
        let script =
            script.map(|script| substitutes::ideographs(&script.family, is_serif)).unwrap_or_default();
        let usual = match (asked.is_fixed_pitch || substitutes::is_named_mono(&wanted.family), is_serif) {
            (true, _) => MONO,
            (false, true) => SERIF,
            (false, false) => SANS,
        };
        script.iter().chain(usual).find_map(|family| self.of_family(family, wanted))
    }

    /// Of a family the face that is nearest to what is wanted.
    fn of_family(&self, family: &str, wanted: &Wanted) -> Option<usize> {
        let distance = |at: &usize| {
            self.faces.get(*at).map(|face| {
                let slant = face.is_italic != wanted.is_italic;
                (!face.is_normal_width, slant, face.weight.abs_diff(wanted.weight))
            })
        };
        self.families.get(family)?.iter().copied().min_by_key(distance)
    }

    fn read(&self, face: usize) -> Option<(FontData, u32)> {
        let face = self.faces.get(face)?;
        let bytes = read_whole(self.files.get(face.file)?).ok()?;
        Some((Arc::new(bytes), face.index))
    }
}

/// From its beginning, wherever it was read before.
fn read_whole(file: &File) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    let mut chunk = vec![0; 256 << 10];
    loop {
        let length = file.read_at(&mut chunk, bytes.len() as u64)?;
        let Some(read @ [_, ..]) = chunk.get(..length) else { return Ok(bytes) };
        if bytes.len() as u64 + read.len() as u64 > FILE_LIMIT_BYTES {
            return Err(io::Error::other("the font is too large"));
        }
        bytes.extend_from_slice(read);
    }
}

fn weight_of(asked: &FallbackFontQuery) -> u16 {
    let told =
        u16::try_from(asked.font_weight).ok().filter(|weight| (100..=900).contains(weight) && *weight != 400);
    told.unwrap_or(if asked.is_bold { 700 } else { 400 })
}

/// A name out of a stranger's file, for a sentence.
fn shortened(name: &str) -> String {
    let shown: String = name.chars().filter(|character| !character.is_control()).take(60).collect();
    if shown.is_empty() { "without a name".to_owned() } else { format!("'{shown}'") }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Fonts of nothing but names.
    fn fonts(faces: &[(&str, &str, u16, bool)]) -> Fonts {
        let mut fonts = Fonts::default();
        for (family, name, weight, is_italic) in faces {
            let at = fonts.faces.len();
            fonts.faces.push(Face {
                file: 0,
                index: 0,
                family: (*family).to_owned(),
                weight: *weight,
                is_italic: *is_italic,
                is_normal_width: true,
            });
            fonts.families.entry(key(family)).or_default().push(at);
            fonts.names.insert(key(name), at);
        }
        fonts
    }

    #[test]
    fn the_nearest_face_of_a_family_is_taken() {
        let fonts = fonts(&[
            ("Open Sans", "OpenSans-Regular", 400, false),
            ("Open Sans", "OpenSans-Bold", 700, false),
            ("Open Sans", "OpenSans-Italic", 400, true),
        ]);
        for (name, at) in [
            ("OpenSans", 0),
            ("OpenSans-Semibold", 1),
            ("Open Sans,Italic", 2),
            ("OpenSans-BoldItalic", 2),
            ("OpenSans-Light", 0),
        ] {
            let wanted = Wanted::of_name(name);
            assert_eq!(fonts.of_family(&wanted.family, &wanted), Some(at), "{name}");
        }
        assert_eq!(fonts.of_family("opensanscondensed", &Wanted::of_name("x")), None);
    }

    #[test]
    fn what_is_there_under_no_name_is_said() {
        let asked = FallbackFontQuery {
            post_script_name: Some("Nowhere\u{7}-Bold".to_owned()),
            ..FallbackFontQuery::default()
        };
        let found = Fonts::default().fallback(&asked);
        assert!(found.data.is_some());
        let told = "the font 'Nowhere-Bold' is not in the PDF and not installed; a built-in one was taken";
        assert_eq!(found.replaced.as_deref(), Some(told));
    }
}
