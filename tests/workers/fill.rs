//! Word files filled by a child: with the engine and without it, one after the other.

use std::io::{Cursor, Read as _, Write as _};

use bytes::Bytes;
use platen::config::Config;
use platen::domain::ids::AccountId;
use platen::engines::script::TemplateCodePool;
use platen::slots::AccountShare;
use platen::slots::meter::CostMeter;
use platen::telemetry::metrics::Metrics;
use platen::workers::Asked;
use platen::workers::assemble::{FillJob, FillLimits, Filled, Order, ScriptError};
use zip::write::SimpleFileOptions;
use zip::{ZipArchive, ZipWriter};

use crate::processes::{starter, until};

const DOCUMENT: &str = "word/document.xml";

/// A child at work, and the account that it works for.
struct Desk {
    pool: TemplateCodePool,
    account: AccountId,
}

impl Desk {
    fn new() -> Self {
        let mut config = Config::default().assemble;
        (config.spares, config.kept, config.processes) = (0, 1, 1);
        let pool = TemplateCodePool::new(starter(), &config, AccountShare::whole(), Metrics::new().children);
        Self { pool, account: AccountId::generate() }
    }

    /// What the document says whose only paragraph has `tags`, in a zone.
    async fn say_in(&self, timezone: &str, tags: &str, data: &'static str) -> Result<String, ScriptError> {
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
            output_bytes: 1 << 20,
        };
        let order = Order::Fill(FillJob {
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
            pool.run::<Filled>(&meter, (&order, &body), &|_: &str| None::<Asked>).await.unwrap();
        until("the child waits for its next job", || self.pool.pool.kept() == 1).await;
        filled.map(|_| said(&file))
    }

    async fn say(&self, tags: &str, data: &'static str) -> String {
        self.say_in("UTC", tags, data).await.unwrap()
    }
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

fn said(file: &[u8]) -> String {
    let mut document = String::new();
    let mut archive = ZipArchive::new(Cursor::new(file)).unwrap();
    archive.by_name(DOCUMENT).unwrap().read_to_string(&mut document).unwrap();
    let (_, text) = document.split_once("<w:t").unwrap();
    text.split_once('>').unwrap().1.split_once('<').unwrap().0.to_owned()
}

#[tokio::test]
async fn a_machine_that_had_no_part_in_a_job_waits_for_the_next_one_and_no_other_does() {
    let desk = Desk::new();
    let data = r#"{"name":"Ann","n":[1,2]}"#;
    for _ in 0..2 {
        assert_eq!(desk.say("{name}{#n}{.};{/}", data).await, "Ann1;2;");
        assert_eq!(desk.say("{Object.prototype.left = 'traces'}{(1).left}", data).await, "tracestraces");
        assert_eq!(desk.say("{name}", data).await, "Ann");
        assert_eq!(desk.say("{(1).left || 'nothing'}", data).await, "nothing");
    }
}

#[tokio::test]
async fn a_zone_that_the_engine_does_not_know_is_said_whatever_the_tags_are() {
    let desk = Desk::new();
    for tags in ["{name}", "{name.trim()}", "{name}"] {
        // In the database of zones since 2025; the engine may know it by now.
        match desk.say_in("America/Coyhaique", tags, r#"{"name":"Ann"}"#).await {
            Ok(said) => assert_eq!(said, "Ann"),
            Err(ScriptError::Options(why)) => assert!(why.contains("zone America/Coyhaique"), "{why}"),
            Err(other) => panic!("{other:?}"),
        }
    }
}
