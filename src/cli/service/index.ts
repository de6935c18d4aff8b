/**
 * Exports the commands `completion`, `conformance`, `lance`, `optimize`, `repair`, `serve`,
 * `ui` and `verify`.
 */

export { completion } from './completion.ts';
export { conformance } from './conformance.ts';
export { lance } from './lance.ts';
export { optimize } from './optimize.ts';
export { repair } from './repair.ts';
export { serve } from './serve.ts';
export { ui } from './ui.ts';
export { verify } from './verify.ts';
