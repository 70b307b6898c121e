// ExcelJS, which has no tags: this code does what the tags of the template do.

import ExcelJS from 'exceljs';

import { serve } from './protocol.mjs';

const COLUMNS = ['number', 'day', 'customer', 'city', 'article', 'quantity', 'price', 'discount', 'tax', 'amount'];

await serve(async (template, { items }) => {
  const book = new ExcelJS.Workbook();
  await book.xlsx.load(template);
  const [sheet] = book.worksheets;
  items.forEach((item, index) => {
    sheet.getRow(index + 2).values = COLUMNS.map((name) => item[name]);
  });
  const last = items.length + 1;
  for (const letter of 'FGHIJ') sheet.getCell(`${letter}${last + 1}`).value = { formula: `SUM(${letter}2:${letter}${last})` };
  return book.xlsx.writeBuffer();
});
