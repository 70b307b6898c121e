// xlsx-template, with tags of its own kind in the same workbook.

import XlsxTemplate from 'xlsx-template';

import { serve } from './protocol.mjs';

await serve((template, data) => {
  const book = new XlsxTemplate(template);
  book.substitute(1, data);
  return book.generate({ type: 'nodebuffer', compression: 'DEFLATE' });
});
