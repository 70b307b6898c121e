//! What is a reference in a formula and what is not.

use cell_references::{Formula, Meaning, Moves};
use proptest::prelude::*;

use crate::support::{moves, written};

/// Everything moves by a row and a column, so what changed was taken for a reference.
fn all_moved() -> Moves {
    moves("1*2 A*2")
}

fn shifted(text: &str) -> String {
    Formula::parse(text, &["Sheet1"], Meaning::Value).shifted(1, 1)
}

#[test]
fn what_is_no_reference_stays() {
    let kept = [
        "",
        " ",
        "\"A1\"&\"say \"\"A1\"\"\"",
        "LOG10(5)+ATAN2(1,2)+BIN2DEC(1)",
        "_xlfn.XLOOKUP(1,Name,Other.Name)",
        "1.5E+10+2e-3+.5+1E5",
        "{1,2;\"A1}\",\"B2\"}",
        "#REF!+#N/A+#DIV/0!+#NAME?+#NULL!+#VALUE!+#NUM!+#SPILL!+#CALC!",
        "#REF!A1+#REF!$A$1:B2",
        "TRUE+FALSE+TAX_2024+A1B2+A1.B+_A1+A1_+Ä1+A1ä+AAAA1+XFE1+A0+A01+A1048577+A10000000",
        "Table1[[#Totals],[A1]]+Table1[A1]+[@[A1]]+[A1]+Table1['[A1']]",
        "Table1[[#This Row],[It''s A1]]+1",
        "R1C1x+1*Rate%",
        "LAMBDA(_xlpm.x,_xlpm.x+1)(2)",
        "Sheet1!Rate+Other!A1048577+'Sheet1'!Rate",
        "1:0+XFE:XFF+A:1+ABCD:E",
        "\"open A1",
        "'open A1",
        "[open A1",
        "{open A1",
        "\"Größe A1\"",
        "Größe.1+價格",
        "$+$$+@",
        ")))((",
    ];
    for text in kept {
        assert_eq!(shifted(text), text);
        assert_eq!(written(&all_moved(), cell_references::Place::default(), text, Meaning::Cells).0, text);
    }
}

#[test]
fn references_are_found_wherever_they_stand() {
    let moved = [
        ("A1", "B2"),
        ("$A1+A$1+$A$1", "$A2+B$1+$A$1"),
        ("a1:b2", "B2:C3"),
        ("-A1^2%", "-B2^2%"),
        ("A1&\" \"&B1<>C1", "B2&\" \"&C2<>D2"),
        ("TAX2024", "TAY2025"),
        ("XFC1048575", "XFD1048576"),
        ("XFD1+A1048576", "#REF!+#REF!"),
        ("A:A+$A:C+1:1+$1:3", "B:B+$A:D+2:2+$1:4"),
        ("SUM(A:A B:B,1:2)", "SUM(B:B C:C,2:3)"),
        ("A1#+_xlfn.ANCHORARRAY(A1)+@A1", "B2#+_xlfn.ANCHORARRAY(B2)+@B2"),
        ("Sheet1!A1+'Sheet1'!A1:B2+'a b'!C:C", "Sheet1!B2+'Sheet1'!B2:C3+'a b'!D:D"),
        ("[1]Sheet!A1+'[1]a b'!$A1", "[1]Sheet!B2+'[1]a b'!$A2"),
        ("Sheet1:Sheet3!A1+'S 1:S 3'!A1", "Sheet1:Sheet3!B2+'S 1:S 3'!B2"),
        ("Jan:Mar!A1", "Jan:Mar!B2"),
        ("A1:Sheet1!B2", "B2:Sheet1!C3"),
        ("A1:INDEX(B1:B9,2):C3", "B2:INDEX(C2:C10,2):D4"),
        ("OFFSET(A1,1,1):B2", "OFFSET(B2,1,1):C3"),
        ("Table1[A1]+A1", "Table1[A1]+B2"),
        ("{1,2}*A1", "{1,2}*B2"),
        ("#N/A/A1", "#N/A/B2"),
        ("1E+A1", "1E+A1"),
        ("2*A1E", "2*A1E"),
        ("IF(A1>1,A1,)", "IF(B2>1,B2,)"),
        (" A1 ,\tB1\n", " B2 ,\tC2\n"),
        ("B2:A1", "B2:C3"),
        ("C$3:C1", "D2:D$3"),
        ("ÄA1+A1", "ÄA1+B2"),
    ];
    for (text, expected) in moved {
        assert_eq!(shifted(text), expected, "{text}");
    }
}

#[test]
fn shared_formulas_are_written_for_each_cell() {
    let formula = Formula::parse("SUM(B$2:B4)/$A4-Data!B4", &["Data"], Meaning::Value);
    assert_eq!(formula.shifted(0, 0), formula.text());
    assert_eq!(formula.shifted(3, 1), "SUM(C$2:C7)/$A7-Data!C7");
    assert_eq!(formula.shifted(-3, -1), "SUM(A1:A$2)/$A1-Data!A1");
    assert_eq!(formula.shifted(-4, 0), "SUM(#REF!)/#REF!-#REF!");
    assert_eq!(formula.shifted(i32::MAX, i32::MIN), "SUM(#REF!)/#REF!-#REF!");
}

fn token() -> impl Strategy<Value = String> {
    let words = [
        "A1",
        "$B$2",
        "C3:D4",
        "E:E",
        "2:3",
        "Sheet1!A1",
        "'It''s'!B2",
        "Sheet1:Data!C1",
        "[1]S!A1",
        "Rate",
        "SUM(",
        "SUMPRODUCT(",
        "(",
        ")",
        ",",
        " ",
        ":",
        "+",
        "^",
        "#",
        "\"",
        "'",
        "{",
        "}",
        "[",
        "]",
        "!",
        "$",
        "1.5E+3",
        "#REF!",
        "T[a]",
        "@",
        ";",
        "é",
        "\u{1F600}",
        "\n",
        "A",
        "9",
        ".",
    ];
    prop_oneof![4 => prop::sample::select(words.to_vec()).prop_map(str::to_owned), 1 => any::<char>().prop_map(String::from)]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(3_000))]

    /// Where nothing moves, every text stays what it was; where something does, nothing panics.
    #[test]
    fn any_text_is_kept(tokens in prop::collection::vec(token(), 0..24)) {
        let text = tokens.concat();
        let still = Moves::default();
        prop_assert_eq!(&written(&still, cell_references::Place::default(), &text, Meaning::Cells).0, &text);
        prop_assert_eq!(&shifted_by(&text, 0, 0), &text);
        written(&all_moved(), cell_references::Place::default(), &text, Meaning::Value);
        shifted_by(&text, 3, -2);
    }

    /// What is shifted and shifted back is what it was; the tokens around it show where the reference ends.
    #[test]
    fn what_moved_down_moves_up_again(columns in 1u32..9_000, rows in 1u32..900_000, height in 0u32..9, fixed in 0u32..4) {
        let corner = |row: u32, column: u32| {
            let cell = cell_references::Cell { row, column }.to_string();
            let split = cell.find(|sign: char| sign.is_ascii_digit()).unwrap();
            let dollar = |is_fixed: bool| if is_fixed { "$" } else { "" };
            format!("{}{}{}{}", dollar(fixed & 1 > 0), &cell[..split], dollar(fixed & 2 > 0), &cell[split..])
        };
        let text = format!("1+{}:{}*Rate", corner(rows, columns), corner(rows + height, columns + height));
        let there = shifted_by(&text, 17, 4_000);
        prop_assert_eq!(there == text, fixed == 3);
        prop_assert_eq!(shifted_by(&there, -17, -4_000), text);
    }
}

fn shifted_by(text: &str, rows: i32, columns: i32) -> String {
    Formula::parse(text, &["Sheet1", "Data"], Meaning::Value).shifted(rows, columns)
}
