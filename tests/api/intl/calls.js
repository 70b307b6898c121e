// What invoices, delivery notes and letters ask of `Intl`: one text, run by template code and by the page's own script.
//
// Each call takes a locale. Its kind says what two versions of the Unicode locale data (CLDR) may answer differently:
//   number  marks, blanks and words, but neither a digit nor the sign
//   date    the same, and zeros before a day, a month, an hour
//   words   anything that is no digit
//   exact   nothing
const AMOUNT = 1234567.891;
const DAY = new Date(Date.UTC(2024, 2, 5, 8, 4, 9));
const SUMMER = new Date(Date.UTC(2024, 6, 31, 22, 30, 0));
const BERLIN = 'Europe/Berlin';
const YORK = 'America/New_York';

const money = (locale, value, currency, more) => value.toLocaleString(locale, { style: 'currency', currency, ...more });
const unit = (locale, value, name, more) => value.toLocaleString(locale, { style: 'unit', unit: name, ...more });
const day = (locale, options) => DAY.toLocaleDateString(locale, { timeZone: 'UTC', ...options });
const time = (locale, options) => SUMMER.toLocaleTimeString(locale, { timeZone: BERLIN, ...options });
const parts = (list) => list.map(({ type, value }) => `${type}=${value}`).join(' ');
const shown = (locale, type, codes) => codes.map((code) => new Intl.DisplayNames(locale, { type }).of(code)).join(', ');
const plural = (locale, type, values) => values.map((value) => new Intl.PluralRules(locale, { type }).select(value)).join();

const NAMES = ['zebra', 'Äpfel', 'apfel', 'Zürich', 'öl', 'Öl', 'ol', 'éclair', 'eclair', 'Eclair', 'ñandú', 'nube', 'llama',
  'luz', 'chalupa', 'czar', 'ça', 'ÿ', 'ø', 'å', 'aa', 'Straße', 'Strasse', 'łódź', 'lodz', 'šálek', 'salek', 'žába', 'ďábel',
  'ırmak', 'irmak', 'İzmir', 'ğ', 'ş', 'ü', 'u', 'đ', 'ấ', 'ă', 'Жук', 'ёлка', 'ель', 'їжак', 'ґанок', 'ἄλφα', 'άλφα', 'βήτα',
  'ב', 'א', 'ا', 'ب', 'پ', 'گ', 'ک', 'क', 'ख', 'অ', 'க', 'ક', 'ก', 'เก', 'ญ', '東京', '大阪', 'あ', 'ア', 'が', '中', '国', '가', '나',
  '10', '9', '2', 'a-b', 'ab', 'a b', '_x', '(y)', '€', '%', 'item 10', 'item 9'];

const CALLS = {
  number: [
    (l) => (1234.5).toLocaleString(l),
    (l) => AMOUNT.toLocaleString(l),
    (l) => (-AMOUNT).toLocaleString(l, { maximumFractionDigits: 0 }),
    (l) => (12345678901234567890n).toLocaleString(l),
    (l) => money(l, 1234.5, 'EUR'),
    (l) => money(l, -1234.5, 'EUR'),
    (l) => money(l, AMOUNT, 'USD'),
    (l) => money(l, 1234.55, 'CHF'),
    (l) => money(l, 12345678.9, 'INR'),
    (l) => money(l, 1234.5, 'JPY'),
    (l) => money(l, 1234.5, 'SAR'),
    (l) => money(l, 1234.5678, 'KWD'),
    (l) => money(l, 0, 'GBP'),
    (l) => money(l, -99.95, 'USD', { currencySign: 'accounting' }),
    (l) => money(l, 1234.5, 'EUR', { currencyDisplay: 'code' }),
    (l) => money(l, 1234.5, 'EUR', { currencyDisplay: 'name' }),
    (l) => money(l, 1, 'USD', { currencyDisplay: 'name' }),
    (l) => money(l, 1234.5, 'USD', { currencyDisplay: 'narrowSymbol' }),
    (l) => money(l, 1234, 'EUR', { minimumFractionDigits: 0 }),
    (l) => money(l, 12.3456, 'EUR', { minimumFractionDigits: 4 }),
    (l) => money(l, 1500000, 'EUR', { notation: 'compact' }),
    (l) => (0.195).toLocaleString(l, { style: 'percent', minimumFractionDigits: 1 }),
    (l) => (-0.07).toLocaleString(l, { style: 'percent', signDisplay: 'always' }),
    (l) => (12.5).toLocaleString(l, { signDisplay: 'exceptZero', minimumFractionDigits: 2 }),
    (l) => (0.5).toLocaleString(l, { minimumFractionDigits: 2, maximumFractionDigits: 2 }),
    (l) => (2.345).toLocaleString(l, { maximumFractionDigits: 2, roundingMode: 'halfEven' }),
    (l) => (1234.567).toLocaleString(l, { maximumSignificantDigits: 3 }),
    (l) => (7).toLocaleString(l, { minimumIntegerDigits: 5, useGrouping: false }),
    (l) => (1234).toLocaleString(l, { useGrouping: 'min2' }),
    (l) => (12345678).toLocaleString(l, { useGrouping: 'always' }),
    (l) => (1234567).toLocaleString(l, { notation: 'compact' }),
    (l) => (98765).toLocaleString(l, { notation: 'compact', compactDisplay: 'long' }),
    (l) => (123456).toLocaleString(l, { notation: 'scientific' }),
    (l) => (1234.5).toLocaleString(l, { numberingSystem: 'latn' }),
    (l) => unit(l, 1234.5, 'kilogram'),
    (l) => unit(l, 16, 'liter', { unitDisplay: 'long' }),
    (l) => unit(l, 1, 'hour', { unitDisplay: 'long' }),
    (l) => unit(l, 50, 'kilometer-per-hour'),
    (l) => unit(l, 21.5, 'celsius'),
    (l) => unit(l, 3, 'day', { unitDisplay: 'narrow' }),
    (l) => new Intl.NumberFormat(l, { style: 'currency', currency: 'EUR' }).formatRange(10, 20.5),
    (l) => parts(new Intl.NumberFormat(l, { style: 'currency', currency: 'EUR' }).formatToParts(-1234567.5)),
    (l) => parts(new Intl.NumberFormat(l, { style: 'percent' }).formatToParts(0.25)),
    (l) => [1.5, 2000].toLocaleString(l, { minimumFractionDigits: 1 }),
    (l) => [NaN, Infinity, -0].map((value) => value.toLocaleString(l)).join(' '),
    (l) => new Intl.NumberFormat(l).format('123456789012345678.05'),
  ],
  date: [
    (l) => DAY.toLocaleString(l, { timeZone: 'UTC' }),
    (l) => DAY.toLocaleDateString(l, { timeZone: 'UTC' }),
    (l) => DAY.toLocaleTimeString(l, { timeZone: 'UTC' }),
    (l) => day(l, { dateStyle: 'short' }),
    (l) => day(l, { dateStyle: 'medium' }),
    (l) => day(l, { dateStyle: 'long' }),
    (l) => day(l, { dateStyle: 'full' }),
    (l) => day(l, { day: '2-digit', month: '2-digit', year: 'numeric' }),
    (l) => day(l, { day: 'numeric', month: 'long', year: 'numeric' }),
    (l) => day(l, { day: 'numeric', month: 'short' }),
    (l) => day(l, { month: 'long', year: 'numeric' }),
    (l) => day(l, { month: 'long' }),
    (l) => day(l, { weekday: 'long' }),
    (l) => day(l, { weekday: 'short', day: 'numeric', month: 'numeric' }),
    (l) => day(l, { year: 'numeric' }),
    (l) => day(l, { era: 'short', year: 'numeric' }),
    (l) => day(l, { calendar: 'gregory', dateStyle: 'medium' }),
    (l) => day(l, { calendar: 'islamic-umalqura', dateStyle: 'long' }),
    (l) => time(l, { timeStyle: 'short' }),
    (l) => time(l, { timeStyle: 'medium' }),
    (l) => time(l, { timeStyle: 'long' }),
    (l) => time(l, { timeStyle: 'full' }),
    (l) => time(l, { hour: '2-digit', minute: '2-digit', hourCycle: 'h23' }),
    (l) => time(l, { hour: 'numeric', minute: '2-digit', hour12: true }),
    (l) => time(l, { hour: 'numeric' }),
    (l) => time(l, { hour: 'numeric', dayPeriod: 'long' }),
    (l) => SUMMER.toLocaleString(l, { dateStyle: 'short', timeStyle: 'short', timeZone: BERLIN }),
    (l) => SUMMER.toLocaleString(l, { dateStyle: 'full', timeStyle: 'full', timeZone: YORK }),
    (l) => DAY.toLocaleString(l, { dateStyle: 'long', timeStyle: 'short', timeZone: 'Asia/Kolkata' }),
    (l) => DAY.toLocaleTimeString(l, { timeZone: BERLIN, timeZoneName: 'short' }),
    (l) => SUMMER.toLocaleTimeString(l, { timeZone: YORK, timeZoneName: 'long' }),
    (l) => SUMMER.toLocaleTimeString(l, { timeZone: 'Asia/Tokyo', timeZoneName: 'shortOffset' }),
    (l) => DAY.toLocaleTimeString(l, { timeZone: '+05:30', timeStyle: 'short' }),
    (l) => new Intl.DateTimeFormat(l, { dateStyle: 'medium', timeZone: 'UTC' }).formatRange(DAY, SUMMER),
    (l) => new Intl.DateTimeFormat(l, { dateStyle: 'long', timeZone: 'UTC' }).formatRange(DAY, new Date(+DAY + 864e5)),
    (l) => parts(new Intl.DateTimeFormat(l, { dateStyle: 'long', timeZone: 'UTC' }).formatToParts(DAY)),
    (l) => [-1, 3].map((value) => new Intl.RelativeTimeFormat(l).format(value, 'day')).join('; '),
    (l) => [-1, 0, 1].map((value) => new Intl.RelativeTimeFormat(l, { numeric: 'auto' }).format(value, 'month')).join('; '),
    (l) => new Intl.DurationFormat(l, { style: 'long' }).format({ hours: 1, minutes: 46, seconds: 40 }),
    (l) => new Date(NaN).toLocaleDateString(l),
  ],
  words: [
    (l) => new Intl.ListFormat(l).format(['A', 'B', 'C']),
    (l) => new Intl.ListFormat(l, { type: 'disjunction' }).format(['A', 'B', 'C']),
    (l) => new Intl.ListFormat(l, { style: 'narrow', type: 'unit' }).format(['A', 'B']),
    (l) => shown(l, 'region', ['DE', 'CH', 'US', 'GB', 'SA', 'IN', 'JP']),
    (l) => shown(l, 'language', ['de', 'fr-CH', 'en-GB', 'ar', 'zh-Hans']),
    (l) => shown(l, 'currency', ['EUR', 'USD', 'CHF', 'JPY', 'KWD']),
    (l) => shown(l, 'script', ['Latn', 'Arab', 'Cyrl']),
  ],
  exact: [
    (l) => plural(l, 'cardinal', [0, 1, 2, 3, 5, 11, 21, 100, 1.5]),
    (l) => plural(l, 'ordinal', [1, 2, 3, 4, 11, 21, 23]),
    (l) => NAMES.slice().sort(new Intl.Collator(l).compare).join(' '),
    (l) => NAMES.slice().sort((a, b) => a.localeCompare(b, l)).join(' '),
    (l) => NAMES.slice().sort(new Intl.Collator(l, { numeric: true, caseFirst: 'upper' }).compare).join(' '),
    (l) => [['a', 'A'], ['a', 'ä'], ['ss', 'ß']].map(([a, b]) => a.localeCompare(b, l, { sensitivity: 'base' })).join(),
    (l) => ['istanbul', 'straße', 'ΐ άλφα όχι', 'i̇ ì', 'ﬁn', 'ŉ', 'նև'].map((text) => text.toLocaleUpperCase(l)).join(' '),
    (l) => ['ISTANBUL', 'IĞDIR', 'ΟΔΟΣ', 'Ì Í Ĩ Į', 'ẞ', 'İ'].map((text) => text.toLocaleLowerCase(l)).join(' '),
    () => ['NFC', 'NFD', 'NFKC', 'NFKD'].map((form) => 'Ä é ﬁ ① ｶﾞ 각 ạ̈ ½'.normalize(form)).join('|'),
    (l) => [...new Intl.Segmenter(l).segment('e\u0301👨‍👩‍👧नि🇩🇪각\r\n')].map(({ segment }) => segment.length).join(),
    (l) => [...new Intl.Segmenter(l, { granularity: 'word' }).segment('Can’t stop. 3.5 €, l’été; naïve')].map(({ segment }) => segment).join('|'),
    (l) => [...new Intl.Segmenter(l, { granularity: 'sentence' }).segment('One. Two? «Three!» 4.5 is one.')].map(({ segment }) => segment).join('|'),
    (l) => new Intl.NumberFormat(l).formatToParts(1234.5).find(({ type }) => type === 'decimal').value,
    (l) => ['EUR', 'USD', 'CHF', 'GBP', 'INR', 'JPY', 'SAR', 'KWD', 'CZK', 'PLN', 'BRL'].map((currency) => new Intl.NumberFormat(l, { style: 'currency', currency })
      .formatToParts(1).find(({ type }) => type === 'currency').value).join(),
    (l) => [new Intl.NumberFormat(l).resolvedOptions()].map((it) => `${it.locale} ${it.numberingSystem} ${it.useGrouping}`)[0],
    (l) => [new Intl.DateTimeFormat(l, { timeZone: BERLIN }).resolvedOptions()]
      .map((it) => `${it.locale} ${it.calendar} ${it.numberingSystem} ${it.timeZone}`)[0],
    (l) => new Intl.DateTimeFormat(l, { timeStyle: 'short', timeZone: 'UTC' }).resolvedOptions().hourCycle,
    (l) => [new Intl.Collator(l).resolvedOptions()].map((it) => `${it.locale} ${it.collation} ${it.caseFirst} ${it.numeric}`)[0],
    (l) => Intl.NumberFormat.supportedLocalesOf([l, 'xx']).join(),
    (l) => [new Intl.Locale(l).maximize()].map((it) => `${it.language} ${it.script} ${it.region}`)[0],
    (l) => Intl.getCanonicalLocales(l.toLowerCase()).join(),
    (l) => (1).toLocaleString(l, { style: 'currency' }),
    (l) => (1).toLocaleString(l, { style: 'currency', currency: 'EURO' }),
    (l) => (1).toLocaleString(`${l}_1`),
    (l) => DAY.toLocaleDateString(l, { timeZone: 'Mars/Olympus' }),
    (l) => DAY.toLocaleDateString(l, { timeStyle: 'short' }),
    (l) => new Date(NaN).toISOString() + l,
  ],
};
