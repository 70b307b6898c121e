// How a peer talks to the benchmark: it answers each line of JSON with one.
//
// The first line is {executable}: the Chromium to start; the answer is {} when the peer is ready. Each further line is
// {template, data, page, url, clients, documents}: how many documents, and how many at once; with a url the page is
// opened there, and printed when its network is idle. The answer is {latencies_ms, file}, the last file as base64, or
// {error}. The peer ends with its input.

import { createInterface } from 'node:readline';

/** Serves a peer; `open(executable)` gives its `render(order)`, which gives a PDF, and its `close()`. */
export async function serve(open) {
  let peer;
  for await (const line of createInterface({ input: process.stdin })) {
    const order = JSON.parse(line);
    try {
      if (peer) {
        say(await renderAll(peer, order));
      } else {
        peer = await open(order.executable);
        say({});
      }
    } catch (error) {
      say({ error: String(error?.stack ?? error) });
    }
  }
  await peer?.close();
  process.exit();
}

async function renderAll(peer, order) {
  const latencies_ms = [];
  let [begun, file] = [0];
  const client = async () => {
    while (begun < order.documents) {
      begun += 1;
      const start = performance.now();
      file = await peer.render(order);
      latencies_ms.push(performance.now() - start);
    }
  };
  await Promise.all(Array.from({ length: order.clients }, client));
  return { latencies_ms, file: Buffer.from(file).toString('base64') };
}

function say(answer) {
  process.stdout.write(`${JSON.stringify(answer)}\n`);
}
