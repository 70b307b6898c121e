// Makes a locale the default of template code. Evaluated before a template, and only where its locale is not the
// engine's own, en-US. Calls without a locale then use this one: the constructors of Intl, and the methods of numbers,
// dates and texts. Those of arrays call their elements' methods.
(function (given) {
  'use strict';

  const [locale] = Intl.getCanonicalLocales(given);
  const { apply, construct, defineProperty } = Reflect;
  const { isArray } = Array;

  // The arguments, with the locale at `at` where none is given there. An empty list counts as none.
  function localized(given, at) {
    const none = given[at] === undefined || (isArray(given[at]) && given[at].length === 0);
    if (none) defineProperty(given, at, { value: locale, writable: true, enumerable: true, configurable: true });
    return given;
  }

  // A constructor stays what it was for `instanceof`, classes that extend it and its static methods.
  function localizeConstructor(name) {
    const original = Intl[name];
    if (original === undefined) return;
    const proxy = new Proxy(original, {
      apply: (target, self, given) => apply(target, self, localized(given, 0)),
      construct: (target, given, made) => construct(target, localized(given, 0), made === proxy ? target : made),
    });
    defineProperty(original.prototype, 'constructor', { value: proxy });
    defineProperty(Intl, name, { value: proxy });
  }

  function localizeMethod(prototype, name, at) {
    const original = prototype[name];
    // A method, so that it is no constructor either.
    const { [name]: method } = {
      [name](...given) {
        return apply(original, this, localized(given, at));
      },
    };
    defineProperty(method, 'length', { value: original.length });
    defineProperty(prototype, name, { value: method });
  }

  for (const name of [
    'Collator',
    'DateTimeFormat',
    'DisplayNames',
    'DurationFormat',
    'ListFormat',
    'NumberFormat',
    'PluralRules',
    'RelativeTimeFormat',
    'Segmenter',
  ]) {
    localizeConstructor(name);
  }
  for (const { prototype } of [Number, BigInt, Date]) localizeMethod(prototype, 'toLocaleString', 0);
  localizeMethod(Date.prototype, 'toLocaleDateString', 0);
  localizeMethod(Date.prototype, 'toLocaleTimeString', 0);
  localizeMethod(String.prototype, 'localeCompare', 1);
  localizeMethod(String.prototype, 'toLocaleLowerCase', 0);
  localizeMethod(String.prototype, 'toLocaleUpperCase', 0);
})
