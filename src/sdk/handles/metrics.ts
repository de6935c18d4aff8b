/**
 * `instrumentLanceDbMetrics`, named as in LanceDB's SDK, reports the operations of a program to a
 * MeterProvider of OpenTelemetry: their number, their durations and the rows read. Connections
 * that are opened afterwards count (`recorder`). Durations are exported as cumulative counters of
 * buckets, count and sum. No package of OpenTelemetry is imported. If no MeterProvider is given
 * and the process has none, it warns and returns false.
 */
import type { AnyOperation } from '../../protocol/index.ts';
import type { Outcome } from './tracing.ts';

type Attributes = Readonly<Record<string, string>>;

/** The method of an OpenTelemetry MeterProvider that is called here. */
export interface MeterProviderLike {
  getMeter(name: string): {
    createObservableCounter(
      name: string,
      options: { unit?: string; description?: string },
    ): {
      addCallback(
        callback: (result: { observe(value: number, attributes?: Attributes): void }) => void,
      ): void;
    };
  };
}

/** Upper ends of the buckets of durations, in seconds. */
const BOUNDS = [0.001, 0.005, 0.01, 0.05, 0.1, 0.5, 1, 5, 10, 60];

interface Durations {
  /** Of the buckets of `BOUNDS`; not cumulative. */
  readonly counts: number[];
  count: number;
  sum: number;
}

class Recorder {
  /** By operation and outcome, and how many of each. */
  readonly calls = new Map<string, { readonly attributes: Attributes; count: number }>();
  readonly rows = new Map<AnyOperation, number>();
  readonly durations = new Map<AnyOperation, Durations>();

  record({ operation, seconds, rows, error }: Outcome): void {
    const outcome = error ?? 'ok';
    const key = `${operation} ${outcome}`;
    const called = this.calls.get(key) ?? { attributes: { operation, outcome }, count: 0 };
    called.count += 1;
    this.calls.set(key, called);
    if (rows > 0) this.rows.set(operation, (this.rows.get(operation) ?? 0) + rows);
    let durations = this.durations.get(operation);
    if (durations === undefined) {
      durations = { counts: BOUNDS.map(() => 0), count: 0, sum: 0 };
      this.durations.set(operation, durations);
    }
    durations.count += 1;
    durations.sum += seconds;
    const bucket = BOUNDS.findIndex((bound) => seconds <= bound);
    if (bucket >= 0) durations.counts[bucket] = (durations.counts[bucket] as number) + 1;
  }
}

let installed: Recorder | undefined;

/** What connections tell of their operations; undefined until metrics are asked for. */
export const recorder = (): ((outcome: Outcome) => void) | undefined => {
  const to = installed;
  return to && ((outcome) => to.record(outcome));
};

/** Where the API of OpenTelemetry keeps the providers of a process. */
const GLOBAL = Symbol.for('opentelemetry.js.api.1');

/**
 * Registers observable counters, once in a process: `dirspace_operations`, `dirspace_rows_read`, and
 * `dirspace_operation_seconds` as `_bucket`, `_count` and `_sum`. Connections that are opened
 * afterwards count.
 * @param provider the one of the process, as `@opentelemetry/api` has it, if absent
 * @returns false, with a warning, where there is no provider
 */
export function instrumentLanceDbMetrics(provider?: MeterProviderLike): boolean {
  if (installed !== undefined) return true;
  const global = (globalThis as Record<symbol, unknown>)[GLOBAL] as
    | { readonly metrics?: MeterProviderLike }
    | undefined;
  const from = provider ?? global?.metrics;
  if (from === undefined) {
    process.emitWarning(
      'There is no MeterProvider: give one, or set the global one of @opentelemetry/api first. No metrics are exported.',
      { code: 'DIRSPACE_NO_METER_PROVIDER' },
    );
    return false;
  }
  const to = new Recorder();
  register(from, to);
  installed = to;
  return true;
}

function register(provider: MeterProviderLike, { calls, rows, durations }: Recorder): void {
  const meter = provider.getMeter('dirspace');
  type Observe = (value: number, attributes: Attributes) => void;
  const counter = (
    name: string,
    unit: string,
    description: string,
    each: (observe: Observe) => void,
  ): void => {
    meter
      .createObservableCounter(name, { unit, description })
      .addCallback((result) => each((value, attributes) => result.observe(value, attributes)));
  };
  counter('dirspace_operations', '', 'Operations that ended', (observe) => {
    for (const { count, attributes } of calls.values()) observe(count, attributes);
  });
  counter('dirspace_rows_read', '', 'Rows of answers', (observe) => {
    for (const [operation, count] of rows) observe(count, { operation });
  });
  const name = 'dirspace_operation_seconds';
  counter(`${name}_bucket`, '', 'Operations by duration (cumulative buckets)', (observe) => {
    for (const [operation, { counts, count }] of durations) {
      let below = 0;
      for (const [at, bound] of BOUNDS.entries()) {
        below += counts[at] as number;
        observe(below, { operation, le: String(bound) });
      }
      observe(count, { operation, le: '+Inf' });
    }
  });
  counter(`${name}_count`, '', 'Operations by duration (count)', (observe) => {
    for (const [operation, { count }] of durations) observe(count, { operation });
  });
  counter(`${name}_sum`, 's', 'Operations by duration (sum)', (observe) => {
    for (const [operation, { sum }] of durations) observe(sum, { operation });
  });
}
