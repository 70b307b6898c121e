// carbone's own conversion, which keeps one LibreOffice running.

import carbone from 'carbone';
import { createInterface } from 'node:readline';

const convert = (file, extension) =>
  new Promise((resolve, reject) => {
    carbone.convert(file, { convertTo: 'pdf', extension }, (error, made) => (error ? reject(error) : resolve(made)));
  });

for await (const line of createInterface({ input: process.stdin })) {
  const { file, kind, documents } = JSON.parse(line);
  try {
    let made;
    for (let at = 0; at < documents; at += 1) made = await convert(Buffer.from(file, 'base64'), kind);
    process.stdout.write(`${JSON.stringify({ file: made.toString('base64') })}\n`);
  } catch (error) {
    process.stdout.write(`${JSON.stringify({ error: String(error) })}\n`);
  }
}
process.exit(0);
