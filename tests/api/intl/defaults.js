// What hangs on the default locale and the default zone; the kinds are those of calls.js.
const ZONED = [
  Date.UTC(2024, 0, 1), Date.UTC(2024, 5, 30, 23, 59, 59), Date.UTC(2024, 2, 31, 0, 59), Date.UTC(2024, 2, 31, 1, 0),
  Date.UTC(2024, 9, 27, 0, 59), Date.UTC(2024, 9, 27, 1, 0), Date.UTC(2024, 2, 10, 7, 0), Date.UTC(2024, 10, 3, 6, 30),
  Date.UTC(2024, 3, 6, 15, 0), Date.UTC(2024, 9, 5, 15, 30), Date.UTC(2018, 10, 4, 3, 0), Date.UTC(2011, 11, 30, 10, 0),
  Date.UTC(1970, 0, 1), Date.UTC(1955, 6, 1), Date.UTC(2037, 6, 1),
].map((time) => new Date(time));
// Local times, of which some are skipped and some come twice.
const LOCAL = [
  [2024, 2, 31, 2, 30], [2024, 9, 27, 2, 30], [2024, 2, 10, 2, 30], [2024, 10, 3, 1, 30], [2024, 3, 7, 1, 45], [2024, 9, 6, 2, 15],
  [2018, 10, 4, 0, 30], [2011, 11, 30, 12, 0], [2024, 0, 31], [1999, 11, 31, 23, 59, 59, 999],
].map((fields) => new Date(...fields));
const ALL = [...ZONED, ...LOCAL];

const CALLS = {
  exact: [
    () => ALL.map((date) => date.toString().replace(/ \(.*/, '')).join(),
    () => ALL.map((date) => date.toDateString()).join(),
    () => ALL.map((date) => date.toTimeString().replace(/ \(.*/, '')).join(),
    () => ALL.map((date) => `${date.getFullYear()}-${date.getMonth()}-${date.getDate()} ${date.getDay()} ${date.getHours()}:${date.getMinutes()}`).join(),
    () => ALL.map((date) => date.getTimezoneOffset()).join(),
    () => LOCAL.map((date) => date.toISOString()).join(),
    () => new Date('2024-07-01T12:00').toISOString() + new Date('2024-07-01').getHours() + Date.parse('Jul 1, 2024 10:00'),
    () => [new Date(ZONED[0])].map((date) => [date.setHours(3), date.setMonth(7), date.setDate(40)].join())[0],
    () => Intl.DateTimeFormat().resolvedOptions().locale,
    () => Intl.DateTimeFormat().resolvedOptions().timeZone,
    () => new Intl.DateTimeFormat([], {}).resolvedOptions().timeZone,
    () => new Intl.NumberFormat().resolvedOptions().locale,
    () => ['NumberFormat', 'DateTimeFormat', 'PluralRules', 'RelativeTimeFormat', 'ListFormat', 'Segmenter', 'DurationFormat']
      .map((name) => new Intl[name]().resolvedOptions().locale).join(),
    () => ['NumberFormat', 'DateTimeFormat', 'PluralRules', 'RelativeTimeFormat', 'ListFormat', 'Segmenter', 'DurationFormat']
      .map((name) => new Intl[name]([]).resolvedOptions().locale).join(),
    () => new Intl.DisplayNames(undefined, { type: 'region' }).resolvedOptions().locale,
    // Chromium's default resolves to its whole name, the same name given to `fr` where the order is that of `fr`.
    () => [new Intl.Collator(), new Intl.Collator([])].map((it) => new Intl.Locale(it.resolvedOptions().locale).language).join(),
    () => ['NumberFormat', 'DateTimeFormat', 'Collator', 'PluralRules', 'ListFormat', 'Segmenter']
      .map((name) => [new Intl[name]('ja') instanceof Intl[name], Intl[name].name, Intl[name].length, Intl[name].prototype.constructor === Intl[name],
        Intl[name].supportedLocalesOf(['de', 'xx']).join(), Object.prototype.toString.call(new Intl[name]())].join(' ')).join(),
    () => [typeof Intl.NumberFormat(), typeof Intl.DateTimeFormat(), typeof Intl.Collator().compare].join(),
    () => new (class extends Intl.NumberFormat {})().resolvedOptions().locale,
    () => Reflect.construct(Intl.DateTimeFormat, []).resolvedOptions().locale,
    () => Intl.PluralRules(),
    () => new Intl.NumberFormat('ja').resolvedOptions().locale,
    () => new Intl.NumberFormat(['xx', 'fr']).resolvedOptions().locale,
    () => (1).toLocaleString(null),
    () => ['z', 'ä', 'a', 'ö', 'o', 'å', 'ç', 'c'].sort((a, b) => a.localeCompare(b)).join(' '),
    () => ['z', 'ä', 'a', 'ö', 'o', 'å', 'ç', 'c'].sort(new Intl.Collator().compare).join(' '),
    () => ['item 10', 'item 9'].sort((a, b) => a.localeCompare(b, undefined, { numeric: true })).join(),
    () => ['istanbul IĞDIR i̇', 'istanbul IĞDIR i̇'].map((text, at) => (at ? text.toLocaleUpperCase() : text.toLocaleLowerCase())).join(),
    () => [0, 1, 2, 5, 11].map((value) => new Intl.PluralRules().select(value)).join(),
    () => Number.prototype.toLocaleString.call('text'),
    () => [Number, BigInt, Date, Array, String].map(({ prototype }) => ['toLocaleString', 'toLocaleDateString', 'toLocaleUpperCase', 'localeCompare']
      .filter((name) => Object.hasOwn(prototype, name)).map((name) => `${prototype[name].name} ${prototype[name].length}`)).join(),
  ],
  number: [
    () => (1234567.891).toLocaleString(),
    () => (-1234.5).toLocaleString(undefined, { style: 'currency', currency: 'EUR' }),
    () => (1234567n).toLocaleString(),
    () => new Intl.NumberFormat(undefined, { style: 'percent' }).format(0.25),
    () => Intl.NumberFormat().format(1234.5),
    () => [3.5].toLocaleString(),
    () => [1234.5, [6.75], 10n].toLocaleString(),
    () => new Float64Array([1234.5, 2]).toLocaleString(),
    () => new Intl.NumberFormat([]).formatToParts(-1234.5).map(({ type, value }) => `${type}=${value}`).join(' '),
  ],
  date: [
    ...['toLocaleString', 'toLocaleDateString', 'toLocaleTimeString'].map((name) => () => ALL.map((date) => date[name]()).join('; ')),
    () => ZONED.map((date) => date.toLocaleString(undefined, { dateStyle: 'short', timeStyle: 'short' })).join('; '),
    () => ZONED.slice(0, 3).map((date) => date.toLocaleString(undefined, { dateStyle: 'full', timeStyle: 'full' })).join('; '),
    () => ZONED.slice(0, 3).map((date) => date.toLocaleString([], { timeZone: 'Asia/Tokyo' })).join('; '),
    () => Intl.DateTimeFormat().format(ZONED[1]),
    () => new Intl.DateTimeFormat(undefined, { month: 'long', weekday: 'long' }).format(ZONED[0]),
    () => new Intl.DateTimeFormat().formatRange(ZONED[0], ZONED[1]),
    () => [ZONED[0], ZONED[1]].toLocaleString(),
    () => new Intl.RelativeTimeFormat().format(-3, 'day'),
  ],
  words: [
    () => new Date(1720000000000).toString().replace(/.*\(/, ''),
    () => new Intl.ListFormat().format(['A', 'B', 'C']),
    () => new Intl.DisplayNames(undefined, { type: 'region' }).of('US'),
    () => new Intl.DisplayNames([], { type: 'currency' }).of('EUR'),
  ],
};
