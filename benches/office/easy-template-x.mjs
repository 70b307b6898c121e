// easy-template-x with its own plugins and no others.

import { TemplateHandler } from 'easy-template-x';

import { serve } from './protocol.mjs';

const handler = new TemplateHandler();
await serve((template, data) => handler.process(template, data));
