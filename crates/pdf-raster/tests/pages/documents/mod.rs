//! PDFs for tests: what a page may have, and what a hostile one may try.

mod file;

use std::fmt::Write as _;

pub use file::File;

/// Latin text in fonts that are not in the file: the standard ones, and those of an office.
pub fn fonts() -> Vec<u8> {
    let mut file = File::new();
    let names = [
        "Helvetica",
        "Times-BoldItalic",
        "Courier-Bold",
        "ArialMT",
        "TimesNewRomanPS-BoldMT",
        "Calibri,Italic",
        "Cambria-Bold",
    ];
    let mut resources = String::from("/Font <<");
    let mut content = String::from("BT 14 TL 20 180 Td\n");
    for (at, name) in names.iter().enumerate() {
        let kind = if at < 3 { "Type1" } else { "TrueType" };
        let descriptor = if at < 3 {
            String::new()
        } else {
            let slant = if name.contains("Italic") { 64 } else { 0 };
            let flags = 32 + slant + if name.contains("Cambria") { 2 } else { 0 };
            let number = file.object(&format!(
                "<< /Type /FontDescriptor /FontName /{name} /Flags {flags} /ItalicAngle 0 /Ascent 900 /Descent -200 \
                 /CapHeight 700 /StemV 80 /FontBBox [-100 -200 1000 900] >>"
            ));
            format!("/FontDescriptor {number} 0 R")
        };
        let number = file.object(&format!(
            "<< /Type /Font /Subtype /{kind} /BaseFont /{name} /Encoding /WinAnsiEncoding {descriptor} >>"
        ));
        write!(resources, " /F{at} {number} 0 R").unwrap();
        writeln!(content, "/F{at} 12 Tf (Gr\\374\\337e Hamburg \\200 12,50 fi) Tj 0 -24 Td").unwrap();
    }
    resources += " >>";
    content += "ET";
    file.page("", &resources, &content);
    file.write("")
}

/// Text in a font that nobody has.
pub fn unknown_font() -> Vec<u8> {
    let mut file = File::new();
    let meaning = file.stream(
        "",
        b"/CIDInit /ProcSet findresource begin begincmap 1 begincodespacerange <0000> <FFFF> \
        endcodespacerange 1 beginbfrange <0001> <00FF> <0001> endbfrange endcmap end",
    );
    let descendant = file.object(
        "<< /Type /Font /Subtype /CIDFontType2 /BaseFont /Nowhere-Bold /CIDSystemInfo << /Registry (Adobe) /Ordering \
         (Identity) /Supplement 0 >> /DW 600 >>",
    );
    let font = file.object(&format!(
        "<< /Type /Font /Subtype /Type0 /BaseFont /Nowhere-Bold /Encoding /Identity-H /DescendantFonts [{descendant} 0 R] \
         /ToUnicode {meaning} 0 R >>"
    ));
    file.page("", &format!("/Font << /F {font} 0 R >>"), "BT /F 20 Tf 40 80 Td <0048006500720065> Tj ET");
    file.write("")
}

/// Chinese, Japanese and Korean text in fonts that are not in the file.
pub fn ideographs() -> Vec<u8> {
    let mut file = File::new();
    let mut resources = String::from("/Font <<");
    let mut content = String::from("BT 20 160 Td\n");
    for (at, (name, map, ordering, text)) in [
        ("HeiseiMin-W3", "UniJIS-UCS2-H", "Japan1", "日本語の請求書"),
        ("STSong-Light", "UniGB-UCS2-H", "GB1", "简体中文发票"),
        ("MHei-Medium", "UniCNS-UCS2-H", "CNS1", "繁體中文發票"),
        ("HYGoThic-Medium", "UniKS-UCS2-H", "Korea1", "한국어 청구서"),
    ]
    .into_iter()
    .enumerate()
    {
        let descriptor = file.object(&format!(
            "<< /Type /FontDescriptor /FontName /{name} /Flags 4 /ItalicAngle 0 /Ascent 880 /Descent -120 /CapHeight 700 \
             /StemV 80 /FontBBox [0 -120 1000 880] >>"
        ));
        let descendant = file.object(&format!(
            "<< /Type /Font /Subtype /CIDFontType0 /BaseFont /{name} /CIDSystemInfo << /Registry (Adobe) /Ordering \
             ({ordering}) /Supplement 2 >> /FontDescriptor {descriptor} 0 R /DW 1000 >>"
        ));
        let font = file.object(&format!(
            "<< /Type /Font /Subtype /Type0 /BaseFont /{name} /Encoding /{map} /DescendantFonts [{descendant} 0 R] >>"
        ));
        write!(resources, " /F{at} {font} 0 R").unwrap();
        let units = text.encode_utf16().map(|unit| format!("{unit:04X}")).collect::<Vec<_>>().concat();
        writeln!(content, "/F{at} 20 Tf <{units}> Tj 0 -40 Td").unwrap();
    }
    resources += " >>";
    content += "ET";
    file.page("", &resources, &content);
    file.write("")
}

/// What lies over each other: opacity, blend modes, a group, a soft mask, a shading.
pub fn blends() -> Vec<u8> {
    let mut file = File::new();
    let modes =
        ["Multiply", "Screen", "Overlay", "Darken", "Difference", "ColorBurn", "SoftLight", "Luminosity"];
    let mut states = String::from("/ExtGState << /Half << /ca 0.5 /CA 0.5 >>");
    let mut content = String::from(
        "/Sh sh\n0.9 0.3 0.1 rg 10 110 60 60 re f\n/Half gs 0.1 0.3 0.9 rg 40 90 60 60 re f 1 0 0 RG 6 w 20 100 m 100 180 l S\n",
    );
    for (at, mode) in modes.iter().enumerate() {
        write!(states, " /B{at} << /BM /{mode} /ca 1 /CA 1 >>").unwrap();
        let left = 10 + at * 36;
        writeln!(content, "q /B{at} gs 0.2 0.7 0.5 rg {left} 20 30 60 re f Q").unwrap();
    }
    let shading = "<< /ShadingType 2 /ColorSpace /DeviceRGB /Coords [0 0 300 0] /Function << /FunctionType 2 /Domain [0 1] \
                   /C0 [1 0.9 0.6] /C1 [0.3 0.5 0.9] /N 1 >> /Extend [true true] >>";
    let grey = "<< /ShadingType 2 /ColorSpace /DeviceGray /Coords [0 0 80 0] /Function << /FunctionType 2 /Domain [0 1] \
                /C0 [0] /C1 [1] /N 1 >> /Extend [true true] >>";
    let group = "/Type /XObject /Subtype /Form /BBox [0 0 80 80] /Group << /S /Transparency /CS /DeviceRGB /I true >>";
    let mask = format!(
        "/Type /XObject /Subtype /Form /BBox [0 0 80 80] /Group << /S /Transparency /CS /DeviceGray >> /Resources << /Shading << /G {grey} >> >>"
    );
    let mask = file.stream(&mask, b"/G sh");
    let form = file.stream(group, b"1 0 0 rg 0 0 50 50 re f 0 0.6 0 rg 25 25 50 50 re f");
    write!(states, " /Mask << /SMask << /S /Luminosity /G {mask} 0 R >> >> >>").unwrap();
    content += "q 1 0 0 1 120 100 cm /Half gs /Form Do Q\nq 1 0 0 1 210 100 cm /Mask gs 0 0 0.4 rg 0 0 80 80 re f Q\n";
    let resources = format!("{states} /Shading << /Sh {shading} >> /XObject << /Form {form} 0 R >>");
    file.page("", &resources, &content);
    file.write("")
}

/// A form: a text field, a box that is ticked, one that is not, a field that is hidden.
pub fn form() -> Vec<u8> {
    let mut file = File::new();
    let font = "/Font << /Helv << /Type /Font /Subtype /Type1 /BaseFont /Helvetica >> >>";
    let look = format!("/Type /XObject /Subtype /Form /BBox [0 0 200 24] /Resources << {font} >>");
    let text = file.stream(
        &look,
        b"0.9 g 0 0 200 24 re f 0 G 0 0 200 24 re S BT 0 g /Helv 14 Tf 4 7 Td (Filled in) Tj ET",
    );
    let square = "/Type /XObject /Subtype /Form /BBox [0 0 20 20]";
    let on = file.stream(square, b"0 G 1 1 18 18 re S 2 w 4 4 m 16 16 l 4 16 m 16 4 l S");
    let off = file.stream(square, b"0 G 1 1 18 18 re S");
    let widget = "/Type /Annot /Subtype /Widget";
    let states = format!("/AP << /N << /Yes {on} 0 R /Off {off} 0 R >> >>");
    let fields = [
        format!(
            "<< {widget} /FT /Tx /T (a) /V (Filled in) /Rect [20 140 220 164] /F 4 /AP << /N {text} 0 R >> >>"
        ),
        format!("<< {widget} /FT /Btn /T (b) /V /Yes /AS /Yes /Rect [20 100 40 120] /F 4 {states} >>"),
        format!("<< {widget} /FT /Btn /T (c) /AS /Off /Rect [60 100 80 120] /F 4 {states} >>"),
        format!("<< {widget} /FT /Tx /T (d) /Rect [20 40 220 64] /F 2 /AP << /N {text} 0 R >> >>"),
    ]
    .map(|field| file.object(&field));
    let all = fields.map(|field| format!("{field} 0 R ")).concat();
    let content = "BT /Helv 12 Tf 20 175 Td (Name) Tj ET";
    file.page(&format!("/Annots [{all}]"), font, content);
    file.write(&format!("/AcroForm << /Fields [{all}] >>"))
}

/// A page that is cropped and turned.
pub fn turned() -> Vec<u8> {
    let mut file = File::new();
    let content = "0.2 0.4 0.8 rg 60 60 100 60 re f 0.9 0.2 0.2 rg 60 60 20 20 re f 0 g BT /F 20 Tf 70 90 Td (Turned) Tj ET";
    let font = "/Font << /F << /Type /Font /Subtype /Type1 /BaseFont /Helvetica-Bold >> >>";
    file.page("/MediaBox [0 0 300 200] /CropBox [50 50 200 150] /Rotate 90", font, content);
    file.write("")
}

/// So many pages, numbered.
pub fn pages(count: usize) -> Vec<u8> {
    let mut file = File::new();
    let font = "/Font << /F << /Type /Font /Subtype /Type1 /BaseFont /Helvetica >> >>";
    for page in 1..=count {
        file.page("", font, &format!("BT /F 40 Tf 40 80 Td (Page {page}) Tj ET"));
    }
    file.write("")
}

/// The same page so many times.
pub fn same_pages(count: usize) -> Vec<u8> {
    let mut file = File::new();
    file.page("", "", "0 0 100 100 re f");
    file.repeat(count - 1);
    file.write("")
}

/// A page as large as can be written.
pub fn huge() -> Vec<u8> {
    let mut file = File::new();
    file.page("/MediaBox [0 0 1000000000 1000000000]", "", "0 0 1000000000 1000000000 re f");
    file.write("")
}
