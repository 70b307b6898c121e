//! What is called by a text of the data: columns of tables, which Excel wants to be called as their headings say, and sheets.

use super::book::{Sheet, book};
use crate::support::{part, try_fill};

const SHEET: &str = "xl/worksheets/sheet1.xml";
const TABLE: &str = "xl/tables/table1.xml";

/// What stands between two texts, each time.
fn between(xml: &str, begin: &str, end: &str) -> Vec<String> {
    let pieces = xml.split(begin).skip(1).filter_map(|rest| rest.split_once(end));
    pieces.map(|(found, _)| found.to_owned()).collect()
}

#[test]
fn a_column_of_a_table_is_called_as_its_heading_says_whatever_the_data_are() {
    for rows in ["{h}|{i}\n{#xs}1|2{/xs}", "{#once}{h}|{i}\n3|4{/once}"] {
        let mut sheet = Sheet::new("S").rows("A1", rows);
        sheet.table = Some(("T", "A1:B2", &["{h}", "{i}"], None));
        for (data, cells, names) in [
            ("null, \"i\": true", ["Column1", "TRUE"], ["Column1", "TRUE"]),
            ("\"\", \"i\": \"column1\"", ["Column1", "column12"], ["Column1", "column12"]),
            ("\"\\u0001Jan\", \"i\": 5", ["Jan", "5"], ["Jan", "5"]),
            ("\"_x0041_\", \"i\": \"a\\r\\nb\"", ["_x005F_x0041_", "a\nb"], ["_x005F_x0041_", "a_x000a_b"]),
        ] {
            let data = format!("{{\"xs\": [1], \"once\": [1], \"h\": {data}}}");
            let file =
                try_fill(book(std::slice::from_ref(&sheet), &[]), &data, "{}").expect("it is filled").file;
            let xml = part(&file, SHEET).replace(" xml:space=\"preserve\"", "");
            assert_eq!(
                between(&xml, "<is><t>", "</t>").get(..2),
                Some(&cells.map(str::to_owned)[..]),
                "{xml}"
            );
            assert_eq!(between(&part(&file, TABLE), " name=\"", "\"")[1..], names, "{data}");
        }
    }
}
