//! Documents of twelve kinds, as people write them in Word: `tests/word/NAME.docx` with its data beside it.

use std::path::{Path, PathBuf};

use office_template::{NoFiles, Template};

use crate::support::{DOCUMENT, entries, limits, paragraphs, part, run};

/// Name, and paragraphs that stand in the filled document.
const DOCUMENTS: [(&str, &[&str]); 12] = [
    (
        "letter",
        &[
            "MÜLLER & SØN",
            "Åboulevarden 21, 2. th",
            "Your order 88-4120: guest books <half linen>",
            "thank you for your order of February 11, 2026. It left our warehouse on February 26, 2026 with DB Schenker.",
            "May we remind you that invoice 2026-0112 over €96.50 was due on 28 February? Please settle it by 16 March.",
        ],
    ),
    (
        "contract",
        &[
            "Harbour Software GmbH, Am Sandtorkai 7, Hamburg, represented by Lars Petersen",
            "a monthly report of availability",
            "The Client pays a monthly fee of £4,800, due on the third working day.",
            "Annex 3: Processing of personal data",
            "for Northern Ferries Ltd",
        ],
    ),
    (
        "invoice",
        &[
            "Café Blåbær A/S\nAttn. Ms. Ingrid Østergård\nÅboulevarden 21, 2. th\n8000 Aarhus C\nDenmark",
            "16.03.2026",
            "€1,110.00",
            "VAT 7 %",
            "€77.70",
            "€3,987.18",
        ],
    ),
    (
        "report",
        &[
            "Nordwind Energy plc\t\tQ1 2026",
            "-5.4%",
            "26,601.4",
            "Its share is shown in the chart below.",
            "Confidential. Nordwind Energy plc, April 2026",
        ],
    ),
    (
        "certificate",
        &[
            "Zoë Ng’ang’a",
            "who completed the course",
            "who with honours completed the course",
            "40 hours, 2 February to 6 February 2026, grade 1.3",
            "陳大文",
        ],
    ),
    (
        "cv",
        &[
            "Amina Yıldız",
            "English: C1",
            "BIM, Concrete, Fatigue, Timber",
            "Lead engineer, Brückenbau AG\t2019 to today",
            "Works: Elbe crossing, Tower of larch",
            "Wind towers up to 160 m",
            "Boğaziçi University",
        ],
    ),
    (
        "minutes",
        &[
            "Tuesday, 12 May 2026, 09:30 to 11:15",
            "Ada, Björn",
            "Boskalis: 1.4 M€",
            "The harbour master asks for haste: Skagen II touched ground twice, see the soundings.",
            "Nothing was recorded.",
            "Rope: to be renewed before winter",
            "Decision: Van der Meer is asked for a firm offer.",
            "The next meeting is not yet fixed.",
        ],
    ),
    ("price-list", &["Insulation & sealing", "Cellulose", "Brackets, 100 mm (new!)", "22-002", "867.13"]),
    (
        "delivery-note",
        &[
            "Delivery note L-1002",
            "Hotel <Strand>\nPromenade 1\n24960 Glücksburg",
            "Empty: pick-up of returns only",
            "Remark: Ring twice\nDog!",
            "Total: 12 positions, 117.0 kg",
            "☐",
        ],
    ),
    (
        "multilingual",
        &[
            "عزيزتي ليلى،",
            "החשבון שלכם מוכן (₪1,234.50)",
            "שלום לאורחים שלנו, Wi-Fi בחינם.",
            "Und herzlich willkommen.",
            "ようこそ。 👋🏽👨\u{200d}👩\u{200d}👧\u{200d}👦🇩🇰",
            "κλειδί",
            "שני (2)",
        ],
    ),
    (
        "form",
        &[
            "Hauke HANSEN",
            "11.30 m",
            "☒ Life raft   ☒ Radio   ☐ Radar",
            "Frauke Hansen, born November 30, 1974",
        ],
    ),
    (
        "handout",
        &[
            " Source: N. N., 2019, pp. 14–22.",
            " Hansen: “And the wind?” Lund: “Costs are left out.” ",
            "Neap tides",
            "The moon pulls.\nThe sun pulls as well.",
            "The discussion took 25 minutes.",
        ],
    ),
];

/// Name, part, what stands in it where a tag was that is more than a text, and how often.
const FORMS: [(&str, &str, &str, usize); 15] = [
    ("letter", "word/header1.xml", "<pic:pic ", 1),
    ("letter", "word/header1.xml", "descr=\"Müller &amp; Søn\"", 1),
    ("certificate", DOCUMENT, "<pic:pic ", 3),
    ("minutes", DOCUMENT, "<w:hyperlink ", 1),
    ("minutes", DOCUMENT, "w:val=\"CC0000\"", 1),
    ("handout", DOCUMENT, " PAGEREF ", 7),
    ("invoice", DOCUMENT, "<pic:pic ", 1),
    ("delivery-note", DOCUMENT, "<pic:pic ", 3),
    ("delivery-note", DOCUMENT, "<w:br w:type=\"page\"/>", 2),
    ("report", DOCUMENT, "<w:color w:val=\"DC143C\"/></w:rPr><w:t xml:space=\"preserve\">-5.4%<", 1),
    ("report", DOCUMENT, "<w:color w:val=\"DC143C\"/></w:rPr><w:t xml:space=\"preserve\">7.6%<", 0),
    ("price-list", DOCUMENT, "w:fill=\"FFF3C4\"", 32),
    ("cv", DOCUMENT, "<w:hyperlink ", 3),
    ("form", DOCUMENT, "<w14:checked w14:val=\"1\"/>", 2),
    ("multilingual", DOCUMENT, "<w:lang w:bidi=\"he\"/>", 5),
];

/// Name, template and data of each.
pub fn all() -> impl Iterator<Item = (&'static str, Vec<u8>, String)> {
    let path = |name: &str, end: &str| -> PathBuf {
        Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("tests/word/{name}.{end}"))
    };
    DOCUMENTS.into_iter().map(move |(name, _)| {
        let data = std::fs::read_to_string(path(name, "json")).expect("its data lie beside it");
        (name, std::fs::read(path(name, "docx")).expect("it is there"), data)
    })
}

#[test]
fn documents_of_twelve_kinds_say_what_they_should() {
    for ((name, file, data), (_, expected)) in all().zip(DOCUMENTS) {
        let template =
            Template::read(file, None, &limits()).unwrap_or_else(|error| panic!("{name}: {error}"));
        let answer = run(template.program(), &data, "{}");
        let filled = template.fill(&answer, &mut NoFiles).unwrap_or_else(|error| panic!("{name}: {error}"));
        assert!(filled.warnings.is_empty(), "{name}: {:?}", filled.warnings);
        let texts = texts(&filled.file);
        for text in expected {
            assert!(
                texts.iter().any(|found| found.trim() == text.trim()),
                "{name} does not say {text:?}: {texts:#?}"
            );
        }
        let left: Vec<_> = texts.iter().filter(|text| text.contains(['{', '}'])).collect();
        assert!(left.is_empty(), "{name}: {left:?}");
    }
}

#[test]
fn documents_of_twelve_kinds_have_what_is_more_than_a_text() {
    for (name, file, data) in all() {
        let template = Template::read(file, None, &limits()).expect("it was read before");
        let answer = run(template.program(), &data, "{}");
        let filled = template.fill(&answer, &mut NoFiles).expect("it was filled");
        for (_, of, form, times) in FORMS.iter().filter(|(of, ..)| *of == name) {
            assert_eq!(part(&filled.file, of).matches(form).count(), *times, "{name}, {of}: {form}");
        }
        let pictures = entries(&filled.file).into_iter().filter(|(part, _)| part.starts_with("word/media/"));
        let kept = match name {
            // Its three sheets have the same seal.
            "letter" | "certificate" | "invoice" => 1,
            "delivery-note" => 3,
            _ => 0,
        };
        assert_eq!(pictures.count(), kept, "{name}");
    }
}

/// The paragraphs of all parts.
fn texts(file: &[u8]) -> Vec<String> {
    let parts = entries(file).into_iter();
    let parts = parts.filter(|(name, _)| {
        name.starts_with("word/") && Path::new(name).extension().is_some_and(|end| end == "xml")
    });
    parts.flat_map(|(_, xml)| paragraphs(std::str::from_utf8(&xml).expect("a part is UTF-8"))).collect()
}
