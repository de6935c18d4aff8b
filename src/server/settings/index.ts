/**
 * Exports the settings of the server: configuration values, limits and admission, logging, metrics
 * and trace context.
 */

export {
  count,
  flag,
  invalid,
  kindOf,
  list,
  type Members,
  mapOf,
  object,
  optional,
  portNumber,
  text,
  texts,
} from './config-values.ts';
export { Admission, DEFAULT_LIMITS, type Limits, QueueCount, resolveLimits } from './limits.ts';
export { type LogFields, type Logger, type LogLevel, RequestLog } from './logging.ts';
export { type MetricsOptions, metricsOf } from './metrics-options.ts';
export { TRACE_HEADERS, type Trace, traceOf } from './trace-context.ts';
