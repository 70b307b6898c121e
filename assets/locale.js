// What the script engine lacks of locales. Without arguments numbers and dates read as they do elsewhere
// (English of the United States, UTC); with a locale or options the call fails, because the engine has no
// locale data and would otherwise put a wrong amount or date on the page without a word.
(function () {
  'use strict';

  function refuse(name, given) {
    if (given.every((argument) => argument === undefined)) return;
    throw new TypeError(
      `${name} with a locale or options is not available in templates; format the value in the data, or by code of the template`,
    );
  }

  // The digits of a finite number >= 0 before and behind the point, as they identify it.
  function digitsOf(number) {
    const [mantissa, exponent = '0'] = String(number).split('e');
    const [whole, fraction = ''] = mantissa.split('.');
    const point = whole.length + Number(exponent);
    const digits = (whole + fraction).padEnd(point, '0').padStart(whole.length + fraction.length - Math.min(point, 0), '0');
    return point > 0 ? [digits.slice(0, point), digits.slice(point)] : ['0', digits.slice(whole.length)];
  }

  function formatNumber(number) {
    if (Number.isNaN(number)) return 'NaN';
    const sign = number < 0 || Object.is(number, -0) ? '-' : '';
    if (Math.abs(number) === Infinity) return `${sign}∞`;
    const [whole, fraction] = digitsOf(Math.abs(number));
    let thousandths = BigInt(whole + fraction.slice(0, 3).padEnd(3, '0'));
    if (fraction[3] >= '5') thousandths += 1n;
    const text = String(thousandths).padStart(4, '0');
    const behind = text.slice(-3).replace(/0+$/, '');
    return sign + group(text.slice(0, -3)) + (behind && `.${behind}`);
  }

  function group(digits) {
    return digits.replace(/\B(?=(\d{3})+$)/g, ',');
  }

  function formatDate(date) {
    return `${date.getUTCMonth() + 1}/${date.getUTCDate()}/${date.getUTCFullYear()}`;
  }

  function formatTime(date) {
    const two = (number) => String(number).padStart(2, '0');
    const hour = date.getUTCHours();
    return `${hour % 12 || 12}:${two(date.getUTCMinutes())}:${two(date.getUTCSeconds())} ${hour < 12 ? 'AM' : 'PM'}`;
  }

  function define(prototype, name, format) {
    const value = {
      [name](...given) {
        const own = prototype.valueOf.call(this);
        refuse(name, given);
        return format(own);
      },
    }[name];
    Object.defineProperty(prototype, name, { value, writable: true, enumerable: false, configurable: true });
  }

  const ofDate = (format) => (time) => (Number.isNaN(time) ? 'Invalid Date' : format(new Date(time)));
  define(Number.prototype, 'toLocaleString', formatNumber);
  define(BigInt.prototype, 'toLocaleString', (number) => String(number).replace(/\d+/, group));
  define(Date.prototype, 'toLocaleDateString', ofDate(formatDate));
  define(Date.prototype, 'toLocaleTimeString', ofDate(formatTime));
  define(Date.prototype, 'toLocaleString', ofDate((date) => `${formatDate(date)}, ${formatTime(date)}`));
})();
