/**
 * Exports the server's part of the browser page: its routes (`uiRoutes`), sessions, kept rows and
 * options. The page itself is built from src/ui/ and only read as files.
 */

export { KeptRows } from './kept-rows.ts';
export { type UiOptions, type UiTicket, uiOptions } from './options.ts';
export { uiRoutes } from './routes.ts';
export { Sessions } from './sessions.ts';
