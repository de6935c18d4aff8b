/**
 * Defines and validates the option that says who may read `/metrics` (`MetricsOptions`,
 * `metricsOf`).
 */
import { flag, object, optional } from './config-values.ts';

/** Who may read `/metrics`. */
export interface MetricsOptions {
  /** `/metrics` needs no credentials; false if absent. Matters only where `auth` is given. */
  readonly public?: boolean;
}

/** @throws InvalidInput */
export function metricsOf(value: unknown): MetricsOptions {
  const { public: isPublic } = object(value, 'metrics', ['public']);
  return optional('public', isPublic, flag, 'metrics.public');
}
