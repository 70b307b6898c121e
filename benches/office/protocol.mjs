// How a peer talks to the benchmark: it answers each line of JSON with one.
//
// A line is {template, data, documents}: a Word file as base64, and how many times it is filled, one after the other,
// with the file read anew each time, as a server does. The answer is {file}, the last document as base64, or {error}.
// The peer ends with its input.

import { createInterface } from 'node:readline';

/** Serves a peer; `fill(template, data)` gives a document. */
export async function serve(fill) {
  for await (const line of createInterface({ input: process.stdin })) {
    try {
      const { template, data, documents } = JSON.parse(line);
      const file = await fillAll(fill, Buffer.from(template, 'base64'), JSON.stringify(data), documents);
      say({ file: Buffer.from(file).toString('base64') });
    } catch (error) {
      say({ error: String(error?.stack ?? error) });
    }
  }
}

async function fillAll(fill, template, data, documents) {
  let file;
  for (let made = 0; made < documents; made += 1) {
    file = await fill(template, JSON.parse(data));
  }
  return file;
}

function say(answer) {
  process.stdout.write(`${JSON.stringify(answer)}\n`);
}
