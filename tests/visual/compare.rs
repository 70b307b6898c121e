//! A document beside its references: text and number of pages are the same, its picture nearly.

use std::fs;
use std::path::PathBuf;

use crate::fixtures;
use crate::picture::Picture;
use crate::report;

/// One pixel in a thousand of a picture may differ. The same machine makes the same pixels; another version of
/// Chromium or of `FreeType` draws some edges of letters anew. A line of text that moved by a pixel is about
/// two pixels in a thousand; what it says is compared as text.
const PIXEL_TOLERANCE: f64 = 0.001;
/// The size of a picture when nothing is asked.
const VIEWPORT: (u32, u32) = (794, 1058);

/// A document that was rendered.
pub struct Document {
    pub name: &'static str,
    /// Page by page.
    pub text: String,
    pub pages: u32,
    pub pdf: Vec<u8>,
    pub png: Vec<u8>,
    /// What must not be, whatever the references say: warnings, fonts that are missing.
    pub errors: Vec<String>,
}

impl Document {
    /// Compares with the references, or writes them where that is asked for. What differs goes into the report.
    pub fn compare(&self) {
        let picture = Picture::read(&self.png);
        assert_eq!((picture.width, picture.height), VIEWPORT, "{}", self.name);
        let found = self.findings(&picture);
        report::keep(self, &picture, &found);
        if std::env::var_os("PLATEN_UPDATE_VISUAL").is_some() {
            self.write_references(&picture);
            return assert!(self.errors.is_empty(), "{}: {}", self.name, self.errors.join("; "));
        }
        assert!(
            found.sentences.is_empty(),
            "{}: {}\nLook at {}; if it shall be so, run: PLATEN_UPDATE_VISUAL=1 cargo test --test visual",
            self.name,
            found.sentences.join("; "),
            report::folder().join("index.html").display()
        );
    }

    fn write_references(&self, picture: &Picture) {
        fs::create_dir_all(reference("")).unwrap();
        fs::write(reference(&format!("{}.png", self.name)), picture.write()).unwrap();
        fs::write(reference(&format!("{}.txt", self.name)), &self.text).unwrap();
    }

    fn findings(&self, picture: &Picture) -> Findings {
        let mut found = Findings { sentences: self.errors.clone(), ..Findings::default() };
        match fs::read_to_string(reference(&format!("{}.txt", self.name))) {
            Err(error) => found.sentences.push(format!("there is no text to compare with ({error})")),
            Ok(expected) if expected != self.text => {
                found.sentences.push(first_difference(&self.text, &expected));
                found.text = Some(expected);
            }
            Ok(_) => {}
        }
        match fs::read(reference(&format!("{}.png", self.name))) {
            Err(error) => found.sentences.push(format!("there is no picture to compare with ({error})")),
            Ok(png) => {
                let expected = Picture::read(&png);
                let (shown, count) = picture.difference(&expected);
                let share = share_of(count, picture);
                if share > PIXEL_TOLERANCE {
                    found.sentences.push(format!("{:.2} % of the pixels differ", share * 100.0));
                }
                found.pictures = Some((expected, shown));
            }
        }
        found
    }
}

/// What differs from the references.
#[derive(Default)]
pub struct Findings {
    /// One for each finding.
    pub sentences: Vec<String>,
    /// The text that was expected, if it is another.
    pub text: Option<String>,
    /// The picture that was expected, and the difference.
    pub pictures: Option<(Picture, Picture)>,
}

fn share_of(count: usize, picture: &Picture) -> f64 {
    let count = u32::try_from(count).unwrap();
    f64::from(count) / (f64::from(picture.width) * f64::from(picture.height))
}

fn first_difference(ours: &str, expected: &str) -> String {
    let both = ours.lines().map(Some).chain([None]).zip(expected.lines().map(Some).chain([None]));
    let (ours, expected) = both.clone().find(|(ours, expected)| ours != expected).unwrap_or_default();
    let shown = |line: Option<&str>| line.map_or("its end".to_owned(), |line| format!("'{line}'"));
    format!("the text has {} where it had {}", shown(ours), shown(expected))
}

fn reference(file: &str) -> PathBuf {
    fixtures::checkout().join("tests/visual/references").join(file)
}

#[test]
fn the_first_line_that_differs_is_named() {
    assert_eq!(first_difference("a\nb", "a\nc\nb"), "the text has 'b' where it had 'c'");
    assert_eq!(first_difference("a", "a\nb"), "the text has its end where it had 'b'");
}
