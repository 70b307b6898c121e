//! Locale and time zone of template code: whose defaults hold, and that nothing of JavaScript is changed by them.

use bytes::Bytes;
use platen::config::{AssembleConfig, Config};
use platen::domain::error::{ErrorCode, JobError, Warnings};
use platen::domain::ids::AccountId;
use platen::engines::ejs::Assembler;

use crate::ejs::{assembler, config, site};
use crate::processes::until;

async fn render(assembler: &Assembler, account: AccountId, text: &str) -> Result<String, JobError> {
    let (site, data) = (site(&[("index.html", text)]), Bytes::from_static(b"{}"));
    let page = assembler.assemble(account, &site, &data, &mut Warnings::default()).await?;
    Ok(String::from_utf8(page.to_vec()).unwrap())
}

async fn read_in(locale: &str, timezone: &str, text: &str) -> String {
    let assembler = assembler(&AssembleConfig { spares: 0, ..config() });
    render(&assembler.localized(Some(locale), Some(timezone)), AccountId::generate(), text).await.unwrap()
}

#[tokio::test]
async fn every_date_has_the_configured_time_zone() {
    // Summer time begins on 29 March 2026 at 1:00 UTC and ends on 25 October.
    let text = "<% for (const [month, day, hour] of [[2, 29, 0], [2, 29, 1], [9, 25, 0], [9, 25, 1]]) { \
                const date = new Date(Date.UTC(2026, month, day, hour, 30)); %>\
                <%= date.getHours() %>:<%= date.getTimezoneOffset() %>:<%= date.toLocaleTimeString() %>;<% } %>\
                <%= new Date(2026, 6, 1).toISOString() %>|<%= String(new Date(0)).slice(16, 33) %>";
    let page = read_in("de-DE", "Europe/Berlin", text).await;
    assert_eq!(
        page,
        "1:-60:01:30:00;3:-120:03:30:00;2:-120:02:30:00;2:-60:02:30:00;2026-06-30T22:00:00.000Z|01:00:00 GMT+0100"
    );
    let page = read_in("en-US", "America/New_York", "<%= new Date(0).getDate() %><%= new Date(0) %>").await;
    assert!(page.starts_with("31Wed Dec 31 1969 19:00:00 GMT-0500"), "{page}");
}

#[tokio::test]
async fn a_locale_is_the_default_of_all_that_has_one() {
    let text = "<%= (1234.5).toLocaleString() %>|<%= 1234n.toLocaleString() %>|<%= [1234.5].toLocaleString() %>|\
        <%= new Float64Array([0.5]).toLocaleString() %>|<%= new Date(0).toLocaleDateString() %>|\
        <%= new Date(0).toLocaleDateString(undefined, {month: 'long'}) %>|<%= new Date(0).toLocaleString() %>|\
        <%= Intl.NumberFormat([]).format(0.5) %>|<%= new Intl.ListFormat().format(['a', 'b']) %>|\
        <%= new Intl.DisplayNames(undefined, {type: 'region'}).of('FR') %>|\
        <%= new Intl.RelativeTimeFormat().format(-1, 'day') %>|<%= (1.5).toLocaleString('en') %>";
    assert_eq!(
        read_in("de-DE", "UTC", text).await,
        "1.234,5|1.234|1.234,5|0,5|1.1.1970|Januar|1.1.1970, 00:00:00|0,5|a und b|Frankreich|vor 1 Tag|1.5"
    );
    let text = "<%= ['z', 'ä', 'a'].sort((a, b) => a.localeCompare(b)) %>";
    assert_eq!(read_in("sv", "UTC", text).await, "a,z,ä");
    assert_eq!(read_in("tr", "UTC", "<%= 'I'.toLocaleLowerCase() + 'i'.toLocaleUpperCase() %>").await, "ıİ");
}

#[tokio::test]
async fn a_default_locale_changes_nothing_else() {
    let text = "<%= new Intl.NumberFormat() instanceof Intl.NumberFormat %>|\
        <%= Intl.NumberFormat.prototype.constructor === Intl.NumberFormat %>|\
        <%= Intl.NumberFormat.name + Intl.NumberFormat.length %>|<%= Intl.NumberFormat.supportedLocalesOf(['de', 'xx']) %>|\
        <%= Object.getOwnPropertyNames(Intl).length %>|<%= (0).toLocaleString.name + (0).toLocaleString.length %>|\
        <%= ''.localeCompare.length %>|<%= 'prototype' in (0).toLocaleString %>|\
        <%= new (class extends Intl.NumberFormat { twice(n) { return this.format(2 * n) } })('de').twice(1.25) %>|\
        <% try { Number.prototype.toLocaleString.call('x') } catch (e) { %><%= e.constructor === TypeError %><% } %>";
    let plain = read_in("en-US", "UTC", text).await;
    assert_eq!(read_in("de-DE", "UTC", text).await, plain);
    assert!(plain.starts_with("true|true|NumberFormat0|de|"), "{plain}");
}

#[tokio::test]
async fn a_jobs_locale_and_zone_override_the_configuration() {
    let set = |locale: &str, timezone: &str| AssembleConfig {
        spares: 1,
        locale: locale.to_owned(),
        timezone: timezone.to_owned(),
        ..config()
    };
    let text = "<%= (0.5).toLocaleString() %> <%= new Date(0).getHours() %>";
    let (account, tokyo) = (AccountId::generate(), assembler(&set("de-DE", "Asia/Tokyo")));
    assert_eq!(render(&tokyo, account, text).await.unwrap(), "0,5 9");
    let localized_tokyo = tokyo.localized(Some("en-GB"), Some("Europe/Berlin"));
    assert_eq!(render(&localized_tokyo, account, text).await.unwrap(), "0.5 1");
    // Header and footer are of the same job.
    let (page, data) = (site(&[("index.html", "<%= 1 %>")]), Bytes::from_static(b"{}"));
    let header =
        localized_tokyo.assemble_header(account, &page, ("headerTemplate", text), &data).await.unwrap();
    assert_eq!(header, "0.5 1");
    assert_eq!(render(&tokyo.localized(None, None), account, text).await.unwrap(), "0,5 9");
}

#[test]
fn defaults_are_checked_at_the_start() {
    for (key, value) in [("LOCALE", "german!"), ("TIMEZONE", "Europe/Nowhere"), ("PROGRAM", "platen-script")]
    {
        let variable = [(format!("PLATEN__ASSEMBLE__{key}"), value.to_owned())];
        let errors = Config::load(None, variable).unwrap_err();
        assert_eq!(errors.0[0].key, format!("assemble.{}", key.to_lowercase()), "{errors}");
    }
}

#[tokio::test]
async fn children_of_another_zone_are_kept_apart() {
    let assembler = assembler(&AssembleConfig { spares: 1, kept: 4, ..config() });
    let (one, other) = (AccountId::generate(), AccountId::generate());
    // Never the same text twice: its script would be made in a child of its own.
    let text = |round| format!("<%= new Date(0).getHours() %><%# {round} %>");
    let zones = [("Asia/Tokyo", "9"), ("UTC", "0"), ("Europe/Berlin", "1")];
    for round in 0..3 {
        for (zone, hour) in zones {
            let text = text(format!("{round} {zone}"));
            let page = render(&assembler.localized(None, Some(zone)), one, &text).await.unwrap();
            assert_eq!(page, hour, "{zone}");
            if round == 0 {
                let kept = zones.iter().position(|(name, _)| *name == zone).unwrap() + 1;
                until("the child of the zone is kept", || assembler.script.pool.kept() == kept).await;
            }
        }
        until("no further child was started", || {
            assembler.script.pool.kept() == 3 && assembler.script.pool.spares() == 1
        })
        .await;
    }
    assert_eq!(
        render(&assembler.localized(None, Some("Asia/Tokyo")), other, &text(String::new())).await.unwrap(),
        "9"
    );
    until("another account has a child of its own", || assembler.script.pool.kept() == 4).await;
}

#[tokio::test]
async fn an_unknown_time_zone_is_reported() {
    let assembler = assembler(&AssembleConfig { spares: 0, ..config() });
    // In the database of zones since 2025; where the engine knows it by now, the hour is right.
    let there = assembler.localized(None, Some("America/Coyhaique"));
    let rendered = render(&there, AccountId::generate(), "<%= new Date(0).getHours() %>").await;
    match rendered {
        Ok(page) => assert_eq!(page, "20"),
        Err(error) => {
            assert_eq!(error.code, ErrorCode::TemplateError);
            assert!(error.message.contains("does not know the time zone America/Coyhaique"), "{error}");
        }
    }
}
