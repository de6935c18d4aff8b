/**
 * A strict reader of the text format 0.0.4 of Prometheus, written from its description: throws on
 * whatever that does not allow. https://prometheus.io/docs/instrumenting/exposition_formats/
 */

export interface ReadSample {
  readonly name: string;
  readonly labels: Readonly<Record<string, string>>;
  readonly value: number;
}

export interface ReadFamily {
  readonly type: string;
  readonly help: string;
  readonly samples: readonly ReadSample[];
}

const NAME = /^[a-zA-Z_:][a-zA-Z0-9_:]*$/;
const NUMBER = /^(?:[+-]?(?:\d+(?:\.\d+)?(?:[eE][+-]?\d+)?|Inf)|NaN)$/;
const SUFFIXES: Readonly<Record<string, readonly string[]>> = {
  counter: [''],
  gauge: [''],
  histogram: ['_bucket', '_sum', '_count'],
  summary: ['', '_sum', '_count'],
};

export function readMetrics(text: string): Map<string, ReadFamily> {
  if (!text.endsWith('\n')) throw new Error('the last line does not end');
  const lines = text.slice(0, -1).split('\n');
  const families = new Map<string, ReadFamily & { samples: ReadSample[] }>();
  const seen = new Set<string>();
  let at = 0;
  while (at < lines.length) {
    const [, name = '', help = ''] = expected(/^# HELP (\S+) (.+)$/, lines[at++]);
    const [, typed, type = ''] = expected(/^# TYPE (\S+) (\S+)$/, lines[at++]);
    const suffixes = SUFFIXES[type];
    if (typed !== name || !NAME.test(name) || suffixes === undefined || families.has(name)) {
      throw new Error(`the head of ${name} is wrong`);
    }
    const samples: ReadSample[] = [];
    for (; at < lines.length && !lines[at]?.startsWith('#'); at++) {
      const sample = readSample(lines[at] as string);
      if (!suffixes.some((suffix) => sample.name === name + suffix)) {
        throw new Error(`${sample.name} is no sample of the ${type} ${name}`);
      }
      const key = JSON.stringify([sample.name, Object.entries(sample.labels).sort()]);
      if (seen.has(key)) throw new Error(`${key} is there twice`);
      seen.add(key);
      if (type === 'counter' && !(sample.value >= 0)) throw new Error(`${key} is below 0`);
      samples.push(sample);
    }
    if (samples.length === 0) throw new Error(`${name} has no samples`);
    if (type === 'counter' && !name.endsWith('_total')) throw new Error(`${name} lacks _total`);
    if (type === 'histogram') checkHistogram(name, samples);
    families.set(name, { type, help: unescaped(help), samples });
  }
  return families;
}

function readSample(line: string): ReadSample {
  const [, name = '', labelText = '', value = ''] = expected(
    /^([a-zA-Z_:][a-zA-Z0-9_:]*)(?:\{(.*)\})? (\S+)$/,
    line,
  );
  if (!NUMBER.test(value)) throw new Error(`${value} is no number`);
  const labels: Record<string, string> = {};
  let rest = labelText;
  while (rest !== '') {
    const [whole, label = '', quoted = ''] = expected(
      /^([a-zA-Z_][a-zA-Z0-9_]*)="((?:[^"\\\n]|\\["\\n])*)"(?:,(?=.)|$)/,
      rest,
    );
    if (label in labels) throw new Error(`the label ${label} is there twice`);
    labels[label] = unescaped(quoted);
    rest = rest.slice(whole.length);
  }
  return { name, labels, value: Number(value.replace('Inf', 'Infinity')) };
}

function checkHistogram(name: string, samples: readonly ReadSample[]): void {
  const series = new Map<string, ReadSample[]>();
  for (const sample of samples) {
    const { le: _, ...labels } = sample.labels;
    const key = JSON.stringify(labels);
    series.set(key, [...(series.get(key) ?? []), sample]);
  }
  for (const [key, own] of series) {
    const buckets = own.filter((sample) => sample.name === `${name}_bucket`);
    const bounds = buckets.map(({ labels }) => Number(labels.le?.replace('Inf', 'Infinity')));
    const count = own.find((sample) => sample.name === `${name}_count`)?.value;
    const sum = own.find((sample) => sample.name === `${name}_sum`)?.value;
    const isAscending = bounds.every((bound, at) => at === 0 || bound > Number(bounds[at - 1]));
    const isCumulative = buckets.every(
      ({ value }, at) => at === 0 || value >= Number(buckets[at - 1]?.value),
    );
    const isWhole = bounds.at(-1) === Infinity && buckets.at(-1)?.value === count;
    if (!isAscending || !isCumulative || !isWhole || !(Number(sum) >= 0)) {
      throw new Error(`the histogram ${name} ${key} is wrong`);
    }
  }
}

const unescaped = (text: string): string =>
  text.replace(/\\(.)/g, (_, letter: string) => (letter === 'n' ? '\n' : letter));

function expected(pattern: RegExp, line: string | undefined): RegExpExecArray {
  const found = pattern.exec(line ?? '');
  if (found === null) throw new Error(`${JSON.stringify(line)} is not as of ${pattern}`);
  return found;
}
