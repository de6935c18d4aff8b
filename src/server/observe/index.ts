/**
 * Exports the observation of a server for its operators: metrics, the request log, and delays of
 * the event loop.
 */

export { Metrics } from './metrics.ts';
export { EventLoopPressure } from './pressure.ts';
export { logEnd } from './request-log.ts';
