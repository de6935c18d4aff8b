/**
 * Lists the conformance cases of table versions, tags, branches and transactions (`VERSION_CASES`).
 */
import {
  type ConformanceCase,
  fails,
  holds,
  type Kit,
  pagesOf,
  rows,
  SAYS,
  same,
} from '../kit/index.ts';

/** The numbers of the versions, newest first. */
async function numbersOf(kit: Kit, id: string[]): Promise<number[]> {
  const asked = { id, descending: true };
  const pages = await pagesOf((page) => kit.call('ListTableVersions', { ...asked, ...page }));
  return pages.flatMap(({ versions }) => versions.map(({ version }) => version));
}

type Page = { readonly page_token?: string };

const PAGES = `An inclusive upper bound of the number of results that a caller will receive. ${SAYS.pages}`;

function samePages(pages: string[][], isMine: (name: string) => boolean = () => true): void {
  const isBounded = pages.every(({ length }) => length <= 2);
  holds('at most 2 names on a page', isBounded, pages);
  same('names', pages.flat().filter(isMine).toSorted(), ['a', 'b', 'c']);
}

export const VERSION_CASES: readonly ConformanceCase[] = [
  {
    operation: 'ListTableVersions',
    name: 'lists a version for every write, newest first where descending says so',
    basis:
      'Use `descending=true` to guarantee versions are returned in descending order (latest to oldest).',
    run: async (kit) => {
      const id = await kit.table();
      await kit.call('InsertIntoTable', { id }, rows(1, 3));
      const numbers = await numbersOf(kit, id);
      holds('2 versions or more', numbers.length >= 2, numbers);
      same(
        'descending numbers',
        numbers,
        numbers.toSorted((left, right) => right - left),
      );
    },
  },
  {
    operation: 'ListTableVersions',
    name: 'pages have at most as many versions as asked for, and each version once',
    basis: PAGES,
    run: async (kit) => {
      const id = await kit.table();
      for (const from of [3, 4, 5]) await kit.call('InsertIntoTable', { id }, rows(1, from));
      const whole = await numbersOf(kit, id);
      const ask = (page: Page) =>
        kit.call('ListTableVersions', { id, descending: true, limit: 2, ...page });
      const pages = await pagesOf(ask);
      const numbers = pages.map(({ versions }) => versions.map(({ version }) => version));
      const isBounded = numbers.every(({ length }) => length <= 2);
      holds('at most 2 versions on a page', isBounded, numbers);
      const sorted = (list: readonly number[]): number[] => list.toSorted((a, b) => a - b);
      same('versions', sorted(numbers.flat()), sorted(whole));
    },
  },
  {
    operation: 'ListTableVersions',
    name: 'a missing table is not found',
    basis: SAYS.tableMissing,
    run: (kit) => fails(kit.call('ListTableVersions', { id: kit.id('no') }), 'TableNotFound'),
  },
  {
    operation: 'DescribeTableVersion',
    name: 'describes a version; a missing one is not found',
    basis: `Returns the manifest path and metadata for the specified version. ${SAYS.versionMissing}`,
    run: async (kit) => {
      const id = await kit.table();
      const version = await kit.version(id);
      const found = (await kit.call('DescribeTableVersion', { id, version })).version;
      same('version', found.version, version);
      holds('a manifest path', found.manifest_path !== '', found.manifest_path);
      const missing = kit.call('DescribeTableVersion', { id, version: version + 1000 });
      await fails(missing, 'TableVersionNotFound');
    },
  },
  {
    operation: 'BatchDeleteTableVersions',
    name: 'a deleted version is not found; the rows of the newest stay',
    basis: 'Each range specifies start (inclusive) and end (exclusive) versions.',
    run: async (kit) => {
      const id = await kit.table();
      const version = await kit.version(id);
      await kit.call('InsertIntoTable', { id }, rows(1, 3));
      const newest = await kit.version(id);
      const ranges = [{ start_version: version, end_version: newest }];
      await kit.call('BatchDeleteTableVersions', { id, ranges });
      const numbers = await numbersOf(kit, id);
      holds(
        `version ${newest}, and not ${version}`,
        numbers[0] === newest && !numbers.includes(version),
        numbers,
      );
      same('rows', await kit.count(id), 4);
    },
  },
  {
    operation: 'CreateTableVersion',
    name: 'a missing table is not found',
    basis: SAYS.tableMissing,
    run: async (kit) => {
      const missing = { id: kit.id('no'), version: 1, manifest_path: 'missing' };
      await fails(kit.call('CreateTableVersion', missing), 'TableNotFound');
    },
  },
  {
    operation: 'BatchCreateTableVersions',
    name: 'a missing table is not found',
    basis: SAYS.tableMissing,
    run: async (kit) => {
      const entries = [{ id: kit.id('no'), version: 1, manifest_path: 'missing' }];
      await fails(kit.call('BatchCreateTableVersions', { entries }), 'TableNotFound');
    },
  },
  {
    operation: 'DescribeTransaction',
    name: 'a missing transaction is not found',
    basis: SAYS.transactionMissing,
    run: async (kit) => {
      // An id is what a commit answers, or the table and that: below a table it can be both.
      const missing = { id: [...(await kit.entry()), kit.name('missing')] };
      await fails(kit.call('DescribeTransaction', missing), 'TransactionNotFound');
    },
  },
  {
    operation: 'AlterTransaction',
    name: 'a missing transaction is not found',
    basis: SAYS.transactionMissing,
    run: async (kit) => {
      const actions = [{ setPropertyAction: { key: 'a', value: 'b' } }];
      const missing = { id: [...(await kit.entry()), kit.name('missing')], actions };
      await fails(kit.call('AlterTransaction', missing), 'TransactionNotFound');
    },
  },
  {
    operation: 'CreateTableTag',
    name: 'creates a tag; a second one of its name is a conflict',
    basis: SAYS.tagTaken,
    run: async (kit) => {
      const id = await kit.table();
      const version = await kit.version(id);
      await kit.call('CreateTableTag', { id, tag: 'v', version });
      const again = kit.call('CreateTableTag', { id, tag: 'v', version });
      await fails(again, 'TableTagAlreadyExists');
    },
  },
  {
    operation: 'CreateTableTag',
    name: 'a missing version is not found',
    basis: SAYS.versionMissing,
    run: async (kit) => {
      const id = await kit.table();
      const version = (await kit.version(id)) + 1000;
      await fails(kit.call('CreateTableTag', { id, tag: 'v', version }), 'TableVersionNotFound');
    },
  },
  {
    operation: 'GetTableTagVersion',
    name: 'answers the version of a tag; a missing tag is not found',
    basis: `Get the version number that a specific tag points to for table \`id\`. ${SAYS.tagMissing}`,
    run: async (kit) => {
      const id = await kit.table();
      const version = await kit.version(id);
      await kit.call('CreateTableTag', { id, tag: 'v', version });
      same('version', (await kit.call('GetTableTagVersion', { id, tag: 'v' })).version, version);
      await fails(kit.call('GetTableTagVersion', { id, tag: 'missing' }), 'TableTagNotFound');
    },
  },
  {
    operation: 'UpdateTableTag',
    name: 'moves a tag; a missing one is not found',
    basis: `Update an existing tag for table \`id\` to point to a different version. ${SAYS.tagMissing}`,
    run: async (kit) => {
      const id = await kit.table();
      const first = await kit.version(id);
      await kit.call('CreateTableTag', { id, tag: 'v', version: first });
      await kit.call('InsertIntoTable', { id }, rows(1, 3));
      const version = await kit.version(id);
      await kit.call('UpdateTableTag', { id, tag: 'v', version });
      same('version', (await kit.call('GetTableTagVersion', { id, tag: 'v' })).version, version);
      await fails(kit.call('UpdateTableTag', { id, tag: 'missing', version }), 'TableTagNotFound');
    },
  },
  {
    operation: 'ListTableTags',
    name: 'lists tags with their versions',
    basis: 'Returns a map of tag names to their corresponding version numbers and metadata.',
    run: async (kit) => {
      const id = await kit.table();
      const version = await kit.version(id);
      await kit.call('CreateTableTag', { id, tag: 'v', version });
      const { tags } = await kit.call('ListTableTags', { id });
      same('names', Object.keys(tags), ['v']);
      same('version', tags.v?.version, version);
    },
  },
  {
    operation: 'ListTableTags',
    name: 'pages have at most as many tags as asked for, and each tag once',
    basis: PAGES,
    run: async (kit) => {
      const id = await kit.table();
      const version = await kit.version(id);
      for (const tag of ['a', 'b', 'c']) await kit.call('CreateTableTag', { id, tag, version });
      const ask = (page: Page) => kit.call('ListTableTags', { id, limit: 2, ...page });
      samePages((await pagesOf(ask)).map(({ tags }) => Object.keys(tags)));
    },
  },
  {
    operation: 'DeleteTableTag',
    name: 'deletes a tag; a second time it is not found',
    basis: `Delete an existing tag from table \`id\`. ${SAYS.tagMissing}`,
    run: async (kit) => {
      const id = await kit.table();
      await kit.call('CreateTableTag', { id, tag: 'v', version: await kit.version(id) });
      await kit.call('DeleteTableTag', { id, tag: 'v' });
      await fails(kit.call('DeleteTableTag', { id, tag: 'v' }), 'TableTagNotFound');
    },
  },
  {
    operation: 'CreateTableBranch',
    name: 'creates a branch; a second one of its name is a conflict',
    basis: SAYS.branchTaken,
    run: async (kit) => {
      const id = await kit.table();
      await kit.call('CreateTableBranch', { id, name: 'b' });
      await fails(kit.call('CreateTableBranch', { id, name: 'b' }), 'TableBranchAlreadyExists');
    },
  },
  {
    operation: 'InsertIntoTable',
    name: 'rows that are inserted into a branch are not seen beside it',
    basis: 'Branch to target. When not specified, the main branch is used.',
    run: async (kit) => {
      const id = await kit.table();
      await kit.call('CreateTableBranch', { id, name: 'b' });
      await kit.call('InsertIntoTable', { id, branch: 'b' }, rows(2, 3));
      same('rows of main', await kit.count(id), 3);
      same('rows of the branch', await kit.count(id, { branch: 'b' }), 5);
    },
  },
  {
    operation: 'ListTableBranches',
    name: 'lists branches with the versions they were made from',
    basis: 'Returns a map of branch names to their contents.',
    run: async (kit) => {
      const id = await kit.table();
      const version = await kit.version(id);
      await kit.call('CreateTableBranch', { id, name: 'b' });
      const { branches } = await kit.call('ListTableBranches', { id });
      same('parentVersion', branches.b?.parentVersion, version);
    },
  },
  {
    operation: 'ListTableBranches',
    name: 'pages have at most as many branches as asked for, and each branch once',
    basis: PAGES,
    run: async (kit) => {
      const id = await kit.table();
      for (const name of ['a', 'b', 'c']) await kit.call('CreateTableBranch', { id, name });
      const ask = (page: Page) => kit.call('ListTableBranches', { id, limit: 2, ...page });
      const pages = await pagesOf(ask);
      const names = pages.map(({ branches }) => Object.keys(branches));
      // Main may be listed as one.
      samePages(names, (name) => name !== 'main');
    },
  },
  {
    operation: 'DeleteTableBranch',
    name: 'deletes a branch; a second time it is not found',
    basis: `Delete an existing branch from table \`id\`. ${SAYS.branchMissing}`,
    run: async (kit) => {
      const id = await kit.table();
      await kit.call('CreateTableBranch', { id, name: 'b' });
      await kit.call('DeleteTableBranch', { id, name: 'b' });
      await fails(kit.call('DeleteTableBranch', { id, name: 'b' }), 'TableBranchNotFound');
    },
  },
];
