//! Random blocks, merged cells, conditional formats and validations, against a model that writes each row of the result down.

use std::collections::BTreeSet;
use std::fmt::Write as _;

use cell_references::Range;
use proptest::prelude::*;

use crate::support::moved;

const ROWS: u32 = 12;

/// Blocks of rows in their order: first and last row, and how often.
fn blocks() -> impl Strategy<Value = Vec<(u32, u32, u32)>> {
    proptest::collection::vec((0..3_u32, 1..4_u32, 0..4_u32), 0..4).prop_map(|all| {
        let (mut row, mut blocks) = (1, Vec::new());
        for (gap, length, count) in all {
            let first = row + gap;
            if first + length - 1 <= ROWS {
                blocks.push((first, first + length - 1, count));
                row = first + length;
            }
        }
        blocks
    })
}

fn ranges() -> impl Strategy<Value = Vec<(u32, u32, u32, u32)>> {
    proptest::collection::vec((1..=ROWS, 0..4_u32, 1..6_u32, 0..3_u32), 1..6).prop_map(|all| {
        all.into_iter()
            .map(|(row, rows, column, columns)| (row, (row + rows).min(ROWS), column, column + columns))
            .collect()
    })
}

/// The model: the template's row of each row of the result, with its turn.
fn expanded(blocks: &[(u32, u32, u32)]) -> Vec<(u32, u32)> {
    let (mut rows, mut row) = (Vec::new(), 1);
    while row <= ROWS {
        if let Some(&(first, last, count)) = blocks.iter().find(|block| block.0 == row) {
            (0..count).for_each(|turn| rows.extend((first..=last).map(|row| (row, turn))));
            row = last + 1;
        } else {
            rows.push((row, 0));
            row += 1;
        }
    }
    rows
}

fn cells(list: &str) -> BTreeSet<(u32, u32)> {
    let ranges = Range::parse_list(list).unwrap();
    let mut cells = BTreeSet::new();
    for Range { rows, columns } in ranges {
        for row in rows.first..=rows.last {
            cells.extend((columns.first..=columns.last).map(|column| (row, column)));
        }
    }
    cells
}

fn attributes(xml: &str, name: &str) -> Vec<String> {
    let begin = format!(" {name}=\"");
    let pieces = xml.split(&begin).skip(1);
    pieces.map(|rest| rest.split('"').next().unwrap().to_owned()).collect()
}

fn written((first, last, from, to): (u32, u32, u32, u32)) -> String {
    let letter = |column: u32| char::from(b'A' + u8::try_from(column - 1).unwrap());
    format!("{}{first}:{}{last}", letter(from), letter(to))
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]

    #[test]
    fn parts_name_the_cells_that_the_model_says(blocks in blocks(), ranges in ranges()) {
        let notation = blocks.iter().fold(String::new(), |mut text, (first, last, count)| {
            let _ = write!(text, "{first}-{last}*{count} ");
            text
        });
        let rows = expanded(&blocks);
        let meant = |range: (u32, u32, u32, u32), turn: Option<u32>| -> BTreeSet<u32> {
            let is_meant = |(_, (row, own)): &(u32, &(u32, u32))| {
                range.0 <= *row && *row <= range.1 && turn.is_none_or(|turn| turn == *own)
            };
            (1..).zip(&rows).filter(is_meant).map(|(row, _)| row).collect()
        };
        let around = |range: (u32, u32, u32, u32)| {
            blocks.iter().find(|block| block.0 <= range.0 && range.1 <= block.1)
        };

        // Validations and formats have all cells, and no other.
        let rules = |name: &str| ranges.iter().map(|range| {
            format!("<{name} sqref=\"{}\"><formula1>${}{}&gt;1</formula1></{name}>", written(*range), 'B', range.0)
        }).collect::<Vec<_>>().concat();
        let tail = format!("{}<dataValidations count=\"9\">{}</dataValidations>", rules("conditionalFormatting"), rules("dataValidation"));
        let xml = moved(&notation, ("", &tail)).1;
        let left: Vec<_> = ranges.iter().copied().filter(|range| !meant(*range, None).is_empty()).collect();
        let found = attributes(&xml, "sqref");
        prop_assert_eq!(found.len(), 2 * left.len());
        for (list, range) in found.iter().zip(left.iter().cycle()) {
            let expected: BTreeSet<_> =
                meant(*range, None).into_iter().flat_map(|row| (range.2..=range.3).map(move |column| (row, column))).collect();
            prop_assert_eq!(cells(list), expected, "{:?} with {}", range, notation);
            // The formula is that of the first cell that is left: the same row.
            let first = cells(list).first().unwrap().0;
            let formula = format!("sqref=\"{list}\"><formula1>$B{first}&gt;1<");
            prop_assert!(xml.contains(&formula), "{} with {} in {}", formula, notation, xml);
        }

        // Merged cells and hyperlinks: a range for each turn of the block around, or one around all.
        for range in &ranges {
            let mut expected = Vec::new();
            let turns: Vec<Option<u32>> = around(*range).map_or(vec![None], |block| (0..block.2).map(Some).collect());
            for turn in turns {
                let rows = meant(*range, turn);
                if let (Some(first), Some(last)) = (rows.first(), rows.last()) {
                    expected.push(Range::parse(&written((*first, *last, range.2, range.3))).unwrap().to_string());
                }
            }
            let link = format!("<hyperlinks><hyperlink ref=\"{}\"/></hyperlinks>", written(*range));
            prop_assert_eq!(attributes(&moved(&notation, ("", &link)).1, "ref"), expected.clone());
            let merge = format!("<mergeCells count=\"1\"><mergeCell ref=\"{}\"/></mergeCells>", written(*range));
            expected.retain(|range| range.contains(':'));
            if range.0 != range.1 || range.2 != range.3 {
                prop_assert_eq!(attributes(&moved(&notation, ("", &merge)).1, "ref"), expected, "{}", notation);
            }
        }
    }
}
