/**
 * Handles are on the table they were opened on: once another table has its name, each of their
 * operations is refused, and the other table stays as it is.
 */
import fc from 'fast-check';
import { afterEach, describe, expect, test } from 'vitest';
import { openDirectoryNamespace } from '../../src/directory/directory-namespace.ts';
import type { CatalogExtensions } from '../../src/protocol/extensions.ts';
import type { Namespace } from '../../src/protocol/namespace.ts';
import { Connection } from '../../src/sdk/connection.ts';
import type { Query } from '../../src/sdk/query/query.ts';
import type { Table } from '../../src/sdk/table/table.ts';
import { everyCall, InterruptedCatalog, type Moment } from '../helpers/interrupted.ts';
import { casesOf } from '../helpers/long.ts';
import { copyOf, memoryFs, type TestFs } from '../helpers/memory-fs.ts';
import { outcomeOf } from '../helpers/outcome.ts';
import { restPair } from '../helpers/rest-pair.ts';
import { temporaryFolder } from '../helpers/temporary.ts';

type Catalog = Namespace & CatalogExtensions;

/** Locks are advice: file systems in which there are none. */
function lockless(fs: ReturnType<typeof memoryFs>) {
  const mkdir = (_: string, done: (error: Error) => void): void =>
    queueMicrotask(() => done(Object.assign(new Error('EACCES'), { code: 'EACCES' })));
  return Object.assign(Object.create(fs), { mkdir });
}

const closing: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const close of closing.splice(0).reverse()) await close();
});

async function directory(place: 'disk' | 'memory'): Promise<Connection> {
  const where =
    place === 'disk' ? { root: temporaryFolder() } : { root: '/some/catalog', fs: memoryFs() };
  const namespace = await openDirectoryNamespace(where);
  closing.push(() => namespace.close());
  return new Connection(namespace);
}

async function remote(): Promise<Connection> {
  const { namespace } = await directory('memory');
  const pair = await restPair({ namespace });
  closing.push(() => pair.close());
  return new Connection(pair.client as Catalog);
}

const CATALOGS = {
  'a directory': () => directory('disk'),
  memory: () => directory('memory'),
  REST: remote,
};

const rows = (who: string) => [1, 2, 3].map((id) => ({ id, who, vector: [id, 0] }));

/** A table with three versions of main, a tag and a branch, all named alike for everybody. */
async function made(connection: Connection, name: string, who: string): Promise<Table> {
  const table = await connection.createTable(name, rows(who));
  await table.add([{ id: 4, who, vector: [4, 0] }]);
  await table.add([{ id: 5, who, vector: [5, 0] }]);
  await (await table.tags()).create('v1', 1);
  await (await (await table.branches()).create('work')).add([{ id: 6, who, vector: [6, 0] }]);
  return table;
}

/** All that can be seen of a table. */
async function seen(connection: Connection, name: string): Promise<unknown> {
  const table = await connection.openTable(name);
  const work = await connection.openTable(name, [], { branch: 'work' });
  return JSON.parse(
    JSON.stringify(
      [
        await table.listVersions(),
        await work.listVersions(),
        await (await table.tags()).list(),
        await (await table.branches()).list(),
        await table.query().toArray(),
        await work.query().toArray(),
        await connection.describeTable(name, [], { load_detailed_metadata: true }),
      ],
      (key, value) =>
        key === 'context' ? undefined : typeof value === 'bigint' ? `${value}` : value,
    ),
  );
}

interface Handles {
  readonly plain: Table;
  readonly pinned: Table;
  readonly work: Table;
  readonly query: Query;
}

const OPERATIONS: Readonly<Record<string, (handles: Handles) => Promise<unknown>>> = {
  schema: ({ plain }) => plain.schema(),
  version: ({ plain }) => plain.version(),
  location: ({ plain }) => plain.location(),
  uri: ({ plain }) => plain.uri(),
  stats: ({ plain }) => plain.stats(),
  count: ({ plain }) => plain.countRows(),
  'count with a filter': ({ plain }) => plain.countRows('id > 1'),
  'count of a pinned handle': ({ pinned }) => pinned.countRows(),
  'count of a branch': ({ work }) => work.countRows(),
  query: ({ plain }) => plain.query().toArray(),
  'a query made before': ({ query }) => query.toArray(),
  'query of a pinned handle': ({ pinned }) => pinned.query().toArrow(),
  'query of a branch': ({ work }) => work.query().toArray(),
  'vector search': ({ plain }) => plain.vectorSearch([1, 0]).limit(1).toArray(),
  'output schema': ({ plain }) => plain.query().outputSchema(),
  explain: ({ plain }) => plain.query().explainPlan(),
  analyze: ({ plain }) => plain.query().analyzePlan(),
  'take by offset': ({ plain }) => plain.takeOffsets([0]).toArray(),
  'take by row id': ({ pinned }) => pinned.takeRowIds([0]).toArray(),
  add: ({ plain }) => plain.add(rows('stale')),
  'add with overwrite': ({ plain }) => plain.add(rows('stale'), { mode: 'overwrite' }),
  'add to a branch': ({ work }) => work.add(rows('stale')),
  update: ({ plain }) => plain.update({ who: "'stale'" }),
  'delete of every row': ({ plain }) => plain.delete('true'),
  'delete in a branch': ({ work }) => work.delete('true'),
  'delete by row id': ({ plain }) => plain.deleteRows([0]),
  merge: ({ plain }) =>
    plain.mergeInsert('id').whenMatchedUpdateAll().whenNotMatchedInsertAll().execute(rows('stale')),
  checkout: ({ plain }) => plain.checkout(1),
  'checkout of a tag': ({ plain }) => plain.checkout('v1'),
  'checkout of a time': ({ plain }) => plain.checkout({ asOf: new Date(8e15) }),
  restore: ({ plain }) => plain.restore(1),
  'restore of a tag': ({ plain }) => plain.restore('v1'),
  'restore of a pinned handle': ({ pinned }) => pinned.restore(),
  versions: ({ plain }) => plain.listVersions(),
  tags: async ({ plain }) => (await plain.tags()).list(),
  'version of a tag': async ({ plain }) => (await plain.tags()).getVersion('v1'),
  'create a tag': async ({ plain }) => (await plain.tags()).create('v2', 2),
  'update a tag': async ({ plain }) => (await plain.tags()).update('v1', 2),
  'delete a tag': async ({ plain }) => (await plain.tags()).delete('v1'),
  branches: async ({ plain }) => (await plain.branches()).list(),
  'create a branch': async ({ plain }) => (await plain.branches()).create('other'),
  'open a branch': async ({ plain }) => (await plain.branches()).checkout('work'),
  'delete a branch': async ({ plain }) => (await plain.branches()).delete('work'),
  indexes: ({ plain }) => plain.listIndices(),
  'statistics of an index': ({ plain }) => plain.indexStats('id_idx'),
  'drop an index': ({ plain }) => plain.dropIndex('id_idx'),
  optimize: ({ plain }) => plain.optimize({ cleanupOlderThan: new Date(0) }),
  'cleanup alone': ({ plain }) => plain.optimize({ compaction: false }),
  'schema metadata': ({ plain }) => plain.updateSchemaMetadata({ stale: 'yes' }),
  'field metadata': ({ plain }) =>
    plain.updateFieldMetadata([{ path: 'id', metadata: { stale: 'yes' } }]),
  'add columns': ({ plain }) => plain.addColumns([{ name: 'stale', valueSql: '1' }]),
  'alter columns': ({ plain }) => plain.alterColumns([{ path: 'who', rename: 'stale' }]),
  'drop columns': ({ plain }) => plain.dropColumns(['who']),
};

/** How another table comes to have the name `t`. */
const REPLACEMENTS: Readonly<Record<string, (connection: Connection) => Promise<unknown>>> = {
  'dropped and made anew': async (connection) => {
    await connection.dropTable('t');
    await made(connection, 't', 'stranger');
  },
  'renamed, and another renamed to its name': async (connection) => {
    await made(connection, 'u', 'stranger');
    await connection.renameTable('t', 'away');
    await connection.renameTable('u', 't');
  },
  'replaced by a table that is registered': async (connection) => {
    await made(connection, 'u', 'stranger');
    const { context } = await connection.deregisterTable('u');
    const location = context?.relative_location as string;
    await connection.registerTable('t', location, [], { mode: 'overwrite' });
  },
};

async function handlesOn(connection: Connection): Promise<Handles> {
  const plain = await made(connection, 't', 'own');
  const pinned = await connection.openTable('t', [], { version: 1 });
  const work = await connection.openTable('t', [], { branch: 'work' });
  const query = plain.query().where('id > 0');
  // Everything is read once, so that it is at hand.
  for (const table of [plain, pinned, work]) await table.toArrow();
  return { plain, pinned, work, query };
}

describe.each(Object.entries(CATALOGS))('handles on tables of %s', (_, open) => {
  test.each(Object.entries(REPLACEMENTS))('a table that is %s', async (_how, replace) => {
    const connection = await open();
    const handles = await handlesOn(connection);
    const own = (await connection.describeTable('t', [], { load_detailed_metadata: true }))
      .incarnation;
    await replace(connection);
    const before = await seen(connection, 't');
    for (const [name, run] of Object.entries(OPERATIONS)) {
      const error = await run(handles).then(
        (answer) => ({ name, answer }),
        (reason) => reason,
      );
      expect([name, error]).toEqual([name, expect.objectContaining({ code: 'TableNotFound' })]);
      expect(`${name}: ${error.message}`).toContain('was dropped and made anew');
      expect(error.message).toContain(own);
    }
    expect(await seen(connection, 't')).toEqual(before);
    const again = await connection.openTable('t');
    expect(await again.countRows("who = 'stranger'")).toBe(5);
  });

  test('a table that was overwritten is the same table', async () => {
    const connection = await open();
    const { plain, pinned } = await handlesOn(connection);
    await connection.createTable('t', [{ id: 9, who: 'own' }], { mode: 'overwrite' });
    expect(await plain.countRows()).toBe(1);
    expect(await pinned.countRows()).toBe(3);
    expect((await plain.delete('true')).numDeletedRows).toBe(1);
  });

  test('a dropped table that comes back is the same table', async () => {
    const connection = await open();
    const handles = await handlesOn(connection);
    await connection.dropTable('t');
    await expect(handles.plain.countRows()).rejects.toMatchObject({ code: 'TableNotFound' });
    await connection.undropTable('t');
    for (const name of ['count', 'query of a pinned handle', 'add', 'a query made before']) {
      await OPERATIONS[name]?.(handles);
    }
    expect(await handles.plain.countRows()).toBe(8);
  });

  test('a handle does not follow its table to another name', async () => {
    const connection = await open();
    const { plain } = await handlesOn(connection);
    await connection.renameTable('t', 'u');
    await expect(plain.countRows()).rejects.toMatchObject({ code: 'TableNotFound' });
    await connection.renameTable('u', 't');
    expect(await plain.countRows()).toBe(5);
  });

  test('a handle on a declared table is on that declaration', async () => {
    const connection = await open();
    const { incarnation } = await connection.declareTable('t');
    expect(incarnation).toMatch(/^[0-9a-f-]{36}$/);
    const filled = await connection.createTable('t', rows('own'));
    expect(await connection.describeTable('t', [], { load_detailed_metadata: true })).toMatchObject(
      {
        incarnation,
      },
    );
    await connection.dropTable('t');
    await connection.declareTable('t');
    await expect(filled.countRows()).rejects.toThrow('was dropped and made anew');
    await expect(filled.add(rows('stale'))).rejects.toThrow('was dropped and made anew');
    expect(await connection.describeTable('t', [], { check_declared: true })).toMatchObject({
      is_only_declared: true,
    });
  });
});

test('details of the error name both incarnations', async () => {
  const connection = await directory('memory');
  const stale = await made(connection, 't', 'own');
  const described = () => connection.describeTable('t', [], { load_detailed_metadata: true });
  const { incarnation } = await described();
  await connection.dropTable('t');
  await made(connection, 't', 'stranger');
  const { incarnation: found } = await described();
  await expect(stale.countRows()).rejects.toMatchObject({
    details: { id: ['t'], incarnation, found },
  });
});

test('a query that is being read ends with the table, and never gives rows of another', async () => {
  const connection = await directory('disk');
  const table = await connection.createTable('t', [{ id: 0, who: 'own' }]);
  for (let id = 1; id < 12; id++) await table.add([{ id, who: 'own' }]);
  const other = new Connection(
    await openDirectoryNamespace({ root: (await table.location()) ?? '' }),
  );
  closing.push(() => other.close());
  const batches = table.query().execute();
  const found: string[] = [];
  const note = (value: unknown): void => {
    for (const row of (value as { toArray(): { who: string }[] }).toArray()) found.push(row.who);
  };
  note((await batches.next()).value);
  await connection.dropTable('t');
  const stranger = await connection.createTable('t', [{ id: 0, who: 'stranger' }]);
  for (let id = 1; id < 12; id++) await stranger.add([{ id, who: 'stranger' }]);
  const rest = (async () => {
    for await (const batch of { [Symbol.asyncIterator]: () => batches }) note(batch);
  })();
  expect(await outcomeOf(rest)).toBe('TableNotFound');
  expect(new Set(found)).toEqual(new Set(['own']));
});

test('a catalog that tells no incarnation is not asked for one', async () => {
  const { namespace } = await directory('memory');
  const asked: unknown[] = [];
  const silent = new Proxy(namespace, {
    get: (target, name) => {
      const method = Reflect.get(target, name, target);
      if (typeof method !== 'function' || name === 'close') return method;
      return async (request: object, ...rest: unknown[]) => {
        asked.push(request);
        const answer = await method.call(target, request, ...rest);
        if (typeof answer !== 'object' || !('incarnation' in answer)) return answer;
        const { incarnation: _, ...told } = answer;
        return told;
      };
    },
  });
  const connection = new Connection(silent);
  const table = await made(connection, 't', 'own');
  const opened = await connection.openTable('t', [], { tag: 'v1' });
  expect([await table.countRows(), await opened.countRows()]).toEqual([5, 3]);
  expect(asked.filter((request) => 'incarnation' in (request as object))).toEqual([]);
});

/** Reads, which leave nothing behind anywhere. */
const READS = [
  ...['schema', 'version', 'location', 'uri', 'stats', 'explain', 'analyze', 'versions', 'tags'],
  ...['version of a tag', 'branches', 'open a branch', 'output schema', 'vector search'],
  ...[
    'indexes',
    'statistics of an index',
    'drop an index',
    'checkout',
    'checkout of a tag',
    'checkout of a time',
    'take by offset',
    'take by row id',
  ],
];
const isRead = (name: string): boolean => READS.includes(name) || /^count|query/.test(name);

describe('a change that is interrupted at any moment, as its table is dropped and made anew', () => {
  const CHANGES = Object.keys(OPERATIONS).filter((name) => !isRead(name));

  /** The disk with the table that each change begins with, made once. */
  let own: Promise<TestFs> | undefined;
  async function ownTable(): Promise<TestFs> {
    const fs = memoryFs();
    const options = { root: '/c', fs: lockless(fs), durability: 'relaxed' } as const;
    const connection = new Connection(await openDirectoryNamespace(options));
    await made(connection, 't', 'own');
    await connection.close();
    return fs;
  }

  /** Interrupts the change at that moment, and answers what it came to; nothing where there is none. */
  async function interruptedAt(name: string, moment: Moment): Promise<string | undefined> {
    own ??= ownTable();
    const options = { root: '/c', fs: lockless(copyOf(await own)), durability: 'relaxed' } as const;
    const other = new Connection(await openDirectoryNamespace(options));
    const interrupted = await InterruptedCatalog.open(options);
    const connection = new Connection(interrupted.namespace);
    const plain = await connection.openTable('t');
    const pinned = await connection.openTable('t', [], { version: 1 });
    const work = await connection.openTable('t', [], { branch: 'work' });
    const replace = async (): Promise<unknown> => {
      await other.dropTable('t');
      await made(other, 't', 'stranger');
      return seen(other, 't');
    };
    // Not every call of the store is waited for by the operation that makes it.
    let replaced: Promise<unknown> | undefined;
    let call = '';
    const noted: Moment = (kind, path, count) => {
      call = `${count}, ${kind} of ${path}`;
      return moment(kind, path, count);
    };
    interrupted.interrupt(noted, () => {
      replaced = replace();
      return replaced;
    });
    const run = OPERATIONS[name] as (typeof OPERATIONS)[string];
    const outcome = await outcomeOf(run({ plain, pinned, work, query: plain.query() }));
    if (replaced === undefined) return undefined;
    const before = await replaced;
    expect(['ok', 'TableNotFound', 'CommitStateUnknown'], `call ${call}`).toContain(outcome);
    const fresh = new Connection(await openDirectoryNamespace(options));
    expect(await seen(fresh, 't'), `call ${call}: ${outcome}`).toEqual(before);
    expect((await (fresh.namespace as Catalog).verify?.({}))?.problems).toEqual([]);
    return outcome;
  }

  /**
   * The usual run interrupts before a share of the calls that write, which is where a check before it may
   * be out of date, and before few of the reads, beginning at another one for each change.
   */
  const READS = casesOf(127, 1);
  const WRITES = casesOf(9, 1);
  const READING = /^(get|head|open|list)$/;

  test.each(CHANGES.map((name, shift) => [name, shift] as const))('%s', async (name, shift) => {
    const calls: string[] = [];
    const uninterrupted: Moment = (kind) => {
      calls.push(kind);
      return false;
    };
    await interruptedAt(name, uninterrupted);
    expect(calls).not.toEqual([]);
    const outcomes = new Set<unknown>();
    for (const [at, kind] of calls.entries()) {
      const step = READING.test(kind) ? READS : WRITES;
      if (at > 0 && (at + shift) % step !== 0) continue;
      outcomes.add(await interruptedAt(name, everyCall(at + 1)));
    }
    expect(outcomes).toContain('TableNotFound');
  });
});

const NAMES = ['a', 'b'] as const;
const name = fc.constantFrom(...NAMES);
const step = fc.oneof(
  fc.record({ kind: fc.constantFrom('create', 'drop', 'undrop', 'open', 'overwrite'), name }),
  fc.record({ kind: fc.constant('rename'), name, to: name }),
  fc.record({
    kind: fc.constantFrom('count', 'read', 'add', 'delete', 'pinned', 'tag'),
    handle: fc.nat(11),
  }),
) as fc.Arbitrary<{ kind: string; name?: string; to?: string; handle?: number }>;

describe.each(Object.entries(CATALOGS))('in a random history, in %s', (where, open) => {
  test('a handle reads and writes rows of its own table only', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(step, { minLength: 10, maxLength: 40 }), async (steps) => {
        const connection = await open();
        /** Which table has a name; those that were dropped, the last one last. */
        const there = new Map<string, number>();
        const dropped: [string, number][] = [];
        const held = new Map<number, number>();
        const handles: { readonly table: Table; readonly owner: number; readonly name: string }[] =
          [];
        let made = 0;
        for (const { kind, name = '', to = '', handle = 0 } of steps) {
          const owner = there.get(name);
          if (kind === 'create' && owner === undefined) {
            const table = await connection.createTable(name, [{ owner: made, id: 0 }]);
            there.set(name, made);
            held.set(made, 1);
            handles.push({ table, owner: made, name });
            made += 1;
          } else if (kind === 'overwrite' && owner !== undefined) {
            await connection.createTable(name, [{ owner, id: 0 }], { mode: 'overwrite' });
            held.set(owner, 1);
          } else if (kind === 'drop' && owner !== undefined) {
            await connection.dropTable(name);
            there.delete(name);
            dropped.push([name, owner]);
          } else if (kind === 'undrop' && owner === undefined) {
            const at = dropped.findLastIndex(([one]) => one === name);
            if (at < 0) continue;
            const [[, back]] = dropped.splice(at, 1) as [[string, number]];
            await connection.undropTable(name);
            there.set(name, back);
          } else if (kind === 'rename' && owner !== undefined && !there.has(to)) {
            await connection.renameTable(name, to);
            there.delete(name);
            there.set(to, owner);
          } else if (kind === 'open' && owner !== undefined) {
            handles.push({ table: await connection.openTable(name), owner, name });
          } else if (handles.length > 0) {
            const chosen = handles[handle % handles.length] as (typeof handles)[number];
            const stale = there.get(chosen.name) !== chosen.owner;
            const { table, owner: whose } = chosen;
            const count = held.get(whose) as number;
            const work = async (): Promise<void> => {
              if (kind === 'count') expect(await table.countRows()).toBe(count);
              else if (kind === 'read') {
                const found = (await table.query().toArray()).map((row) => Number(row.owner));
                expect(found).toEqual(Array.from({ length: count }, () => whose));
              } else if (kind === 'add') {
                await table.add([{ owner: whose, id: count }]);
                held.set(whose, count + 1);
              } else if (kind === 'delete') {
                await table.delete('id > 0');
                held.set(whose, Math.min(count, 1));
              } else if (kind === 'pinned') {
                await table.checkout(1);
                await table.checkoutLatest();
              } else if (kind === 'tag') await (await table.tags()).list();
              else return;
            };
            if (['count', 'read', 'add', 'delete', 'pinned', 'tag'].includes(kind)) {
              expect(await outcomeOf(work())).toBe(stale ? 'TableNotFound' : 'ok');
            }
          }
        }
        for (const [name, owner] of there) {
          const found = await (await connection.openTable(name)).query().toArray();
          expect(new Set(found.map((row) => Number(row.owner)))).toEqual(new Set([owner]));
        }
      }),
      { numRuns: where === 'memory' ? casesOf(35, 60) : casesOf(9, 15) },
    );
  });
});
