/** Random rows with nulls and random expressions over them, from a seed that a test prints. */

import {
  Bool,
  type DataType,
  Dictionary,
  Field,
  Float64,
  Int8,
  Int32,
  Int64,
  makeData,
  RecordBatch,
  Schema,
  Struct,
  Utf8,
  vectorFromArray,
} from '../../src/arrow/apache.ts';
import type { Plain, Row } from './naive-expression.ts';
import { seeded } from './seeded.ts';

export interface Random {
  next(): number;
  int(below: number): number;
  pick<T>(list: readonly T[]): T;
}

/** The same choices for the same seed. */
export function seededChoices(seed: number): Random {
  const next = seeded(seed);
  const int = (below: number): number => Math.floor(next() * below);
  return { next, int, pick: (list) => list[int(list.length)] as never };
}

export const WORDS = [
  '',
  'a',
  'ab',
  'abc',
  'ABC',
  'k01',
  'k02',
  'a%b',
  'a_b',
  'über',
  '日本',
  '😀x',
];

export interface RandomRows {
  readonly schema: Schema;
  readonly batch: RecordBatch;
  readonly rows: readonly Row[];
}

export function randomRows(random: Random, count: number, nulls = 0.2): RandomRows {
  const make: Record<string, [DataType, () => Exclude<Plain, null>]> = {
    i8: [new Int8(), () => BigInt(random.int(256) - 128)],
    i32: [new Int32(), () => BigInt(random.int(40) - 20)],
    i64: [
      new Int64(),
      () =>
        random.next() < 0.3
          ? random.pick([2n ** 53n, 2n ** 53n + 1n, -(2n ** 63n), 2n ** 63n - 1n])
          : BigInt(random.int(40) - 20),
    ],
    f: [
      new Float64(),
      () =>
        random.pick([
          0,
          -0,
          0.5,
          1.5,
          -3,
          Number.NaN,
          2 ** 53,
          Number.POSITIVE_INFINITY,
          random.next() * 40 - 20,
        ]),
    ],
    s: [new Utf8(), () => random.pick(WORDS)],
    d: [new Dictionary(new Utf8(), new Int32()), () => random.pick(WORDS)],
    b: [new Bool(), () => random.next() < 0.5],
  };
  const columns = Object.entries(make).map(([name, [type, value]]) => ({
    name,
    type,
    values: Array.from({ length: count }, (): Plain => (random.next() < nulls ? null : value())),
  }));
  const schema = new Schema(columns.map(({ name, type }) => new Field(name, type, true)));
  const children = columns.map(({ name, type, values }) => {
    const given =
      name === 'i8' || name === 'i32' ? values.map((v) => (v === null ? null : Number(v))) : values;
    return vectorFromArray(given as never[], type).data[0] as never;
  });
  const batch = new RecordBatch(
    schema,
    makeData({ type: new Struct(schema.fields), length: count, nullCount: 0, children }),
  );
  const rows = Array.from({ length: count }, (_, i) =>
    Object.fromEntries(columns.map(({ name, values }) => [name, values[i] ?? null])),
  );
  return { schema, batch, rows };
}

/** SQL text of a random condition. */
export function randomCondition(random: Random, depth: number): string {
  const { int, pick, next } = random;
  const compare = (): string => pick(['=', '<>', '<', '<=', '>', '>=']);
  const not = (): string => (next() < 0.3 ? 'NOT ' : '');
  const quoted = (): string => `'${pick(WORDS)}'`;
  const whole = (d: number): string => {
    if (d <= 0 || next() < 0.5) return next() < 0.6 ? pick(['i8', 'i32']) : String(int(40) - 20);
    const [a, b] = [whole(d - 1), whole(d - 1)];
    return pick([
      `(${a} + ${b})`,
      `(${a} - ${b})`,
      `(${pick(['i8', 'i32'])} * ${b})`,
      `(${a} / ${pick(['3', '-4'])})`,
      `(${a} % 7)`,
      `abs(${a})`,
      `coalesce(${a}, ${b})`,
      `nullif(${a}, ${b})`,
      `length(${text(d - 1)})`,
      `CASE WHEN ${condition(d - 1)} THEN ${a} ELSE ${b} END`,
    ]);
  };
  const float = (d: number): string => {
    if (d <= 0 || next() < 0.6)
      return next() < 0.6 ? 'f' : pick(['0.5', '-3.0', '1.5', '9007199254740992.0']);
    return pick([
      `(${float(d - 1)} + ${float(d - 1)})`,
      `(f * ${float(d - 1)})`,
      `abs(${float(d - 1)})`,
    ]);
  };
  const text = (d: number): string => {
    if (d <= 0 || next() < 0.6) return next() < 0.7 ? pick(['s', 'd']) : quoted();
    return pick([
      `lower(${text(d - 1)})`,
      `upper(${text(d - 1)})`,
      `(${text(d - 1)} || ${text(d - 1)})`,
      `coalesce(${text(d - 1)}, ${text(d - 1)})`,
    ]);
  };
  const condition = (d: number): string => {
    if (d > 0 && next() < 0.5) {
      const [a, b] = [condition(d - 1), condition(d - 1)];
      return pick([
        `(${a} AND ${b})`,
        `(${a} OR ${b})`,
        `(NOT ${a})`,
        `((${a}) IS ${not()}${pick(['TRUE', 'FALSE', 'UNKNOWN', 'NULL'])})`,
        `(${a} IS ${not()}DISTINCT FROM ${b})`,
      ]);
    }
    return pick([
      () => `(${whole(d)} ${compare()} ${whole(d)})`,
      () => `(i32 ${compare()} ${pick(['1.5', '-0.5', '3.0', '1e3', '99999999999'])})`,
      () =>
        `(i64 ${compare()} ${pick(['9007199254740993', '9007199254740992', '0', 'f', 'i32', '0.5'])})`,
      () => `(f ${compare()} ${pick(['9007199254740993', '0', 'i64', 'i32', float(d)])})`,
      () => `(${text(d)} ${compare()} ${text(d)})`,
      () => `(${whole(d)} ${not()}BETWEEN ${whole(0)} AND ${whole(0)})`,
      () => `(f ${not()}BETWEEN ${float(0)} AND ${float(0)})`,
      () =>
        `(${pick(['i8', 'i32', 'i64'])} ${not()}IN (${Array.from({ length: 1 + int(9) }, () => (next() < 0.1 ? 'NULL' : String(int(40) - 20))).join(', ')}))`,
      () => `(${text(d)} ${not()}IN (${Array.from({ length: 1 + int(9) }, quoted).join(', ')}))`,
      () =>
        `(${text(d)} ${not()}${pick(['LIKE', 'ILIKE'])} '${pick(['%', 'a%', '%b', '%b%', 'a_c', '_', '%_b%', '', '日_', '%a%b%', '😀%'])}')`,
      () => `(${pick([whole(d), float(d), text(d), 'b', 'i64'])} IS ${not()}NULL)`,
      () => `(${whole(d)} IS ${not()}DISTINCT FROM ${whole(d)})`,
      () => `starts_with(${text(d)}, ${quoted()})`,
      () => pick(['b', '(NOT b)', '(b = TRUE)', '(b <> FALSE)']),
    ])();
  };
  return condition(depth);
}
