// Uses once, while the child may still open files, everything for which the engine may open one on its first use:
// locale and zone data of each kind, normalization, regular expressions, the garbage collector.
(function () {
  'use strict';
  const day = new Date(Date.UTC(2026, 6, 1));
  // One is enough: all locales are in one file. Thai, as its words are found by a dictionary.
  for (const locale of ['th-TH-u-nu-thai']) {
    (1234567.891).toLocaleString(locale, { style: 'currency', currency: 'EUR' });
    new Intl.NumberFormat(locale, { notation: 'compact', style: 'unit', unit: 'kilogram' }).format(1234.5);
    day.toLocaleString(locale, { dateStyle: 'full', timeStyle: 'full', timeZone: 'Europe/Berlin' });
    new Intl.DateTimeFormat(locale, { timeZoneName: 'long' }).formatRange(day, new Date(0));
    new Intl.Collator(locale, { numeric: true }).compare('a10', 'ä9');
    new Intl.PluralRules(locale, { type: 'ordinal' }).select(2);
    new Intl.RelativeTimeFormat(locale).format(-1, 'day');
    new Intl.ListFormat(locale).format(['a', 'b', 'c']);
    new Intl.DisplayNames(locale, { type: 'region' }).of('DE');
    [...new Intl.Segmenter(locale, { granularity: 'word' }).segment('one two สวัสดีชาวโลก')].length;
    'Ii'.toLocaleUpperCase(locale);
  }
  Intl.supportedValuesOf('timeZone').length;
  String(day);
  day.getTimezoneOffset();
  for (const form of ['NFC', 'NFD', 'NFKC', 'NFKD']) 'Å ﬁ ①'.normalize(form);
  /\p{L}+(?<name>\d)?/iu.exec('ſtraße1');
  JSON.stringify(JSON.parse('{"a":[1,"ü",{"b":null}]}'));
  const kept = [];
  for (let at = 0; at < 10000; at += 1) {
    if (at % 50 === 0) kept.push({ at });
    else ({ at });
  }
  return kept.length;
})();
