/**
 * Exports the server's side of the browser page: its routes (`uiRoutes`), the sessions of its
 * callers and the options of it. The page itself is built from src/ui/ and only read as files.
 */

export { KeptRows } from './kept-rows.ts';
export { type UiOptions, type UiTicket, uiOptions } from './options.ts';
export { uiRoutes } from './routes.ts';
export { Sessions } from './sessions.ts';
