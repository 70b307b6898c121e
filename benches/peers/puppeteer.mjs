// Puppeteer as its guide shows it: one browser, a new page for each document, closed after it.

import puppeteer from 'puppeteer-core';

import { serve } from './protocol.mjs';

await serve(async (executablePath) => {
  // As root Chromium starts only without its sandbox.
  const browser = await puppeteer.launch({ executablePath, args: ['--no-sandbox'] });
  return {
    async render(order) {
      const page = await browser.newPage();
      try {
        await (order.url ? page.goto(order.url, { waitUntil: 'networkidle0' }) : page.setContent(order.page));
        return await page.pdf({ format: 'A4', printBackground: true });
      } finally {
        await page.close();
      }
    },
    close: () => browser.close(),
  };
});
