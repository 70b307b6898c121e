//! Word files filled by a child: with the engine and without it, one after the other.

use std::io::{Cursor, Read as _, Write as _};

use bytes::Bytes;
use platen::config::Config;
use platen::domain::ids::AccountId;
use platen::engines::script::TemplateCodePool;
use platen::slots::AccountShare;
use platen::slots::meter::CostMeter;
use platen::telemetry::metrics::Metrics;
use platen::workers::SuppliedFile;
use platen::workers::assemble::{FillJob, FillLimits, Filled, ScriptError, ScriptRequest};
use zip::write::SimpleFileOptions;
use zip::{ZipArchive, ZipWriter};

use crate::processes::{starter, until};

const DOCUMENT: &str = "word/document.xml";

/// A pool of one child, and the account whose jobs it does.
struct FillFixture {
    pool: TemplateCodePool,
    account: AccountId,
}

impl FillFixture {
    fn new() -> Self {
        let mut config = Config::default().assemble;
        (config.spares, config.kept, config.processes) = (0, 1, 1);
        let pool = TemplateCodePool::new(starter(), &config, AccountShare::whole(), Metrics::new().children);
        Self { pool, account: AccountId::generate() }
    }

    /// Fills a document whose only paragraph has `tags`, in a time zone; its text.
    async fn fill_in_zone(
        &self,
        timezone: &str,
        tags: &str,
        data: &'static str,
    ) -> Result<String, ScriptError> {
        let pool = self.pool.localized(None, Some(timezone));
        let (file, data) = (Bytes::from(docx(tags)), Bytes::from_static(data.as_bytes()));
        let limits = FillLimits {
            entries: 10,
            unpacked_bytes: 1 << 20,
            ratio: 1_000,
            depth: 100,
            elements: 1_000,
            attributes: 100,
            tags: 100,
            items: 100,
            slides: 100,
            own_parts: 100,
            output_bytes: 1 << 20,
        };
        let request = ScriptRequest::Fill(FillJob {
            file_bytes: file.len(),
            delimiters: None,
            strict: false,
            locale: "en-US".into(),
            timezone: timezone.into(),
            limits,
        });
        let body = [file, data];
        let meter = CostMeter::from(self.account);
        let (filled, file) =
            pool.run::<Filled>(&meter, (&request, &body), &|_: &str| None::<SuppliedFile>).await.unwrap();
        until("the child waits for its next job", || self.pool.pool.kept() == 1).await;
        filled.map(|_| text_in(&file))
    }

    async fn fill(&self, tags: &str, data: &'static str) -> String {
        self.fill_in_zone("UTC", tags, data).await.unwrap()
    }
}

#[tokio::test]
async fn faults_of_structure_and_of_expressions_are_told_at_once() {
    let fixture = FillFixture::new();
    let tags = "{a | nofilter}{#items}{b +}{a b c}{d | date(1 +)}{/other}{#open}";
    let Err(ScriptError::Code(told)) = fixture.fill_in_zone("UTC", tags, "{}").await else {
        panic!("the template has faults")
    };
    for fault in [
        "{a | nofilter}: 'nofilter' is neither a filter",
        "{b +}: 'b +' is neither a name in the data nor an expression",
        "{d | date(1 +)}: '1 +', given to date, is no expression",
        "{/other}: it stands where {#items}",
        "{#open}: the section is never closed",
    ] {
        assert!(told.contains(fault), "{fault} is missing: {told}");
    }
    assert!(!told.contains("{a b c}: "), "a name is no fault: {told}");
    // The child goes on with a fresh engine.
    assert_eq!(fixture.fill("{a} {a * 2}", r#"{"a":1}"#).await, "1 2");
}

fn docx(tags: &str) -> Vec<u8> {
    let main = "application/vnd.openxmlformats-officedocument.wordprocessingml.document.main+xml";
    let package = "http://schemas.openxmlformats.org/package/2006";
    let office = "http://schemas.openxmlformats.org/officeDocument/2006/relationships/officeDocument";
    let word = "http://schemas.openxmlformats.org/wordprocessingml/2006/main";
    let files = [
        (
            "[Content_Types].xml",
            format!(
                "<Types xmlns=\"{package}/content-types\"><Override PartName=\"/{DOCUMENT}\" ContentType=\"{main}\"/></Types>"
            ),
        ),
        (
            "_rels/.rels",
            format!(
                "<Relationships xmlns=\"{package}/relationships\"><Relationship Id=\"a\" Type=\"{office}\" Target=\"{DOCUMENT}\"/></Relationships>"
            ),
        ),
        (
            DOCUMENT,
            format!(
                "<w:document xmlns:w=\"{word}\"><w:body><w:p><w:r><w:t>{tags}</w:t></w:r></w:p></w:body></w:document>"
            ),
        ),
    ];
    let mut archive = ZipWriter::new(Cursor::new(Vec::new()));
    for (name, content) in files {
        archive.start_file(name, SimpleFileOptions::default()).unwrap();
        archive.write_all(content.as_bytes()).unwrap();
    }
    archive.finish().unwrap().into_inner()
}

fn text_in(file: &[u8]) -> String {
    let mut document = String::new();
    let mut archive = ZipArchive::new(Cursor::new(file)).unwrap();
    archive.by_name(DOCUMENT).unwrap().read_to_string(&mut document).unwrap();
    let (_, text) = document.split_once("<w:t").unwrap();
    text.split_once('>').unwrap().1.split_once('<').unwrap().0.to_owned()
}

#[tokio::test]
async fn an_unused_script_engine_is_reused_and_a_used_one_is_not() {
    let fixture = FillFixture::new();
    let data = r#"{"name":"Ann","n":[1,2]}"#;
    for _ in 0..2 {
        assert_eq!(fixture.fill("{name}{#n}{.};{/}", data).await, "Ann1;2;");
        assert_eq!(fixture.fill("{Object.prototype.left = 'traces'}{(1).left}", data).await, "tracestraces");
        assert_eq!(fixture.fill("{name}", data).await, "Ann");
        assert_eq!(fixture.fill("{(1).left || 'nothing'}", data).await, "nothing");
    }
}

#[tokio::test]
async fn an_unknown_time_zone_is_reported_whatever_the_tags_are() {
    let fixture = FillFixture::new();
    for tags in ["{name}", "{name.trim()}", "{name}"] {
        // In the database of zones since 2025; the engine may know it by now.
        match fixture.fill_in_zone("America/Coyhaique", tags, r#"{"name":"Ann"}"#).await {
            Ok(text_in) => assert_eq!(text_in, "Ann"),
            Err(ScriptError::Options(why)) => assert!(why.contains("zone America/Coyhaique"), "{why}"),
            Err(other) => panic!("{other:?}"),
        }
    }
}
