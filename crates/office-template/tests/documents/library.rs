//! Names, expressions and filters, in the real engine.

use crate::support::{fault, p, say, say_with, table, text};

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
    for (tag, name) in [
        ("{a}", "a"),
        ("{o.b}", "o.b"),
        ("{o.b.c}", "o.b"),
        ("{#a}{/}", "a"),
        ("{a + 1}", "a"),
        ("{.a}", ".a"),
    ] {
        assert_eq!(say(tag, r#"{"o":{}}"#).replace("NaN", ""), "", "{tag}");
        let message = fault(&p(tag), r#"{"o":{}}"#, "{strict:true}");
        assert!(message.contains(&format!("'{name}' is not defined")), "{tag}: {message}");
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
        ("{o | upper | nothing}", "'nothing' is neither a filter"),
        ("{'x' | number}", "number takes a number, and 'x' is none"),
        ("{1 | currency}", "currency takes the currency's code"),
        ("{1 | number(\"0x\")}", "a pattern is written as 0,0.00"),
        ("{'soon' | date}", "'soon' is no date"),
        ("{'2026-02-31' | date}", "is no date"),
        ("{'x' | sum}", "sum takes a list, and 'x' is none"),
    ] {
        let message = fault(&p(tag), r#"{"o":{},"n":null}"#, "{}");
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
    ] {
        assert_eq!(say(tag, data), utc, "{tag}");
        assert_eq!(say_with(tag, data, r#"{timeZone:"Asia/Tokyo"}"#), tokyo, "{tag}");
    }
    assert_eq!(say_with("{d | date(\"D MMMM YYYY\")}", data, r#"{locale:"pl"}"#), "2 listopada 2026");
    assert_eq!(say_with("{d | date(\"full\")}", data, r#"{locale:"de-AT"}"#), "Montag, 2. November 2026");
    assert_eq!(say_with("{d | date(\"MMMM YYYY\")}", data, r#"{locale:"pl"}"#), "listopad 2026");
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
        "(Array.isArray = () => false, Reflect.apply = String = Function = Proxy = null, '')",
        "(String.prototype.trim = String.prototype.slice = String.prototype.charCodeAt = () => 'X', '')",
        "(Object.prototype.hasOwnProperty = () => true, Object.prototype.filters = [{}], Object.prototype.fault = 'X', '')",
        "(Object.prototype.a = 'X', Object.prototype.item = 'X', Object.prototype.isLoop = true, '')",
        "(Function.prototype.call = Function.prototype.apply = Function.prototype.bind = () => 'X', '')",
        "(Object.defineProperty(Object.prototype, 'id', { set() {}, get() { return 99 } }), '')",
        "(Array.prototype[Symbol.iterator] = null, String.prototype.isWellFormed = () => true, '')",
        "(globalThis.a = 'X', Symbol.unscopables, '')",
        "(RegExp.prototype.exec = RegExp.prototype.test = null, '')",
        "this.constructor.prototype.b = ''",
    ] {
        let said = say(&format!("{{{hostile}}}|{{a}}{{#l}}{{.}}{{a + ''}}{{/l}}{{missing}}"), data);
        let said = said.strip_prefix(if hostile == "a = 5" {
            "5"
        } else if hostile == "delete a" {
            "true"
        } else {
            ""
        });
        assert_eq!(said, Some("|A1A2A"), "{hostile}");
    }
}

#[test]
fn filters_go_on_when_builtins_are_replaced() {
    let data = r#"{"n":1234.5,"d":"2026-11-02","l":[{"k":2},{"k":1}]}"#;
    let hostile = "{(Intl.NumberFormat = Intl.DateTimeFormat = Date = Map = null, Array.prototype.sort = Array.prototype.slice = null, \
                   RegExp.prototype.exec = () => null, String.prototype.indexOf = () => 0, '')}";
    let tags = "{n | currency(\"EUR\")} {d | date(\"D.M.YYYY\")} {l | sort('k') | join('', 'k')} {#l | group('k')}{key}{/}";
    assert_eq!(say(&format!("{hostile}{tags}"), data), "€1,234.50 2.11.2026 12 21");
}

#[test]
fn a_tag_that_fails_in_each_of_many_copies_is_told_once() {
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
