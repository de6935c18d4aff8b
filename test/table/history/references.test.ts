/** Tags, branches and files of tables that others move, replace or change at that very moment. */
import { expect, test } from 'vitest';
import { findTable, type Table } from '../../../src/directory/catalog/catalog.ts';
import {
  type DirectoryNamespace,
  openDirectoryNamespace,
} from '../../../src/directory/directory-namespace.ts';
import { createTable } from '../../../src/directory/operations/create-table.ts';
import { deletedRunFile } from '../../../src/paths.ts';
import { scan } from '../../../src/table/read/scan.ts';
import { mainBranch } from '../../../src/table/versions/branches.ts';
import { missingFile } from '../../../src/table/versions/fragment-object.ts';
import { type Head, resolveHead } from '../../../src/table/versions/head.ts';
import { declared, land, ROOT, testEngine } from '../../helpers/engines.ts';
import { everyCall, InterruptedCatalog } from '../../helpers/interrupted.ts';
import { casesOf } from '../../helpers/long.ts';
import { memoryFs } from '../../helpers/memory-fs.ts';
import { outcomeOf } from '../../helpers/outcome.ts';
import { idsOf, people } from '../../helpers/people.ts';
import { grow, treeOf } from '../../helpers/trees.ts';

const t = ['t'];
const place = `${ROOT}/data/t.table`;
type Work = (catalog: DirectoryNamespace) => Promise<unknown>;

/** Runs `mine` with all of `theirs` before its first, second ... call of the store, or every `step`th of them. */
async function atEveryCall(
  prepare: Work,
  mine: Work,
  theirs: Work,
  look: (catalog: DirectoryNamespace, own: string, other: string) => Promise<void>,
  { first: begin = 1, step = 1 } = {},
): Promise<ReadonlySet<string>> {
  const outcomes = new Set<string>();
  const empty = memoryFs();
  await prepare(await openDirectoryNamespace({ root: '/c', fs: empty, durability: 'relaxed' }));
  const tree = treeOf(empty, '/c');
  for (let at = begin; ; at += step) {
    const options = { root: '/c', fs: grow(tree, '/c'), durability: 'relaxed' } as const;
    const first = await openDirectoryNamespace(options);
    const catalog = await InterruptedCatalog.open(options);
    let other = '';
    catalog.interrupt(everyCall(at), async () => {
      other = await outcomeOf(theirs(first));
    });
    const own = await outcomeOf(mine(catalog.namespace));
    if (!catalog.interrupted) return outcomes;
    outcomes.add(own);
    await look(await openDirectoryNamespace(options), own, other);
  }
}

const branchesOf = async (catalog: DirectoryNamespace, id: string[]): Promise<string[]> =>
  Object.keys((await catalog.listTableBranches({ id })).branches);
const tagsOf = async (catalog: DirectoryNamespace, id: string[]): Promise<string[]> =>
  Object.keys((await catalog.listTableTags({ id })).tags);

/** Another table, with a tag and a branch of its own, takes the name. */
const replaceTable: Work = async (catalog) => {
  await catalog.renameTable({ id: t, new_table_name: 'old' });
  await catalog.renameTable({ id: ['other'], new_table_name: 't' });
};

async function twoTables(catalog: DirectoryNamespace): Promise<void> {
  for (const name of ['t', 'other']) {
    await catalog.createTable({ id: [name] }, people(1));
    await catalog.insertIntoTable({ id: [name] }, people(1, 1));
  }
  await catalog.createTableBranch({ id: ['other'], name: 'side' });
  await catalog.createTableTag({ id: ['other'], tag: 'kept', version: 1 });
}

test('a branch that is deleted while its table moves away is gone, or the caller is told', async () => {
  const outcomes = await atEveryCall(
    async (catalog) => {
      await catalog.createTable({ id: t }, people(1));
      await catalog.createTableBranch({ id: t, name: 'side' });
    },
    (catalog) => catalog.deleteTableBranch({ id: t, name: 'side' }),
    (catalog) => catalog.renameTable({ id: t, new_table_name: 'u' }),
    async (catalog, own) => {
      const name = (await catalog.listTables({ id: [] })).tables[0] as string;
      expect(await branchesOf(catalog, [name]), own).toEqual(own === 'ok' ? [] : ['side']);
    },
  );
  expect(outcomes).toEqual(new Set(['ok', 'TableNotFound']));
});

test('what is made for a table that was replaced takes nothing from the one in its place', async () => {
  const works: Work[] = [
    (catalog) => catalog.createTableBranch({ id: t, name: 'side', from_version: 1 }),
    (catalog) => catalog.createTableTag({ id: t, tag: 'kept', version: 1 }),
    async (catalog) => {
      await catalog.createTableBranch({ id: t, name: 'mine' });
      await catalog.createTableTag({ id: t, tag: 'kept', version: 2, branch: 'mine' });
    },
  ];
  const step = casesOf(5, 1);
  for (const [index, work] of works.entries()) {
    const look = async (catalog: DirectoryNamespace, _: string, other: string): Promise<void> => {
      expect(other).toMatch(/ok|TableAlreadyExists/);
      expect(await branchesOf(catalog, t)).toContain('side');
      expect(await tagsOf(catalog, t)).toContain('kept');
    };
    await atEveryCall(twoTables, work, replaceTable, look, { first: 1 + (index % step), step });
  }
});

test('a tag or branch of a table that was replaced is refused by that, whatever the other one has', async () => {
  let incarnation = '';
  const prepare: Work = async (catalog) => {
    await twoTables(catalog);
    ({ incarnation = '' } = await catalog.describeTable({ id: t, load_detailed_metadata: true }));
  };
  const works: Work[] = [
    (catalog) => catalog.createTableTag({ id: t, incarnation, tag: 'kept', version: 1 }),
    (catalog) => catalog.createTableBranch({ id: t, incarnation, name: 'side' }),
  ];
  for (const work of works) {
    const outcomes = await atEveryCall(prepare, work, replaceTable, async () => {});
    expect([...outcomes].sort()).toEqual(['CommitStateUnknown', 'TableNotFound', 'ok']);
  }
});

test('a branch that is deleted while its name is given to another stays with that one', async () => {
  await atEveryCall(
    async (catalog) => {
      await twoTables(catalog);
      await catalog.createTableBranch({ id: t, name: 'side' });
    },
    (catalog) => catalog.deleteTableBranch({ id: t, name: 'side' }),
    replaceTable,
    async (catalog, own, other) => {
      // Begun on the table that has the name by then, it is deleted there.
      if (other === 'ok' && own !== 'ok') expect(await branchesOf(catalog, t)).toEqual(['side']);
      const old = await branchesOf(catalog, ['old']);
      const now = await branchesOf(catalog, t);
      expect([...old, ...now]).toHaveLength(own === 'ok' ? 1 : 2);
    },
  );
});

const MADE: readonly (readonly [
  string,
  Work,
  (catalog: DirectoryNamespace) => Promise<boolean>,
])[] = [
  [
    'a branch',
    (catalog) => catalog.createTableBranch({ id: t, name: 'made' }),
    async (catalog) => (await branchesOf(catalog, t)).includes('made'),
  ],
  [
    'a tag',
    (catalog) => catalog.createTableTag({ id: t, tag: 'made', version: 1 }),
    async (catalog) => (await tagsOf(catalog, t)).includes('made'),
  ],
  [
    'an update of a tag',
    (catalog) => catalog.updateTableTag({ id: t, tag: 'v', version: 2 }),
    async (catalog) => (await catalog.getTableTagVersion({ id: t, tag: 'v' })).version === 2,
  ],
];

test.each(MADE)(
  '%s is refused only where it was not made, also as the table is dropped',
  async (_, make, isMade) => {
    const outcomes = await atEveryCall(
      async (catalog) => {
        await catalog.createTable({ id: t }, people(1));
        await catalog.insertIntoTable({ id: t }, people(1, 1));
        await catalog.createTableTag({ id: t, tag: 'v', version: 1 });
      },
      make,
      (catalog) => catalog.dropTable({ id: t }),
      async (catalog, own) => {
        await catalog.undropTable({ id: t });
        if (own !== 'CommitStateUnknown') expect(await isMade(catalog), own).toBe(own === 'ok');
      },
    );
    expect(outcomes).toEqual(new Set(['ok', 'TableNotFound', 'CommitStateUnknown']));
  },
);

test('a tag and the deletion of its branch: never both', async () => {
  const prepare: Work = async (catalog) => {
    await catalog.createTable({ id: t }, people(1));
    await catalog.createTableBranch({ id: t, name: 'side' });
    await catalog.createTableTag({ id: t, tag: 'v', version: 1 });
  };
  const remove: Work = (catalog) => catalog.deleteTableBranch({ id: t, name: 'side' });
  const target = { id: t, version: 1, branch: 'side' };
  const tag: Work = (catalog) => catalog.createTableTag({ ...target, tag: 'new' });
  const update: Work = (catalog) => catalog.updateTableTag({ ...target, tag: 'v' });
  for (const made of [tag, update]) {
    for (const [mine, theirs] of [
      [made, remove],
      [remove, made],
    ] as const) {
      await atEveryCall(prepare, mine, theirs, async (catalog, own, other) => {
        expect([own, other].filter((outcome) => outcome === 'ok')).toHaveLength(1);
        const branches = await branchesOf(catalog, t);
        const deleted = (mine === remove ? own : other) === 'ok';
        expect(branches).toEqual(deleted ? [] : ['side']);
        const { tags } = await catalog.listTableTags({ id: t });
        const named = Object.values(tags).filter(({ branch }) => branch === 'side');
        expect(named).toHaveLength(deleted ? 0 : 1);
        expect(tags.v).toBeDefined();
      });
    }
  }
});

test('tags and branches of a version that is deleted at that moment: one of the two is told', async () => {
  const prepare: Work = async (catalog) => {
    await catalog.createTable({ id: t }, people(1));
    await catalog.insertIntoTable({ id: t }, people(1, 1));
    await catalog.createTableTag({ id: t, tag: 'v', version: 2 });
  };
  const cleanup: Work = (catalog) =>
    catalog.cleanupTable({ id: t, older_than_millis: 0, orphan_grace_millis: 0 });
  const makers: Work[] = [
    (catalog) => catalog.createTableTag({ id: t, tag: 'new', version: 1 }),
    (catalog) => catalog.updateTableTag({ id: t, tag: 'v', version: 1 }),
  ];
  const step = casesOf(3, 1);
  for (const [index, make] of makers.entries()) {
    for (const [mine, theirs] of [
      [make, cleanup],
      [cleanup, make],
    ] as const) {
      const look = async (catalog: DirectoryNamespace, own: string, other: string) => {
        const made = (mine === make ? own : other) === 'ok';
        const { tags } = await catalog.listTableTags({ id: t });
        const { versions } = await catalog.listTableVersions({ id: t });
        const there = new Set(versions.map(({ version }) => version));
        for (const { version } of Object.values(tags)) expect(there).toContain(version);
        expect(there.has(1)).toBe(made);
      };
      await atEveryCall(prepare, mine, theirs, look, { first: 1 + (index % step), step });
    }
  }
});

test('a head that is looked for past a deleted run while its table moves away', async () => {
  for (let at = 1; ; at++) {
    const options = { root: '/c', fs: memoryFs(), durability: 'relaxed' } as const;
    const first = await openDirectoryNamespace(options);
    await first.createTable({ id: t }, people(1));
    const catalog = await InterruptedCatalog.open(options);
    // What it remembers as the newest is the first of a deleted run by then.
    await catalog.namespace.countTableRows({ id: t });
    for (const row of [1, 2, 3]) await first.insertIntoTable({ id: t }, people(1, row));
    await first.batchDeleteTableVersions({ id: t, ranges: [{ start_version: 1, end_version: 4 }] });
    catalog.interrupt(everyCall(at), () => first.renameTable({ id: t, new_table_name: 'u' }));
    const outcome = await outcomeOf(catalog.namespace.insertIntoTable({ id: t }, people(1, 9)));
    if (!catalog.interrupted) break;
    expect(['ok', 'TableNotFound']).toContain(outcome);
  }
});

test('a head that is looked for while its table is away for a moment is the newest', async () => {
  for (const remembers of [true, false]) {
    for (let away = 1; ; away++) {
      const one = testEngine();
      const two = testEngine({ fs: one.fs, firstId: 1000 });
      const branch = await declared(one);
      await land(one, branch, 'create');
      const reader = remembers ? one : testEngine({ fs: one.fs, firstId: 2000 });
      await land(two, branch);
      // Gone before one look at the disk, and back before the next.
      let [looks, met] = [0, false];
      reader.calls.head = async (head, path) => {
        looks++;
        if (looks === away) {
          met = true;
          await two.engine.store.moveFolder(branch.tableFolder, 'data/u.table');
        }
        const found = await head(path);
        if (looks === away) await two.engine.store.moveFolder('data/u.table', branch.tableFolder);
        return found;
      };
      expect((await resolveHead(reader.engine, branch))?.snapshot.version).toBe(2);
      if (!met) break;
    }
  }
});

test('a tagged version that somebody marked, and died before it saw the tag, is there', async () => {
  const fs = memoryFs();
  const catalog = await openDirectoryNamespace({ root: '/c', fs, durability: 'relaxed' });
  await catalog.createTable({ id: t }, people(1));
  for (const row of [1, 2]) await catalog.insertIntoTable({ id: t }, people(1, row));
  await catalog.createTableTag({ id: t, tag: 'v', version: 2 });
  const { version } = await catalog.describeTableVersion({ id: t, version: 1 });
  const folder = version.manifest_path.slice(0, version.manifest_path.lastIndexOf('/'));
  fs.writeFileSync(deletedRunFile(folder, 1, 2), '{}\n');
  const { versions } = await catalog.listTableVersions({ id: t });
  expect(versions.map((one) => one.version)).toEqual([2, 3]);
  expect((await catalog.verify({})).problems).toEqual([]);
  await catalog.cleanupTable({ id: t, older_than_millis: 0, orphan_grace_millis: 0 });
  expect(await idsOf(catalog, t, { version: 2 })).toEqual([0, 1]);
});

test('a file is damage only where it is missing after its version was found', async () => {
  const one = testEngine();
  const { snapshot } = await land(one, await declared(one), 'create');
  const file = 'data/t.table/data/0000abcd.arrow';
  const asked = (): Promise<unknown> => missingFile(one.engine, snapshot, file, 1);
  expect(await asked()).toMatchObject({ code: 'Corrupt' });
  // Its table was away when it was looked for first.
  await one.engine.store.createFolder('data/t.table/data');
  await one.engine.store.put(file, Buffer.from('there'));
  expect(await asked()).toBeUndefined();
  // Each look of the file system misses once, as while the table is moved away and back.
  for (const missed of [snapshot.file, file]) {
    let misses = 0;
    one.calls.head = (run, path) => (path === missed && misses++ === 0 ? undefined : run(path));
    expect(await asked()).toBeUndefined();
    expect(misses).toBe(2);
  }
  one.calls.head = (run, path) => (path === snapshot.file ? undefined : run(path));
  expect(await asked()).toMatchObject({ code: 'TableVersionNotFound' });
  one.calls.head = undefined;
  one.fs.renameSync(place, `${ROOT}/data/u.table`);
  expect(await asked()).toMatchObject({ code: 'TableNotFound' });
});

test('a scan goes on where its table was dropped and brought back while it looked for a file', async () => {
  const one = testEngine();
  await one.catalog.prepareRoot();
  one.fs.mkdirSync(`${ROOT}/data`, { recursive: true });
  await createTable(one.catalog, { id: t }, people(3));
  const { record } = (await findTable(one.catalog, t)) as Table;
  let moves = 0;
  for (const call of ['open', 'get'] as const) {
    const reader = testEngine({ fs: one.fs, firstId: 1000 });
    const head = await resolveHead(reader.engine, mainBranch('data/t.table', record.id));
    let isDone = false;
    const around = (run: (...args: unknown[]) => unknown, ...args: unknown[]): unknown => {
      if (isDone || !String(args[0]).includes('/data/')) return run(...args);
      isDone = true;
      moves++;
      one.fs.renameSync(place, `${ROOT}/t`);
      const found = run(...args);
      one.fs.renameSync(`${ROOT}/t`, place);
      return found;
    };
    reader.calls[call] = around as never;
    let rows = 0;
    const stream = await scan(reader.engine, (head as Head).snapshot, {});
    for await (const batch of stream) rows += batch.numRows;
    expect(rows).toBe(3);
  }
  expect(moves).toBeGreaterThan(0);
});

test('a file that is there and never found to be read is damage, and hangs nobody', async () => {
  const one = testEngine();
  await one.catalog.prepareRoot();
  one.fs.mkdirSync(`${ROOT}/data`, { recursive: true });
  await createTable(one.catalog, { id: t }, people(3));
  const { record } = (await findTable(one.catalog, t)) as Table;
  const reader = testEngine({ fs: one.fs, firstId: 1000 });
  const head = await resolveHead(reader.engine, mainBranch('data/t.table', record.id));
  let denied = 0;
  const deny = (run: (...args: unknown[]) => unknown, ...args: unknown[]): unknown => {
    if (!String(args[0]).includes('/data/')) return run(...args);
    denied++;
    return undefined;
  };
  reader.calls.open = deny as never;
  reader.calls.get = deny as never;
  const stream = await scan(reader.engine, (head as Head).snapshot, {});
  const read = async (): Promise<void> => {
    for await (const _ of stream);
  };
  await expect(read()).rejects.toMatchObject({ code: 'Corrupt' });
  expect(denied).toBe(8);
});
