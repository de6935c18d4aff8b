/** ANY and ALL of comparisons, in three-valued logic: against IN, PostgreSQL 15's answers and a model. */
import { describe, expect, it } from 'vitest';
import {
  type DataType,
  DateDay,
  Decimal,
  Field,
  Float64,
  Int32,
  Int64,
  List,
  makeData,
  makeVector,
  Schema,
  Utf8,
  type Vector,
  vectorFromArray,
} from '../../src/arrow/apache.ts';
import { compileExpression, compilePredicate } from '../../src/sql/expression.ts';
import { rows, values } from '../helpers/expression-rows.ts';
import { seededChoices } from '../helpers/random-expression.ts';

const seed = Number(process.env.QUANTIFIED_SEED ?? 20261122);
const OPERATORS = ['=', '<>', '<', '<=', '>', '>='] as const;

describe('what PostgreSQL answers', () => {
  it.each([
    ['5 = ANY(ARRAY[1, NULL])', null],
    ['1 = ANY(ARRAY[1, NULL])', true],
    ['5 <> ALL(ARRAY[1, NULL])', null],
    ['1 <> ALL(ARRAY[1, NULL])', false],
    ['5 < ANY(ARRAY[1, NULL])', null],
    ['0 < ANY(ARRAY[1, NULL])', true],
    ['5 > ALL(ARRAY[1, NULL])', null],
    ['0 > ALL(ARRAY[1, NULL])', false],
    ['1 = ALL(ARRAY[1, 1])', true],
    ['1 = ALL(ARRAY[1, NULL])', null],
    ['1 = SOME(ARRAY[2])', false],
    ['NULL = ANY(ARRAY[1])', null],
    ['5 = ANY(NULL)', null],
    ['5 <> ALL(CAST(NULL AS int))', 'takes a list'],
    ['NULL = ANY(ARRAY[])', false],
    ['NULL = ALL(ARRAY[])', true],
    ["'b' > ANY(make_array('a', NULL))", true],
    ["'a' > ANY(make_array('a', NULL))", null],
    ["date '2020-01-01' = ANY(ARRAY['2020-01-02', NULL])", null],
  ])('%s', async (sql, expected) => {
    if (typeof expected === 'string') await expect(values(sql)).rejects.toThrow(expected);
    else expect(await values(sql)).toEqual([expected, expected, expected, expected]);
  });
});

it('a list of a column: NULL where the list is, false where it is empty', async () => {
  // [1, 2], [], NULL, [3]
  expect(await values('2 = ANY(nums)')).toEqual([true, false, null, false]);
  expect(await values('2 <> ALL(nums)')).toEqual([false, true, null, true]);
  expect(await values('2 <= ALL(nums)')).toEqual([false, true, null, true]);
  expect(await values('2 > ANY(nums)')).toEqual([true, false, null, false]);
  expect(await values('NULL > ANY(nums)')).toEqual([null, false, null, null]);
  expect(await values('CAST(NULL AS int) <= ALL(nums)')).toEqual([null, true, null, null]);
  expect(await values('i32 = ANY(nums)')).toEqual([true, false, null, false]);
  // ['a', 'b'], [], NULL, ['c', NULL]
  expect(await values("'a' = ANY(tags)")).toEqual([true, false, null, null]);
  expect(await values("'c' = ANY(tags)")).toEqual([false, false, null, true]);
  expect(await values("'c' <> ALL(tags)")).toEqual([true, true, null, false]);
  expect(await values("'d' > ALL(tags)")).toEqual([true, true, null, null]);
  expect(await rows("NOT ('a' = ANY(tags))")).toEqual([1]);
  expect(await values('array_has(tags, NULL)')).toEqual([null, null, null, null]);
});

it('lists have no order, and other operators take no list', async () => {
  await expect(values('nums < ANY(make_array(nums))')).rejects.toThrow('has no order');
  await expect(values('i32 + ANY(nums)')).rejects.toThrow('+ ANY is not supported');
  await expect(values('nope = ANY(ARRAY[])')).rejects.toThrow('nope');
});

interface Kind {
  readonly name: string;
  readonly type: DataType;
  /** As written in SQL, and as stored. */
  readonly pool: readonly (readonly [sql: string, value: unknown])[];
}

const KINDS: readonly Kind[] = [
  {
    name: 'int32',
    type: new Int32(),
    pool: [
      ['1', 1],
      ['2', 2],
      ['-7', -7],
    ],
  },
  {
    name: 'int64',
    type: new Int64(),
    pool: [
      ['1', 1n],
      ['9007199254740993', 9007199254740993n],
      ['-2', -2n],
    ],
  },
  {
    name: 'float64',
    type: new Float64(),
    pool: [
      ['1.5', 1.5],
      ['0.1', 0.1],
      ['-2', -2],
    ],
  },
  {
    name: 'utf8',
    type: new Utf8(),
    pool: [
      ["'a'", 'a'],
      ["''", ''],
      ["'ü'", 'ü'],
    ],
  },
  {
    name: 'date',
    type: new DateDay(),
    pool: [
      ["date '1970-01-02'", new Date(86400000)],
      ["date '2020-02-29'", new Date('2020-02-29')],
    ],
  },
  {
    name: 'decimal',
    type: new Decimal(2, 10, 128),
    pool: [
      ['1.25', 125n],
      ['-7.00', -700n],
      ['99.99', 9999n],
    ],
  },
];

function vectorOf(type: DataType, stored: readonly unknown[]): Vector {
  if (!(type instanceof Decimal)) return vectorFromArray(stored as never[], type as never);
  const words = new BigInt64Array(2 * stored.length);
  const bits = new Uint8Array(64);
  for (const [row, value] of stored.entries()) {
    if (value === null) continue;
    bits[row >> 3] = (bits[row >> 3] as number) | (1 << (row & 7));
    words[2 * row] = value as bigint;
    words[2 * row + 1] = (value as bigint) < 0n ? -1n : 0n;
  }
  const nullCount = stored.filter((value) => value === null).length;
  const data = new Uint32Array(words.buffer);
  return makeVector(
    makeData({ type, length: stored.length, nullCount, nullBitmap: bits, data } as never),
  );
}

/** NULL, true or false: what OR and AND make of the comparisons one by one. */
function model(
  op: (typeof OPERATORS)[number],
  all: boolean,
  x: unknown,
  list: readonly unknown[],
): boolean | null {
  const order = (a: unknown, b: unknown): number => {
    const [m, n] = [a, b].map((side) => (side instanceof Date ? side.getTime() : side)) as [
      number,
      number,
    ];
    if (typeof m === 'string') return Buffer.compare(Buffer.from(m), Buffer.from(String(n)));
    return m < n ? -1 : m > n ? 1 : 0;
  };
  const one = list.map((item) => {
    if (x === null || item === null) return null;
    const found = order(x, item);
    const holds = {
      '=': found === 0,
      '<>': found !== 0,
      '<': found < 0,
      '<=': found <= 0,
      '>': found > 0,
      '>=': found >= 0,
    };
    return holds[op];
  });
  if (one.includes(!all)) return !all;
  return one.includes(null) ? null : all;
}

describe.each(KINDS)(`random lists of $name (QUANTIFIED_SEED=${seed})`, ({ name, type, pool }) => {
  it('have the value of the comparisons one by one, as IN has', async () => {
    const random = seededChoices(seed + name.length);
    const LENGTH = 20;
    const pick = (): unknown => (random.int(4) === 0 ? null : random.pick(pool)[1]);
    const column = (): unknown[] => Array.from({ length: LENGTH }, pick);
    for (let n = 0; n < 60; n++) {
      const stored = { x: column(), a: column(), b: column() };
      const lists = stored.x.map(() =>
        random.int(5) === 0 ? null : Array.from({ length: random.int(4) }, pick),
      );
      const vectors: Record<string, Vector> = {};
      for (const key of ['x', 'a', 'b'] as const) vectors[key] = vectorOf(type, stored[key]);
      const listed = name !== 'decimal';
      if (listed)
        vectors.l = vectorFromArray(
          lists as never,
          new List(new Field('item', type, true)) as never,
        );
      const schema = new Schema(
        Object.entries(vectors).map(([key, vector]) => new Field(key, vector.type, true)),
      );
      const source = { numRows: LENGTH, getChild: (key: string) => vectors[key] ?? null };
      const evaluated = async (sql: string): Promise<unknown[]> => {
        const vector = (await compileExpression(sql, schema)).evaluate(source);
        return Array.from({ length: LENGTH }, (_, row) => vector.get(row) ?? null);
      };
      const items = Array.from({ length: 1 + random.int(5) }, () => {
        const kind = random.int(6);
        if (kind === 0) return ['NULL', () => null] as const;
        if (kind < 3) {
          const key = kind === 1 ? 'a' : 'b';
          return [key, (row: number) => stored[key][row]] as const;
        }
        const [sql, value] = random.pick(pool);
        return [sql, () => value] as const;
      });
      // A list without a type of its own would be one of texts.
      items.push(['a', (row: number) => stored.a[row]]);
      const inside = items.map(([sql]) => sql).join(', ');
      const op = random.pick(OPERATORS);
      const all = random.int(2) === 0;
      const word = all ? 'ALL' : 'ANY';
      const expected = stored.x.map((x, row) =>
        model(
          op,
          all,
          x,
          items.map(([, read]) => read(row)),
        ),
      );
      const written = `x ${op} ${word}(ARRAY[${inside}])`;
      expect(await evaluated(written), written).toEqual(expected);
      const made = `x ${op} ${word}(make_array(${inside}))`;
      expect(await evaluated(made), made).toEqual(expected);
      const negated = `NOT (${written})`;
      const deleted = expected.flatMap((value, row) => (value === false ? [row] : []));
      expect([...(await compilePredicate(negated, schema)).select(source)], negated).toEqual(
        deleted,
      );
      expect(await evaluated(`x = ANY(ARRAY[${inside}])`)).toEqual(
        await evaluated(`x IN (${inside})`),
      );
      expect(await evaluated(`x <> ALL(ARRAY[${inside}])`)).toEqual(
        await evaluated(`x NOT IN (${inside})`),
      );
      const [constant, value] = random.pick(pool);
      if (listed) {
        const of = (x: (row: number) => unknown): unknown[] =>
          lists.map((list, row) => (list === null ? null : model(op, all, x(row), list)));
        expect(await evaluated(`x ${op} ${word}(l)`)).toEqual(of((row) => stored.x[row]));
        expect(await evaluated(`${constant} ${op} ${word}(l)`)).toEqual(of(() => value));
      }
    }
  });
});
