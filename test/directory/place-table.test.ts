/**
 * Two takers of one name at one moment. Of a table and a namespace the table goes, and what was
 * written to it stays.
 */
import { spawnSync } from 'node:child_process';
import { beforeEach, describe, expect, test } from 'vitest';
import { undropTable } from '../../src/directory/catalog/trash.ts';
import { createTable, declareTable } from '../../src/directory/operations/create-table.ts';
import {
  createNamespace,
  describeNamespace,
  dropNamespace,
  listNamespaces,
} from '../../src/directory/operations/namespaces.ts';
import { countTableRows } from '../../src/directory/operations/reads/index.ts';
import { insertIntoTable } from '../../src/directory/operations/rows.ts';
import {
  deregisterTable,
  dropTable,
  registerTable,
} from '../../src/directory/operations/tables.ts';
import { repairCatalog } from '../../src/directory/upkeep/repair.ts';
import { verifyCatalog } from '../../src/directory/upkeep/verify.ts';
import { encodeNamespace } from '../../src/format/catalog/records.ts';
import { processTag, thisProcess } from '../../src/store/process-identity.ts';
import { filesOf } from '../helpers/catalog-files.ts';
import { outcomeOf, ROOT, type TestEngine, testEngine } from '../helpers/engines.ts';
import { people } from '../helpers/people.ts';

const id = ['x'];
let one: TestEngine;
let two: TestEngine;
beforeEach(async () => {
  one = testEngine();
  two = testEngine({ fs: one.fs, firstId: 1000 });
  await one.catalog.prepareRoot();
  one.fs.mkdirSync(`${ROOT}/data`);
});

/** A namespace takes the name right after the table did, and `before` goes first. */
function clash(before: () => Promise<unknown> = async () => {}): void {
  one.calls.moveFolder = async (move, from, to) => {
    one.calls.moveFolder = undefined;
    const moved = await move(from, to);
    await before();
    one.fs.mkdirSync(`${ROOT}/x`);
    const marker = encodeNamespace({ id: 'n', properties: {} });
    one.fs.writeFileSync(`${ROOT}/x/.namespace.json`, marker);
    return moved;
  };
}
const left = (): string[] =>
  filesOf(one.fs, ROOT)
    .all()
    .filter((path) => /staging\/.|trash\/.|x\.table/.test(path));

test.each([
  ['made with rows', () => createTable(one.catalog, { id }, people(2))],
  ['declared', () => declareTable(one.catalog, { id })],
])('%s: nothing is left of it', async (_, make) => {
  clash();
  expect(await outcomeOf(make())).toMatchObject({ code: 'TableAlreadyExists' });
  expect(left()).toEqual([]);
});

test.each([
  ['made with rows', () => createTable(one.catalog, { id }, people(2)), 1],
  ['declared', () => declareTable(one.catalog, { id }), 0],
])(
  '%s, and written to: the trash has it, with all that was acknowledged',
  async (_, make, versions) => {
    clash(async () => {
      const write = { id, mode: 'append' };
      if (versions === 0) await createTable(two.catalog, { id, mode: 'exist_ok' }, people(1, 7));
      else await insertIntoTable(two.catalog, write, people(1, 7));
    });
    expect(await outcomeOf(make())).toMatchObject({ code: 'TableAlreadyExists' });
    expect(left().some((path) => path.includes('staging/') || path.includes('x.table'))).toBe(
      false,
    );
    one.fs.rmSync(`${ROOT}/x`, { recursive: true });
    expect(await undropTable(two.catalog, { id })).toMatchObject({ id });
    const answer = await insertIntoTable(two.catalog, { id, mode: 'append' }, people(1, 9));
    expect(answer.version).toBe(versions + 2);
  },
);

test.each(['create', 'exist_ok', 'overwrite'])(
  'rows of a table created with mode %s fill one that was declared meanwhile',
  async (mode) => {
    one.calls.moveFolder = async (move, from, to) => {
      one.calls.moveFolder = undefined;
      await declareTable(two.catalog, { id, properties: { by: 'two' } });
      return move(from, to);
    };
    const made = await createTable(one.catalog, { id, mode }, people(2));
    expect(made).toMatchObject({ version: 1, properties: { by: 'two' } });
    expect(await countTableRows(two.catalog, { id })).toEqual({ count: 2 });
    expect(one.fs.readdirSync(`${ROOT}/.dirspace/staging`)).toEqual([]);
  },
);

test('a table whose path would be too long to be registered keeps its properties', async () => {
  await createTable(one.catalog, { id }, people(2));
  const { context } = await deregisterTable(one.catalog, { id });
  const record = `${ROOT}/${context?.relative_location}/.table.json`;
  const before = String(one.fs.readFileSync(record));
  const away = { ...one.catalog, root: `/${'x'.repeat(4000)}` };
  const location = context?.relative_location as string;
  const work = registerTable(away, { id, location, properties: { by: 'one' } });
  expect(await outcomeOf(work)).toMatchObject({ code: 'InvalidInput' });
  expect(String(one.fs.readFileSync(record))).toBe(before);
});

test.each(['create', 'exist_ok', 'overwrite'])(
  'a creator (%s) whose winner is dropped in that moment takes the name itself',
  async (mode) => {
    one.calls.moveFolder = async (move, from, to) => {
      one.calls.moveFolder = undefined;
      await createTable(two.catalog, { id }, people(1));
      one.calls.get = async (get, path, ...rest) => {
        const found = await get(path, ...rest);
        if (!path.endsWith('x.table/.table.json') || found === undefined) return found;
        one.calls.get = undefined;
        await dropTable(two.catalog, { id });
        return found;
      };
      return move(from, to);
    };
    expect(await createTable(one.catalog, { id, mode }, people(2))).toMatchObject({ version: 1 });
    expect(one.calls.get).toBeUndefined();
    expect(await countTableRows(two.catalog, { id })).toEqual({ count: 2 });
    expect(one.fs.readdirSync(`${ROOT}/.dirspace/staging`)).toEqual([]);
  },
);

test.each([
  ['a table', async () => void (await createTable(two.catalog, { id }, people(1)))],
  ['a namespace', async () => void (await createNamespace(two.catalog, { id }))],
])('a registration whose name %s takes leaves the record as it was', async (_, take) => {
  await createTable(one.catalog, { id, properties: { k: 'v' } }, people(2));
  const { context } = await deregisterTable(one.catalog, { id });
  const location = context?.relative_location as string;
  const record = `${ROOT}/${location}/.table.json`;
  const before = String(one.fs.readFileSync(record));
  one.calls.moveFolder = async (move, from, to) => {
    one.calls.moveFolder = undefined;
    await take();
    return move(from, to);
  };
  const work = registerTable(one.catalog, { id, location, properties: { by: 'one' } });
  expect(await outcomeOf(work)).toMatchObject({ code: 'TableAlreadyExists' });
  expect(String(one.fs.readFileSync(record))).toBe(before);
});

test('a namespace that overwrites replaces one that came meanwhile', async () => {
  one.calls.moveFolder = async (move, from, to) => {
    one.calls.moveFolder = undefined;
    await createNamespace(two.catalog, { id, properties: { by: 'two' } });
    return move(from, to);
  };
  const made = await createNamespace(one.catalog, {
    id,
    mode: 'overwrite',
    properties: { by: 'one' },
  });
  expect(made.properties).toMatchObject({ by: 'one' });
  expect((await describeNamespace(two.catalog, { id })).properties).toEqual(made.properties);
  expect(one.fs.readdirSync(`${ROOT}/.dirspace/staging`)).toEqual([]);
});

/** As a creator leaves it that is killed before its namespace is confirmed. */
function pendingNamespace(folder = 'x', creator = 'n'): void {
  one.fs.mkdirSync(`${ROOT}/${folder}`);
  const marker = encodeNamespace({ id: creator, properties: { by: 'the dead' } });
  one.fs.writeFileSync(`${ROOT}/${folder}/.namespace.pending`, marker);
}

test('a namespace whose creator was killed is invisible, and the next creator goes on with it', async () => {
  await createNamespace(one.catalog, { id: ['n'] });
  pendingNamespace();
  pendingNamespace('n/y');
  expect(await outcomeOf(describeNamespace(one.catalog, { id }))).toMatchObject({
    code: 'NamespaceNotFound',
  });
  expect((await listNamespaces(one.catalog, {})).namespaces).toEqual(['n']);
  const { problems, leftovers } = await verifyCatalog(one.catalog, {});
  expect(problems).toEqual([]);
  expect(leftovers).toHaveLength(2);
  expect(leftovers).toContainEqual({ path: 'x', kind: 'staging' });
  expect(leftovers).toContainEqual({ path: 'n/y', kind: 'staging' });
  const exists = createNamespace(one.catalog, { id, mode: 'exist_ok' });
  expect((await exists).properties).toEqual({ by: 'the dead' });
  expect(one.fs.readdirSync(`${ROOT}/x`)).toEqual(['.namespace.json']);
  // Nothing that can be seen is in it.
  await dropNamespace(one.catalog, { id: ['n'] });
});

describe('a new namespace meets one that waits, of a process', () => {
  const create = (mode: string) =>
    createNamespace(one.catalog, { id, mode, properties: { by: 'the living' } });

  test.each(['create', 'exist_ok', 'overwrite'])(
    'that died: it takes its place (%s)',
    async (mode) => {
      const { pid } = spawnSync(process.execPath, ['-e', '']);
      pendingNamespace('x', `${processTag({ ...thisProcess(), pid })}-1`);
      expect((await create(mode)).properties).toMatchObject({ by: 'the living' });
      const { properties } = await describeNamespace(two.catalog, { id });
      expect(properties).toMatchObject({ by: 'the living' });
      expect(one.fs.readdirSync(`${ROOT}/x`)).toEqual(['.namespace.json']);
      expect((await verifyCatalog(two.catalog, {})).leftovers).toEqual([]);
    },
  );

  test.each([
    ['that runs', `${processTag()}-1`],
    ['of another machine', 'ffffffff-1-1-1'],
  ])('%s: it finishes it', async (_, creator) => {
    pendingNamespace('x', creator);
    expect(await outcomeOf(create('create'))).toMatchObject({ code: 'NamespaceAlreadyExists' });
    expect((await describeNamespace(two.catalog, { id })).properties).toEqual({ by: 'the dead' });
  });

  test('that nobody can tell, as its marker is damaged: it is decided like any other', async () => {
    pendingNamespace();
    one.fs.writeFileSync(`${ROOT}/x/.namespace.pending`, '{');
    expect(await outcomeOf(create('create'))).toMatchObject({ code: 'Corrupt' });
  });
});

test('a namespace that is taken back at once, by no table, is not called a table', async () => {
  one.calls.renameFile = async () => {
    one.fs.rmSync(`${ROOT}/x`, { recursive: true });
    return false;
  };
  expect(await outcomeOf(createNamespace(one.catalog, { id }))).toMatchObject({
    code: 'ConcurrentModification',
  });
});

test('a table takes the name from a namespace whose creator was killed', async () => {
  pendingNamespace();
  await createTable(one.catalog, { id }, people(2));
  expect(one.fs.existsSync(`${ROOT}/x`)).toBe(false);
  expect(await outcomeOf(createNamespace(one.catalog, { id }))).toMatchObject({
    code: 'NamespaceAlreadyExists',
    message:
      'x is a table; a namespace cannot have the same name. Choose another name or drop the table.',
  });
});

test.each(['.namespace.withdrawn', undefined])(
  "what a namespace leaves that was withdrawn (%s) is in nobody's way",
  async (marker) => {
    one.fs.mkdirSync(`${ROOT}/x`);
    if (marker !== undefined) one.fs.writeFileSync(`${ROOT}/x/${marker}`, '');
    await createNamespace(one.catalog, { id });
    expect(one.fs.readdirSync(`${ROOT}/x`)).toEqual(['.namespace.json']);
  },
);

test('a table that is confirmed by nobody stays beside its namespace until repair detaches it', async () => {
  await createTable(one.catalog, { id }, people(2));
  one.fs.mkdirSync(`${ROOT}/x`);
  const marker = encodeNamespace({ id: 'n', properties: {} });
  one.fs.writeFileSync(`${ROOT}/x/.namespace.json`, marker);
  const { problems } = await verifyCatalog(one.catalog, {});
  expect(problems).toMatchObject([{ path: 'data/x.table', kind: 'table' }]);
  const { actions, left } = await repairCatalog(one.catalog, { apply: true });
  expect(left).toEqual([]);
  const location = actions[0]?.quarantined as string;
  await registerTable(one.catalog, { id: ['y'], location });
  expect((await countTableRows(one.catalog, { id: ['y'] })).count).toBe(2);
});

test.each([
  ['table', () => createTable(two.catalog, { id }, people(1)), 'TableAlreadyExists'],
  ['declared table', () => declareTable(two.catalog, { id }), 'TableAlreadyExists'],
])('a namespace that is being overwritten keeps its name from a %s', async (_, make, code) => {
  await createNamespace(one.catalog, { id, properties: { by: 'one' } });
  let other: unknown;
  one.calls.moveFolder = async (move, from, to) => {
    const moved = await move(from, to);
    // The old one is in the trash, and the new one is not in its place yet.
    if (from === 'x') other = await outcomeOf(make());
    return moved;
  };
  await createNamespace(one.catalog, { id, mode: 'overwrite', properties: { by: 'new' } });
  expect(other).toMatchObject({ code });
  expect((await describeNamespace(two.catalog, { id })).properties).toMatchObject({ by: 'new' });
  expect((await verifyCatalog(two.catalog, {})).problems).toEqual([]);
});

test('a table that is being replaced keeps its name from a namespace', async () => {
  await createTable(one.catalog, { id: ['y'] }, people(3));
  const { context } = await deregisterTable(one.catalog, { id: ['y'] });
  await createTable(one.catalog, { id }, people(1));
  let other: unknown;
  one.calls.moveFolder = async (move, from, to) => {
    const moved = await move(from, to);
    if (from === 'data/x.table') other = await outcomeOf(createNamespace(two.catalog, { id }));
    return moved;
  };
  const location = context?.relative_location as string;
  await registerTable(one.catalog, { id, location, mode: 'overwrite' });
  expect(other).toMatchObject({ code: 'NamespaceAlreadyExists' });
  expect((await countTableRows(one.catalog, { id })).count).toBe(3);
  expect(one.fs.existsSync(`${ROOT}/x`)).toBe(false);
});

test('a namespace to be overwritten that was dropped meanwhile is created, unless a table came', async () => {
  for (const comes of [false, true]) {
    await createNamespace(one.catalog, { id });
    one.calls.moveFolder = async (move, from, to) => {
      one.calls.moveFolder = undefined;
      await dropNamespace(two.catalog, { id });
      if (comes) await declareTable(two.catalog, { id });
      return move(from, to);
    };
    const outcome = await outcomeOf(createNamespace(one.catalog, { id, mode: 'overwrite' }));
    expect(outcome).toMatchObject(comes ? { code: 'NamespaceAlreadyExists' } : { value: {} });
    expect((await verifyCatalog(two.catalog, {})).problems).toEqual([]);
    if (!comes) await dropNamespace(two.catalog, { id });
  }
});
