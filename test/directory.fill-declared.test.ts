/** Rows that are inserted into a table that is only declared: they are its first version. */
import { expect, test } from 'vitest';
import { openDirectoryNamespace } from '../src/directory/directory-namespace.ts';
import { memoryFs } from './helpers/catalogs.ts';
import { idsOf, people } from './suites/namespace/context.ts';

const t = ['t'];

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

test('writers that insert at the same moment: one fills it, what others say is what happened', async () => {
  for (let round = 0; round < 5; round++) {
    const { fs, catalog } = await declared();
    const other = await openDirectoryNamespace({ root: '/c', fs });
    const outcomes = await Promise.allSettled(
      [catalog, other, catalog, other].map((one, at) =>
        one.insertIntoTable({ id: t }, people(2, at * 2)),
      ),
    );
    const done = outcomes.flatMap(({ status }, at) =>
      status === 'fulfilled' ? [at * 2, at * 2 + 1] : [],
    );
    expect(done.length).toBeGreaterThan(0);
    for (const outcome of outcomes) {
      if (outcome.status === 'rejected') {
        expect(outcome.reason).toMatchObject({ code: 'ConcurrentModification' });
      }
    }
    expect((await idsOf(catalog, t)).toSorted((a, b) => a - b)).toEqual(done);
    expect((await catalog.verify({})).problems).toEqual([]);
  }
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
