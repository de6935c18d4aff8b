/** Writers that meet: in one process through many handles, and in four processes at once. */
import { spawn } from 'node:child_process';
import { expect, test } from 'vitest';
import { openDirectoryNamespace } from '../../src/directory/directory-namespace.ts';
import { filesOf, memoryFs } from '../helpers/catalogs.ts';
import { compiledModule } from '../helpers/compiled.ts';
import { casesOf } from '../helpers/long.ts';
import { outcomeOf } from '../helpers/outcome.ts';
import { seeded } from '../helpers/seeded.ts';
import { stage } from '../helpers/staged-version.ts';
import { temporaryFolder } from '../helpers/temporary.ts';
import { visibleState } from '../helpers/visible-state.ts';
import { idsOf, people, range } from '../suites/namespace/context.ts';

type Catalog = Awaited<ReturnType<typeof openDirectoryNamespace>>;

async function handles(
  count: number,
): Promise<{ all: Catalog[]; fs: ReturnType<typeof memoryFs> }> {
  const fs = memoryFs();
  const all: Catalog[] = [];
  for (let at = 0; at < count; at++) {
    all.push(await openDirectoryNamespace({ root: '/c', fs, durability: 'relaxed' }));
  }
  return { all, fs };
}

/**
 * Lets others go first for a while. On memfs nearly all of an operation runs in microtasks, so it is
 * those that must be counted for two operations to meet in the middle.
 */
async function turns(random: () => number): Promise<void> {
  const scale = random() < 0.5 ? 60 : 600;
  for (let left = Math.floor(random() * scale); left > 0; left--) await undefined;
}

test('appends through many handles: every row once, versions without gaps', async () => {
  const { all } = await handles(6);
  const [first] = all as [Catalog];
  await first.createTable({ id: ['t'] }, people(1));
  const work = all.flatMap((catalog, writer) =>
    range(0, 8).map((round) =>
      catalog.insertIntoTable({ id: ['t'] }, people(1, 1 + writer * 8 + round)),
    ),
  );
  const versions = (await Promise.all(work)).map(({ version }) => version ?? 0);
  expect(versions.sort((a, b) => a - b)).toEqual(range(2, 50));
  for (const catalog of all) {
    expect((await idsOf(catalog, ['t'])).sort((a, b) => a - b)).toEqual(range(0, 49));
  }
});

test('one name, many creators: one wins and the others are told', async () => {
  for (let round = 0; round < casesOf(5, 20); round++) {
    const { all } = await handles(5);
    const outcomes = await Promise.all(
      all.map((catalog, at) => outcomeOf(catalog.createTable({ id: ['t'] }, people(at + 1)))),
    );
    expect(outcomes.filter((outcome) => outcome === 'ok')).toHaveLength(1);
    expect(new Set(outcomes)).toEqual(new Set(['ok', 'TableAlreadyExists']));
    const winner = outcomes.indexOf('ok');
    expect(await idsOf(all[0] as Catalog, ['t'])).toEqual(range(0, winner + 1));
  }
});

test('one declared table, many creators: one fills it', async () => {
  for (const mode of ['create', 'exist_ok']) {
    const { all } = await handles(5);
    await all[0]?.declareTable({ id: ['t'] });
    const outcomes = await Promise.all(
      all.map((catalog) => outcomeOf(catalog.createTable({ id: ['t'], mode }, people(2)))),
    );
    const won = outcomes.filter((outcome) => outcome === 'ok');
    expect(won).toHaveLength(mode === 'create' ? 1 : 5);
    expect(await idsOf(all[0] as Catalog, ['t'])).toEqual([0, 1]);
    expect((await all[0]?.listTableVersions({ id: ['t'] }))?.versions).toHaveLength(1);
  }
});

/** Ways in which a table takes a name; each finds what it needs. */
const TAKERS = {
  create: (catalog: Catalog, id: string[]) => catalog.createTable({ id }, people(1)),
  declare: (catalog: Catalog, id: string[]) => catalog.declareTable({ id }),
  register: (catalog: Catalog, id: string[]) =>
    catalog.registerTable({ id, location: '.dirspace/detached/out.table' }),
  rename: (catalog: Catalog, id: string[]) =>
    catalog.renameTable({ id: ['old'], new_table_name: id[0] as string }),
  undrop: (catalog: Catalog, id: string[]) => catalog.undropTable({ id }),
} as const;

test.each(Object.entries(TAKERS))(
  'a table and a namespace of one name, by %s: exactly one wins, the other is told',
  async (how, take) => {
    for (let seed = 0; seed < casesOf(8, 60); seed++) {
      const random = seeded(seed);
      const { all, fs } = await handles(4);
      const [a, b, c, d] = all as [Catalog, Catalog, Catalog, Catalog];
      await a.createTable({ id: ['old'] }, people(1));
      await a.createTable({ id: ['x'] }, people(1));
      await a.dropTable({ id: ['x'] });
      await a.createTable({ id: ['out'] }, people(1));
      const { context } = await a.deregisterTable({ id: ['out'] });
      fs.renameSync(`/c/${context?.relative_location}`, '/c/.dirspace/detached/out.table');
      const creators: Promise<string>[] = [
        turns(random).then(() => outcomeOf(take(a, ['x']))),
        turns(random).then(() => outcomeOf(b.createNamespace({ id: ['x'] }))),
      ];
      // A third and a fourth make it no easier.
      // (A table that is only declared may be created.)
      const third = how === 'create' ? TAKERS.create : TAKERS.declare;
      if (seed % 3 > 0) creators.push(turns(random).then(() => outcomeOf(third(c, ['x']))));
      if (seed % 3 > 1) {
        creators.push(turns(random).then(() => outcomeOf(d.createNamespace({ id: ['x'] }))));
      }
      const outcomes = await Promise.all(creators);
      const what = `${how}, seed ${seed}: ${outcomes}`;
      expect(
        outcomes.filter((outcome) => outcome === 'ok'),
        what,
      ).toHaveLength(1);
      for (const [at, outcome] of outcomes.entries()) {
        const lost = at % 2 === 0 ? 'TableAlreadyExists' : 'NamespaceAlreadyExists';
        expect(['ok', lost], what).toContain(outcome);
      }
      const tables = (await a.listTables({ id: [] })).tables.filter((name) => name === 'x');
      const { namespaces } = await a.listNamespaces({ id: [] });
      const won = outcomes.indexOf('ok') % 2;
      expect([tables.length, namespaces.length], what).toEqual(won === 0 ? [1, 0] : [0, 1]);
      const found = await b.verify({});
      expect(found.problems, what).toEqual([]);
      expect(
        found.leftovers.filter(({ kind }) => kind === 'empty folder' || kind === 'staging'),
      ).toEqual([]);
    }
  },
);

test('drop of a namespace against creation in it: what was acknowledged is there', async () => {
  for (let seed = 0; seed < casesOf(11, 100); seed++) {
    const random = seeded(seed);
    const { all } = await handles(2);
    const [a, b] = all as [Catalog, Catalog];
    await a.createNamespace({ id: ['n'] });
    const [dropped, made] = await Promise.all([
      turns(random).then(() => outcomeOf(a.dropNamespace({ id: ['n'] }))),
      turns(random).then(() => outcomeOf(b.createTable({ id: ['n', 't'] }, people(2)))),
    ]);
    const where = `seed ${seed}: drop ${dropped}, create ${made}`;
    if (made === 'ok') expect(await idsOf(b, ['n', 't']), where).toEqual([0, 1]);
    else expect(made, where).toBe('NamespaceNotFound');
    expect([dropped, made], where).not.toEqual(['ok', 'ok']);
  }
});

test('rename against appends: nothing acknowledged is lost', async () => {
  for (let seed = 0; seed < casesOf(8, 60); seed++) {
    const random = seeded(seed);
    const { all } = await handles(2);
    const [a, b] = all as [Catalog, Catalog];
    await a.createTable({ id: ['t'] }, people(1));
    const appends = range(1, 5).map(async (row) => {
      await turns(random);
      return outcomeOf(b.insertIntoTable({ id: ['t'] }, people(1, row)));
    });
    const renamed = turns(random).then(() => a.renameTable({ id: ['t'], new_table_name: 'u' }));
    const outcomes = await Promise.all(appends);
    await renamed;
    const expected = [0, ...range(1, 5).filter((row) => outcomes[row - 1] === 'ok')];
    expect((await idsOf(a, ['u'])).sort(), `seed ${seed}`).toEqual(expected);
    for (const outcome of outcomes) expect(['ok', 'TableNotFound']).toContain(outcome);
  }
});

test('drop and recreation against stale writers: no commit lands in another table', async () => {
  for (let seed = 0; seed < casesOf(11, 100); seed++) {
    const random = seeded(seed);
    const { all } = await handles(3);
    const [a, b, c] = all as [Catalog, Catalog, Catalog];
    if (seed % 2 === 0) await a.createTable({ id: ['t'] }, people(1));
    else await a.declareTable({ id: ['t'] });
    // The new table begins with row 100; what was meant for the old one comes after it at best.
    const stale = (async () => {
      await turns(random);
      if (seed % 2 === 0) return outcomeOf(b.insertIntoTable({ id: ['t'] }, people(1, 1)));
      return outcomeOf(b.createTable({ id: ['t'] }, people(1, 1)));
    })();
    const tagged = turns(random).then(() =>
      outcomeOf(c.createTableTag({ id: ['t'], tag: 'x', version: 1 })),
    );
    await turns(random);
    await a.dropTable({ id: ['t'] });
    const made = await outcomeOf(a.createTable({ id: ['t'] }, people(1, 100)));
    const outcome = await stale;
    const ids = await idsOf(a, ['t']);
    const where = `seed ${seed}: create ${made}, stale ${outcome}, tag ${await tagged}, ${ids}`;
    const { tags } = await c.listTableTags({ id: ['t'] });
    if (made === 'ok') expect(ids[0], where).toBe(100);
    for (const { version } of Object.values(tags)) expect(version, where).toBe(1);
  }
});

test('tags against cleanup: a tag that was acknowledged keeps its version', async () => {
  for (let seed = 0; seed < casesOf(11, 100); seed++) {
    const random = seeded(seed);
    const { all } = await handles(2);
    const [a, b] = all as [Catalog, Catalog];
    await a.createTable({ id: ['t'] }, people(1));
    for (const row of range(1, 5)) await a.insertIntoTable({ id: ['t'] }, people(1, row));
    const id = ['t'];
    const cleaned = turns(random).then(() =>
      a.cleanupTable({ id, older_than_millis: 0, orphan_grace_millis: 0 }),
    );
    const [tagged, branched] = await Promise.all([
      turns(random).then(() => outcomeOf(b.createTableTag({ id, tag: 'x', version: 2 }))),
      turns(random).then(() => outcomeOf(b.createTableBranch({ id, name: 'y', from_version: 3 }))),
    ]);
    await cleaned;
    const where = `seed ${seed}: tag ${tagged}, branch ${branched}`;
    const state = await visibleState(a);
    const { t } = state.tables;
    if (tagged === 'ok') expect(await idsOf(b, id, { version: 2 }), where).toEqual([0, 1]);
    else expect([tagged, t?.tags], where).toEqual(['TableVersionNotFound', {}]);
    if (branched === 'ok') expect(t?.newest.y, where).toEqual([0, 1, 2]);
    else expect(branched, where).toBe('TableVersionNotFound');
    expect(t?.newest.main, where).toEqual(range(0, 5));
  }
});

test('stale hints and gaps: a handle that slept through deletions reads and commits', async () => {
  const { all, fs } = await handles(3);
  const [a, stale, reader] = all as [Catalog, Catalog, Catalog];
  const id = ['t'];
  await a.createTable({ id }, people(1));
  for (const row of range(1, 12)) await a.insertIntoTable({ id }, people(1, row));
  await stale.describeTable({ id, load_detailed_metadata: true });
  const files = filesOf(fs, '/c');
  const hint = files.all().find((path) => path.endsWith('latest.json')) ?? '';
  const old = files.read(hint);
  for (const row of range(12, 20)) await a.insertIntoTable({ id }, people(1, row));
  await a.createTableTag({ id, tag: 'keep', version: 6 });
  await a.batchDeleteTableVersions({ id, ranges: [{ start_version: 2, end_version: 5 }] });
  await a.cleanupTable({ id, older_than_millis: 0, orphan_grace_millis: 0 });
  for (const bytes of [old, new Uint8Array(3), old.slice(0, 10), Buffer.from('{"version":"x"}')]) {
    files.write(hint, bytes);
    const fresh = await openDirectoryNamespace({ root: '/c', fs, readOnly: true });
    expect(await idsOf(fresh, id)).toEqual(range(0, 20));
  }
  expect(await idsOf(reader, id)).toEqual(range(0, 20));
  expect((await stale.insertIntoTable({ id }, people(1, 20))).version).toBe(21);
  expect(await idsOf(a, id)).toEqual(range(0, 21));
  expect((await a.listTableVersions({ id })).versions.map(({ version }) => version)).toEqual([
    6, 20, 21,
  ]);
});

test('a multi-table commit that is undecided is not built over', async () => {
  for (let seed = 0; seed < casesOf(10, 80); seed++) {
    const random = seeded(seed);
    const { all, fs } = await handles(2);
    const [a, b] = all as [Catalog, Catalog];
    const entries: Awaited<ReturnType<typeof stage>>[] = [];
    for (const name of ['x', 'y']) {
      await a.createTable({ id: [name] }, people(1));
      await a.insertIntoTable({ id: [name] }, people(1, 1));
      const subject = { namespace: a, files: filesOf(fs, '/c'), close: async () => {} };
      entries.push(await stage(subject, [name]));
    }
    const [batch, x, y] = await Promise.all([
      turns(random).then(() => outcomeOf(a.batchCreateTableVersions({ entries }))),
      turns(random).then(() => outcomeOf(b.insertIntoTable({ id: ['x'] }, people(1, 2)))),
      turns(random).then(() => outcomeOf(b.insertIntoTable({ id: ['y'] }, people(1, 3)))),
    ]);
    expect([x, y]).toEqual(['ok', 'ok']);
    // The batch takes row 0 out of both tables, or out of none.
    const gone = batch === 'ok' ? [1] : [0, 1];
    expect(await idsOf(a, ['x']), `seed ${seed} ${batch}`).toEqual([...gone, 2]);
    expect(await idsOf(a, ['y']), `seed ${seed} ${batch}`).toEqual([...gone, 3]);
  }
});

const CHILD = `
const [engine, arrow, root, me, rounds] = process.argv.slice(1);
const { openDirectoryNamespace } = await import(engine);
const { tableFromArrays, recordBatchStream } = await import(arrow);
const catalog = await openDirectoryNamespace({ root, durability: 'relaxed' });
const rows = (id) => {
  const table = tableFromArrays({ id: Int32Array.of(id), name: ['n'] });
  return recordBatchStream(table.schema, table.batches);
};
const done = { appended: [], created: [], renamed: 0, errors: [] };
for (let round = 0; round < Number(rounds); round++) {
  const row = 1 + Number(me) * 1000 + round;
  await catalog.insertIntoTable({ id: ['t'] }, rows(row));
  done.appended.push(row);
  try {
    await catalog.createTable({ id: ['n', 'r' + round] }, rows(Number(me)));
    done.created.push('r' + round);
  } catch (error) {
    if (error.code !== 'TableAlreadyExists') done.errors.push(String(error.code ?? error.stack));
  }
  try {
    await catalog.renameTable({ id: ['shuttle' + (round % 2)], new_table_name: 'shuttle' + ((round + 1) % 2) });
    done.renamed++;
  } catch (error) {
    if (!['TableNotFound', 'TableAlreadyExists'].includes(error.code)) done.errors.push(String(error.code ?? error.stack));
  }
}
console.log(JSON.stringify(done));
`;

interface ChildReport {
  readonly appended: number[];
  readonly created: string[];
  readonly renamed: number;
  readonly errors: string[];
}

function child(...args: string[]): Promise<ChildReport> {
  return new Promise((resolve, reject) => {
    const running = spawn(process.execPath, ['--input-type=module', '-e', CHILD, ...args], {
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    let output = '';
    running.stdout.on('data', (chunk: Buffer) => {
      output += chunk;
    });
    running.on('error', reject);
    running.on('close', (status) => {
      if (status === 0) resolve(JSON.parse(output) as ChildReport);
      else reject(new Error(`the process ended with ${status}`));
    });
  });
}

test('four processes: appends, creations and renames', async () => {
  const root = temporaryFolder();
  const rounds = casesOf(3, 25);
  const catalog = await openDirectoryNamespace({ root, durability: 'relaxed' });
  await catalog.createNamespace({ id: ['n'] });
  await catalog.createTable({ id: ['t'] }, people(1));
  await catalog.createTable({ id: ['shuttle0'] }, people(3));
  const engine = compiledModule('directory/directory-namespace.js');
  const arrow = compiledModule('arrow/apache.js');
  const reports = await Promise.all(
    range(0, 4).map((me) => child(engine, arrow, root, String(me), String(rounds))),
  );
  expect(reports.flatMap(({ errors }) => errors)).toEqual([]);
  const rows = reports.flatMap(({ appended }) => appended).sort((a, b) => a - b);
  expect((await idsOf(catalog, ['t'])).sort((a, b) => a - b)).toEqual([0, ...rows]);
  const versions = (await catalog.listTableVersions({ id: ['t'] })).versions;
  expect(versions.map(({ version }) => version)).toEqual(range(1, 4 * rounds + 2));
  const created = reports.flatMap(({ created }) => created).sort();
  expect(created).toEqual(
    range(0, rounds)
      .map((round) => `r${round}`)
      .sort(),
  );
  for (const [me, report] of reports.entries()) {
    for (const name of report.created) expect(await idsOf(catalog, ['n', name])).toEqual([me]);
  }
  const { tables } = await catalog.listTables({ id: [] });
  const shuttles = tables.filter((name) => name.startsWith('shuttle'));
  expect(shuttles).toHaveLength(1);
  expect(await idsOf(catalog, shuttles)).toEqual([0, 1, 2]);
}, 120_000);
