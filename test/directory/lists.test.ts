/** Lists of what a table has, while the table leaves its name between two looks at the disk. */
import { beforeEach, describe, expect, test } from 'vitest';
import { createTable } from '../../src/directory/operations/create-table.ts';
import { dropTable, renameTable } from '../../src/directory/operations/tables.ts';
import {
  createTableBranch,
  createTableTag,
  deleteTableBranch,
  listTableBranches,
  listTableTags,
} from '../../src/directory/operations/versions/references.ts';
import { listTableVersions } from '../../src/directory/operations/versions/versions.ts';
import { outcomeOf, type TestEngine, testEngine } from '../helpers/engines.ts';
import { people } from '../helpers/people.ts';

const id = ['t'];
let one: TestEngine;
let two: TestEngine;
beforeEach(async () => {
  one = testEngine();
  two = testEngine({ fs: one.fs, firstId: 1000 });
  await one.catalog.prepareRoot();
  one.fs.mkdirSync('/c/data', { recursive: true });
  await createTable(two.catalog, { id }, people(2));
  await createTableTag(two.catalog, { id, tag: 'kept', version: 1 });
  await createTableBranch(two.catalog, { id, name: 'side' });
});

const LISTS = {
  versions: () => listTableVersions(one.catalog, { id }),
  tags: () => listTableTags(one.catalog, { id }),
  branches: () => listTableBranches(one.catalog, { id }),
};

const LEAVINGS = {
  dropped: () => dropTable(two.catalog, { id }),
  renamed: () => renameTable(two.catalog, { id, new_table_name: 'other' }),
  'made anew': async () => {
    await dropTable(two.catalog, { id });
    await createTable(two.catalog, { id }, people(1));
  },
};

describe.each(Object.entries(LISTS))('%s', (_, list) => {
  test.each(Object.entries(LEAVINGS))(
    'of a table that is %s meanwhile are told wholly or not at all',
    async (_, leave) => {
      // At each call of the list, in turn.
      for (let at = 0; ; at++) {
        let calls = 0;
        let left = false;
        const meddle = async <Result>(run: () => Result): Promise<Awaited<Result>> => {
          if (calls++ === at) {
            left = true;
            await leave();
          }
          return await run();
        };
        one.calls.list = (run, folder) => meddle(() => run(folder));
        one.calls.get = (run, ...args) => meddle(() => run(...args));
        const found = await outcomeOf(list());
        one.calls.list = undefined;
        one.calls.get = undefined;
        if (!left) break;
        // One that asks late enough is told of the table that is there by now.
        const now = (await outcomeOf(list())) as object;
        const isTold = 'value' in now && 'value' in (found as object);
        expect(found, `call ${at}`).toMatchObject(isTold ? now : { code: 'TableNotFound' });
        await outcomeOf(dropTable(two.catalog, { id }));
        await outcomeOf(dropTable(two.catalog, { id: ['other'] }));
        await createTable(two.catalog, { id }, people(2));
        await createTableTag(two.catalog, { id, tag: 'kept', version: 1 });
        await createTableBranch(two.catalog, { id, name: 'side' });
      }
    },
  );
});

test('versions of a branch that is deleted meanwhile are none', async () => {
  one.calls.list = async (run, folder) => {
    one.calls.list = undefined;
    await deleteTableBranch(two.catalog, { id, name: 'side' });
    return run(folder);
  };
  expect(await outcomeOf(listTableVersions(one.catalog, { id, branch: 'side' }))).toMatchObject({
    code: 'TableBranchNotFound',
  });
});
