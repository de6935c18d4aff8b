/** Rows out of JSON text that comes in pieces of any size. */
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { parseExactJson } from '../../src/cli/rows/exact-json.ts';
import { type JsonRow, jsonArray, jsonLines } from '../../src/cli/rows/json-rows.ts';

async function* pieces(bytes: Uint8Array, cuts: readonly number[]): AsyncGenerator<Uint8Array> {
  let start = 0;
  for (const cut of [...cuts].map((at) => at % (bytes.length + 1)).sort((a, b) => a - b)) {
    yield bytes.subarray(start, cut);
    start = cut;
  }
  yield bytes.subarray(start);
}

const piecesOf = (text: string, cuts: readonly number[] = []): AsyncGenerator<Uint8Array> =>
  pieces(new TextEncoder().encode(text), cuts);

async function all(rows: AsyncIterable<JsonRow>): Promise<JsonRow[]> {
  const found: JsonRow[] = [];
  for await (const row of rows) found.push(row);
  return found;
}

const objects = fc.array(
  fc.dictionary(fc.string({ unit: 'binary' }), fc.jsonValue({ maxDepth: 3 })),
  { maxLength: 6 },
);
const cuts = fc.array(fc.nat(), { maxLength: 20 });
/** As the whole text is read at once. */
const asRead = (rows: readonly object[]): unknown => parseExactJson(JSON.stringify(rows));

describe('an array', () => {
  test('gives its objects, however it is cut and spaced', async () => {
    await fc.assert(
      fc.asyncProperty(
        objects,
        cuts,
        fc.constantFrom(0, 1, '\t', '\r\n'),
        async (rows, at, space) => {
          const text = `\ufeff \n${JSON.stringify(rows, undefined, typeof space === 'string' ? '\t' : space)}\r\n `;
          const found = await all(jsonArray(piecesOf(text, at), 'x.json'));
          expect(found.map(({ row }) => row)).toEqual(asRead(rows));
        },
      ),
      { numRuns: 300 },
    );
  });

  test('tells the line of each object', async () => {
    const text = '[\n  {"a": 1},\n\n  {"a": "two\\n",\n "b": [1,\n2]}, {"a": 3}\n]';
    for (let cut = 0; cut < text.length; cut++) {
      const found = await all(jsonArray(piecesOf(text, [cut]), 'x.json'));
      expect(found.map(({ line }) => line)).toEqual([2, 4, 6]);
    }
  });

  test('keeps every digit of an integer', async () => {
    const [found] = await all(jsonArray(piecesOf('[{"n": 9007199254740993}]'), 'x.json'));
    expect(found?.row).toEqual({ n: 9007199254740993n });
  });

  test.each([
    ['{"a": 1}', 'line 1, is no JSON array of objects'],
    ['7', 'line 1, is no JSON array'],
    ['[{"a": 1}\n{"a": 2}]', 'line 2, has neither a comma nor the end'],
    ['[{"a": 1},\n]', 'line 2, has no object after a comma'],
    ['[{"a": 1},\n,]', 'line 2, has no object after a comma'],
    ['[\n1]', 'line 2, has no object there'],
    ['[]\n[]', 'line 2, goes on after the end'],
    ['[{"a": 1}]}', 'line 1, goes on after the end'],
    ['[\n{"a": 1', 'ends on line 2, before the end'],
    ['[', 'ends on line 1, before the end'],
    ['[\n\n{"a": }]', 'line 3 is no JSON'],
    ['[{"a": [}]', 'line 1'],
    ['[{]', 'line 1'],
  ])('%j is refused with its line', async (text, message) => {
    await expect(all(jsonArray(piecesOf(text), 'x.json'))).rejects.toThrow(message);
  });

  test('of any bytes is read or refused', async () => {
    const alphabet = fc.constantFrom(...'[]{},:"\\ \n1ate'.split(''));
    await fc.assert(
      fc.asyncProperty(fc.array(alphabet, { maxLength: 24 }), cuts, async (characters, at) => {
        const text = characters.join('');
        const read = await all(jsonArray(piecesOf(text, at), 'x.json')).catch((error: Error) => {
          expect(error.name).toBe('UsageError');
          return undefined;
        });
        let whole: unknown;
        try {
          whole = JSON.parse(text);
        } catch {}
        const isRows =
          Array.isArray(whole) &&
          whole.every((row) => typeof row === 'object' && row !== null && !Array.isArray(row));
        const rows = text.trim() === '' ? [] : isRows ? whole : undefined;
        expect(read?.map(({ row }) => row)).toEqual(rows);
      }),
      { numRuns: 2000 },
    );
  });
});

describe('a key that an object has twice', () => {
  test.each([
    ['{"a": 1, "a": 2}', '"a"'],
    ['{"a": "x", "b": {"c": [{"d": 1, "e": "}", "d": 1}]}}', '"d"'],
    ['{"a\\u0062": 1, "ab": "\\""}', '"ab"'],
    ['{"a": "b", "__proto__": 1, "__proto__": 1}', '"__proto__"'],
    ['{"a": [1, {"b": []}], "n": 12345678901234567890, "n": 1}', '"n"'],
    ['{"": 1, "": ""}', '""'],
  ])('%s is refused with its line', async (row, key) => {
    const message = `line 2 has the key ${key} twice in one object`;
    await expect(all(jsonLines(piecesOf(`{"a": 1}\n${row}`), 'x'))).rejects.toThrow(message);
    await expect(all(jsonArray(piecesOf(`[{},\n${row}]`), 'x'))).rejects.toThrow(message);
  });

  test.each([
    '{"a": "a", "b": {"a": ["a", "a", {"a": "\\"a\\":"}]}}',
    '{"a": ["\\\\", ",", "{", "a"], "b": [{"a": 1}, {"a": 1}]}',
  ])('is none where it stands in several, or in text: %s', async (row) => {
    expect(await all(jsonLines(piecesOf(row), 'x'))).toHaveLength(1);
  });
});

describe('lines', () => {
  test('give their objects, however they are cut', async () => {
    await fc.assert(
      fc.asyncProperty(
        objects,
        cuts,
        fc.constantFrom('\n', '\r\n', '\n\n'),
        async (rows, at, end) => {
          const text = rows.map((row) => JSON.stringify(row)).join(end);
          const found = await all(jsonLines(piecesOf(text, at), 'x.ndjson'));
          expect(found.map(({ row }) => row)).toEqual(asRead(rows));
        },
      ),
      { numRuns: 300 },
    );
  });

  test('are counted from 1, empty ones too', async () => {
    const found = await all(jsonLines(piecesOf('\ufeff\n{"a": 1}\r\n \r\n{"a": 2}', [4, 9]), 'x'));
    expect(found).toEqual([
      { line: 2, row: { a: 1 } },
      { line: 4, row: { a: 2 } },
    ]);
  });

  test.each([
    ['{"a": 1}\n{"a": ', 'x.ndjson, line 2 is no JSON'],
    ['{"a": 1}\n[1]\n', 'x.ndjson, line 2 is no JSON object'],
    ['null', 'x.ndjson, line 1 is no JSON object'],
  ])('%j is refused with its line', async (text, message) => {
    await expect(all(jsonLines(piecesOf(text), 'x.ndjson'))).rejects.toThrow(message);
  });
});

test('what is not UTF-8 is refused, not replaced', async () => {
  const bytes = Buffer.concat([Buffer.from('{"a": "'), Buffer.of(0xe4), Buffer.from('"}')]);
  await expect(all(jsonLines(pieces(bytes, []), 'x.ndjson'))).rejects.toThrow('is not in UTF-8');
  const open = Buffer.concat([Buffer.from('[{"a": "ü'), Buffer.of(0xe4)]);
  await expect(all(jsonArray(pieces(open, []), 'x.json'))).rejects.toThrow('is not in UTF-8');
});

test('a row that would fill memory is refused', async () => {
  async function* endless(start: string): AsyncGenerator<Uint8Array> {
    yield Buffer.from(start);
    for (;;) yield Buffer.alloc(1 << 24, 'x');
  }
  await expect(all(jsonLines(endless(''), 'x'))).rejects.toThrow('one row has more than');
  await expect(all(jsonArray(endless('[{"'), 'x'))).rejects.toThrow('one row has more than');
});
