/** Exports what operators see of a server: metrics, request log, event-loop pressure. */

export { Metrics } from './metrics.ts';
export { EventLoopPressure } from './pressure.ts';
export { logEnd } from './request-log.ts';
