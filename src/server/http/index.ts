/**
 * Exports the HTTP layer below the catalog's routes: sockets and `fetch`, routing, requests,
 * responses, bodies and their bounds, byte ranges, hosts, CORS, TLS.
 */

export {
  arrowAnswer,
  emptyAnswer,
  failureAnswer,
  garbled,
  jsonAnswer,
  rowsAnswer,
} from './answer.ts';
export { createApp, type Route, RouteNotFound } from './app.ts';
export { appFetch } from './app-fetch.ts';
export { Arrivals, cameTooSlowly } from './arrivals.ts';
export {
  type Arriving,
  arrowPieces,
  bodyBegun,
  checkArrowBody,
  pauseOf,
  readJson,
} from './body.ts';
export { Cors, type CorsOptions } from './cors.ts';
export {
  hostGuard,
  isLoopback,
  requireHost,
  requireMetExpectation,
  UnmetExpectation,
} from './host-guard.ts';
export { SocketServer } from './node-http.ts';
export { parseRange, type Range } from './range.ts';
export {
  ClientGone,
  type HttpAnswer,
  type HttpRequest,
  RequestState,
  RequestTimeout,
  stoppingError,
  type WireRequest,
} from './request-state.ts';
export { Router } from './router.ts';
export { ReaderPace } from './slow-reader.ts';
export { type Certificate, readCertificate, type TlsFiles } from './tls.ts';
