/** Lists of literals are looked up at once for every type, with the outcome of comparing one by one. */
import { describe, expect, test } from 'vitest';
import {
  DateDay,
  Decimal,
  Field,
  Float32,
  Float64,
  Int64,
  Schema,
  TimestampMicrosecond,
  Uint64,
  Utf8,
  vectorFromArray,
} from '../../src/arrow/apache.ts';
import { plainConstants } from '../../src/sql/bind/bind-in.ts';
import { evaluateInSteps } from '../../src/sql/evaluate/evaluate.ts';
import { isAmong } from '../../src/sql/evaluate/evaluate-in.ts';
import { compilePredicate } from '../../src/sql/expression.ts';
import { BatchFrame } from '../../src/sql/load/frame.ts';
import { loadColumn } from '../../src/sql/load/load.ts';
import type { Expression } from '../../src/sql/parse/tree.ts';
import type { Bound } from '../../src/sql/typed/bound.ts';
import { rows, schema, source } from '../helpers/expression-rows.ts';

const quoted = (texts: readonly string[]): string[] => texts.map((text) => `'${text}'`);

const NUMBERS = [
  ...[
    '1',
    '-1',
    '1.25',
    '1.250',
    '0.1',
    '0.5',
    '1e1',
    '10',
    '10.00',
    '-0',
    '0',
    '2.5',
    '384',
    '200',
  ],
  ...[
    '9223372036854775807',
    '18446744073709551615',
    '1e300',
    '0.001',
    '16777217',
    '.5',
    '7',
    '99999',
  ],
];
const TIMES = quoted([
  ...[
    '1970-01-01',
    '2020-01-01 00:00:00.123456',
    '2020-01-01',
    '2020-02-29',
    '1969-12-31 23:59:59.999',
  ],
  ...[
    '20200131',
    '31 January 2020',
    '2020-01-01T00:00:00Z',
    '0044-03-15 BC',
    '1970-01-01 00:00:01',
  ],
  ...[
    '2024-02-29',
    '9999-12-31',
    '0001-01-01',
    '2020-06-15 12:00:00',
    '1999-01-08',
    '1970-01-02',
    '2020-01-02',
  ],
]);

describe('is the same as comparing one by one', () => {
  const lists: Record<string, readonly string[]> = {};
  for (const { name, type } of schema.fields) {
    const text = String(type);
    if (/^(Int|Uint|Float|Decimal)/.test(text)) lists[`\`${name}\``] = NUMBERS;
    else if (/^(Date|Timestamp)/.test(text)) lists[`\`${name}\``] = TIMES;
    else if (type instanceof Utf8)
      lists[`\`${name}\``] = quoted(['abc', '', 'q', 'x', 'über', '日本']);
  }

  test.each(Object.entries(lists))('for %s', async (name, items) => {
    const equal = items.map((item) => `${name} = ${item}`).join(' OR ');
    expect(await rows(`${name} IN (${items.join()})`)).toEqual(await rows(equal));
    expect(await rows(`${name} NOT IN (${items.join()})`)).toEqual(await rows(`NOT (${equal})`));
    for (const item of items) {
      const pair = `${name} IN (${item}, ${item})`;
      expect(await rows(pair), pair).toEqual(await rows(`${name} = ${item}`));
    }
  });

  test('a list of many types of column was gone through', () => {
    expect(Object.keys(lists).length).toBeGreaterThan(12);
  });
});

test.each([
  ['near each other', Array.from({ length: 40 }, (_, at) => String(at * 3 - 60))],
  ['far apart', Array.from({ length: 40 }, (_, at) => String(at * 90_000 - 60))],
  ['that are no whole numbers', Array.from({ length: 40 }, (_, at) => `${at - 5}.5`)],
])('a long list of numbers %s is the same as comparing one by one', async (_, items) => {
  for (const name of ['i8', 'i32', 'u8', 'x', 'f32']) {
    const equal = items.map((item) => `${name} = ${item}`).join(' OR ');
    expect(await rows(`${name} IN (${items.join()})`), name).toEqual(await rows(equal));
  }
});

test('a number with an exponent or a base means all its digits, as beside =', async () => {
  const vectors = {
    i: vectorFromArray([8223372036100000000n, 8223372036099999744n], new Int64()),
    u: vectorFromArray([8223372036100000000n, 8223372036099999744n], new Uint64()),
    f: vectorFromArray([3758096385, 1], new Float32()),
  };
  const of = { numRows: 2, getChild: (name: string) => vectors[name as 'i'] ?? null };
  const fields = Object.entries(vectors).map(([name, { type }]) => new Field(name, type, true));
  for (const [name, item, found] of [
    ['i', '8.2233720361e18', [0]],
    ['u', '8.2233720361e18', [0]],
    ['f', '0xE0000001', []],
    ['f', '3758096385.0', [0]],
  ] as const) {
    for (const sql of [`${name} = ${item}`, `${name} IN (${item}, 5)`]) {
      const compiled = await compilePredicate(sql, new Schema(fields));
      expect([...compiled.select(of)], sql).toEqual(found);
    }
  }
});

test.each([
  ['far behind the list', 1e300],
  ['before it', -1],
  ['as far behind it as 32 bits reach', 2 ** 32],
  ['between two of its numbers', 3.5],
  ['infinite', Number.NEGATIVE_INFINITY],
  ['no number', Number.NaN],
])('a number that is %s is not in a list of near numbers', (_, value) => {
  const type = new Float64();
  const numbers = Float64Array.of(value, 7, -0, 19);
  const found = isAmong(
    { form: 'number', type, length: 4, values: numbers, valid: null },
    new Set(Array.from({ length: 20 }, (__, at) => at)),
    false,
  );
  expect([...found]).toEqual([0, 2, 2, 2]);
});

test('texts are found among many by all of their bytes', () => {
  const words = Array.from({ length: 3_000 }, (_, at) => `${'é'.repeat(at % 5)}${at % 7}-${at}`);
  const others = words.flatMap((word) => [
    word,
    `${word} `,
    word.slice(1),
    `x${word.slice(1)}`,
    '',
  ]);
  const { data } = vectorFromArray(others, new Utf8());
  const found = isAmong(loadColumn(data[0] as never), new Set(words), false);
  const wanted = new Set(words);
  expect([...found]).toEqual(others.map((text) => (wanted.has(text) ? 2 : 0)));
});

const column = (type: Bound['type']): Bound => ({
  kind: 'column',
  index: 0,
  path: [],
  names: ['c'],
  type,
});
const texts = (of: (at: number) => string, count = 100): Expression[] =>
  Array.from({ length: count }, (_, at) => ({ kind: 'string', value: of(at) }));
const numbers = (of: (at: number) => string): Expression[] =>
  Array.from({ length: 100 }, (_, at) => ({ kind: 'number', text: of(at) }));

test.each([
  ['days', new DateDay(), texts((at) => `2020-01-${String((at % 31) + 1).padStart(2, '0')}`), 31],
  [
    'timestamps',
    new TimestampMicrosecond(),
    texts((at) => `2020-01-01 00:00:${10 + (at % 50)}`),
    50,
  ],
  ['decimals', new Decimal(2, 10, 128), numbers((at) => `${at}.25`), 100],
] as const)('a list of %s is bound as a whole', (_, type, items, values) => {
  const bound = plainConstants(column(type), items);
  expect(bound).toMatchObject({ kind: 'in' });
  expect((bound as Extract<Bound, { kind: 'in' }>).values.size).toBe(values);
});

test('a decimal that is a sign and zeros after the point is zero', () => {
  const bound = plainConstants(
    column(new Decimal(2, 10, 128)),
    numbers(() => '-.0'),
  );
  expect([...(bound as Extract<Bound, { kind: 'in' }>).values]).toEqual([0n]);
});

test.each([
  ['a day that there is not', new DateDay(), '2019-02-29'],
  ['a month that there is not', new DateDay(), '2019-13-01'],
  ['a text that is no day', new DateDay(), 'now'],
])('%s is left to be refused by name', (_, type, text) => {
  expect(
    plainConstants(
      column(type),
      texts(() => text),
    ),
  ).toBeNull();
});

test('a long list of texts becomes a table in steps, and is looked up in', () => {
  const words = texts((at) => (at === 77_777 ? 'abc' : `w${at}`), 100_000);
  const index = schema.fields.findIndex(({ name }) => name === 's');
  const arg: Bound = { kind: 'column', index, path: [], names: ['s'], type: new Utf8() };
  const bound = plainConstants(arg, words) as Bound;
  const steps = evaluateInSteps(bound, new BatchFrame(source, {}));
  let yields = 0;
  let step = steps.next();
  for (; step.done !== true; step = steps.next()) yields++;
  expect(yields).toBeGreaterThan(8);
  expect(step.value).toMatchObject({ form: 'truth', values: Uint8Array.of(2, 0, 1, 0) });
});
