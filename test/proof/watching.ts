/** T13: watching a catalog on the real disk while others change it: every version told, once, soon. */
import { rmSync } from 'node:fs';
import {
  type DirectoryNamespace,
  openDirectoryNamespace,
} from '../../src/directory/directory-namespace.ts';
import { people } from '../helpers/people.ts';
import { Watched } from '../helpers/watched.ts';
import { inFolder } from './processes.ts';
import { breathe, inRounds } from './rounds.ts';
import type { ProofContext, ProofRow } from './row.ts';

/** Milliseconds from the acknowledgement of a version to its event. */
const LIMIT = 5_000;
/** After this an event is not late but lost. */
const LOST = 20_000;
const COMMITS = { ci: 60, short: 500, nightly: 500 };
const TABLES = { ci: 30, short: 200, nightly: 200 };
const CHURNS = { ci: 10, short: 60, nightly: 200 };

const open = (root: string): Promise<DirectoryNamespace> =>
  openDirectoryNamespace({ root, durability: 'relaxed' });
const committed = (table: string, version: number): string =>
  `version_committed ${table} main ${version}`;

/** One catalog that is watched, and another handle on it that changes it. */
class Scene {
  readonly root: string;
  readonly watched: Watched;
  readonly catalog: DirectoryNamespace;
  readonly other: DirectoryNamespace;
  /** When each event was owed. */
  readonly #owed = new Map<string, number>();

  private constructor(
    root: string,
    catalog: DirectoryNamespace,
    other: DirectoryNamespace,
    watched: Watched,
  ) {
    this.root = root;
    this.catalog = catalog;
    this.other = other;
    this.watched = watched;
  }

  static async begin(
    root: string,
    before: (other: DirectoryNamespace) => Promise<unknown> = async () => {},
    ready = true,
  ): Promise<Scene> {
    const other = await open(root);
    await before(other);
    const catalog = await open(root);
    const watched = new Watched(catalog);
    if (ready) await watched.ready;
    return new Scene(root, catalog, other, watched);
  }

  /** From now on the event is owed. */
  owe(...events: string[]): void {
    for (const event of events) this.#owed.set(event, performance.now());
  }

  async create(name: string): Promise<void> {
    await this.other.createTable({ id: [name] }, people(1));
    this.owe(`table_created ${name}`, committed(name, 1));
  }

  async commit(name: string, version: number): Promise<void> {
    await this.other.insertIntoTable({ id: [name] }, people(1));
    this.owe(committed(name, version));
    // As commits of another process would: the watcher has its turns in between.
    await breathe();
  }

  /** Waits for all that is owed; the longest wait for one, in milliseconds. */
  async settle(violated: (what: string) => void): Promise<number> {
    let latest = 0;
    try {
      await this.watched.within(LOST, ...this.#owed.keys());
    } catch (error) {
      violated(`the watch ended: ${String(error)}`);
    }
    const lost: string[] = [];
    for (const [event, since] of this.#owed) {
      const came = this.watched.times.get(event);
      if (came === undefined) lost.push(event);
      else latest = Math.max(latest, came - since);
    }
    if (lost.length > 0)
      violated(`${lost.length} events never came: ${lost.slice(0, 5).join('; ')}`);
    if (latest > LIMIT) violated(`an event came after ${latest.toFixed(0)} ms`);
    return latest;
  }

  /** Versions of a table in the order they were told in. */
  told(table: string): number[] {
    const prefix = `version_committed ${table} main `;
    return this.watched.seen
      .filter((event) => event.startsWith(prefix))
      .map((event) => Number(event.slice(prefix.length)));
  }

  async end(violated: (what: string) => void): Promise<void> {
    try {
      await this.watched.end();
    } catch {
      // Told by settle.
    }
    const count = this.watched.seen.length;
    await this.catalog.close();
    await this.other.close();
    if (this.watched.seen.length !== count) violated('an event came after the end');
  }
}

interface Case {
  readonly name: string;
  run(root: string, context: ProofContext, violated: (what: string) => void): Promise<number>;
}

const counted = (from: number, to: number): number[] =>
  Array.from({ length: to - from + 1 }, (_, at) => from + at);

function checkOnce(
  scene: Scene,
  table: string,
  wanted: number[],
  violated: (what: string) => void,
) {
  const told = scene.told(table);
  if (told.join() !== wanted.join()) {
    violated(`${table}: told of ${told.length} versions, not ${wanted.length} in order`);
  }
}

const burst: Case = {
  name: 'a burst of commits',
  async run(root, { size }, violated) {
    const scene = await Scene.begin(root, (other) => other.createTable({ id: ['t'] }, people(1)));
    const last = COMMITS[size] + 1;
    for (let version = 2; version <= last; version++) await scene.commit('t', version);
    const latest = await scene.settle(violated);
    checkOnce(scene, 't', counted(2, last), violated);
    await scene.end(violated);
    return latest;
  },
};

const newTables: Case = {
  name: 'new tables',
  async run(root, { size }, violated) {
    const scene = await Scene.begin(root);
    for (let at = 0; at < TABLES[size]; at++) {
      await scene.create(`t${at}`);
      await scene.commit(`t${at}`, 2);
    }
    const latest = await scene.settle(violated);
    for (let at = 0; at < TABLES[size]; at++) checkOnce(scene, `t${at}`, [1, 2], violated);
    await scene.end(violated);
    return latest;
  },
};

const renamed: Case = {
  name: 'renames between commits',
  async run(root, _context, violated) {
    const scene = await Scene.begin(root, (other) => other.createTable({ id: ['t0'] }, people(1)));
    let version = 1;
    for (let at = 0; at < 10; at++) {
      await scene.other.renameTable({ id: [`t${at}`], new_table_name: `t${at + 1}` });
      await scene.commit(`t${at + 1}`, ++version);
      // Two renames between two looks are one: each is waited for.
      scene.owe(`table_renamed t${at} -> t${at + 1}`);
      await scene.settle(violated);
    }
    const told = counted(1, 10).flatMap((at) => scene.told(`t${at}`));
    if (told.join() !== counted(2, 11).join()) violated(`told of ${told.join()}`);
    const latest = await scene.settle(violated);
    await scene.end(violated);
    return latest;
  },
};

const recreated = (gap: number): Case => ({
  name: `dropped and made anew after ${gap} ms`,
  async run(root, _context, violated) {
    const scene = await Scene.begin(root, (other) => other.createTable({ id: ['t'] }, people(1)));
    await scene.other.dropTable({ id: ['t'] });
    if (gap > 0) await new Promise((resolve) => setTimeout(resolve, gap));
    await scene.create('t');
    scene.owe('table_dropped t');
    for (let version = 2; version <= 6; version++) await scene.commit('t', version);
    const latest = await scene.settle(violated);
    checkOnce(scene, 't', counted(1, 6), violated);
    await scene.end(violated);
    return latest;
  },
});

const rootRecreated: Case = {
  name: 'the root made anew',
  async run(root, _context, violated) {
    const scene = await Scene.begin(root, (other) => other.createTable({ id: ['old'] }, people(1)));
    rmSync(root, { recursive: true });
    const writer = await open(root);
    await writer.createTable({ id: ['t'] }, people(1));
    scene.owe('table_dropped old', 'table_created t', committed('t', 1));
    for (let version = 2; version <= 6; version++) {
      await writer.insertIntoTable({ id: ['t'] }, people(1));
      scene.owe(committed('t', version));
    }
    const latest = await scene.settle(violated);
    checkOnce(scene, 't', counted(1, 6), violated);
    await writer.close();
    await scene.end(violated);
    return latest;
  },
};

const beforeReady: Case = {
  name: 'commits before the watch is ready',
  async run(root, _context, violated) {
    const make = (other: DirectoryNamespace) => other.createTable({ id: ['t'] }, people(1));
    const scene = await Scene.begin(root, make, false);
    let ready = false;
    const becoming = scene.watched.ready.then(() => {
      ready = true;
    });
    let version = 2;
    // A version made before is told or in the first look; one made after is always told.
    for (; version <= 20; version++) {
      const owed = ready;
      await scene.other.insertIntoTable({ id: ['t'] }, people(1));
      if (owed) scene.owe(committed('t', version));
    }
    await becoming;
    await scene.commit('t', version);
    const latest = await scene.settle(violated);
    const told = scene.told('t');
    if (told.join() !== counted(version - told.length + 1, version).join()) {
      violated(`told of ${told.join()}`);
    }
    await scene.end(violated);
    return latest;
  },
};

const churn: Case = {
  name: 'tables that come and go under the watch',
  async run(root, { size }, violated) {
    const scene = await Scene.begin(root, (other) => other.createTable({ id: ['t'] }, people(1)));
    const churning = (async () => {
      for (let at = 0; at < CHURNS[size]; at++) {
        await scene.other.createTable({ id: ['gone'] }, people(1));
        await scene.other.insertIntoTable({ id: ['gone'] }, people(1));
        await scene.other.createNamespace({ id: ['ns'] });
        await scene.other.renameTable({
          id: ['gone'],
          new_namespace_id: ['ns'],
          new_table_name: 'x',
        });
        await breathe();
        await scene.other.dropNamespace({ id: ['ns'], behavior: 'Cascade' });
        await breathe();
      }
    })();
    const writer = await open(root);
    let version = 2;
    for (; version <= CHURNS[size] + 1; version++) {
      await writer.insertIntoTable({ id: ['t'] }, people(1));
      scene.owe(committed('t', version));
      await breathe();
    }
    await churning;
    const latest = await scene.settle(violated);
    checkOnce(scene, 't', counted(2, version - 1), violated);
    await writer.close();
    await scene.end(violated);
    return latest;
  },
};

const closed: Case = {
  name: 'nothing after the end',
  async run(root, _context, violated) {
    const scene = await Scene.begin(root, (other) => other.createTable({ id: ['t'] }, people(1)));
    await scene.commit('t', 2);
    const latest = await scene.settle(violated);
    const ending = scene.watched.end();
    const count = scene.watched.seen.length;
    await scene.other.insertIntoTable({ id: ['t'] }, people(1));
    await ending;
    // Another watch that hears of a later change proves that the first had its chance.
    const second = new Watched(scene.catalog);
    await second.ready;
    await scene.other.insertIntoTable({ id: ['t'] }, people(1));
    if (!(await second.within(LOST, committed('t', 4)))) violated('the second watch heard nothing');
    await second.end();
    if (scene.watched.seen.length !== count) violated('an event came after the end');
    await scene.end(violated);
    return latest;
  },
};

const CASES: readonly Case[] = [
  burst,
  newTables,
  renamed,
  ...[0, 1, 10, 300].map(recreated),
  rootRecreated,
  beforeReady,
  churn,
  closed,
];

async function run(context: ProofContext): Promise<{ cases: number; note: string }> {
  let latest = 0;
  let slowest = '';
  const cases = await inRounds(context, async (seed) => {
    for (const { name, run: play } of CASES) {
      await inFolder(async (folder) => {
        const violated = (what: string): void => context.violated(`${name}: ${what}`, seed);
        const took = await play(`${folder}/root`, context, violated);
        if (took > latest) [latest, slowest] = [took, name];
      });
    }
    return CASES.length;
  });
  return { cases, note: `latest event after ${latest.toFixed(0)} ms, in: ${slowest}` };
}

export const watching: ProofRow = { row: 'T13 watching', run };
