/**
 * Exports what operators use to observe a server: metrics, request log, delays of the event loop.
 */

export { Metrics } from './metrics.ts';
export { EventLoopPressure } from './pressure.ts';
export { logEnd } from './request-log.ts';
