//! Messages that no small document brings about here, as the programs write them.

use tex_log::{Cause, Kind, Program, package_of_file, package_of_font, read};

/// A log with this in a file that is open.
fn log(text: &str) -> String {
    format!("This is pdfTeX\n**main.tex\n(./main.tex\nLaTeX2e\n{text}\n")
}

#[test]
fn pdftex_ends_by_errors_of_its_own() {
    let report = read(log("!pdfTeX error: pdflatex: cannot find image file none.png\n ==> Fatal error occurred, no output PDF file produced!").as_bytes());
    assert_eq!(report.errors.len(), 1);
    assert_eq!(report.errors[0].cause, Cause::MissingFile("none.png".to_owned()));
    assert_eq!(report.errors[0].file.as_deref(), Some("main.tex"));
    let report = read(
        log("!pdfTeX error: pdflatex (file ecrm2488): Font ecrm2488 at 600 not found\n ==> Fatal error")
            .as_bytes(),
    );
    assert_eq!(report.errors[0].cause, Cause::MissingFont("ecrm2488".to_owned()));
    assert_eq!(package_of_file("ecrm2488"), Some("cm-super"));
}

#[test]
fn an_argument_that_began_with_the_end_of_the_file_is_empty() {
    let text = ")\nRunaway argument?\n! File ended while scanning use of \\next.\n<inserted text> \n                \\par \n<*> main.tex\n\n! Emergency stop.\n*** (job aborted, no legal \\end found)";
    let report = read(log(text).as_bytes());
    assert_eq!(report.errors.len(), 1);
    assert_eq!(report.errors[0].to_string(), "main.tex: File ended while scanning use of \\next");
    assert_eq!(report.errors[0].runaway, None);
}

#[test]
fn a_package_that_may_start_no_program_says_nothing_to_the_author() {
    let warnings =
        |text: &str| read(log(&format!("\nPackage epstopdf Warning: {text}\n\n")).as_bytes()).warnings.len();
    assert_eq!(warnings("Shell escape feature is not enabled."), 0);
    assert_eq!(warnings("Something else."), 1);
}

#[test]
fn only_the_first_errors_are_kept() {
    let many: Vec<_> = (1..=60)
        .map(|line| format!("./main.tex:{line}: Undefined control sequence.\nl.{line} \\x\n\n"))
        .collect();
    let report = read(log(&many.concat()).as_bytes());
    assert_eq!((report.errors.len(), report.more_errors), (20, 40));
    assert_eq!(report.errors[19].line, Some(20));
}

#[test]
fn only_so_many_warnings_are_kept_and_each_once() {
    let line = |number: usize| {
        format!("Overfull \\hbox (12.5pt too wide) in paragraph at lines {number}--{number}\n[]\n []\n\n")
    };
    let many: Vec<_> = (0..2_400).map(|number| line(number % 1_200)).collect();
    let report = read(log(&many.concat()).as_bytes());
    assert_eq!((report.warnings.len(), report.more_warnings), (1_000, 400));
    assert!(report.warnings.iter().all(|warning| warning.times == 2 && warning.kind == Kind::TooWide(12.5)));
}

#[test]
fn what_asks_for_another_run_is_no_warning() {
    for text in [
        "LaTeX Warning: Label(s) may have changed. Rerun to get cross-references right.",
        "Package longtable Warning: Table widths have changed. Rerun LaTeX.",
        "Package rerunfilecheck Warning: File `main.out' has changed.\n(rerunfilecheck)                Rerun to get outlines right",
        "No file main.toc.",
    ] {
        let report = read(log(text).as_bytes());
        assert!(report.needs.rerun, "{text}");
        assert_eq!(report.warnings, [], "{text}");
    }
    let report = read(
        log("No file main.aux.\nNo file other.toc.\nLaTeX Font Info:    No file T1x.fd. on input line 4.")
            .as_bytes(),
    );
    assert!(!report.needs.rerun);
}

#[test]
fn what_other_programs_have_to_make_is_named() {
    let text = "No file main.bbl.\n\nPackage biblatex Warning: Please (re)run Biber on the file:\n(biblatex)                main\n(biblatex)                and rerun LaTeX afterwards.\n\nNo file one.bbl.\nNo file main.bbl.";
    let report = read(log(text).as_bytes());
    assert_eq!(report.needs.bibliographies, ["main.bbl", "one.bbl"]);
    assert!(!report.needs.rerun && report.warnings.is_empty(), "the bibliography comes first");
    let text = "Package imakeidx Warning: Remember to run (pdf)latex again after calling\n(imakeidx)                `makeindex -s fancy.ist main.idx'\n(imakeidx)                or call (pdf)latex with -shell-escape.\n";
    let report = read(log(text).as_bytes());
    assert_eq!(
        (report.needs.index_calls, report.warnings),
        (vec!["makeindex -s fancy.ist main.idx".to_owned()], vec![])
    );
    let report = read(log(&text.replace("makeindex -s fancy.ist", "texindy")).as_bytes());
    assert_eq!((report.needs.index_calls.len(), report.warnings.len()), (0, 1), "nobody calls another one");
}

#[test]
fn warnings_have_the_file_they_are_in() {
    let text = "(./part/one.tex (text in parentheses) :-)\nLaTeX Warning: Reference `a (b' on page 1 undefined on input line 3.\n";
    let report = read(log(&text.replace(" :-)", "")).as_bytes());
    assert_eq!(report.warnings[0].file.as_deref(), Some("part/one.tex"));
    assert_eq!(report.warnings[0].kind, Kind::UndefinedReference("a (b".to_owned()));
    // A stray parenthesis misleads, but not further than the file around it.
    assert_eq!(read(log(text).as_bytes()).warnings[0].file.as_deref(), Some("main.tex"));
}

#[test]
fn names_may_have_apostrophes() {
    for text in
        ["Citation `O'Brien:2020' on page 1 undefined on input line 3.", "Citation 'O'Brien:2020' undefined."]
    {
        let report = read(log(&format!("LaTeX Warning: {text}")).as_bytes());
        assert_eq!(report.warnings[0].kind, Kind::UndefinedCitation("O'Brien:2020".to_owned()));
    }
}

#[test]
fn files_and_fonts_have_their_packages() {
    for (name, package) in [
        ("siunitx.sty", "texlive-science"),
        ("tikz.sty", "texlive-pictures"),
        ("amsmath.sty", "texlive-latex-base"),
        ("beamer.cls", "texlive-latex-recommended"),
        ("moderncv.cls", "texlive-latex-extra"),
        ("IEEEtran.cls", "texlive-publishers"),
        ("musixtex.sty", "texlive-music"),
        ("french.ldf", "texlive-lang-french"),
        ("tikzlibrarycalc.code.tex", "texlive-pictures"),
        ("ptmr7t.tfm", "texlive-fonts-recommended"),
        ("lib/fontawesome5.sty", "texlive-fonts-extra"),
        ("tcrm1200", "cm-super"),
    ] {
        assert_eq!(package_of_file(name), Some(package), "{name}");
    }
    for name in [
        "",
        ".sty",
        "nowhere-to-be-found.sty",
        "siunitx",
        "texlive-science",
        "sty",
        "a b.sty",
        "eclipse1000",
        "\u{e9}c\u{e9}1000",
    ] {
        assert_eq!(package_of_file(name), None, "{name}");
    }
    assert_eq!(package_of_font("TeX Gyre Termes"), Some("fonts-texgyre"));
    assert_eq!(package_of_font("TeXGyreTermes"), Some("fonts-texgyre"));
    assert_eq!((package_of_font("No Such Face"), package_of_font(" ")), (None, None));
}

#[test]
fn what_wants_another_program_is_known() {
    for (message, wanted) in [
        (
            "./a.sty:45: Fatal Package fontspec Error: The fontspec package requires either XeTeX or\n(fontspec)  LuaTeX.\n",
            Some(Program::Luatex),
        ),
        (
            "./a.sty:51: Package luacode Error: LuaTeX is required for this package. Aborting..\n",
            Some(Program::Luatex),
        ),
        (
            "./a.sty:40: Package unicode-math Error: Cannot be run with pdftex!\n(unicode-math)  Use XeLaTeX or LuaLaTeX \
             instead.\n",
            Some(Program::Luatex),
        ),
        (
            "./main.tex:22: Package pgf Error: You need to run LuaTeX to use the graph drawing library.\n",
            Some(Program::Luatex),
        ),
        ("./a.sty:35: Package lua-ul Error: LuaLaTeX required\n", Some(Program::Luatex)),
        ("./a.sty:10: Emergency stop.\n<read *> \n         \nl.10 \\RequireXeTeX\n", Some(Program::Xetex)),
        (
            "./a.sty:113: LaTeX Error: *** this package currently works only with XeTeX ***\n",
            Some(Program::Xetex),
        ),
        ("./a.sty:55: Undefined control sequence.\nl.55 \\ifnum\\luatexversion\n", Some(Program::Luatex)),
        ("./main.tex:5: Undefined control sequence.\nl.5 \\XeTeX\n", None),
        ("./main.tex:5: LaTeX Error: Something's wrong--perhaps a missing \\item.\n", None),
    ] {
        let report = read(log(message).as_bytes());
        let found = report
            .errors
            .first()
            .map(|error| if let Cause::Program(program) = error.cause { Some(program) } else { None });
        assert_eq!(found, Some(wanted), "{message}: {report:?}");
    }
}

#[test]
fn a_file_of_lua_and_code_in_the_source_are_reported_by_their_lines() {
    let stack = "stack traceback:\n\t[C]: in function 'error'\nl.4 \\directlua{require(\"x\")}\n\n";
    let report = read(log(&format!("x.lua:2: in file\n{stack}")).as_bytes());
    assert_eq!(report.errors[0].to_string(), "x.lua:2: in file");
    let report = read(log(&format!("[\\directlua]:3: bad\n{stack}")).as_bytes());
    assert_eq!(
        (report.errors[0].to_string().as_str(), report.errors[0].lua_line),
        ("main.tex:4: Lua: bad", Some(3))
    );
}

#[test]
fn an_error_while_a_package_is_read_knows_which_file_asked_for_which() {
    let text = "(/t/a.sty (/t/b.sty\n/t/b.sty:7: Package b Error: No.\n\nl.7 \\x\n\n";
    let error = read(log(text).as_bytes()).errors.swap_remove(0);
    assert_eq!((error.own_file.as_deref(), error.entered.as_deref()), (Some("main.tex"), Some("/t/a.sty")));
}

/// A row that goes missing shows here: documents of these mistakes are told of without advice, and that is no error.
#[test]
fn frequent_mistakes_have_advice() {
    for (message, words) in [
        ("Misplaced alignment tab character &", "write \\&"),
        ("Misplaced \\noalign", "directly behind the \\\\"),
        ("Extra alignment tab has been changed to \\cr", "more cells"),
        ("Missing $ inserted", "write \\_"),
        ("Double superscript", "x^{a^b}"),
        ("Too many }'s", "the { that is missing"),
        ("File ended while scanning use of \\textbf", "the } that is missing"),
        ("Illegal unit of measure (pt inserted)", "write 3cm"),
        ("LaTeX Error: Something's wrong--perhaps a missing \\item", "an empty loop"),
        ("LaTeX Error: Lonely \\item--perhaps a missing list environment", "\\begin{itemize}"),
        ("LaTeX Error: There's no line here to end", "leave it out"),
        ("LaTeX Error: Command \\LaTeX already defined", "\\renewcommand"),
        ("LaTeX Error: Option clash for package xcolor", "load it once"),
    ] {
        let advice = tex_log::advice(message).unwrap_or_default();
        assert!(advice.contains(words), "{message}: {advice}");
    }
}
