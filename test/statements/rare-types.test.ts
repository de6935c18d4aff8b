/** Columns of rare types in joins, IN and orders: nulls alone, tens, and times in several units. */
import { beforeAll, expect, test } from 'vitest';
import {
  Decimal,
  Field,
  Int32,
  Null,
  Schema,
  TimeNanosecond,
  TimeSecond,
} from '../../src/arrow/apache.ts';
import { connect } from '../../src/sdk/connect.ts';
import type { Connection } from '../../src/sdk/connection.ts';
import { memoryFs } from '../helpers/memory-fs.ts';

let db: Connection;
beforeAll(async () => {
  db = await connect('/c', { fs: memoryFs() });
  const fields = [
    new Field('id', new Int32(), true),
    new Field('n', new Null(), true),
    new Field('tens', new Decimal(-1, 9, 128), true),
    new Field('short', new TimeSecond(), true),
    new Field('long', new TimeNanosecond(), true),
  ];
  const t = await db.createTable('t', [], [], { schema: new Schema(fields) });
  await t.add([
    { id: 20, n: null, tens: '20', short: '10:00:00', long: '10:00:00.000000001' },
    { id: 10, n: null, tens: '-30', short: '11:00:00', long: '10:00:00' },
  ]);
});

test.each<[sql: string, rows: unknown[][]]>([
  ['SELECT a.id FROM t a JOIN t b ON a.n = b.id', []],
  ['SELECT a.id FROM t a LEFT JOIN t b ON a.n = b.short', [[20], [10]]],
  ['SELECT id FROM t WHERE n IN (SELECT id FROM t)', []],
  ['SELECT id FROM t WHERE (id, n) IN (SELECT id, tens FROM t)', []],
  ['SELECT id FROM t ORDER BY n, id LIMIT 1', [[10]]],
  ['SELECT n, id FROM t ORDER BY ALL LIMIT 1', [[null, 10]]],
  ['SELECT a.id FROM t a JOIN t b ON a.id = b.tens', [[20]]],
  ['SELECT id FROM t UNION SELECT tens FROM t ORDER BY 1', [['-30'], ['10'], ['20']]],
  [
    'SELECT floor(tens), sign(tens), round(tens, -2), -tens FROM t',
    [
      ['20', '1', '0', '-20'],
      ['-30', '-1', '0', '30'],
    ],
  ],
  ['SELECT a.id, b.id FROM t a JOIN t b ON a.short = b.long', [[20, 10]]],
  ['SELECT id FROM t WHERE short IN (SELECT long FROM t)', [[20]]],
])('%s', async (sql, rows) => {
  const found = await db.sql<Record<string, unknown>>(sql).toArray();
  expect(found.map((row) => Object.values(row))).toEqual(rows);
});
