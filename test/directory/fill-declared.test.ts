/** Rows that are inserted into a table that is only declared: they are its first version. */

import {
  type DataType,
  Field,
  Int32,
  Struct,
  Table,
  tableFromArrays,
  Utf8,
  vectorFromArray,
} from 'apache-arrow';
import { describe, expect, test } from 'vitest';
import { recordBatchStream } from '../../src/arrow/apache.ts';
import { openDirectoryNamespace } from '../../src/directory/directory-namespace.ts';
import { strictFileSystem } from '../../src/store/disk/strict-fs.ts';
import { memoryFs } from '../helpers/catalogs.ts';
import { FaultyFs } from '../helpers/faulty-fs.ts';
import { idsOf, people } from '../suites/namespace/context.ts';

const t = ['t'];

/** The type of a column of such values. */
function typeOf(value: unknown): DataType {
  if (typeof value === 'number') return new Int32();
  if (typeof value === 'string') return new Utf8();
  const fields = Object.entries(value as object).map(([name, one]) => new Field(name, typeOf(one)));
  return new Struct(fields.map(({ name, type }) => new Field(name, type, true)));
}

/** A row of other columns. */
function ofOthers() {
  const { schema, batches } = tableFromArrays({ else: Int32Array.of(1) });
  return recordBatchStream(schema, batches);
}

async function declared() {
  const fs = memoryFs();
  const catalog = await openDirectoryNamespace({ root: '/c', fs });
  await catalog.declareTable({ id: t, properties: { k: 'v' } });
  return { fs, catalog };
}

test.each([undefined, 'append', 'overwrite'])('an insert with mode %s fills it', async (mode) => {
  const { catalog } = await declared();
  const request = { id: t, ...(mode === undefined ? {} : { mode }) };
  const answer = await catalog.insertIntoTable(request, people(2));
  expect(answer).toMatchObject({ version: 1, num_inserted_rows: 2 });
  expect(await idsOf(catalog, t)).toEqual([0, 1]);
  const found = await catalog.describeTable({ id: t, load_detailed_metadata: true });
  expect(found).toMatchObject({ properties: { k: 'v' }, is_only_declared: false, version: 1 });
  await catalog.insertIntoTable({ id: t }, people(1, 2));
  expect(await idsOf(catalog, t)).toEqual([0, 1, 2]);
  expect((await catalog.verify({})).problems).toEqual([]);
});

test('writers that insert at the same moment: all rows are there', async () => {
  for (let round = 0; round < 5; round++) {
    const { fs, catalog } = await declared();
    const other = await openDirectoryNamespace({ root: '/c', fs });
    const answers = await Promise.all(
      [catalog, other, catalog, other, catalog, other].map((one, at) =>
        one.insertIntoTable({ id: t }, people(2, at * 2)),
      ),
    );
    const versions = answers.map(({ version }) => version).toSorted();
    expect(versions).toEqual([1, 2, 3, 4, 5, 6]);
    const ids = (await idsOf(catalog, t)).toSorted((a, b) => a - b);
    expect(ids).toEqual(Array.from({ length: 12 }, (_, at) => at));
    expect((await catalog.verify({})).problems).toEqual([]);
  }
});

test('an overwrite that meets a first insert leaves its own rows, or both follow each other', async () => {
  for (let round = 0; round < 5; round++) {
    const { fs, catalog } = await declared();
    const other = await openDirectoryNamespace({ root: '/c', fs });
    const mode = 'overwrite';
    await Promise.all([
      catalog.insertIntoTable({ id: t, mode }, people(2)),
      other.insertIntoTable({ id: t, mode }, people(1, 7)),
    ]);
    expect([[0, 1], [7]]).toContainEqual(await idsOf(catalog, t));
    expect((await catalog.listTableVersions({ id: t })).versions).toHaveLength(2);
    expect((await catalog.verify({})).problems).toEqual([]);
  }
});

test('writers whose columns have other orders: all rows are there, in columns of the winner', async () => {
  const list = (values: readonly number[]) => ({ a: values[0], b: { c: values[1], d: 'x' } });
  const orders = [
    (id: number) => ({ id, name: `n${id}`, s: list([id, 1]) }),
    (id: number) => ({ s: { b: { d: 'x', c: 1 }, a: id }, name: `n${id}`, id }),
    // Without a column: it is null there.
    (id: number) => ({ name: `n${id}`, id }),
  ];
  let met = 0;
  for (let round = 0; round < 8; round++) {
    const { fs, catalog } = await declared();
    const other = await openDirectoryNamespace({ root: '/c', fs });
    const outcomes = await Promise.allSettled(
      [catalog, other, other, catalog].map((one, at) => {
        const of = orders[(round + at) % 3] as (typeof orders)[number];
        const rows = Array.from({ length: 3 }, (_, row) => of(10 * at + row));
        const { schema, batches } = new Table({
          ...Object.fromEntries(
            Object.keys(rows[0] as object).map((name) => [
              name,
              vectorFromArray(
                rows.map((row) => row[name as 'id']),
                typeOf(rows[0]?.[name as 'id']),
              ),
            ]),
          ),
        });
        return one.insertIntoTable({ id: t }, recordBatchStream(schema, batches));
      }),
    );
    // One that has a column which the first one lacks is refused, as it is later.
    const refused = outcomes.flatMap((one) => (one.status === 'rejected' ? [one.reason] : []));
    for (const error of refused) expect(error).toMatchObject({ code: 'TableSchemaValidation' });
    const stream = await catalog.queryTable({ id: t, vector: {}, k: 100 });
    const found: Record<string, unknown>[] = [];
    for await (const batch of stream) for (const row of batch) found.push(row?.toJSON() ?? {});
    const names = found.map(({ id, name }) => `${id} ${name}`).toSorted();
    const landed = outcomes.flatMap(({ status }, at) => (status === 'fulfilled' ? [at] : []));
    const wanted = landed.flatMap((at) => [0, 1, 2].map((row) => 10 * at + row));
    expect(names).toEqual(wanted.map((id) => `${id} n${id}`).toSorted());
    for (const { id, s } of found) {
      if (s === null || s === undefined) continue;
      expect(JSON.parse(JSON.stringify(s))).toEqual({ a: id, b: { c: 1, d: 'x' } });
    }
    if (landed.length > 1) met += 1;
    const { problems, leftovers } = await catalog.verify({});
    const files = leftovers?.filter(({ kind }) => kind !== 'temporary');
    expect([problems, files]).toEqual([[], []]);
  }
  expect(met).toBeGreaterThan(3);
});

test('one that another overtook, with columns in another order, killed after every call: all rows or none', async () => {
  const turned = (first: number) => {
    const ids = [first, first + 1];
    const { schema, batches } = new Table({
      name: vectorFromArray(
        ids.map((id) => `n${id}`),
        new Utf8(),
      ),
      id: vectorFromArray(ids, new Int32()),
    });
    return { schema, batches };
  };
  let kills = 0;
  for (let at = 1; ; at += 1) {
    const { fs, catalog } = await declared();
    const faulty = new FaultyFs(strictFileSystem(fs));
    const killed = await openDirectoryNamespace({ root: '/c', fs: faulty.fs });
    const { schema, batches } = turned(5);
    const overtaken = async function* () {
      await catalog.insertIntoTable({ id: t }, people(2));
      faulty.arm({ kind: 'kill', at });
      yield* batches;
    };
    const outcome = await killed
      .insertIntoTable({ id: t }, recordBatchStream(schema, overtaken()))
      .then(
        () => true,
        () => false,
      );
    const healthy = await openDirectoryNamespace({ root: '/c', fs });
    const found = (await idsOf(healthy, t)).join();
    expect(outcome ? ['0,1,5,6'] : ['0,1', '0,1,5,6'], `call ${at}`).toContain(found);
    expect((await healthy.verify({})).problems).toEqual([]);
    await healthy.insertIntoTable({ id: t }, people(1, 9));
    expect((await idsOf(healthy, t)).join()).toBe(`${found},9`);
    if (!faulty.fired) break;
    kills += 1;
  }
  expect(kills).toBeGreaterThan(20);
}, 60_000);

test('one whose columns do not fit those of the first is refused, and leaves nothing', async () => {
  for (let round = 0; round < 5; round++) {
    const { fs, catalog } = await declared();
    const other = await openDirectoryNamespace({ root: '/c', fs });
    const outcomes = await Promise.allSettled([
      catalog.insertIntoTable({ id: t }, people(2)),
      other.insertIntoTable({ id: t }, ofOthers()),
    ]);
    const [refused, ...more] = outcomes.filter(({ status }) => status === 'rejected');
    expect(more).toEqual([]);
    expect(refused).toMatchObject({ reason: { code: 'TableSchemaValidation' } });
    expect((await catalog.listTableVersions({ id: t })).versions).toHaveLength(1);
    const { problems, leftovers } = await catalog.verify({});
    // A writer stays announced while its process lives; no rows are left of it.
    const files = leftovers?.filter(({ kind }) => kind !== 'temporary');
    expect([problems, files]).toEqual([[], []]);
  }
});

describe('a merge', () => {
  const upsert = {
    id: t,
    on: ['id'],
    when_matched_update_all: true,
    when_not_matched_insert_all: true,
  };

  test('creates the table with its rows, whatever its clauses', async () => {
    for (const clauses of [upsert, { id: t, on: 'id', when_matched_update_all: true }]) {
      const { catalog } = await declared();
      const answer = await catalog.mergeInsertIntoTable(clauses, people(2));
      expect(answer).toMatchObject({ version: 1, num_inserted_rows: 2, num_updated_rows: 0 });
      expect(await idsOf(catalog, t)).toEqual([0, 1]);
      const found = await catalog.describeTable({ id: t, check_declared: true });
      expect(found).toMatchObject({ properties: { k: 'v' }, is_only_declared: false });
      const again = await catalog.mergeInsertIntoTable(upsert, people(2, 1));
      expect(again).toMatchObject({ version: 2, num_inserted_rows: 1, num_updated_rows: 1 });
      expect((await catalog.verify({})).problems).toEqual([]);
    }
  });

  test('of the same keys by several writers at the same moment leaves each key once', async () => {
    for (let round = 0; round < 5; round++) {
      const { fs, catalog } = await declared();
      const other = await openDirectoryNamespace({ root: '/c', fs });
      const answers = await Promise.all(
        [catalog, other, catalog, other].map((one, at) =>
          one.mergeInsertIntoTable(upsert, people(2, at)),
        ),
      );
      const inserted = answers.reduce((sum, one) => sum + (one.num_inserted_rows ?? 0), 0);
      expect(inserted).toBe(5);
      expect((await idsOf(catalog, t)).toSorted()).toEqual([0, 1, 2, 3, 4]);
      expect((await catalog.verify({})).problems).toEqual([]);
    }
  });

  test('without its key column, or what to do, is refused, and the table stays declared', async () => {
    const { catalog } = await declared();
    await expect(
      catalog.mergeInsertIntoTable({ ...upsert, on: ['missing'] }, people(1)),
    ).rejects.toMatchObject({ code: 'TableSchemaValidation' });
    await expect(
      catalog.mergeInsertIntoTable({ id: t, on: ['id'] }, people(1)),
    ).rejects.toMatchObject({ code: 'InvalidInput' });
    await expect(
      catalog.mergeInsertIntoTable({ ...upsert, branch: 'side' }, people(1)),
    ).rejects.toMatchObject({ code: 'TableBranchNotFound' });
    const found = await catalog.describeTable({ id: t, check_declared: true });
    expect(found.is_only_declared).toBe(true);
  });

  test.each([
    ['when_matched_update_all_filt', 'target.id >', 'InvalidInput'],
    ['when_matched_update_all_filt', 'target.none = 1', 'TableColumnNotFound'],
    ['when_matched_update_all_filt', 'source.id', 'InvalidInput'],
    ['when_not_matched_by_source_delete_filt', 'id <', 'InvalidInput'],
    ['when_not_matched_by_source_delete_filt', 'none = 1', 'TableColumnNotFound'],
    ['when_not_matched_by_source_delete_filt', 'id + 1', 'InvalidInput'],
  ])('whose %s is %j is refused, and the table stays declared', async (name, text, code) => {
    const { catalog } = await declared();
    const clauses = { ...upsert, when_not_matched_by_source_delete: true };
    const refused = catalog.mergeInsertIntoTable({ ...clauses, [name]: text }, people(1));
    await expect(refused).rejects.toMatchObject({
      code,
      details: { position: expect.any(Number) },
    });
    const found = await catalog.describeTable({ id: t, check_declared: true });
    expect(found.is_only_declared).toBe(true);
    const right = {
      when_matched_update_all_filt: 'target.id >= source.id',
      when_not_matched_by_source_delete_filt: 'id > 7',
    };
    const answer = await catalog.mergeInsertIntoTable({ ...clauses, ...right }, people(2));
    expect(answer).toMatchObject({ version: 1, num_inserted_rows: 2 });
  });

  test('that is repeated by its idempotency key adds nothing and answers as before', async () => {
    const { catalog } = await declared();
    const options = { idempotencyKey: 'once' };
    const first = await catalog.mergeInsertIntoTable(upsert, people(2), options);
    const again = await catalog.mergeInsertIntoTable(upsert, people(2), options);
    expect(again).toEqual(first);
    expect(await idsOf(catalog, t)).toEqual([0, 1]);
  });
});

test('a repeat of an insert by its idempotency key adds nothing', async () => {
  const { catalog } = await declared();
  const options = { idempotencyKey: 'once' };
  const first = await catalog.insertIntoTable({ id: t }, people(2), options);
  const again = await catalog.insertIntoTable({ id: t }, people(2), options);
  expect(again).toMatchObject({ version: first.version, num_inserted_rows: 2 });
  expect(await idsOf(catalog, t)).toEqual([0, 1]);
});

test('a branch of it is not found, and another incarnation is refused', async () => {
  const { catalog } = await declared();
  const to = (members: object): Promise<unknown> =>
    catalog.insertIntoTable({ id: t, ...members }, people(1));
  await expect(to({ branch: 'side' })).rejects.toMatchObject({ code: 'TableBranchNotFound' });
  const incarnation = '00000000-0000-4000-8000-000000000000';
  await expect(to({ incarnation })).rejects.toMatchObject({ code: 'TableNotFound' });
  await catalog.insertIntoTable({ id: t, branch: 'main' }, people(1));
  expect(await idsOf(catalog, t)).toEqual([0]);
});

test('a transaction id that could be no batch is not found', async () => {
  const { catalog } = await declared();
  for (const id of ['missing123', 'zzzzzzzz', '-'.repeat(8), 'a.b']) {
    const missing = { code: 'TransactionNotFound' };
    await expect(catalog.describeTransaction({ id: [id] })).rejects.toMatchObject(missing);
    const actions = [{ setPropertyAction: { key: 'a', value: 'b' } }];
    await expect(catalog.alterTransaction({ id: [id], actions })).rejects.toMatchObject(missing);
  }
});
