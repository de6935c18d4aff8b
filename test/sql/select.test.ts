/** Rows selected straight from doubles and texts are those whose truth value is true. */

import { expect, it } from 'vitest';
import {
  Field,
  Float64,
  makeData,
  RecordBatch,
  Schema,
  Struct,
  Utf8,
} from '../../src/arrow/apache.ts';
import { selectedRows } from '../../src/sql/evaluate/index.ts';
import { compilePredicate } from '../../src/sql/expression.ts';
import { EDGE_DOUBLES } from '../helpers/edge-doubles.ts';

const TEXTS = [
  '',
  'a',
  'b',
  'ab',
  'ba',
  'abc',
  'abd',
  'xabc',
  'abcd',
  'xbcd',
  'abcdefg',
  'xbcdefg',
];

const fields = [new Field('x', new Float64(), true), new Field('s', new Utf8(), true)];
const schema = new Schema(fields);

function batchOf(rows: number): RecordBatch {
  const x = Float64Array.from(
    { length: rows },
    (_, row) => EDGE_DOUBLES[row % EDGE_DOUBLES.length] ?? 0,
  );
  const texts = Array.from({ length: rows }, (_, row) => TEXTS[row % TEXTS.length] ?? '');
  const valueOffsets = new Int32Array(rows + 1);
  for (const [row, text] of texts.entries())
    valueOffsets[row + 1] = (valueOffsets[row] ?? 0) + text.length;
  const children = [
    makeData({ type: new Float64(), length: rows, data: x }),
    makeData({ type: new Utf8(), length: rows, valueOffsets, data: Buffer.from(texts.join('')) }),
  ];
  return new RecordBatch(schema, makeData({ type: new Struct(fields), length: rows, children }));
}

const literal = (value: number): string => `CAST('${String(value)}' AS double)`;
const conditions = ['=', '<>', '<', '<=', '>', '>='].flatMap((op) => [
  ...EDGE_DOUBLES.map((value) => `x ${op} ${literal(value)}`),
  ...TEXTS.map((value) => `s ${op} '${value}'`),
]);

it.each([0, 1, 3, 4, 5, 26, 39, 130])('of %i rows', async (rows) => {
  const batch = batchOf(rows);
  for (const sql of conditions) {
    const compiled = await compilePredicate(sql, schema);
    const truth = compiled.evaluate(batch);
    const expected = Array.from({ length: rows }, (_, row) => row).filter(
      (row) => truth.get(row) === true,
    );
    expect([...compiled.select(batch)], sql).toEqual(expected);
    expect(compiled.count(batch), sql).toBe(expected.length);
  }
});

it('a selection is not changed by the next', async () => {
  const batch = batchOf(26);
  const one = (await compilePredicate('x > 0', schema)).select(batch);
  const before = [...one];
  (await compilePredicate('x <= 0', schema)).select(batch);
  expect([...one]).toEqual(before);
});

it.each([1, 63, 64, 65, 200, 1_030])('true rows of %i, be they few or many', (rows) => {
  for (const every of [1, 2, 3, 9, 40]) {
    // False, unknown and true ones.
    const truth = Uint8Array.from({ length: rows }, (_, row) =>
      row % every === 0 ? 2 : row % 3 === 0 ? 1 : 0,
    );
    const expected = Array.from(truth.keys()).filter((row) => truth[row] === 2);
    expect([...selectedRows(truth)]).toEqual(expected);
  }
  expect([...selectedRows(new Uint8Array(rows).fill(1))]).toEqual([]);
});
