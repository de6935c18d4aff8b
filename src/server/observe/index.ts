/**
 * Exports what operators use to observe a server: metrics, the request log, and delays of the event
 * loop.
 */

export { Metrics } from './metrics.ts';
export { EventLoopPressure } from './pressure.ts';
export { logEnd } from './request-log.ts';
