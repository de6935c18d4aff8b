/** What is remembered of tables: newer heads stay, undecided versions are not noted, records stay their own. */
import { expect, test } from 'vitest';
import { targetToRead } from '../../../src/directory/catalog/target.ts';
import { encodeTable } from '../../../src/format/catalog/records.ts';
import { HeadCache } from '../../../src/table/versions/head-cache.ts';
import { declared, INCARNATION, land, testEngine } from '../../helpers/engines.ts';

async function twoVersions() {
  const one = testEngine();
  const branch = await declared(one);
  const { snapshot: first } = await land(one, branch, 'create');
  const { snapshot: second } = await land(one, branch);
  return { one, branch, first, second, heads: new HeadCache(one.engine.store, 1e6) };
}

test('an older head does not take the place of a newer one, unless it is kept on purpose', async () => {
  const { branch, first, second, heads } = await twoVersions();
  heads.remember(branch, { slot: 2, snapshot: second });
  heads.remember(branch, { slot: 1, snapshot: first });
  expect(heads.head(branch)?.snapshot).toBe(second);
  heads.keepHead(branch, { slot: 1, snapshot: first });
  expect(heads.head(branch)?.snapshot).toBe(first);
  heads.forgetHead(branch);
  expect(heads.head(branch)).toBeUndefined();
});

test('a version below one of an undecided multi-table commit is not noted', async () => {
  const { branch, second, heads } = await twoVersions();
  const head = { slot: 3, snapshot: second };
  heads.keepHead(branch, head);
  await heads.noteMain(head);
  expect(heads.unchangedMain(branch.tableFolder)).toBeUndefined();
});

test('a record that another request read meanwhile is not taken for the file that is there', async () => {
  const { one } = await twoVersions();
  const { catalog, engine, clock } = one;
  clock.time = Date.now() + 1e6;
  const older = { id: '22222222-3333', createdAt: 1, properties: {} };
  const keep = engine.heads.keepRecord.bind(engine.heads);
  engine.heads.keepRecord = (folder, known) => {
    keep(folder, known);
    engine.heads.keepRecord = keep;
    // A request that began before this one ends after it.
    keep(folder, { bytes: encodeTable(older), record: older, facts: undefined });
  };
  for (let time = 0; time < 3; time++) {
    const { table } = await targetToRead(catalog, { id: ['t'] }, 'branch');
    expect(table.record.id).toBe(INCARNATION);
  }
});
