/**
 * `metricsText` formats families of metrics in the Prometheus text format 0.0.4, whose media type
 * is `METRICS_TYPE`; families without samples are left out. `numberText` formats one number.
 */

export const METRICS_TYPE = 'text/plain; version=0.0.4; charset=utf-8';

export interface Sample {
  /** Follows the name of the family, as `_sum` does. */
  readonly suffix?: '_bucket' | '_sum' | '_count';
  readonly labels?: Readonly<Record<string, string>>;
  readonly value: number;
}

export interface Family {
  readonly name: string;
  readonly type: 'counter' | 'gauge' | 'histogram' | 'summary';
  readonly help: string;
  readonly samples: readonly Sample[];
}

/** Families without samples are left out. */
export function metricsText(families: readonly Family[]): string {
  const lines = families.flatMap(({ name, type, help, samples }) =>
    samples.length === 0
      ? []
      : [
          `# HELP ${name} ${escaped(help)}`,
          `# TYPE ${name} ${type}`,
          ...samples.map(
            ({ suffix = '', labels = {}, value }) =>
              `${name}${suffix}${labelText(labels)} ${numberText(value)}`,
          ),
        ],
  );
  return `${lines.join('\n')}\n`;
}

function labelText(labels: Readonly<Record<string, string>>): string {
  const pairs = Object.entries(labels).map(
    ([name, value]) => `${name}="${escaped(value).replaceAll('"', '\\"')}"`,
  );
  return pairs.length === 0 ? '' : `{${pairs.join(',')}}`;
}

const escaped = (text: string): string => text.replaceAll('\\', '\\\\').replaceAll('\n', '\\n');

export function numberText(value: number): string {
  if (value === Number.POSITIVE_INFINITY) return '+Inf';
  if (value === Number.NEGATIVE_INFINITY) return '-Inf';
  return String(value);
}
