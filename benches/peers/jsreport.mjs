// jsreport as a library, with its default numbers of workers: EJS, then its recipe chrome-pdf.

import chromePdf from '@jsreport/jsreport-chrome-pdf';
import core from '@jsreport/jsreport-core';
import ejs from '@jsreport/jsreport-ejs';

import { serve } from './protocol.mjs';

const paper = { format: 'A4', printBackground: true, marginTop: '0', marginRight: '0', marginBottom: '0', marginLeft: '0' };

await serve(async (executablePath) => {
  const reporter = core({
    discover: false,
    logger: { silent: true },
    // EJS does not load in jsreport's sandbox for template code, so the sandbox is off.
    trustUserCode: true,
    // As root Chromium starts only without its sandbox.
    chrome: { launchOptions: { executablePath, args: ['--no-sandbox'] } },
  });
  await reporter.use(chromePdf()).use(ejs()).init();
  return {
    async render({ template, data, url }) {
      const chrome = url ? { ...paper, url, waitForNetworkIdle: true } : paper;
      const wanted = { content: template, engine: 'ejs', recipe: 'chrome-pdf', chrome };
      return (await reporter.render({ template: wanted, data })).content;
    },
    close: () => reporter.close(),
  };
});
