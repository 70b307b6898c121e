// Makes the rows of the sample invoice from the page's data, as a front-end build without a framework.
const grouped = (whole) => String(whole).replace(/\B(?=(\d{3})+$)/g, ',');
const money = (cents) => `${grouped(Math.floor(cents / 100))}.${String(cents % 100).padStart(2, '0')}`;
const count = (quantity) => (Number.isInteger(quantity) ? grouped(quantity) : String(quantity));
const make = (name, text, className = '') =>
  Object.assign(document.createElement(name), { textContent: text, className });

const rows = window.__PLATEN_DATA__.items.map((item, index) => {
  const title = make('td', '');
  title.append(make('b', item.title), make('small', item.detail));
  const amounts = [
    `${count(item.quantity)} ${item.unit}`,
    money(Math.round(item.price * 100)),
    `${item.vat} %`,
    money(Math.round(item.quantity * item.price * 100)),
  ];
  const row = make('tr', '');
  row.append(make('td', index + 1, 'pos'), title, ...amounts.map((text) => make('td', text, 'n')));
  return row;
});
document.querySelector('.items tbody').append(...rows);
