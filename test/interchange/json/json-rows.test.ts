/** Rows out of JSON text that comes in pieces of any size. */
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { parseExactJson } from '../../../src/interchange/json/exact-json.ts';
import { type JsonRow, jsonArray, jsonLines } from '../../../src/interchange/json/json-rows.ts';
import { casesOf } from '../../helpers/long.ts';

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

describe('a row with integers beyond 2^53', () => {
  const BIG = '12345678901234567890';

  test('may have a text of any length, with escapes or without', () => {
    for (const text of ['x'.repeat(2 ** 24), '\\n'.repeat(2 ** 23)]) {
      const row = parseExactJson(`{"a": "${text}", "b": ${BIG}}`) as { a: string; b: bigint };
      expect(row.b).toBe(BigInt(BIG));
      expect(row.a.length).toBe(JSON.parse(`"${text}"`).length);
    }
  });

  test('may be nested to any depth', () => {
    const depth = 20_000;
    let found = parseExactJson(`${'['.repeat(depth)}${BIG}${']'.repeat(depth)}`);
    for (let level = 0; level < depth; level++) found = (found as unknown[])[0];
    expect(found).toBe(BigInt(BIG));
  });

  test('may have members of any name, and texts that begin as a mark does', () => {
    const text = `{"__proto__": {"a": ${BIG}}, "\\u0001": ["\\u0001", "\\u00015", -${BIG}], "": ${BIG}}`;
    const row = parseExactJson(text) as Record<string, unknown>;
    expect(Object.entries(row)).toEqual([
      ['__proto__', { a: BigInt(BIG) }],
      ['\u0001', ['\u0001', '\u00015', -BigInt(BIG)]],
      ['', BigInt(BIG)],
    ]);
    expect(Object.getPrototypeOf(row)).toBe(Object.prototype);
  });
});

test('a key that is there twice is found behind a long text with escapes', async () => {
  const text = `{"a": "${'\\n'.repeat(2 ** 23)}", "b": 1, "b": 2}`;
  await expect(all(jsonLines(piecesOf(text), 'x.json'))).rejects.toThrow('has the key "b" twice');
});

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
      { numRuns: casesOf(150, 300) },
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
    ['7', 'line 1, is neither a JSON array of objects nor an object'],
    ['{"a": 1}\n7', 'line 2, has no object after another one'],
    ['{"a": 1},\n{"a": 2}', 'line 1, has no object after another one'],
    ['{"a": 1}\n{"a": 2', 'ends on line 2, before the end of an object'],
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

  test.each([
    ['{"a": 1}', [{ a: 1 }]],
    ['\n{\n  "a": [{"b": 1}]\n}\n', [{ a: [{ b: 1 }] }]],
    ['{"a": 1}\r\n{"a": "}{"}\n\n', [{ a: 1 }, { a: '}{' }]],
    ['{"a": 1}{"a": 2}', [{ a: 1 }, { a: 2 }]],
  ])('may be left out around objects: %j', async (text, rows) => {
    const found = await all(jsonArray(piecesOf(text, [3, 9]), 'x.json'));
    expect(found.map(({ row }) => row)).toEqual(rows);
  });

  test('of any bytes is read or refused', async () => {
    const alphabet = fc.constantFrom(...'[]{},:"\\ \n1ate'.split(''));
    await fc.assert(
      fc.asyncProperty(fc.array(alphabet, { maxLength: 24 }), cuts, async (characters, at) => {
        const text = characters.join('');
        const read = await all(jsonArray(piecesOf(text, at), 'x.json')).catch((error: Error) => {
          expect(error.name).toBe('DirspaceError');
          return undefined;
        });
        let whole: unknown;
        try {
          whole = JSON.parse(text);
        } catch {}
        const isRows =
          Array.isArray(whole) &&
          whole.every((row) => typeof row === 'object' && row !== null && !Array.isArray(row));
        const rows = isRows ? whole : objectsOf(text);
        expect(read?.map(({ row }) => row)).toEqual(rows);
      }),
      { numRuns: casesOf(700, 2000) },
    );
  });
});

/** Objects one after another, by the shortest beginnings that are one; undefined for other text. */
function objectsOf(text: string): object[] | undefined {
  const found: object[] = [];
  let rest = text.trim();
  for (let end = 1; rest !== ''; end++) {
    if (end > rest.length || !rest.startsWith('{')) return undefined;
    try {
      found.push(JSON.parse(rest.slice(0, end)));
    } catch {
      continue;
    }
    rest = rest.slice(end).trim();
    end = 0;
  }
  return found;
}

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
      { numRuns: casesOf(150, 300) },
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

const READERS = [
  ['lines', jsonLines, (row: string) => `{"a": 1}\n${row}\n`],
  ['an array', jsonArray, (row: string) => `[{"a": 1},\n${row}]`],
] as const;

describe.each(READERS)('%s', (_, read, textOf) => {
  test.each([
    ['{"a": "x\\ud800y"}', 'Row 2 on line 2, column "a": the text has the escape \\ud800 alone'],
    ['{"a": "\\uDE00\\ud83d"}', 'the escape \\ude00 alone'],
    ['{"a": [{"\\udfff": 1}]}', 'column "a": the name of a member has the escape \\udfff alone'],
    ['{"\\udbff": 1}', 'Row 2 on line 2: the name of a column has the escape \\udbff alone'],
    ['{"a": 1e400}', 'Row 2 on line 2, column "a": a number is beyond what float64 holds'],
    ['{"a": [[-1.5E+309]]}', 'column "a": a number is beyond'],
    [`{"a": ${'9'.repeat(310)}.5}`, 'column "a": a number is beyond'],
  ])('refuses what would be stored as something else: %s', async (row, message) => {
    const text = textOf(row);
    for (const cut of [0, text.length >> 1, text.length - 4]) {
      await expect(all(read(piecesOf(text, [cut]), 'x'))).rejects.toThrow(`x: Row 2`);
      await expect(all(read(piecesOf(text, [cut]), 'x'))).rejects.toThrow(message);
    }
  });

  test.each([
    ['{"a": "\\ud83d\\ude00"}', { a: '\u{1f600}' }],
    ['{"a": "\\\\ud800"}', { a: '\\ud800' }],
    ['{"a": 1e308}', { a: 1e308 }],
    ['{"a": 1e-400}', { a: 0 }],
    ['{"a": "1e400"}', { a: '1e400' }],
  ])('takes what can be stored: %s', async (row, expected) => {
    expect((await all(read(piecesOf(textOf(row)), 'x')))[1]?.row).toEqual(expected);
  });

  test('tells line and column of bytes that are not UTF-8, however they are cut', async () => {
    for (const bad of [
      [0xff],
      [0xe4, 0x41],
      [0xf0, 0x9f, 0x41],
      [0xc3, 0xc3],
      [0xed, 0xa0, 0x80],
    ]) {
      const [before, after] = textOf('{"a": "ü€😀#"}').split('#') as [string, string];
      const bytes = Buffer.concat([Buffer.from(before), Buffer.from(bad), Buffer.from(after)]);
      for (let cut = 0; cut <= bytes.length; cut++) {
        await expect(all(read(pieces(bytes, [cut, cut + 1]), 'x'))).rejects.toThrow(
          'x is not in UTF-8 on line 2, column 12.',
        );
      }
    }
    const open = Buffer.concat([Buffer.from(textOf('{"a": "ü')).subarray(0, -1), Buffer.of(0xe4)]);
    for (let cut = 0; cut <= open.length; cut++) {
      await expect(all(read(pieces(open, [cut]), 'x'))).rejects.toThrow(
        'x is not in UTF-8 on line 2, column 9.',
      );
    }
  });

  test('tells line and column of what is no JSON', async () => {
    const text = textOf('{"a": 1 "b": 2}');
    for (let cut = 0; cut < text.length; cut++) {
      await expect(all(read(piecesOf(text, [cut]), 'x'))).rejects.toThrow(
        /^x, line 2 is no JSON at column 9: (?!.*position)/,
      );
    }
  });
});

test('the column is that of the line where the row goes on', async () => {
  const text = '[\n  {"a": 1}, {"a": 1,\n\n  "b": 1 "c": 2}]';
  for (let cut = 0; cut < text.length; cut++) {
    await expect(all(jsonArray(piecesOf(text, [cut]), 'x'))).rejects.toThrow(
      'x, line 4 is no JSON at column 10',
    );
  }
  const same = '[\n  {"a": 1}, {"a": 1 "b": 2}]';
  for (let cut = 0; cut < same.length; cut++) {
    await expect(all(jsonArray(piecesOf(same, [cut]), 'x'))).rejects.toThrow(
      'x, line 2 is no JSON at column 21',
    );
  }
});

test('a row that would fill memory is refused', async () => {
  async function* endless(start: string): AsyncGenerator<Uint8Array> {
    yield Buffer.from(start);
    const more = Buffer.alloc(1 << 26, 'x');
    for (;;) yield more;
  }
  await expect(all(jsonLines(endless(''), 'x'))).rejects.toThrow('one row has more than');
  await expect(all(jsonArray(endless('[{"'), 'x'))).rejects.toThrow('one row has more than');
});
