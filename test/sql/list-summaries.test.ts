/** Sums, means, extremes, distinct items and texts of lists; whole columns as single values. */
import { describe, expect, it } from 'vitest';
import { Decimal, Field, Float64, Int64, List, Schema } from '../../src/arrow/apache.ts';
import { recordBatch } from '../../src/arrow/arrow-data.ts';
import { RequestMemory } from '../../src/request-memory.ts';
import { compileExpression } from '../../src/sql/expression.ts';
import { LIST_SUMMARIES, listMean } from '../../src/sql/functions/list-summaries.ts';
import type { Column, ListColumn } from '../../src/sql/typed/column.ts';
import { reader } from '../../src/sql/typed/column.ts';

const none = new Schema([]);

async function resultOf(sql: string): Promise<unknown> {
  const expression = await compileExpression(sql, none);
  const value: unknown = expression.evaluate(recordBatch(none, [], 1)).get(0);
  return typeof value === 'object' && value !== null ? [...(value as Iterable<unknown>)] : value;
}

describe('a list', () => {
  it.each([
    ['list_sum([1, NULL, 3])', 4n],
    ['list_sum([1.5, 2.5])', 4],
    ["CAST(list_sum(arrow_cast([1, 2], 'List(Decimal128(5, 2))')) AS varchar)", '3.00'],
    ['list_sum([])', null],
    ['list_sum([NULL])', null],
    ['list_sum(NULL)', null],
    ["list_sum(arrow_cast(NULL, 'List(Int32)'))", null],
    ["list_min(arrow_cast(NULL, 'List(Utf8)'))", null],
    ["list_distinct(arrow_cast(NULL, 'List(Utf8)'))", null],
    ['array_element(NULL, 1)', null],
    ['list_avg([1, 2])', 1.5],
    ['list_avg([1, NULL, 4.5])', 2.75],
    ['list_avg([])', null],
    ["list_avg(arrow_cast([0.06, -1.5, 0.06], 'List(Decimal128(12, 2))'))", -0.46],
    ['list_avg([9007199254740993, 9007199254740993])', 9007199254740992],
    ["list_min(['b', 'a', NULL])", 'a'],
    ["array_max(['b', 'a', NULL])", 'b'],
    ["list_max([1.0, CAST('NaN' AS double)])", Number.NaN],
    ['list_min([])', null],
    ['list_distinct([2, 1, NULL, 2])', [2n, 1n]],
    ['array_distinct([])', []],
    ["array_to_string([1, NULL, 3], '-')", '1-3'],
    ["list_to_string(['a', 'b'], '')", 'ab'],
    ["array_to_string([], ',')", ''],
    ['array_to_string([1], NULL)', null],
  ])('%s', async (sql, expected) => {
    expect(await resultOf(sql)).toEqual(expected);
  });

  it.each([
    ["list_sum(['a'])", 'list_sum takes a list of numbers, not list<utf8>'],
    ['list_min([[1]])', 'takes a list of items that have an order'],
    ['list_sum([9223372036854775807, 1])', 'The result of list_sum is out of range'],
    ['list_avg([1], [2])', 'list_avg takes one list, not 2 arguments'],
    ["array_to_string([[1]], ',')", 'have no text form'],
    ['array_to_string([1])', 'takes a list and a text, not 1 arguments'],
  ])('%s is refused', async (sql, message) => {
    await expect(resultOf(sql)).rejects.toThrow(message);
  });
});

describe('a column of lists', () => {
  const memory = new RequestMemory(2 ** 30).batch();
  const lists = [[3, 4], [], [2 ** 50, -1, 7], null];
  const items = lists.flatMap((list) => list ?? []);
  const ends = Int32Array.of(2, 2, 5, 5);
  const starts = Int32Array.of(0, 2, 2, 5);
  const valid = Uint8Array.of(1, 1, 1, 0);
  const column = (child: Column): ListColumn => ({
    form: 'list',
    ...{ type: new List(new Field('item', child.type)), length: 4, starts, ends, child, valid },
  });

  it.each([
    ['list_sum', new Float64(), Float64Array.from(items)],
    ['list_avg', new Float64(), Float64Array.from(items)],
    ['list_sum', new Int64(), BigInt64Array.from(items, BigInt)],
    ['list_avg', new Int64(), BigInt64Array.from(items, BigInt)],
    ['list_sum', new Decimal(2, 38, 128), BigInt64Array.from(items, BigInt)],
    ['list_avg', new Decimal(2, 38, 128), BigInt64Array.from(items, BigInt)],
  ])('gives %s of %s in one pass', (name, type, values) => {
    const form = values instanceof Float64Array ? 'number' : 'wide';
    const child = { form, type, length: 5, values, valid: null } as Column;
    const isWide = form === 'wide';
    const plain = lists.map((list) => list?.map((item) => (isWide ? BigInt(item) : item)) ?? null);
    const single: Column = { form: 'values', type, length: 4, values: plain };
    const run = name === 'list_avg' ? listMean(type) : LIST_SUMMARIES[name];
    const result = name === 'list_avg' ? new Float64() : type;
    const whole = run?.evaluate([column(child)], 4, result, memory) as Column;
    // Numbers for integers too: nothing was computed list by list.
    expect(whole.form).toBe('number');
    const [one, other] = [
      reader(whole),
      reader(run?.evaluate([single], 4, result, memory) as Column),
    ];
    for (let row = 0; row < 4; row++) expect(one(row)).toEqual(other(row));
  });

  it('leaves sums beyond 2^53 to bigints', () => {
    // On the way to the last sum, doubles would round.
    const values = BigInt64Array.of(2n ** 52n, 2n ** 52n, 2n ** 53n - 1n, 2n, -10n);
    const child: Column = { form: 'wide', type: new Int64(), length: 5, values, valid: null };
    const made = LIST_SUMMARIES.list_sum?.evaluate(
      [column(child)],
      4,
      new Int64(),
      memory,
    ) as Column;
    const read = reader(made);
    expect([read(0), read(1), read(2), read(3)]).toEqual([2n ** 53n, null, 2n ** 53n - 9n, null]);
  });
});
