/** What a compiled expression says of itself: columns, row ids, pruning, plans, slices, the cache. */
import { describe, expect, it } from 'vitest';
import {
  Field,
  Int32,
  Int64,
  makeData,
  RecordBatch,
  Schema,
  Struct,
  Utf8,
  vectorFromArray,
} from '../../src/arrow/apache.ts';
import { bindPredicate } from '../../src/sql/bind/index.ts';
import {
  type ColumnStatistics,
  compileExpression,
  compilePredicate,
  type Pruned,
} from '../../src/sql/expression.ts';
import { parseExpression } from '../../src/sql/parse/index.ts';
import { rows, schema, source } from '../helpers/expression-rows.ts';

describe('a compiled expression', () => {
  it('names the columns and paths it reads, once each, by their real names', async () => {
    const compiled = await compilePredicate(
      "ST.in.B = 'x' AND st.a > 1 AND mixedcase = _rowoffset",
      schema,
    );
    expect(compiled.columns).toEqual(['st', 'MixedCase']);
    expect(compiled.paths).toEqual([['st', 'in', 'b'], ['st', 'a'], ['MixedCase']]);
    expect([compiled.usesRowId, compiled.usesRowOffset]).toEqual([false, true]);
    expect((await compileExpression('s', schema)).column).toEqual(['s']);
    expect((await compileExpression('s || s', schema)).column).toBeNull();
  });

  it.each([
    "d < DATE '2024-03-31' - 90",
    "d < DATE '2024-03-31' - INTERVAL '90' DAY",
    "ts > TIMESTAMP '2024-03-31' - INTERVAL '1 day' * 2",
    'x > abs(CAST(-3 AS int) * 2.5) + 1',
  ])('compares with the constant that several steps give: %s', (sql) => {
    expect(bindPredicate(parseExpression(sql), schema).kind).toBe('compareConstant');
  });

  it('leaves a calculation that fails to the rows', () => {
    const bound = bindPredicate(parseExpression('i32 = (1 / (2 - 2)) + 3'), schema);
    expect(bound.kind).toBe('compare');
  });

  it('says its type', async () => {
    const type = async (sql: string): Promise<string> =>
      (await compileExpression(sql, schema)).typeName;
    expect(await type('i8 + i8')).toBe('int64');
    expect(await type('dict')).toBe('utf8');
    expect(await type('dec * dec')).toBe('decimal(20, 4)');
    expect(await type('ts')).toBe('timestamp(us)');
    expect(await type("date_trunc('day', tz)")).toBe('timestamp(ms, America/New_York)');
    expect(await type('f32 + 1')).toBe('float64');
  });

  it('gives the row ids it can only match', async () => {
    const ids = async (sql: string): Promise<unknown> =>
      (await compilePredicate(sql, schema)).rowIdSet();
    expect(await ids('_rowid = 7')).toEqual({ values: [7n], complete: true });
    expect(await ids('_rowid IN (9, 3, 9, 18446744073709551615)')).toEqual({
      values: [3n, 9n, 18446744073709551615n],
      complete: true,
    });
    expect(await ids('i32 > 0 AND _rowid IN (1, 2) AND 2 = _rowid')).toEqual({
      values: [2n],
      complete: false,
    });
    expect(await ids('_rowid = 1.5')).toEqual({ values: [], complete: true });
    expect(await ids('_rowid = 1 OR i32 = 1')).toBeNull();
    expect(await ids('NOT _rowid IN (1, 2)')).toBeNull();
    expect(await ids('_rowid > 5')).toBeNull();
    expect((await compilePredicate('_rowoffset IN (0, 5)', schema)).rowOffsetSet()?.values).toEqual(
      [0n, 5n],
    );
  });

  it('is compiled once for a schema', () => {
    expect(compilePredicate('i32 = 1', schema)).toBe(compilePredicate('i32 = 1', schema));
    expect(compilePredicate('i32 = 1', schema)).not.toBe(
      compilePredicate('i32 = 1', new Schema(schema.fields)),
    );
  });

  it('writes itself as SQL', async () => {
    const sql = "`two words`=1 and (s like 'a%' or not b) and x between 1 and 2 and tags[1]='a'";
    expect((await compilePredicate(sql, schema)).toSql()).toBe(
      `"two words" = 1 AND (s LIKE 'a%' OR NOT b) AND x BETWEEN 1 AND 2 AND (tags)[1] = 'a'`,
    );
  });

  it('reads every column of every type, whole and in slices', async () => {
    for (const field of schema.fields) {
      const sql = `"${field.name}" IS NOT NULL`;
      expect(await rows(sql), sql).toEqual([0, 1, 3]);
      const compiled = await compileExpression(`coalesce("${field.name}", NULL)`, schema);
      const sliced = {
        numRows: 2,
        getChild: (name: string) => source.getChild(name)?.slice(1, 3) ?? null,
      };
      const whole = compiled.evaluate(source);
      const part = compiled.evaluate(sliced);
      for (const [i, row] of [1, 2].entries())
        expect(String(part.get(i)), field.name).toBe(String(whole.get(row)));
    }
  });

  it('reads vectors of several chunks', async () => {
    const two = vectorFromArray([1, 2, null], new Int32()).concat(
      vectorFromArray([4, null], new Int32()),
    );
    const one = new Schema([new Field('v', new Int32(), true)]);
    const compiled = await compilePredicate('v >= 2', one);
    expect([...compiled.select({ numRows: 5, getChild: () => two })]).toEqual([1, 3]);
  });

  it('takes a batch without rows', async () => {
    const fields = [new Field('id', new Int64(), true), new Field('s', new Utf8(), true)];
    const children = fields.map(({ type }) => makeData({ type, length: 0, nullCount: 0 } as never));
    const batch = new RecordBatch(
      new Schema(fields),
      makeData({ type: new Struct(fields), length: 0, nullCount: 0, children }),
    );
    for (const sql of [
      "id > 1 AND s LIKE '%a%'",
      "lower(s) IN ('a', 'b')",
      'CASE WHEN id > 1 THEN true END',
    ]) {
      expect((await compilePredicate(sql, batch.schema)).select(batch).length).toBe(0);
    }
  });
});

describe('pruning', () => {
  const known: Readonly<Record<string, ColumnStatistics>> = {
    i32: { rows: 10, nulls: 0, min: 10, max: 20 },
    id: { rows: 10, nulls: 3, min: 10n, max: 20n },
    x: { rows: 10, nulls: 0, min: 0.5, max: 1.5, hasNaN: false },
    f32: { rows: 10, nulls: 0, min: 0.5, max: 1.5 },
    s: { rows: 10, nulls: 0, min: 'banana', max: 'cherry' },
    b: { rows: 10, nulls: 0, min: true, max: true },
    ts: { rows: 10, nulls: 0, min: 1577836800000000n, max: 1577836800000000n },
    d: { rows: 10, nulls: 10 },
    'st.a': { rows: 10, nulls: 0, min: 1, max: 1 },
  };
  const TABLE: readonly (readonly [string, Pruned])[] = [
    ['i32 > 20', 'none'],
    ['i32 > 19', 'some'],
    ['i32 > 9', 'all'],
    ['i32 >= 9.5', 'all'],
    ['i32 = 9.5', 'none'],
    ['i32 <> 9.5', 'all'],
    ['id > 9', 'some'],
    ['id > 20', 'none'],
    ['id IS NULL', 'some'],
    ['i32 IS NULL', 'none'],
    ['i32 IS NOT NULL', 'all'],
    ['d IS NULL', 'all'],
    ["d > '2020-01-01'", 'none'],
    ['i32 BETWEEN 5 AND 30', 'all'],
    ['i32 BETWEEN 21 AND 30', 'none'],
    ['i32 NOT BETWEEN 21 AND 30', 'all'],
    ['i32 IN (1, 2, 30)', 'none'],
    ['i32 IN (1, 15)', 'some'],
    ['i32 NOT IN (1, 2)', 'all'],
    ['i32 NOT IN (1, 2, NULL)', 'none'],
    ['x < 2', 'all'],
    ['x > 1.5', 'none'],
    ['f32 < 2', 'some'],
    ['f32 > 1.5', 'some'],
    ["s < 'a'", 'none'],
    ["s LIKE 'ap%'", 'none'],
    ["s LIKE 'ba%'", 'some'],
    ["s LIKE 'd%'", 'none'],
    ["s NOT LIKE 'd%'", 'all'],
    ["s ILIKE 'd%'", 'some'],
    ['b', 'all'],
    ['NOT b', 'none'],
    ['b IS TRUE', 'all'],
    ["ts = timestamp '2020-01-01'", 'all'],
    ["ts > '2020-01-01'", 'none'],
    ['st.a = 1', 'all'],
    ['i32 > 20 AND unknown > 1', 'none'],
    ['i32 > 9 OR i8 > 1', 'all'],
    ['i32 > 20 OR i8 > 1', 'some'],
    ['i32 + 1 > 100', 'some'],
    ['FALSE', 'none'],
  ];

  it.each(TABLE)('%s: %s', async (sql, expected) => {
    const compiled = await compilePredicate(sql.replace('unknown', 'u8'), schema);
    expect(compiled.prune((path) => known[path.join('.')])).toBe(expected);
  });
});
