// docxtemplater without its paid modules, used as its documentation shows it.

import Docxtemplater from 'docxtemplater';
import PizZip from 'pizzip';

import { serve } from './protocol.mjs';

await serve((template, data) => {
  const document = new Docxtemplater(new PizZip(template), { paragraphLoop: true, linebreaks: true });
  document.render(data);
  return document.getZip().generate({ type: 'nodebuffer', compression: 'DEFLATE' });
});
