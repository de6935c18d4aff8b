/**
 * Writers of Lance append rows without a struct, which is null there as no file holds it. Lance 2.0 has no form for
 * null structs in files: commits of this package leave such a table open for Lance.
 */
import { beforeEach, expect, test } from 'vitest';
import {
  Field,
  Int32,
  type RecordBatchStream,
  recordBatchStream,
  Struct,
  Table,
  type Vector,
  vectorFromArray,
} from '../../../src/arrow/apache.ts';
import { connect } from '../../../src/sdk/connect.ts';
import { filesOf } from '../../helpers/catalog-files.ts';
import { memoryFs } from '../../helpers/catalogs.ts';
import { LanceClient } from '../../helpers/lance-client.ts';

const POINT = new Struct([new Field('x', new Int32(), true)]);
let db: Awaited<ReturnType<typeof connect>>;
let client: LanceClient;

beforeEach(async () => {
  const fs = memoryFs();
  db = await connect('/c', { fs, lance: 'write' });
  await db.namespace.createTable({ id: ['t'] }, numbers([0, 1], true));
  client = new LanceClient(filesOf(fs, '/c'), 'data/t.table');
});

function numbers(ids: readonly number[], withPoints: boolean): RecordBatchStream {
  const id = vectorFromArray(ids, new Int32());
  const points = ids.map((x) => ({ x }));
  const columns: Record<string, Vector> = { id };
  if (withPoints) columns.point = vectorFromArray(points, POINT);
  const table = new Table(columns);
  return recordBatchStream(table.schema, table.batches);
}

/** Rows of a client that leaves the struct out. */
async function appendWithout(ids: readonly number[]): Promise<void> {
  client.open();
  const { manifest } = client;
  const { fields } = manifest;
  manifest.fields = fields.filter(({ name }) => name === 'id');
  const staged = client.append(numbers(ids, false), ids.length);
  manifest.fields = fields;
  const request = await staged;
  await db.namespace.createTableVersion({ id: ['t'], ...request });
}

const problem = async (): Promise<unknown> =>
  (
    (await db.namespace.describeTable({ id: ['t'], load_detailed_metadata: true })) as {
      lance?: { reason?: string };
    }
  ).lance;
const rowsOf = async (): Promise<unknown[]> =>
  (await (await db.openTable('t')).query().toArray()).map(({ id, point }) => [
    id,
    point === null ? null : point.x,
  ]);

test('stays open after a column was added', async () => {
  await appendWithout([2, 3]);
  const table = await db.openTable('t');
  await table.addColumns([{ name: 'twice', valueSql: 'id * 2' }]);
  expect(await problem()).toEqual({ opens: true });
  const twices = (await table.query().toArray()).map(({ twice }) => Number(twice));
  expect(twices).toEqual([0, 2, 4, 6]);
  client.open();
  await db.namespace.createTableVersion({
    id: ['t'],
    ...client.delete(new Map([[1, [0]]])),
  });
  expect(await rowsOf()).toEqual([
    [0, 0],
    [1, 1],
    [3, null],
  ]);
});

test('stays open after optimize, which joins rows with the struct and rows without it', async () => {
  await appendWithout([2, 3]);
  await appendWithout([4]);
  await (await db.openTable('t')).add(numbers([5], true) as never);
  await (await db.openTable('t')).add(numbers([6], true) as never);
  const report = await (await db.openTable('t')).optimize();
  expect(report.compaction).toMatchObject({ fragmentsRemoved: 4, fragmentsAdded: 2 });
  expect(await problem()).toEqual({ opens: true });
  const rows = [
    [0, 0],
    [1, 1],
    [2, null],
    [3, null],
    [4, null],
    [5, 5],
    [6, 6],
  ];
  expect(await rowsOf()).toEqual(rows);
  const again = await (await db.openTable('t')).optimize();
  expect(again.compaction).toMatchObject({ fragmentsRemoved: 0 });
  // A column that all rows get then.
  await (await db.openTable('t')).addColumns([{ name: 'twice', valueSql: 'id * 2' }]);
  await (await db.openTable('t')).optimize();
  expect(await problem()).toEqual({ opens: true });
  expect(await rowsOf()).toEqual(rows);
  expect((await db.namespace.verify?.({}))?.problems).toEqual([]);
});

test('a table of structs alone is written as it is', async () => {
  await db.namespace.createTable({ id: ['u'] }, structs([1]));
  const table = await db.openTable('u');
  await table.add(structs([2]) as never);
  await table.optimize();
  expect(await table.countRows()).toBe(2);
});

function structs(xs: readonly number[]): RecordBatchStream {
  const table = new Table({
    point: vectorFromArray(
      xs.map((x) => ({ x })),
      POINT,
    ),
  });
  return recordBatchStream(table.schema, table.batches);
}
