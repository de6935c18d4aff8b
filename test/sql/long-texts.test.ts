/** Functions of text say of long texts, in steps, what the definition says. */
import { expect, test } from 'vitest';
import { Field, Schema, Utf8, vectorFromArray } from '../../src/arrow/apache.ts';
import { recordBatch } from '../../src/arrow/arrow-data.ts';
import { compileExpression } from '../../src/sql/expression.ts';
import { drained } from '../../src/steps.ts';
import { seeded } from '../helpers/seeded.ts';

const schema = new Schema(['s', 'p'].map((name) => new Field(name, new Utf8(), true)));

function batchOf(texts: readonly string[], parts: readonly string[]) {
  const columns = [texts, parts].map(
    (values) => vectorFromArray(values, new Utf8()).data[0] as never,
  );
  return recordBatch(schema, columns, texts.length);
}

async function valuesOf(sql: string, texts: readonly string[], parts: readonly string[]) {
  const expression = await compileExpression(sql, schema);
  const batch = batchOf(texts, parts);
  const inSteps = drained(expression.evaluateInSteps(batch, { scale: 1 << 12 }));
  return [...inSteps];
}

const random = seeded(41);
const mixed = (size: number): string =>
  Array.from({ length: size }, () => ['a', 'b', 'é', '😀', 'ab'][Math.floor(random() * 5)]).join(
    '',
  );
const texts = [mixed(200_000), 'ab'.repeat(100_000), mixed(40), 'a'.repeat(70_000), ''];
const parts = ['ab', 'b', '😀', 'a'.repeat(80), 'x'];

test('replace, split_part, strpos and contains', async () => {
  const pairs = texts.map((text, at) => [text, parts[at] as string] as const);
  expect(await valuesOf("replace(s, p, '$&_')", texts, parts)).toEqual(
    pairs.map(([text, part]) => text.split(part).join('$&_')),
  );
  for (const index of [1, 2, 700, -1, -2, -700]) {
    expect(await valuesOf(`split_part(s, p, ${index})`, texts, parts), `${index}`).toEqual(
      pairs.map(([text, part]) => text.split(part).at(index > 0 ? index - 1 : index) ?? ''),
    );
  }
  expect(await valuesOf('strpos(s, p)', texts, parts)).toEqual(
    pairs.map(([text, part]) =>
      BigInt(text.includes(part) ? [...text.slice(0, text.indexOf(part))].length + 1 : 0),
    ),
  );
  expect(await valuesOf('contains(s, p)', texts, parts)).toEqual(
    pairs.map(([text, part]) => text.includes(part)),
  );
});

test('a part is found on either side of the place where a step ends', async () => {
  for (const part of ['qz', `q${'z'.repeat(99)}`]) {
    const places = [65_535, 65_536, 65_537, 65_536 - part.length];
    const made = places.map((at) => `${'a'.repeat(at)}${part}${'a'.repeat(70_000)}`);
    const all = made.map(() => part);
    expect(await valuesOf('strpos(s, p)', made, all)).toEqual(places.map((at) => BigInt(at + 1)));
    expect(await valuesOf("length(replace(s, p, ''))", made, all)).toEqual(
      places.map((at) => BigInt(at + 70_000)),
    );
  }
});

test('reverse and trim', async () => {
  expect(await valuesOf('reverse(s)', texts, parts)).toEqual(
    texts.map((text) => [...text].reverse().join('')),
  );
  const ends = [
    'xy😀'.repeat(40_000),
    `${'xy'.repeat(50_000)}m${'😀'.repeat(50_000)}`,
    'xm',
    '',
    'm',
  ];
  const sets = ['😀yx', 'yx😀', 'x', 'x', `${'n'.repeat(80_000)}m`];
  expect(await valuesOf('btrim(s, p)', ends, sets)).toEqual(['', 'm', 'm', '', '']);
  expect(await valuesOf('length(ltrim(s, p))', ends, sets)).toEqual([0n, 50_001n, 1n, 0n, 0n]);
  expect(await valuesOf('length(rtrim(s, p))', ends, sets)).toEqual([0n, 100_001n, 2n, 0n, 0n]);
});

test('long texts that begin alike are compared by what differs', async () => {
  const alike = 'ab'.repeat(10_000);
  const left = [`${alike}a`, `${alike}\uffff`, alike, `${alike}b`, ''];
  const right = [`${alike}b`, `${alike}😀`, `${alike}a`, `${alike}a`, 'a'];
  expect(await valuesOf("concat(s, '') < concat(p, '')", left, right)).toEqual([
    true,
    true,
    true,
    false,
    true,
  ]);
});

test('zeros before and after a number say nothing in a CAST, however many they are', async () => {
  const zeros = '0'.repeat(5000);
  expect(
    await valuesOf('CAST(s AS bigint)', [`${zeros}42`, `-${zeros}7.${zeros}`], ['', '']),
  ).toEqual([42n, -7n]);
  expect(await valuesOf('CAST(s AS double)', [`${zeros}.5${zeros}`, zeros], ['', ''])).toEqual([
    0.5, 0,
  ]);
});

test.each(["length(replace(repeat('ab', 2000000), 'a', 'c'))", "strpos(repeat(s, 4000000), 'q')"])(
  'a few rows of %s are evaluated in steps',
  async (sql) => {
    const expression = await compileExpression(sql, schema);
    const steps = expression.evaluateInSteps(batchOf(['x'], ['x']), { scale: 1 });
    let count = 0;
    while (steps.next().done !== true) count += 1;
    expect(count).toBeGreaterThan(5);
  },
);
