//! PDFs that need more time, memory or stack than there is.

use crate::pdf_documents::File;

/// Forms inside of forms: each draws the next one so many times that no renderer reaches the end.
pub fn endless() -> Vec<u8> {
    let mut file = File::new();
    let mut inner = file.stream("/Type /XObject /Subtype /Form /BBox [0 0 300 200]", b"0 0 300 200 re f");
    for _ in 0..40 {
        let entries = format!(
            "/Type /XObject /Subtype /Form /BBox [0 0 300 200] /Resources << /XObject << /X {inner} 0 R >> >>"
        );
        inner = file.stream(&entries, "/X Do ".repeat(20).as_bytes());
    }
    file.page("", &format!("/XObject << /X {inner} 0 R >>"), "/X Do");
    file.write("")
}

/// Arrays inside of arrays, saved states inside of saved states, a form that draws itself.
pub fn nested() -> Vec<u8> {
    let mut file = File::new();
    let depth = 200_000;
    let array = file.object(&format!("{}{}", "[".repeat(depth), "]".repeat(depth)));
    let form = format!(
        "/Type /XObject /Subtype /Form /BBox [0 0 300 200] /Resources << /XObject << /X {} 0 R >> >>",
        array + 1
    );
    let form = file.stream(&form, b"/X Do");
    let content = format!("{} /X Do {} {}", "q ".repeat(depth), "[".repeat(depth), "<<".repeat(depth));
    file.page(&format!("/Rotate {array} 0 R"), &format!("/XObject << /X {form} 0 R >>"), &content);
    file.write("")
}

/// An image that declares more pixels than any machine has memory for.
pub fn vast_image() -> Vec<u8> {
    let mut file = File::new();
    let image = file.stream(
        "/Type /XObject /Subtype /Image /Width 60000 /Height 60000 /ColorSpace /DeviceRGB /BitsPerComponent 8",
        b"x",
    );
    file.page("", &format!("/XObject << /I {image} 0 R >>"), "300 0 0 200 0 0 cm /I Do");
    file.write("")
}
