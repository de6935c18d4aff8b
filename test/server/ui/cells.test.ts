/** Cells of the page: every type of Arrow, as JSON keeps it. */

import {
  DateDay,
  Decimal,
  Dictionary,
  Field,
  Int32,
  Int64,
  List,
  Map_,
  Struct,
  Utf8,
  vectorFromArray,
} from 'apache-arrow';
import { describe, expect, test } from 'vitest';
import { type Data, Type } from '../../../src/arrow/index.ts';
import { cellReader } from '../../../src/server/ui/cells.ts';
import { everyType, exactColumn, randomBatch, seeded } from '../../helpers/arrow-samples.ts';

const ROWS = 40;
const texts = new List(new Field('item', new Utf8(), true));
const entries = new Struct<{ key: Utf8; value: typeof texts }>([
  new Field('key', new Utf8(), false),
  new Field('value', texts, true),
]);
const schema = everyType();

describe('a column of each type', () => {
  const batch = randomBatch(schema, ROWS, seeded(5), 0.3);
  test.each(schema.fields.map(({ name }, at) => [name, at] as const))('%s', (_, at) => {
    const data = batch.data.children[at] as Data;
    const read = cellReader(data, 30);
    const cells = Array.from({ length: ROWS }, (__, row) => read(row));
    expect(JSON.parse(JSON.stringify(cells))).toEqual(cells);
    const exact = exactColumn(data);
    // A union has no nulls of its own: those of its members are theirs.
    if (data.typeId !== Type.Union) {
      expect(cells.map((cell) => cell === null)).toEqual(exact.map((value) => value === null));
    }
    for (const cell of cells) expect(String(cell).length).toBeLessThan(90);
    if (data.typeId === Type.Int || data.typeId === Type.Bool) {
      const text = (value: unknown): unknown => (value === null ? null : String(value));
      expect(cells.map(text)).toEqual(exact.map(text));
    }
    // A part of a column has the cells of its rows.
    const part = cellReader(data.slice(7, 20) as Data, 30);
    expect(Array.from({ length: 20 }, (__, row) => part(row))).toEqual(cells.slice(7, 27));
  });
});

test('values inside of others read as JSON, and texts of digits stay texts', () => {
  const people = new Struct([
    new Field('at', new Struct([new Field('x', new Int64(), true)]), true),
    new Field('code', new Utf8(), true),
    new Field('days', new List(new Field('item', new DateDay(), true)), true),
    new Field('of', new Map_(new Field('entries', entries, false)), true),
  ]);
  const value = {
    at: { x: 9007199254740993n },
    code: '007',
    days: [new Date(0), null],
    of: new Map([['a', ['1', null]]]),
  };
  const cell = cellReader(vectorFromArray([value], people).data[0] as Data, 1000)(0);
  expect(cell).toBe(
    '{"at": {"x": 9007199254740993}, "code": "007", "days": ["1970-01-01", null], "of": {"a": ["1", null]}}',
  );
  const price = new Struct([new Field('price', new Decimal(2, 10, 128), true)]);
  const priced = vectorFromArray([{ price: Uint32Array.of(150, 0, 0, 0) }], price);
  expect(cellReader(priced.data[0] as Data, 1000)(0)).toBe('{"price": 1.50}');
  const counts = new Dictionary(new Int64(), new Int32());
  const coded = vectorFromArray([[7n]], new List(new Field('item', counts, true)));
  expect(cellReader(coded.data[0] as Data, 1000)(0)).toBe('[7]');
});
