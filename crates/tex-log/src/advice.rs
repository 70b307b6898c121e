//! What to do about a message: a table of those that authors meet, of TeX itself, LaTeX and packages in common use.

/// All of the words stand in the message, in this order. Of the rows that fit the one with the most words is taken.
const TABLE: &[(&[&str], &str)] = &[
    // Formulas.
    (
        &["Missing $ inserted"],
        "something of formulas (_, ^, a Greek letter) stands in text: put it between \\( and \\), or write \\_ and \\^{}",
    ),
    (
        &["Display math should end with $$"],
        "a displayed formula ended by one $: write \\[ before it and \\] behind it",
    ),
    (&["Double superscript"], "x^a^b is ambiguous: write x^{a^b} or {x^a}^b"),
    (&["Double subscript"], "x_a_b is ambiguous: write x_{a_b} or {x_a}_b"),
    (&["Missing delimiter"], "behind \\left and \\right a bracket must stand, or a point for none"),
    (&["Extra \\right"], "this \\right has no \\left before it: both must stand in one formula and one cell"),
    (
        &["Missing \\right"],
        "a \\left has no \\right behind it; in a formula of several lines each line needs both (\\right. for none)",
    ),
    (&["Bad math environment delimiter"], "formulas do not nest: close the one before by \\) or \\]"),
    (&["allowed only in math mode"], "it belongs into a formula: put it between \\( and \\)"),
    (&["Erroneous nesting of equation structures"], "inside of a formula use aligned, not align"),
    (&["Multiple \\label's"], "a line of a formula has one label: take the others away"),
    (&["Command", "invalid in math mode"], "take it out of the formula, or put it into \\text{…}"),
    (&["Please use \\mathaccent"], "\\accent is for text: in a formula write \\hat, \\vec and the like"),
    (&["You can't use '\\eqno'"], "\\eqno and \\tag belong into a displayed formula"),
    (
        &["Limit controls must follow a math operator"],
        "\\limits stands directly behind \\sum, \\int or \\mathop{…}",
    ),
    // Braces and arguments.
    (&["Too many }'s"], "a } too much: look for the { that is missing before it"),
    (
        &["Extra }, or forgotten"],
        "a } stands where a formula or a group of another kind is open: look for the missing $ or \\end",
    ),
    (&["Missing } inserted"], "a { is still open here: close it"),
    (&["Missing { inserted"], "a { is missing before this"),
    (&["Paragraph ended before"], "an argument has an empty line in it, or its } is missing"),
    (
        &["File ended while scanning"],
        "an argument has no end: look for the } that is missing behind its beginning",
    ),
    (
        &["Forbidden control sequence found"],
        "an argument has no end before this: look for the } that is missing",
    ),
    (
        &["Use of", "doesn't match its definition"],
        "the command was given another kind of argument than it expects: see how it is written",
    ),
    (
        &["Argument of", "has an extra }"],
        "a } stands where an argument was expected: the argument is missing",
    ),
    (
        &["Illegal parameter number in definition"],
        "a # in the definition has no number that it takes; in an inner definition write ##",
    ),
    (&["You can't use 'macro parameter character #'"], "write \\# to print a #"),
    (&["Parameters must be numbered consecutively"], "write #1, #2 … in their order"),
    (&["Runaway"], "an argument has no end: look for the } that is missing"),
    // Tables.
    (
        &["Extra alignment tab"],
        "the row has more cells than the table has columns: add a column, end the row before by \\\\, or write \\& to print an &",
    ),
    (&["Misplaced alignment tab character &"], "an & outside of a table: write \\& to print it"),
    (
        &["Misplaced \\noalign"],
        "\\hline and its kin stand directly behind the \\\\ of a row, or at the begin of the table",
    ),
    (&["Misplaced \\omit"], "\\multicolumn stands first in its cell"),
    (&["Misplaced \\cr"], "a \\cr outside of a table"),
    (
        &["Missing # inserted in alignment preamble"],
        "the table's columns are not said: write \\begin{tabular}{lll}",
    ),
    (&["Only one # is allowed per tab"], "a column has two # in it"),
    (
        &["Illegal pream-token"],
        "the table's columns have a letter that is none: l, c, r, p{…} are known, others come of packages",
    ),
    (
        &["Illegal character in array arg"],
        "the table's columns have a letter that is none: l, c, r, p{…} are known, others come of packages",
    ),
    (&["Missing arg: token ignored"], "a column needs a width: p{3cm}"),
    (
        &["longtable not in 1-column mode"],
        "longtable does not work in two columns: use tabular, or one column",
    ),
    // Lines and paragraphs.
    (
        &["There's no line here to end"],
        "\\\\ or \\newline stands where no line is: leave it out, or use \\vspace",
    ),
    (
        &["Something's wrong--perhaps a missing \\item"],
        "a list has text before its first \\item, or no \\item at all, as one of an empty loop",
    ),
    (&["Lonely \\item"], "\\item outside of a list: put \\begin{itemize} before it"),
    (&["Too deeply nested"], "LaTeX has four levels of lists of a kind: use fewer"),
    (
        &["Not in outer par mode"],
        "figures, tables and notes in the margin float in running text only, not in boxes, tables or each other",
    ),
    (&["Can be used only in preamble"], "move it before \\begin{document}"),
    (
        &["Missing \\begin{document}"],
        "text stands before \\begin{document}, or it is missing; a preamble prints nothing, so look for stray letters in it",
    ),
    (
        &["\\begin{", "ended by \\end{"],
        "environments end in the order in which they began: the \\end of the inner one is missing, or is misspelled",
    ),
    (&["Extra \\end"], "an \\end without its \\begin"),
    (&["Environment", "undefined"], "look for a slip in its name, or for the package that defines it"),
    (&["Bad use of \\\\"], "use \\\\ in text and tables only"),
    (&["\\verb ended by end of line"], "\\verb has no second delimiter on this line"),
    (
        &["\\verb illegal in"],
        "\\verb does not work in the argument of another command: use \\texttt{…} there",
    ),
    (
        &["Missing \\endcsname inserted"],
        "a command or a sign stands in a name (\\label, \\ref, \\begin{…}): write letters and digits only",
    ),
    // Numbers and lengths.
    (&["Missing number, treated as zero"], "a number or a length was expected here"),
    (&["Illegal unit of measure"], "a length needs a unit: pt, mm, cm, in, em, ex; write 3cm, not 3"),
    (&["Dimension too large"], "a length is longer than TeX can count (5.7 m)"),
    (&["Number too big"], "TeX counts to 2147483647"),
    (&["Arithmetic overflow"], "TeX counts to 2147483647, and lengths to 5.7 m"),
    (&["Counter too large"], "letters count to 26, footnote signs to 9: use \\arabic"),
    (&["No counter", "defined"], "define it by \\newcounter, or look for a slip in its name"),
    (&["\\undefined counter"], "define it by \\newcounter, or look for a slip in its name"),
    (&["You can't use a prefix with"], "\\long and \\global stand before definitions only"),
    (&["Incompatible glue units"], "mu belongs to formulas, other units to text"),
    (&["Missing = inserted for"], "a comparison needs <, = or > between its two numbers"),
    (
        &["Undefined color"],
        "define it by \\definecolor, or load xcolor with the option that has it (dvipsnames, svgnames)",
    ),
    (&["Undefined color model"], "known are rgb, RGB, HTML, cmyk, gray"),
    // Definitions.
    (&["Command", "already defined"], "use \\renewcommand to change it, or take another name"),
    (&["Environment", "already defined"], "use \\renewenvironment to change it, or take another name"),
    (
        &["Command", "undefined"],
        "\\renewcommand changes what is there: use \\newcommand, or load the package first",
    ),
    (&["already defined"], "take another name, or define it once only, before the loop"),
    (&["Missing control sequence inserted"], "behind \\newcommand, \\def and their kin a command must stand"),
    (
        &["Option clash for package"],
        "the package is loaded twice, with other options: load it once, with all of them, or give them by \\PassOptionsToPackage before \\documentclass",
    ),
    (&["Unknown option"], "look for a slip in the option of the class or the package"),
    (
        &["Two \\documentclass"],
        "a document has one class: an included file must not begin by \\documentclass",
    ),
    (&["\\usepackage before \\documentclass"], "begin the document by \\documentclass"),
    (&["\\RequirePackage or \\LoadClass"], "files are loaded before \\begin{document} only"),
    (&["\\include cannot be nested"], "inside of an included file use \\input"),
    (&["Extra \\else"], "look for the \\if that this belongs to"),
    (&["Extra \\fi"], "look for the \\if that this belongs to"),
    (&["Incomplete \\if"], "an \\if has no \\fi behind it"),
    (&["You can't use"], "it does not belong here: what stands before it is of another kind than it expects"),
    (&["Improper alphabetic constant"], "behind ` one letter must stand"),
    // Floats, boxes, room.
    (
        &["Too many unprocessed floats"],
        "too many figures wait for their page: put \\clearpage between them, or [H] of the package float",
    ),
    (
        &["Float(s) lost"],
        "a figure or note in the margin stands in a box, a table or another figure: take it out",
    ),
    (&["Unknown float option"], "known are h, t, b, p and !; H comes of the package float"),
    (&["Insufficient extended memory"], "look for what repeats without an end"),
    (
        &["No room for a new"],
        "packages take more registers than TeX has: load fewer of them, or use lualatex (formatOpts.engine)",
    ),
    (&["Too many columns in eqnarray"], "use align of amsmath"),
    (&["Tab overflow"], "too many stops: use a table"),
    (&["Undefined tab position"], "set the stop by \\= before \\> uses it"),
    (&["Infinite glue shrinkage"], "take \\hss and negative lengths out of running text"),
    (&["Output loop"], "a page cannot be filled: a figure is taller than it, or its margins leave no room"),
    // Pictures.
    (
        &["Unknown graphics extension"],
        "pdflatex takes png, jpg and pdf: convert the picture, and look for a slip in its name",
    ),
    (&["Cannot determine size of graphic"], "give the picture as png, jpg or pdf, or say its size by [bb=…]"),
    (&["Division by 0"], "the picture has no width or no height"),
    (&["pgfkeys", "I do not know the key"], "look for a slip, or for the \\usetikzlibrary that brings it"),
    (&["pgfkeys"], "look for a slip in the keys, or for the \\usetikzlibrary that brings them"),
    (&["Giving up on this path"], "look for a slip in the path: does a semicolon or a bracket miss"),
    (&["tikz", "Cannot parse this coordinate"], "write (x,y), or (angle:length)"),
    (&["No shape named"], "the node must be drawn before it is referred to, by this name"),
    (&["pgf", "Unknown"], "look for a slip, or for the \\usetikzlibrary that brings it"),
    (&["pgfplots"], "look at the options of the axis, and at the numbers of the data"),
    (&["PGF Math Error"], "look for a number that is missing, or is no number"),
    (&["pgf", "error"], "look at the keys and the numbers of the picture"),
    // Letters and fonts.
    (&["Invalid UTF-8 byte"], "save the file as UTF-8"),
    (&["scanning use of \\UTFviii@"], "save the file as UTF-8"),
    (&["String contains an invalid utf-8 sequence"], "save the file as UTF-8"),
    (&["Text line contains an invalid character"], "a control character stands in the file: take it out"),
    (&["Unknown inputenc"], "save the file as UTF-8 and leave inputenc out"),
    (&["Encoding scheme"], "load the encoding by \\usepackage[T1]{fontenc}"),
    (&["Command", "unavailable in encoding"], "load \\usepackage[T1]{fontenc}, or the encoding that has it"),
    (&["Font", "not loadable"], "the font is not there under this name"),
    (&["This NFSS system isn't set up properly"], "the encoding has no fonts here: choose another one"),
    (
        &["fontspec", "cannot be found"],
        "put the font's file beside the template and name it with its ending, or name one that is installed",
    ),
    (&["fontspec", "requires either XeTeX or LuaTeX"], "ask for lualatex (formatOpts.engine)"),
    (
        &["The font", "cannot be found"],
        "put the font's file beside the template and name it with its ending, or name one that is installed",
    ),
    // Packages.
    (
        &["babel", "Unknown option"],
        "babel does not know this language: look for a slip in its name (ngerman, english, french)",
    ),
    (&["babel", "haven't"], "name the language among babel's options first"),
    (&["The key", "is unknown"], "look for a slip in the option"),
    (&["The unit", "has not been"], "look for a slip in the unit; write \\kilo\\metre or km"),
    (
        &["Invalid number"],
        "siunitx takes numbers with a decimal point: 1234.5; give it the bare number, not a formatted one",
    ),
    (&["siunitx"], "give it a bare number (1234.5) and units it knows"),
    (&["biblatex", "not found"], "look for a slip in the style's name"),
    (&["biblatex"], "look at the options of biblatex and the entries of the bibliography"),
    (&["hyperref", "Wrong"], "look at the options of hyperref"),
    (&["Option", "hyperref"], "look at the options of hyperref"),
    (&["geometry"], "look at the lengths that geometry is given"),
    (&["keyval", "undefined"], "look for a slip in the option"),
    (&["xkeyval", "undefined"], "look for a slip in the option"),
    (
        &["listings", "Couldn't load requested language"],
        "listings does not know this language: look for a slip in its name",
    ),
    (&["beamer", "not inside a frame"], "put it between \\begin{frame} and \\end{frame}"),
    (&["ifthen"], "look at the condition of \\ifthenelse"),
    (
        &["calc", "is invalid at this point"],
        "look at the length that is reckoned: + - * / between lengths and numbers",
    ),
    // Lua.
    (&["attempt to"], "look at the Lua code: a value is nil or of another type there"),
    (&["expected near"], "look for a slip in the Lua code before that"),
    // Ends.
    (
        &["no legal \\end found"],
        "\\end{document} is missing, or stands in a comment or behind what ends the file",
    ),
    (&["TeX capacity exceeded"], "look for what nests or repeats without an end"),
    (&["Interruption"], "look for what repeats without an end"),
];

/// What to do about a message in one sentence, as [`Error`](crate::Error) has it; a part of a sentence without a full stop.
pub fn advice(message: &str) -> Option<&'static str> {
    let fits = |words: &[&str]| {
        let mut rest = message;
        words.iter().all(|word| {
            let found = rest.find(word);
            rest = found.and_then(|at| rest.get(at + word.len()..)).unwrap_or_default();
            found.is_some()
        })
    };
    let length = |words: &[&str]| words.iter().map(|word| word.len()).sum::<usize>();
    TABLE
        .iter()
        .filter(|(words, _)| fits(words))
        .max_by_key(|(words, _)| length(words))
        .map(|(_, advice)| *advice)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_row_is_reached_by_its_own_words_and_is_a_part_of_a_sentence() {
        for (words, told) in TABLE {
            assert_eq!(advice(&words.join(" x ")), Some(*told), "{words:?}");
            assert!(!told.ends_with('.') && !told.contains('\n'), "{told}");
        }
        assert!(TABLE.len() >= 100, "{}", TABLE.len());
    }

    #[test]
    fn what_is_special_goes_before_what_is_general() {
        for (message, words) in [
            ("You can't use 'macro parameter character #' in horizontal mode", "\\#"),
            ("You can't use '\\hfill' in math mode", "of another kind"),
            ("Command \\foo already defined", "\\renewcommand"),
            ("Command \\foo undefined", "\\newcommand"),
            ("babel: Unknown option 'klingon'", "language"),
            ("\\begin{itemize} on input line 4 ended by \\end{document}", "in the order"),
        ] {
            assert!(
                advice(message).is_some_and(|told| told.contains(words)),
                "{message}: {:?}",
                advice(message)
            );
        }
        assert_eq!(advice("Nobody has ever said this"), None);
    }
}
