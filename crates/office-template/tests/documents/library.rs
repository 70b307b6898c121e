//! Names, expressions and filters, in the real engine.

use office_template::{Needs, Template, library};

use crate::support::{docx, fault, limits, p, run, say, say_with, table, text};

/// What the language has besides its names is found all the same, by who looks for it.
const GLOBALS: &str = "(() => {}).constructor('return this')()";

#[test]
fn names_are_found_from_the_item_outwards() {
    let data = r#"{"a":1,"o":{"b":2,"a":null},"l":[{"a":3,"l":[{"c":4}]},5],"First Name":"Ann","a.b":"dot","x | upper":"bar"}"#;
    for (tag, expected) in [
        ("{a}{o.b}{o.a}{o.c}{o.b.c.d}", "12"),
        ("{#o}{b}{a}{/}{#o}{.a}{$parent.a}{/}", "21"),
        ("{First Name}{a.b}{x | upper}", "Anndotbar"),
        ("{#l}{$index}{$first}{$last} {/}", "0truefalse 1falsetrue "),
        ("{$index}{$parent}", ""),
        ("{o.b + a}{Math.max(a, 7)}{typeof Intl}", "37object"),
        ("{#l}{/}{.a}{this.a}", "11"),
        ("{undefined}{null}{true}{NaN}{a.toFixed(2)}", "trueNaN1.00"),
        ("{missing || 'none'}{missing ? 1 : 2}", "none2"),
    ] {
        assert_eq!(say(tag, data), expected, "{tag}");
    }
    assert_eq!(say("{#l}{#.l}{c}{a}{$parent.a}{/}{.a};{/}", data), "4333;;");
}

#[test]
fn a_missing_name_is_a_fault_where_it_is_asked_for() {
    for (tag, name, lenient) in [
        ("{a}", "a", ""),
        ("{o.b}", "o.b", ""),
        ("{o.b.c}", "o.b", ""),
        ("{#a}x{/}", "a", ""),
        ("{a + 1}", "a", "NaN"),
        ("{.a}", ".a", ""),
        ("{Date}", "Date", ""),
        ("{'' | default(a)}", "a", ""),
    ] {
        assert_eq!(say(tag, r#"{"o":{}}"#), lenient, "{tag}");
        let message = fault(&p(tag), r#"{"o":{}}"#, "{strict:true}");
        assert!(message.contains(&format!("'{name}' is not defined")), "{tag}: {message}");
    }
    for tag in ["{a | default('x')}", "{o.b.c | upper | default('x')}", "{a || o.b | default('x')}"] {
        assert_eq!(say_with(tag, r#"{"o":{}}"#, "{strict:true}"), "x", "{tag}");
    }
    assert_eq!(say_with("{a}{o}", r#"{"a":null,"o":""}"#, "{strict:true}"), "");
}

#[test]
fn faults_speak_as_people_know() {
    for (tag, expected) in [
        ("{customer.name.trim()}", "'customer' is not defined"),
        ("{o.p.q()}", "'o.p' is not defined"),
        ("{n.x()}", "'n' is null"),
        ("{n.x + 1}", "'n' is null"),
        ("{o.f()}", "'o.f' is not a function"),
        ("{(() => { throw 'why' })()}", "why"),
        ("{(() => { throw { get message() { throw 1 } } })()}", "the expression fails"),
        ("{(() => { throw null })()}", "null"),
        ("{(function f() { return f() + 1 })()}", "Maximum call stack size exceeded"),
        ("{let y; y}", "nor an expression of JavaScript"),
        ("{a +}", "nor an expression of JavaScript"),
        ("{'' + o | upper | nothing}", "'nothing' is neither a filter"),
        ("{'x' | number}", "number takes a number, and 'x' is none"),
        ("{1 | currency}", "currency takes the currency's code"),
        ("{1 | number(\"0x\")}", "a pattern is written as 0,0.00"),
        ("{'soon' | date}", "'soon' is no date"),
        ("{'2026-02-31' | date}", "is no date"),
        ("{'2026-13-01' | date}", "is no date"),
        ("{'2026-11-22T25:00' | date}", "is no date"),
        ("{'11/02/2026' | date}", "'11/02/2026' is no date; write it as ISO 8601 does"),
        ("{o | date}", "an object is no date"),
        ("{'2026-11-22' | date(5)}", "date takes a pattern"),
        ("{5 | count}", "count takes a list, a text or an object, and '5' is none"),
        ("{[2, 1] | sort('', 'DESC')}", "sort takes \"asc\" or \"desc\", and not 'DESC'"),
        (
            "{1 | number({ minimumFractionDigits: {} })}",
            "the option minimumFractionDigits takes a text, a number",
        ),
        ("{o}", "an object has no text; name one of its members"),
        ("{[1, o]}", "an object has no text"),
        ("{Math.max}", "a function has no text"),
        ("{1); (2}", "nor an expression of JavaScript"),
        ("{#new (Proxy)([1], { get() { throw 'x' } })}{/}", "}: x"),
        ("{#Object.defineProperty([1], 0, { get() { throw 'x' } })}{/}", "}: x"),
        ("{'x' | sum}", "sum takes a list, and 'x' is none"),
    ] {
        let tag = tag.replace("Proxy", &format!("{GLOBALS}.Proxy"));
        let message = fault(&p(&tag), r#"{"o":{},"n":null}"#, "{}");
        assert!(message.contains(expected), "{tag}: {message}");
        assert!(!message.contains("Can't find"), "{message}");
    }
}

#[test]
fn sections_follow_the_truth_of_their_values() {
    for (value, expected) in [
        ("false", "no"),
        ("null", "no"),
        ("0", "no"),
        ("\"\"", "no"),
        ("[]", "no"),
        ("true", "yes"),
        ("1", "yes"),
        ("\"0\"", "yes"),
        ("[0]", "yes"),
        ("[[],null]", "yesyes"),
        ("{}", "yes"),
        ("-1", "yes"),
    ] {
        let data = format!(r#"{{"x":{value}}}"#);
        assert_eq!(say("{#x}yes{/x}{^x}no{/x}", &data), expected, "{value}");
    }
    assert_eq!(say("{#0 / 0}yes{/}{^missing}no{/}", "{}"), "no");
}

#[test]
fn a_text_or_a_number_is_the_item_of_its_section() {
    let data = r#"{"name":"Ann","n":5,"is":true,"a":"A","l":[{"a":"B","is":true}]}"#;
    for (tag, expected) in [
        ("{#name}Dear {.} {a}{$parent.n}{/name}", "Dear Ann A5"),
        ("{#n}{this * 2}{/}{#n > 4}{.a}{/}", "10A"),
        ("{#l}{#is}{.a}{$index}{$parent.a}{/}{#a}{.}{$index}{$parent.a}{/}{/}", "B0AB0B"),
    ] {
        assert_eq!(say(tag, data), expected, "{tag}");
    }
}

#[test]
fn filters_write_numbers_as_the_locale_does() {
    let data = r#"{"n":1234567.891,"s":"12345678901234567890.5","z":0,"e":"","b":0.195}"#;
    for (tag, en, de) in [
        ("{n | number}", "1,234,567.891", "1.234.567,891"),
        ("{n | number(\"0,0.00\")}", "1,234,567.89", "1.234.567,89"),
        ("{n | number:\"0.0\"}", "1234567.9", "1234567,9"),
        ("{z | number(\"000.0#\")}", "000.0", "000,0"),
        ("{s | number(\"0,0.00\")}", "12,345,678,901,234,567,890.50", "12.345.678.901.234.567.890,50"),
        ("{n | currency(\"EUR\")}", "€1,234,567.89", "1.234.567,89\u{a0}€"),
        ("{n | currency(\"JPY\", { currencyDisplay: 'code' })}", "JPY\u{a0}1,234,568", "1.234.568\u{a0}JPY"),
        ("{b | percent}{b | percent(1)}", "20%19.5%", "20\u{a0}%19,5\u{a0}%"),
        ("{b | number(\"0.0%\")}", "19.5%", "19,5\u{a0}%"),
        (
            "{n | currency(\"EUR\", { currency: 'USD', style: 'decimal' })}",
            "€1,234,567.89",
            "1.234.567,89\u{a0}€",
        ),
        (
            "{n | number({ maximumFractionDigits: 0, toJSON: 1 })} {n | number({ maximumFractionDigits: 1, toJSON: 1 })}",
            "1,234,568 1,234,567.9",
            "1.234.568 1.234.567,9",
        ),
        ("{e | number}{missing | currency(\"EUR\")}", "", ""),
    ] {
        assert_eq!(say(tag, data), en, "{tag}");
        assert_eq!(say_with(tag, data, r#"{locale:"de-DE"}"#), de, "{tag}");
    }
}

#[test]
fn filters_write_dates_in_the_zone() {
    let data = r#"{"d":"2026-11-02","t":"2026-11-02T23:05:09Z","l":"2026-11-02T08:30","m":0,"o":"2026-11-02T23:05:09.250+02:00"}"#;
    for (tag, utc, tokyo) in [
        ("{d | date(\"YYYY-MM-DD\")}", "2026-11-02", "2026-11-02"),
        (
            "{d | date(\"D.M.YY dddd [day] MMMM\")}",
            "2.11.26 Monday day November",
            "2.11.26 Monday day November",
        ),
        ("{t | date(\"YYYY-MM-DD HH:mm:ss\")}", "2026-11-02 23:05:09", "2026-11-03 08:05:09"),
        ("{t | date(\"h:mm A\")}", "11:05 PM", "8:05 AM"),
        ("{l | date(\"HH:mm\")}", "08:30", "08:30"),
        ("{o | date(\"DD HH:mm:ss.SSS\")}", "02 21:05:09.250", "03 06:05:09.250"),
        ("{m | date(\"YYYY\")}", "1970", "1970"),
        ("{d | date(\"long\")}", "November 2, 2026", "November 2, 2026"),
        ("{t | date(\"short\")}", "11/2/26", "11/3/26"),
        ("{d | date}", "Nov 2, 2026", "Nov 2, 2026"),
        ("{d | date(null)}", "Nov 2, 2026", "Nov 2, 2026"),
        ("{'0099-01-01' | date(\"YYYY-MM-DD\")}", "0099-01-01", "0099-01-01"),
        ("{'2026-11' | date(\"MMMM YYYY\")}", "November 2026", "November 2026"),
        ("{'2026-11-02T23:05-0230' | date(\"DD HH:mm\")}", "03 01:35", "03 10:35"),
        ("{new Date(0) | date(\"HH\")}", "00", "09"),
    ] {
        assert_eq!(say(tag, data), utc, "{tag}");
        assert_eq!(say_with(tag, data, r#"{timeZone:"Asia/Tokyo"}"#), tokyo, "{tag}");
    }
    assert_eq!(say_with("{d | date(\"D MMMM YYYY\")}", data, r#"{locale:"pl"}"#), "2 listopada 2026");
    assert_eq!(say_with("{d | date(\"full\")}", data, r#"{locale:"de-AT"}"#), "Montag, 2. November 2026");
    assert_eq!(say_with("{d | date(\"MMMM YYYY\")}", data, r#"{locale:"pl"}"#), "listopad 2026");
    // Numbers and names are of one calendar, and a month's name is a name.
    assert_eq!(say_with("{d | date(\"D MMMM YYYY\")}", data, r#"{locale:"fa"}"#), "2 نوامبر 2026");
    assert_eq!(say_with("{d | date(\"D MMMM YYYY\")}", data, r#"{locale:"ar-SA"}"#), "2 نوفمبر 2026");
    assert_eq!(say_with("{d | date(\"YYYY年MMMMD日\")}", data, r#"{locale:"ja"}"#), "2026年11月2日");
    assert_eq!(say_with("{d | date(\"YYYY年MMMM\")}", data, r#"{locale:"ja"}"#), "2026年11月");
}

#[test]
fn filters_change_texts_and_lists() {
    let data = r#"{"s":" anna-lena o'neil ","l":[{"n":"b","p":2,"c":"x"},{"n":"a","p":10,"c":"y"},{"n":"C","p":null,"c":"x"}],"e":[],"m":[3,1,2]}"#;
    for (tag, expected) in [
        ("{s | trim | upper}", "ANNA-LENA O'NEIL"),
        ("{s | trim | title}", "Anna-Lena O'neil"),
        ("{s | lower | trim | padStart(20, '.')}", "....anna-lena o'neil"),
        ("{missing | default('-')}{0 | default(1)}{'' | default(2)}{0/0 | default(3)}", "-023"),
        ("{m | sort | join}", "1, 2, 3"),
        ("{m | sort(undefined, 'desc') | join('/')}{m}", "3/2/13,1,2"),
        ("{l | sort('n') | join(' ', 'n')}", "a b C"),
        ("{l | sort('p') | join(' ', 'n')}", "b a C"),
        ("{l | sort(i => -i.p) | first | default({}) | toString}", "[object Object]"),
        ("{l | sum('p')}{l | count}{e | sum}{missing | count}{'abc' | count}", "123003"),
        ("{#l | group('c')}{key}:{items | join('', 'n')} {/}", "x:bC y:a "),
        ("{m | first}{m | last}{e | first}{e | last}", "32"),
        ("{missing | upper | trim | join | sort | first}", ""),
        ("{l.filter(i => i.p > 5).map(i => { return i.n })}", "a"),
        ("{m | map(x => x * 2) | join('+')}", "6+2+4"),
    ] {
        assert_eq!(say(tag, data), expected, "{tag}");
    }
    assert_eq!(say_with("{s | upper}", r#"{"s":"i"}"#, r#"{locale:"tr"}"#), "İ");
}

#[test]
fn hostile_names_are_missing_names() {
    for name in [
        "constructor",
        "__proto__",
        "toString",
        "hasOwnProperty",
        "__defineGetter__",
        "o.constructor",
        "o.__proto__.x",
        "s.constructor",
        "console",
        "escape",
        "globalThis",
        "Map",
    ] {
        assert_eq!(say(&format!("{{{name}}}"), r#"{"o":{},"s":"x"}"#), "", "{name}");
    }
    assert_eq!(
        say("{constructor + ''}{typeof constructor}{typeof toString}", "{}"),
        "undefinedundefinedundefined"
    );
    let data = r#"{"__proto__":{"x":1},"constructor":"c","$$item":"i","names":"n","hit":"h","whole":"w","fault":"f"}"#;
    assert_eq!(say("{x}{constructor}{__proto__.x}{names}{hit}{whole}{fault}", data), "c1nhwf");
    assert_eq!(
        say("{#l}{$index}{.$index}{$parent.a}{/}", r#"{"a":1,"l":[{"$index":"k","$parent":"q"}]}"#),
        "0k1"
    );
}

#[test]
fn hostile_expressions_change_only_their_own_values() {
    let data = r#"{"a":"A","l":[1,2]}"#;
    for hostile in [
        "a = 5",
        "delete a",
        "(Object.prototype.toJSON = () => 'X', Array.prototype.toJSON = () => 'X', String.prototype.toJSON = () => 'X', '')",
        "(JSON.stringify = JSON.parse = () => 'X', '')",
        "(Object.defineProperty(Array.prototype, 0, { set() {}, get() { return 'X' } }), '')",
        "(Array.isArray = () => false, G.Reflect.apply = G.String = G.Function = G.Proxy = null, '')",
        "(String.prototype.trim = String.prototype.slice = String.prototype.charCodeAt = () => 'X', '')",
        "(Object.prototype.hasOwnProperty = () => true, Object.prototype.filters = [{}], Object.prototype.fault = 'X', '')",
        "(Object.prototype.a = 'X', Object.prototype.item = 'X', Object.prototype.isLoop = true, '')",
        "(f => (f.call = f.apply = f.bind = () => 'X', ''))(G.Function.prototype)",
        "(Object.defineProperty(Object.prototype, 'id', { set() {}, get() { return 99 } }), '')",
        "(Array.prototype[G.Symbol.iterator] = null, String.prototype.isWellFormed = () => true, '')",
        "(Array.prototype.map = () => 'X', Array.prototype.toString = Array.prototype.join = () => 'X', '')",
        "(G.a = 'X', G.Symbol.unscopables, '')",
        "(RegExp.prototype.exec = RegExp.prototype.test = null, '')",
        "this.constructor.prototype.b = ''",
    ] {
        let code = hostile.replace('G', GLOBALS);
        let said = say(&format!("{{{code}}}|{{a}}{{#l}}{{.}}{{a + ''}}{{/l}}{{missing}}{{[l]}}"), data);
        let said = said.strip_prefix(if hostile == "a = 5" {
            "5"
        } else if hostile == "delete a" {
            "true"
        } else {
            ""
        });
        assert_eq!(said, Some("|A1A2A1,2"), "{hostile}");
    }
}

#[test]
fn filters_go_on_when_builtins_are_replaced() {
    let data = r#"{"n":1234.5,"d":"2026-11-02","l":[{"k":2},{"k":1}],"s":"x"}"#;
    let tags = "{n | number('0,0.00')} {n | currency(\"EUR\")} {d | date(\"D.M.YYYY\")} {d | date(\"D MMMM\")} {l | sort('k') | join('', 'k')} \
                {#l | group('k')}{key}{items | count}{/} {s | padStart(3, '-') | upper | title}";
    for hostile in [
        "Intl.NumberFormat = Intl.DateTimeFormat = Date = Map = null, Array.prototype.sort = Array.prototype.slice = null",
        "RegExp.prototype.exec = () => null, String.prototype.indexOf = () => 0",
        "Object.defineProperty(Array.prototype, 0, { set() {}, get() { return 'X' }, configurable: true })",
        "Object.defineProperty(Object.prototype, 0, { set() {}, get() { return 'X' }, configurable: true })",
        "Array.prototype.constructor = { [G.Symbol.species]: function() { return Object.freeze([]) } }",
        "Array.prototype.push = Array.prototype.map = () => 'X'",
    ] {
        let hostile = hostile.replace('G', GLOBALS);
        let said = say(&format!("{{({hostile}, '')}}{tags}"), data);
        assert_eq!(said, "1,234.50 €1,234.50 2.11.2026 2 November 12 2111 --X", "{hostile}");
    }
}

#[test]
fn faults_are_bounded_and_counted() {
    let message = fault(&p("{(() => { throw { fault: 'x'.repeat(2e7) } })()}"), "{}", "{}");
    assert!(message.len() < 500, "{}", message.len());
    let template =
        Template::read(docx(&p(&"{this.x.y()}".repeat(150))), None, &limits()).expect("a template");
    let answer = run(template.program(), "{}", "{}");
    let answer: serde_json::Value = serde_json::from_str(&answer).expect("the answer is JSON");
    assert_eq!((&answer["count"], answer["faults"].as_array().map(Vec::len)), (&150.into(), Some(100)));
}

#[test]
fn a_tag_that_fails_in_each_of_many_copies_is_reported_once() {
    let data = format!(r#"{{"l":[{}]}}"#, vec!["{}"; 5000].join(","));
    let message = fault(&table(&[&["{#l}{nothing.x()}", "{other()}{/l}"]]), &data, "{}");
    assert_eq!(message.matches("is not").count(), 2, "{message}");
}

#[test]
fn a_root_of_any_kind_is_the_item() {
    assert_eq!(text(&p("{.}"), "5"), "5");
    assert_eq!(text(&p("{#.}{.}-{/}"), "[1,2]"), "1-2-");
    assert_eq!(text(&p("{.}{x}{.x}"), "null"), "");
}

#[test]
fn integers_beyond_the_largest_number_print_as_they_are_written() {
    let data = r#"{"id":12345678901234567890,"less":-9007199254740993,"l":[12345678901234567890,12345678901234567891,1],
        "o":[{"id":12345678901234567890,"n":1},{"id":12345678901234567891,"n":2},{"id":12345678901234567890,"n":3}],
        "safe":9007199254740991,"half":12345678901234567.5,"iban":"12345678901234567890","large":1e21}"#;
    for (tag, said) in [
        ("{id}", "12345678901234567890"),
        ("{less}", "-9007199254740993"),
        ("{#l}{.}/{/l}", "12345678901234567890/12345678901234567891/1/"),
        ("{#id}{.}{/id}", "12345678901234567890"),
        ("{l}", "12345678901234567890,12345678901234567891,1"),
        ("{l | join(\"+\")}", "12345678901234567890+12345678901234567891+1"),
        ("{id | number}", "12,345,678,901,234,567,890"),
        ("{id | number(\"0\")}", "12345678901234567890"),
        ("{id | currency(\"EUR\")}", "€12,345,678,901,234,567,890.00"),
        ("{id | padStart(22, \"0\")}", "'padStart' is neither"),
        ("{l | sum}", "24691357802469135782"),
        ("{o | sum(\"n\")}", "6"),
        ("{l | sort | first}", "1"),
        ("{l | sort((one) => one, \"desc\")}", "12345678901234567891,12345678901234567890,1"),
        ("{#o | group(\"id\")}{key}:{items | count};{/}", "12345678901234567890:2;12345678901234567891:1;"),
        ("{o.find((one) => one.id === id).n}", "1"),
        ("{`No ${id}`}", "No 12345678901234567890"),
        ("{String(id)}", "12345678901234567890"),
        ("{id.toLocaleString(\"de\")}", "12.345.678.901.234.567.890"),
        ("{id / 2}", "6172839450617284000"),
        ("{id > 5 && less < 0}", "true"),
        ("{id == 12345678901234567890}", "true"),
        ("{id.toFixed(1)}", "12345678901234567168.0"),
        ("{safe + 0}", "9007199254740991"),
        ("{half}", "12345678901234568"),
        ("{iban}", "12345678901234567890"),
        ("{large}", "1e+21"),
        ("{id | date}", "'12345678901234567890' is no date"),
        ("{id | count}", "'12345678901234567890' is none"),
    ] {
        let body = p(tag);
        if said.contains(" is n") {
            let message = fault(&body, data, "{}");
            assert!(message.contains(said), "{tag}: {message}");
        } else {
            assert_eq!(say(tag, data), said, "{tag}");
        }
    }
    assert!(!Needs::of(br#"{"iban":"12345678901234567890","n":123456789012345}"#).long_numbers);
    assert!(Needs::of(br"[1,1234567890123456]").long_numbers);
    assert!(Needs::of(b"12345678901234567890").long_numbers);
}

#[test]
fn a_program_comes_with_the_parts_that_it_names() {
    let script = |tags: &str, are_long: bool| {
        let template = Template::read(docx(&p(tags)), None, &limits()).expect("it is a template");
        library(
            template.program(),
            Needs { long_numbers: are_long, typed: false, charts: false, words: false },
        )
    };
    let parts = [
        ("NumberFormat", "{a | percent}"),
        ("DateTimeFormat", "{#a}{b | date}{/}"),
        ("Collator", "{a | sum}"),
    ];
    let others = [("const title", "{#a | title}{/}"), ("optionsText", "{a}{:pagebreak}")];
    for (mark, tags) in parts.into_iter().chain(others) {
        assert!(script(tags, false).contains(mark), "{tags}");
        let plain =
            script(r#"{a}{#b}{c}{/}{^d}{/}{e | default('"name":"sum","name":"date"')}{f | count}"#, false);
        assert!(!plain.contains(mark), "{mark} is loaded for nothing");
    }
    let of_expressions = ["isWritten", "rawXml"];
    assert!(of_expressions.iter().all(|mark| script("{a + b}", false).contains(mark)));
    assert!(script("{:pagebreak}", false).contains("const bytes"));
    assert!(!of_expressions.iter().any(|mark| script("{a}{#b}{c | trim}{/}", false).contains(mark)));
    assert!(script("{a}", true).contains("class Exact") && !script("{a}", false).contains("class Exact"));
}

#[test]
fn every_filter_that_faults_name_is_there() {
    let message = fault(&p("{'' | nothing}"), "{}", "{}");
    let (_, names) = message.split_once("there are ").expect("they are named");
    let (names, _) = names.split_once(')').expect("the list ends");
    assert_eq!(names.split(", ").count(), 17, "{names}");
    for name in names.split(", ") {
        assert!(["", "0"].contains(&say(&format!("{{n | {name}}}"), r#"{"n":null}"#).as_str()), "{name}");
    }
}
