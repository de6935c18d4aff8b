/** What an expression makes of a batch is counted before it is made, and bounded by requestMemory. */
import { describe, expect, test } from 'vitest';
import {
  Dictionary,
  Field,
  Int32,
  Int64,
  type RecordBatch,
  Schema,
  Utf8,
  vectorFromArray,
} from '../../src/arrow/apache.ts';
import { recordBatch } from '../../src/arrow/arrow-data.ts';
import { connect } from '../../src/index.ts';
import { RequestMemory } from '../../src/request-memory.ts';
import { compileExpression, compilePredicate } from '../../src/sql/expression.ts';
import { memoryFs } from '../helpers/memory-fs.ts';
import { ask, restPair } from '../helpers/rest-pair.ts';
import { temporaryFolder } from '../helpers/temporary.ts';

const schema = new Schema([new Field('s', new Utf8(), true), new Field('n', new Int64(), true)]);

function batchOf(texts: readonly (string | null)[]): RecordBatch {
  const numbers = vectorFromArray(
    texts.map((_, at) => BigInt(at)),
    new Int64(),
  );
  const columns = [vectorFromArray(texts, new Utf8()), numbers].map(({ data }) => data[0] as never);
  return recordBatch(schema, columns, texts.length);
}

/** Whether the values fit into a share of one batch of so many bytes. */
async function fits(
  sql: string,
  texts: readonly (string | null)[],
  bytes: number,
): Promise<boolean> {
  const expression = await compileExpression(sql, schema);
  try {
    expression.evaluate(batchOf(texts), { memory: new RequestMemory(bytes * 4) });
    return true;
  } catch (error) {
    expect(error).toMatchObject({
      code: 'InvalidInput',
      message: expect.stringContaining('requestMemory'),
      details: { limit: 'requestMemory', requestMemory: bytes * 4 },
    });
    return false;
  }
}

const TEN = 'abcdefghij';
/** A text of ten letters while it is computed, and its bytes in the column. */
const TEXT = 40 + 2 * 10;

describe('values are counted', () => {
  test.each([
    ['upper(s)', 10 + 10],
    ['lower(s)', 10 + 10],
    ['initcap(s)', TEXT + 10],
    ['reverse(s)', 10 + 10],
    ['upper(reverse(s))', 2 * 10 + 10],
    ['repeat(s, 3)', 40 + 2 * 30 + 30],
    ["overlay(s, 'X', 2)", TEXT + 10],
    ["overlay(s, 'X', 11, -10)", 40 + 2 * 21 + 21],
    ["rpad(s, 30, 'ab')", 30 + 30],
    ["lpad(s, 30, 'ab')", 30 + 30],
    ["lpad(s, 30, 'é')", 40 + 2 * 30 + 50],
    // As much as if each byte were replaced.
    ["replace(s, 'a', '12345')", 5 * 10 + 14],
    ['s || s || s', 30 + 30],
    ['concat(s, s, s)', 30 + 30],
    ['CAST(n AS text)', 1 + 1],
    ['CAST(n * 1.5e0 AS text)', 96 + 3],
    // Joined, in one case but for ß, converted as a text, and copied with it.
    ["upper('straße' || s)", 17 + 17 + (40 + 2 * 16) + (17 + 17) + 17],
    ['substr(s, 1, 4)', 4],
    ["split_part(s, 'c', 1)", 2],
    ['s', 0],
    // Numbers refer to nothing of the texts that they were computed from.
    ['length(repeat(s, 3)) + length(repeat(s, 3))', 40 + 2 * 30],
    ["CASE WHEN repeat(s, 3) = 'x' THEN 'a' ELSE 'b' END", 40 + 2 * 30],
  ])('%s takes %i bytes', async (sql, bytes) => {
    expect(await fits(sql, [TEN], bytes)).toBe(true);
    if (bytes > 0) expect(await fits(sql, [TEN], bytes - 1)).toBe(false);
  });

  test('a list is counted with its items', async () => {
    const bytes = 32 + 3 * 8 + 3 * 16 + 3 * 10;
    expect(await fits('make_array(s, s, s)', [TEN], bytes)).toBe(true);
    expect(await fits('make_array(s, s, s)', [TEN], bytes - 1)).toBe(false);
  });

  test('a constant counts for every row that it is written for', async () => {
    const rows = new Array<string>(100).fill('x');
    expect(await fits("'abcdefghij'", rows, 1000)).toBe(true);
    expect(await fits("'abcdefghij'", rows, 999)).toBe(false);
  });

  test('each row counts, and null does not', async () => {
    for (const [sql, bytes] of Object.entries({ 'upper(s)': 20, 'initcap(s)': TEXT + 10 })) {
      expect(await fits(sql, [TEN, null, TEN], 2 * bytes)).toBe(true);
      expect(await fits(sql, [TEN, null, TEN], 2 * bytes - 1)).toBe(false);
    }
  });

  test('entries of a dictionary that no row uses cost nothing', async () => {
    const type = new Dictionary(new Utf8(), new Int32());
    const { data } = vectorFromArray(['long '.repeat(100), TEN, TEN, TEN], type).slice(1);
    const coded = new Schema([new Field('d', type, true)]);
    const expression = await compileExpression('upper(d)', coded);
    const batch = recordBatch(coded, [data[0] as never], 3);
    const memory = new RequestMemory(4 * (10 + 3 * 10));
    expect(expression.evaluate(batch, { memory }).get(2)).toBe(TEN.toUpperCase());
    const less = new RequestMemory(memory.limit - 4);
    expect(() => expression.evaluate(batch, { memory: less })).toThrow('requestMemory');
  });

  test('what other parts of the request hold is not there for a batch', async () => {
    const expression = await compileExpression('upper(s)', schema);
    const memory = new RequestMemory(1000);
    memory.take(1000 - 20, 'The rows held');
    expect(expression.evaluate(batchOf([TEN]), { memory }).get(0)).toBe('ABCDEFGHIJ');
    memory.take(1, 'The rows held');
    expect(() => expression.evaluate(batchOf([TEN]), { memory })).toThrow('requestMemory');
    expect(() => memory.take(70, 'The rows held')).toThrow('The rows held would take 70 bytes');
    memory.giveBack(1000);
    expect(memory.taken).toBe(0);
  });
});

describe('functions of text', () => {
  test.each([
    ["reverse('añ😀b')", 'b😀ña'],
    [`reverse('${'ab'.repeat(5000)}😀')`, `😀${'ba'.repeat(5000)}`],
    ["btrim('😀a😀b😀', '😀')", 'a😀b'],
    ["rtrim('ab\u{1f600}', '\u{1f601}')", 'ab\u{1f600}'],
    ["ltrim('😀😀a', 'x😀')", 'a'],
    ["substr('a😀bc😀d', 2, 3)", '😀bc'],
    ["left('😀😀b', 2)", '😀😀'],
    ["right('b😀c😀', 2)", 'c😀'],
    ["lpad('x', 4, '😀a')", '😀a😀x'],
    ["initcap('ÉCOLE d''été 3x 😀y')", "École D'Été 3x 😀Y"],
    ["split_part('a,b,,c', ',', 3)", ''],
    ["split_part('a,b,,c', ',', 4)", 'c'],
    ["split_part('a,b,,c', ',', 5)", ''],
    ["split_part('a,b,,c', ',', -1)", 'c'],
    ["split_part('a,b,,c', ',', -4)", 'a'],
    ["split_part('a,b,,c', ',', -5)", ''],
    ["split_part('abc', '', 1)", 'abc'],
    ["split_part('abc', '', 2)", ''],
    ["replace('aaa', 'aa', '$&')", '$&a'],
    ["replace('abc', '', 'x')", 'abc'],
    ["concat('a', NULL, n, 'b')", 'a0b'],
    ["'a' || n || 'b'", 'a0b'],
    ['concat()', ''],
    ["'a' || NULL || 'b'", null],
  ])('%.60s', async (sql, value) => {
    const expression = await compileExpression(sql, schema);
    expect(expression.evaluate(batchOf(['x'])).get(0)).toBe(value);
  });
});

describe('a request that would take too much is refused by the name of its limit', () => {
  const rows = Array.from({ length: 2000 }, (_, id) => ({ id, s: `row ${id}` }));
  const HOSTILE = [
    'upper(repeat(s, 20000))',
    'repeat(repeat(s, 2000), 1000)',
    "rpad(concat(rpad(s, 9000), rpad(s, 9000)), 200000, 'x')",
    "replace(repeat(s, 1000), 'o', repeat(s, 1000))",
    "repeat('x', 10000000)",
    `make_array(${new Array(4000).fill('s').join(', ')})`,
  ];

  test.each(HOSTILE)('in the program: %.50s', async (sql) => {
    const db = await connect('/root', { fs: memoryFs(), requestMemory: 64 * 1024 * 1024 });
    const table = await db.createTable('t', rows);
    const details = { limit: 'requestMemory', requestMemory: 64 * 1024 * 1024 };
    const refused = { code: 'InvalidInput', details };
    const length = sql.startsWith('make') ? 'array_length' : 'length';
    const filter = `${length}(${sql}) = 1 AND id >= 0`;
    const selected = table.query().select({ x: sql }).toArray();
    await expect(selected).rejects.toMatchObject(refused);
    if (!sql.startsWith("repeat('x'")) {
      await expect(table.query().where(filter).toArray()).rejects.toMatchObject(refused);
      await expect(table.countRows(filter)).rejects.toMatchObject(refused);
      await expect(table.delete(filter)).rejects.toMatchObject(refused);
    }
    if (!sql.startsWith('make')) {
      const values = { s: sql };
      await expect(table.update({ valuesSql: values })).rejects.toMatchObject(refused);
      const added = table.addColumns([{ name: 'x', valueSql: sql }]);
      await expect(added).rejects.toMatchObject(refused);
    }
    expect(await table.countRows()).toBe(2000);
    expect(await table.version()).toBe(1);
  });

  test('on a server: 400, with the name', async () => {
    const pair = await restPair({ root: temporaryFolder(), limits: { requestMemory: 1 << 20 } });
    await pair.client.createTable({ id: ['t'] }, {
      schema,
      [Symbol.asyncIterator]: async function* () {
        yield batchOf(rows.map(({ s }) => s));
      },
    } as never);
    const body = (filter: string): object => ({ filter, k: 10, vector: {} });
    const refused = await ask(pair, 'POST', '/v1/table/t/query', body('upper(repeat(s, 200)) = s'));
    expect(refused).toMatchObject({ status: 400 });
    expect(JSON.stringify(refused.json)).toContain('requestMemory (1048576 bytes)');
    expect(await ask(pair, 'POST', '/v1/table/t/query', body('upper(s) = s'))).toMatchObject({
      status: 200,
    });
  });
});

test('a text that is too long while constants are folded is left to the rows', async () => {
  const { columns } = await compilePredicate("length(repeat('abc', 3000000)) = 9000000", schema);
  expect(columns).toEqual([]);
});
