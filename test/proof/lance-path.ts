/**
 * T31: operations on a catalog in the mode `sync` are killed at their calls of the file system, and several
 * handles commit while others synchronize. What Lance finds by path must be right at every moment: no version
 * without all before it, none that the table does not have, and all of them once somebody synchronizes.
 */
import { openDirectoryNamespace } from '../../src/directory/directory-namespace.ts';
import { parseLanceVersionFile } from '../../src/lance-paths.ts';
import type { FileSystem } from '../../src/store/disk/file-system.ts';
import { strictFileSystem } from '../../src/store/disk/strict-fs.ts';
import { CRASH_OPERATIONS } from '../helpers/crash-operations.ts';
import { crashCase, hastyEnv, type Look, surviveKill, verified } from '../helpers/crash-runs.ts';
import { memoryFs } from '../helpers/memory-fs.ts';
import { people } from '../helpers/people.ts';
import { seeded } from '../helpers/seeded.ts';
import type { ProofContext, ProofRow } from './row.ts';

/** Kills of each operation, evenly over its calls. */
const KILLS = { ci: 1, short: 12, nightly: Number.POSITIVE_INFINITY };
const ROUNDS = { ci: 1, short: 4, nightly: 20 };
const ROOT = '/c';

export const lancePath: ProofRow = {
  row: 'T31 Lance by path',
  async run(context) {
    let [cases, operations] = [0, 0];
    const first = seeded(context.seed);
    for (const [name, operation] of Object.entries(CRASH_OPERATIONS)) {
      const each = await crashCase(name, operation, false, 'sync');
      const step = Math.max(1, Math.floor(each.calls / KILLS[context.size]));
      for (let at = 1 + Math.floor(first() * step); at <= each.calls; at += step) {
        try {
          await surviveKill(each, at, { look });
        } catch (error) {
          context.violated(`${name}, killed at call ${at}: ${(error as Error).stack}`);
        }
        cases++;
      }
      operations++;
    }
    for (let round = 0; round < ROUNDS[context.size]; round++) {
      await contend(context, round);
      cases++;
    }
    return {
      cases,
      note: `${operations} operations, ${ROUNDS[context.size]} rounds of contention`,
    };
  },
};

/** What must hold of the files as a crash left them, and once the catalog is synchronized. */
const look: Look = async (catalog, fs) => {
  await verified(catalog);
  await withoutGaps(catalog, fs);
  await catalog.syncLance({});
  const { problems, leftovers } = await catalog.verify({});
  const wrong = [...problems, ...leftovers.filter(({ kind }) => kind === 'unsynced')];
  if (wrong.length > 0) throw new Error(`synchronized, verify finds ${JSON.stringify(wrong)}`);
};

type Catalog = Parameters<Look>[0];

/** @throws where Lance finds a version of main and not one before it that the table has */
async function withoutGaps(catalog: Catalog, fs: FileSystem): Promise<void> {
  const { tables } = await catalog.listAllTables({});
  for (const key of tables) {
    const id = key.split('$');
    const { is_only_declared, location = '' } = await catalog.describeTable({
      id,
      check_declared: true,
    });
    if (is_only_declared !== false || location.includes('/lance/')) continue;
    const folder = `${location}/_versions`;
    const entries = fs.existsSync(folder) ? fs.readdirSync(folder, { withFileTypes: true }) : [];
    const found = new Set(
      (entries as readonly { name: string }[]).flatMap(
        ({ name }) => parseLanceVersionFile(name) ?? [],
      ),
    );
    const { versions } = await catalog.listTableVersions({ id });
    for (const { version } of versions) {
      if (version < Math.max(...found) && !found.has(version))
        throw new Error(`${key}: Lance finds ${[...found]} and not ${version}`);
    }
  }
}

/** Three commit to one table, two synchronize, one tags, branches and makes namespaces, at once. */
async function contend({ violated }: ProofContext, round: number): Promise<void> {
  const fs = strictFileSystem(memoryFs());
  const open = (): Promise<Catalog> =>
    openDirectoryNamespace({
      root: ROOT,
      fs,
      env: hastyEnv(),
      durability: 'relaxed',
      lance: 'sync',
    });
  const id = ['n', 't'];
  const first = await open();
  await first.createNamespace({ id: ['n'] });
  await first.createTable({ id }, people(2));
  let isOver = false;
  const writer = async (at: number): Promise<void> => {
    const catalog = await open();
    for (let turn = 0; turn < 8; turn++) {
      if (turn % 4 === 3)
        await catalog.deleteFromTable({ id, predicate: `id = ${at * 100 + turn}` });
      else await catalog.insertIntoTable({ id }, people(1, at * 100 + turn));
    }
  };
  const synchronizer = async (): Promise<void> => {
    const catalog = await open();
    for (let turn = 0; turn < 8 && !isOver; turn++) {
      await catalog.syncLance({});
      await withoutGaps(catalog, fs);
    }
  };
  const changer = async (): Promise<void> => {
    const catalog = await open();
    for (let turn = 0; turn < 3; turn++) {
      await catalog.createTableTag({ id, tag: `t${turn}`, version: 1 });
      await catalog.createTableBranch({ id, name: `b${turn % 2}` });
      await catalog.insertIntoTable({ id, branch: `b${turn % 2}` }, people(1, 1_000 + turn));
      await catalog.deleteTableTag({ id, tag: `t${turn}` });
      await catalog.deleteTableBranch({ id, name: `b${turn % 2}` });
      await catalog.createNamespace({ id: [`m${turn}`] });
    }
  };
  try {
    const helpers = [synchronizer(), synchronizer()];
    await Promise.all([writer(1), writer(2), writer(3), changer()]).finally(() => {
      isOver = true;
    });
    await Promise.all(helpers);
    await look(first, fs);
  } catch (error) {
    violated(`contention, round ${round}: ${(error as Error).stack}`);
  }
}
