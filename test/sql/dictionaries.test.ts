/** Dictionary columns as they are loaded: indices of no entry are null, whatever their form. */
import { expect, it } from 'vitest';
import {
  Dictionary,
  Int8,
  Int32,
  indexedRows,
  makeData,
  Utf8,
  Utf8View,
  vectorFromArray,
} from '../../src/arrow/index.ts';
import { loadColumn } from '../../src/sql/load/index.ts';
import { reader } from '../../src/sql/typed/index.ts';

const words = vectorFromArray(['a', null, 'ccc'], new Utf8());

it.each([
  [new Int32(), Int32Array.of(2, 0, 7, -1, 1, 0)],
  [new Int8(), Int8Array.of(2, 0, 7, -1, 1, 0)],
])('%s', (type, data) => {
  const coded = makeData({
    ...{ type: new Dictionary(new Utf8(), type), length: 6, data, dictionary: words },
  } as never);
  const read = reader(loadColumn(coded));
  expect([0, 1, 2, 3, 4, 5].map(read)).toEqual(['ccc', 'a', null, null, null, 'a']);
  const few = coded.slice(1, 3);
  expect([0, 1, 2].map(reader(loadColumn(few)))).toEqual(['a', null, null]);
});

it('rows of a column as indices into it', () => {
  const coded = indexedRows(words.data[0] as never, Uint32Array.of(2, 1, 0, 2));
  const read = reader(loadColumn(coded));
  expect([0, 1, 2, 3].map(read)).toEqual(['ccc', null, 'a', 'ccc']);
  expect([0, 1].map(reader(loadColumn(coded.slice(2, 2))))).toEqual(['a', 'ccc']);
});

it('views that share bytes are refused where their copies would be more than 2 GiB', () => {
  const views = new Int32Array(8);
  views[0] = 2 ** 30;
  views[4] = 2 ** 30;
  const data = makeData({
    ...{ type: new Utf8View(), length: 2, nullCount: 0, variadicBuffers: [new Uint8Array(1)] },
    views: new Uint8Array(views.buffer),
  } as never);
  expect(() => loadColumn(data)).toThrow(expect.objectContaining({ code: 'Unsupported' }));
});
