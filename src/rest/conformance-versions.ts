/** Cases about the versions of tables, and the tags and branches that name them. */
import {
  type ConformanceCase,
  fails,
  holds,
  missing,
  rows,
  same,
  table,
} from './conformance-kit.ts';

const TABLE_NOT_FOUND = 4;
const TAG_NOT_FOUND = 8;
const TAG_EXISTS = 9;
const TRANSACTION_NOT_FOUND = 10;
const VERSION_NOT_FOUND = 11;
const BRANCH_NOT_FOUND = 22;

export const VERSION_CASES: readonly ConformanceCase[] = [
  {
    operation: 'ListTableVersions',
    name: 'every write is a version',
    run: async (kit) => {
      const id = await table(kit);
      await kit.catalog.insertIntoTable({ id }, rows(1, 3));
      const { versions } = await kit.catalog.listTableVersions({ id, descending: true });
      same(
        'versions',
        versions.map(({ version }) => version),
        [2, 1],
      );
    },
  },
  {
    operation: 'DescribeTableVersion',
    name: 'a missing version is not found',
    run: async (kit) => {
      const id = await table(kit);
      same(
        'version',
        (await kit.catalog.describeTableVersion({ id, version: 1 })).version.version,
        1,
      );
      await fails(kit.catalog.describeTableVersion({ id, version: 99 }), VERSION_NOT_FOUND, 404);
    },
  },
  {
    operation: 'BatchDeleteTableVersions',
    name: 'a deleted version is not found, the others stay',
    run: async (kit) => {
      const id = await table(kit);
      await kit.catalog.insertIntoTable({ id }, rows(1, 3));
      const ranges = [{ start_version: 1, end_version: 2 }];
      await kit.catalog.batchDeleteTableVersions({ id, ranges });
      await fails(kit.catalog.describeTableVersion({ id, version: 1 }), VERSION_NOT_FOUND, 404);
      same('rows', (await kit.catalog.countTableRows({ id })).count, 4);
    },
  },
  {
    operation: 'CreateTableVersion',
    name: 'a missing table is not found',
    run: async (kit) => {
      const absent = { id: missing(kit), version: 1, manifest_path: 'missing.json' };
      await fails(kit.catalog.createTableVersion(absent), TABLE_NOT_FOUND, 404);
    },
  },
  {
    operation: 'BatchCreateTableVersions',
    name: 'a missing table is not found',
    run: async (kit) => {
      const entries = [{ id: missing(kit), version: 1, manifest_path: 'missing.json' }];
      await fails(kit.catalog.batchCreateTableVersions({ entries }), TABLE_NOT_FOUND, 404);
    },
  },
  {
    operation: 'DescribeTransaction',
    name: 'a write can be asked for by its transaction id; a missing one is not found',
    run: async (kit) => {
      const id = await table(kit);
      const { transaction_id: made } = await kit.catalog.insertIntoTable({ id }, rows(1, 3));
      if (made !== undefined) {
        const { status } = await kit.catalog.describeTransaction({ id: [made] });
        holds('a status', status !== '', status);
      }
      const absent = kit.catalog.describeTransaction({ id: ['missing'] });
      await fails(absent, TRANSACTION_NOT_FOUND, 404);
    },
  },
  {
    operation: 'AlterTransaction',
    name: 'a missing transaction is not found',
    run: async (kit) => {
      const actions = [{ setPropertyAction: { key: 'a', value: 'b' } }];
      const absent = kit.catalog.alterTransaction({ id: ['missing'], actions });
      await fails(absent, TRANSACTION_NOT_FOUND, 404);
    },
  },
  {
    operation: 'RestoreTable',
    name: 'an old version becomes the latest',
    run: async (kit) => {
      const id = await table(kit);
      await kit.catalog.insertIntoTable({ id }, rows(1, 3));
      await kit.catalog.restoreTable({ id, version: 1 });
      same('rows', (await kit.catalog.countTableRows({ id })).count, 3);
    },
  },
  {
    operation: 'CreateTableTag',
    name: 'a tag names its version until it is moved or deleted',
    run: async (kit) => {
      const id = await table(kit);
      await kit.catalog.insertIntoTable({ id }, rows(1, 3));
      await kit.catalog.createTableTag({ id, tag: 'v', version: 1 });
      same('version', (await kit.catalog.getTableTagVersion({ id, tag: 'v' })).version, 1);
      await fails(kit.catalog.createTableTag({ id, tag: 'v', version: 2 }), TAG_EXISTS, 409);
    },
  },
  {
    operation: 'UpdateTableTag',
    name: 'moves a tag',
    run: async (kit) => {
      const id = await table(kit);
      await kit.catalog.insertIntoTable({ id }, rows(1, 3));
      await kit.catalog.createTableTag({ id, tag: 'v', version: 1 });
      await kit.catalog.updateTableTag({ id, tag: 'v', version: 2 });
      same('version', (await kit.catalog.getTableTagVersion({ id, tag: 'v' })).version, 2);
    },
  },
  {
    operation: 'ListTableTags',
    name: 'lists tags with their versions',
    run: async (kit) => {
      const id = await table(kit);
      await kit.catalog.createTableTag({ id, tag: 'v', version: 1 });
      same('version', (await kit.catalog.listTableTags({ id })).tags.v?.version, 1);
    },
  },
  {
    operation: 'DeleteTableTag',
    name: 'a deleted tag is not found',
    run: async (kit) => {
      const id = await table(kit);
      await kit.catalog.createTableTag({ id, tag: 'v', version: 1 });
      await kit.catalog.deleteTableTag({ id, tag: 'v' });
      await fails(kit.catalog.getTableTagVersion({ id, tag: 'v' }), TAG_NOT_FOUND, 404);
    },
  },
  {
    operation: 'GetTableTagVersion',
    name: 'a missing tag is not found',
    run: async (kit) => {
      const id = await table(kit);
      await fails(kit.catalog.getTableTagVersion({ id, tag: 'missing' }), TAG_NOT_FOUND, 404);
    },
  },
  {
    operation: 'CreateTableBranch',
    name: 'what is written to a branch is not seen beside it',
    run: async (kit) => {
      const id = await table(kit);
      await kit.catalog.createTableBranch({ id, name: 'b' });
      await kit.catalog.insertIntoTable({ id, branch: 'b' }, rows(2, 3));
      same('rows', (await kit.catalog.countTableRows({ id, branch: 'b' })).count, 5);
      same('rows', (await kit.catalog.countTableRows({ id })).count, 3);
    },
  },
  {
    operation: 'ListTableBranches',
    name: 'lists branches with their parents',
    run: async (kit) => {
      const id = await table(kit);
      await kit.catalog.createTableBranch({ id, name: 'b' });
      const { branches } = await kit.catalog.listTableBranches({ id });
      same('parentVersion', branches.b?.parentVersion, 1);
    },
  },
  {
    operation: 'DeleteTableBranch',
    name: 'a deleted branch is not found',
    run: async (kit) => {
      const id = await table(kit);
      await kit.catalog.createTableBranch({ id, name: 'b' });
      await kit.catalog.deleteTableBranch({ id, name: 'b' });
      await fails(kit.catalog.deleteTableBranch({ id, name: 'b' }), BRANCH_NOT_FOUND, 404);
    },
  },
];
