// All answers as JSON that stands in a page as it is: kind and text of each call, and its answer for each locale.
function answers(locales) {
  const answer = (call, locale) => {
    try {
      return String(call(locale));
    } catch (error) {
      return { thrown: error.name };
    }
  };
  const asked = Object.entries(CALLS).flatMap(([kind, calls]) => calls.map((call) => {
    return { kind, call: String(call), answers: locales.map((locale) => answer(call, locale)) };
  }));
  return JSON.stringify(asked).replace(/[^ -~]|[<>&]/g, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`);
}
