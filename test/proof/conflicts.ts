/**
 * Every ordered pair of changes of one table: mine is about to be published when theirs lands, on
 * the same rows and on others. What becomes of mine is as the engine promises, and the table is what
 * the two make one after the other. Then the same pairs at every call of the store, and random
 * histories of three writers against a serial one.
 */
import { recordBatchStream, tableFromArrays } from '../../src/arrow/apache.ts';
import {
  type DirectoryNamespace,
  openDirectoryNamespace,
} from '../../src/directory/directory-namespace.ts';
import { type Env, systemEnv } from '../../src/env.ts';
import { type FileSystem, readFolder } from '../../src/store/disk/file-system.ts';
import { strictFileSystem } from '../../src/store/disk/strict-fs.ts';
import { History } from '../helpers/history.ts';
import { everyCall, InterruptedCatalog, type Moment, publication } from '../helpers/interrupted.ts';
import { memoryFs } from '../helpers/memory-fs.ts';
import { outcomeOf } from '../helpers/outcome.ts';
import { people, rowIdsOf } from '../helpers/people.ts';
import { settledProblems } from '../helpers/settled-catalog.ts';
import { recoloured, renamed } from '../helpers/simulated-columns.ts';
import { type Attempt, rowsOf, SimulatedWriter } from '../helpers/simulated-writer.ts';
import { Simulation } from '../helpers/simulation.ts';
import type { ProofContext, ProofRow } from './row.ts';
import { eachSeed } from './seeds.ts';

const id = ['t'];
const OPTIONS = { root: '/c', durability: 'relaxed' } as const;

/** All of a table that the changes touch. */
interface Content {
  readonly rows: ReadonlyMap<number, string>;
  readonly columns: readonly string[];
  readonly metadata: string;
}

interface Change {
  run(catalog: DirectoryNamespace): Promise<unknown>;
  apply(content: Content): Content;
  /** Names rows by ids that compaction gives anew. */
  readonly byRowId?: true;
}

/** Two sets of rows, in fragments of their own; what overlaps has row 3 in common. */
type Rows = readonly [first: number, second: number];

const withRows = (content: Content, rows: Content['rows']): Content => ({ ...content, rows });
const named = (row: number, name: string): ReturnType<typeof recordBatchStream> => {
  const table = tableFromArrays({ id: Int32Array.of(row), name: [name] });
  return recordBatchStream(table.schema, table.batches);
};

/** Version 1 of the table, with rows 0 and 1. */
const FIRST: Content = {
  rows: new Map([0, 1].map((row) => [row, `name ${row}`])),
  columns: ['id', 'name'],
  metadata: '',
};
const START: Content = {
  ...FIRST,
  rows: new Map([0, 1, 2, 3, 4, 5, 6, 7].map((row) => [row, `name ${row}`])),
};

/** `mark` tells mine from theirs. */
const CHANGES: Readonly<Record<string, (rows: Rows, mark: number, column: string) => Change>> = {
  append: (_, mark) => ({
    run: (catalog) => catalog.insertIntoTable({ id }, people(1, mark)),
    apply: (content) => withRows(content, new Map([...content.rows, [mark, `name ${mark}`]])),
  }),
  delete: (rows) => ({
    run: (catalog) => catalog.deleteFromTable({ id, predicate: `id IN (${rows})` }),
    apply: (content) =>
      withRows(content, new Map([...content.rows].filter(([row]) => !rows.includes(row)))),
  }),
  'delete by row id': (rows) => ({
    byRowId: true,
    run: async (catalog) => {
      const found = await rowIdsOf(catalog, id);
      await catalog.deleteRows({ id, row_ids: rows.map((row) => found.get(row) ?? -1n) });
    },
    // A row that was rewritten has another id by now, and one that names no row is ignored.
    apply: (content) =>
      withRows(
        content,
        new Map(
          [...content.rows].filter(
            ([row, held]) => !rows.includes(row) || held !== renamed(held, `name ${row}`),
          ),
        ),
      ),
  }),
  update: (rows, mark) => ({
    run: (catalog) =>
      catalog.updateTable({
        id,
        predicate: `id IN (${rows})`,
        updates: [['name', `'m${mark}'`]],
      }),
    apply: (content) =>
      withRows(
        content,
        new Map(
          [...content.rows].map(([row, held]) => [
            row,
            rows.includes(row) ? renamed(held, `m${mark}`) : held,
          ]),
        ),
      ),
  }),
  compaction: () => ({
    run: (catalog) => catalog.optimizeTable({ id, compact: { target_rows: 1000 } }),
    apply: (content) => content,
  }),
  overwrite: (_, mark) => ({
    run: (catalog) => catalog.insertIntoTable({ id, mode: 'overwrite' }, people(1, mark)),
    apply: () => ({ ...FIRST, rows: new Map([[mark, `name ${mark}`]]) }),
  }),
  restore: () => ({
    run: (catalog) => catalog.restoreTable({ id, version: 1 }),
    apply: () => FIRST,
  }),
  'add column': (_, _mark, column) => ({
    run: (catalog) =>
      catalog.alterTableAddColumns({ id, new_columns: [{ name: column, expression: 'id * 2' }] }),
    apply: ({ rows, columns, metadata }) => ({
      rows: recoloured(rows, (values, row) => void values.set(column, String(row * 2))),
      columns: [...columns, column],
      metadata,
    }),
  }),
  metadata: (_, mark) => ({
    run: (catalog) => catalog.updateTableSchemaMetadata({ id, metadata: { by: String(mark) } }),
    apply: (content) => ({ ...content, metadata: String(mark) }),
  }),
  merge: ([row], mark) => ({
    run: (catalog) =>
      catalog.mergeInsertIntoTable(
        { id, on: 'id', when_matched_update_all: true, when_not_matched_insert_all: true },
        named(row, `g${mark}`),
      ),
    apply: (content) =>
      withRows(
        content,
        new Map([...content.rows, [row, renamed(content.rows.get(row) ?? '', `g${mark}`)]]),
      ),
  }),
};
const NAMES = Object.keys(CHANGES);

type Promised = 'joined' | 'clash' | 'refused' | 'given up';

/** What the engine promises when theirs lands between my look at the table and my publication. */
function promise(mine: string, theirs: string, overlapping: boolean): Promised {
  const replaces = (name: string): boolean => name === 'overwrite' || name === 'restore';
  // What replaces all rows depends on none: the last one wins, also over what it never saw.
  if (replaces(mine)) return 'joined';
  // Compaction gives way: there is nothing left of what it joined.
  if (mine === 'compaction' && replaces(theirs)) return 'given up';
  if (replaces(theirs)) return 'clash';
  // Rows are named by ids, and compaction gives them new ones.
  if (mine === 'delete by row id' && theirs === 'compaction') return 'clash';
  // Made anew on theirs, where there is a column of that name by now.
  if (mine === 'add column' && theirs === 'add column' && overlapping) return 'refused';
  return 'joined';
}

const text = ({ rows, columns, metadata }: Content): string =>
  `${[...rows].sort(([a], [b]) => a - b).join(' ')} | ${columns} | ${metadata}`;

async function contentOf(catalog: DirectoryNamespace): Promise<Content> {
  const stream = await catalog.queryTable({ id, k: 1 });
  return {
    rows: await rowsOf(catalog, id),
    columns: stream.schema.fields.map(({ name }) => name),
    metadata: stream.schema.metadata.get('by') ?? '',
  };
}

async function startingFs(): Promise<() => FileSystem> {
  const fs = memoryFs();
  const catalog = await openDirectoryNamespace({ ...OPTIONS, fs });
  for (const first of [0, 2, 4, 6]) {
    if (first === 0) await catalog.createTable({ id }, people(2));
    else await catalog.insertIntoTable({ id }, people(2, first));
  }
  const paths: [string, Uint8Array | undefined][] = [];
  const walk = (folder: string): void => {
    for (const entry of readFolder(fs, folder)) {
      const path = `${folder}/${String(entry.name)}`;
      paths.push([path, entry.isFile() ? new Uint8Array(fs.readFileSync(path)) : undefined]);
      if (entry.isDirectory()) walk(path);
    }
  };
  walk('/c');
  return () => {
    const copy = memoryFs();
    copy.mkdirSync('/c');
    for (const [path, bytes] of paths) {
      if (bytes === undefined) copy.mkdirSync(path);
      else copy.writeFileSync(path, bytes);
    }
    return copy;
  };
}

interface Met {
  readonly interrupted: boolean;
  readonly outcome: string;
  /** What they were told. */
  readonly told: string;
  readonly found: string;
  readonly problems: readonly string[];
}

/** A clock that sleeping moves on: who waits for a lock that is held all the while waits in vain. */
function hastyEnv(): Env {
  let slept = 0;
  return {
    ...systemEnv,
    now: () => Date.now() + slept,
    sleep: async (ms) => {
      slept += Math.ceil(ms);
    },
  };
}

async function meet(fs: FileSystem, mine: Change, theirs: Change, moment: Moment): Promise<Met> {
  const own = await InterruptedCatalog.open({ ...OPTIONS, fs });
  const other = await openDirectoryNamespace({ ...OPTIONS, fs, env: hastyEnv() });
  let told = 'ok';
  // What they are told is theirs to hear, and no failure of the call of mine that waits for them.
  own.interrupt(moment, async () => {
    told = await outcomeOf(theirs.run(other));
  });
  const outcome = await outcomeOf(mine.run(own.namespace));
  const fresh = await openDirectoryNamespace({ ...OPTIONS, fs });
  const found = text(await contentOf(fresh));
  const { problems } = await fresh.verify({});
  return {
    interrupted: own.interrupted,
    outcome,
    told,
    found,
    problems: problems.map(({ path, what }) => `${path}: ${what}`),
  };
}

const CODES: Readonly<Record<Promised, string>> = {
  joined: 'ok',
  clash: 'ConcurrentModification',
  refused: 'InvalidInput',
  'given up': 'ok',
};

interface Pair {
  readonly what: string;
  readonly mine: Change;
  readonly theirs: Change;
  /** Theirs once mine is there, when they look at the row ids that it gave. */
  readonly later: Change;
  readonly promised: Promised;
}

function pairs(): Pair[] {
  return NAMES.flatMap((mine) =>
    NAMES.flatMap((theirs) =>
      [false, true].map((overlapping) => {
        const rows: Rows = overlapping ? [2, 3] : [6, 7];
        const column = overlapping ? 'added' : 'other';
        return {
          what: `${mine} as ${theirs} lands, ${overlapping ? 'overlapping' : 'disjoint'}`,
          mine: make(mine, [3, 4], 50, 'added'),
          theirs: make(theirs, rows, 60, column),
          later: make(theirs === 'delete by row id' ? 'delete' : theirs, rows, 60, column),
          promised: promise(mine, theirs, overlapping),
        };
      }),
    ),
  );
}

function make(name: string, rows: Rows, mark: number, column: string): Change {
  const change = CHANGES[name];
  if (change === undefined) throw new Error(`there is no change ${name}`);
  return change(rows, mark, column);
}

async function matrix(context: ProofContext, fresh: () => FileSystem): Promise<number> {
  let cases = 0;
  for (const { what, mine, theirs, promised } of pairs()) {
    const met = await meet(fresh(), mine, theirs, publication);
    const both = mine.apply(theirs.apply(START));
    const expected = promised === 'joined' ? both : theirs.apply(START);
    cases++;
    if (!met.interrupted) context.violated(`${what}: mine published nothing`);
    if (met.told !== 'ok') context.violated(`${what}: they were told ${met.told}`);
    if (met.outcome !== CODES[promised])
      context.violated(`${what}: ${met.outcome}, promised ${promised}`);
    if (met.found !== text(expected))
      context.violated(`${what}: the table is ${met.found}, expected ${text(expected)}`);
    for (const problem of met.problems) context.violated(`${what}: ${problem}`);
  }
  return cases;
}

/** Wherever theirs lands, mine is whole or told off, and theirs is there. */
async function everywhere(
  context: ProofContext,
  fresh: () => FileSystem,
  stride: number,
): Promise<number> {
  let cases = 0;
  for (const [index, { what, mine, theirs, later, promised }] of pairs().entries()) {
    const orders = [mine.apply(theirs.apply(START)), later.apply(mine.apply(START))].map(text);
    // The caller's own look at the row ids may be older than theirs.
    const without = text(theirs.apply(START));
    const alone = text(mine.apply(START));
    for (let at = 1 + ((index + context.seed) % stride); ; at += stride) {
      const met = await meet(fresh(), mine, theirs, everyCall(at));
      if (!met.interrupted) break;
      cases++;
      const theirsToo = met.told === 'ok';
      const right = !theirsToo
        ? promised === 'refused' &&
          met.told === CODES.refused &&
          met.outcome === 'ok' &&
          met.found === alone
        : met.outcome === 'ok'
          ? orders.includes(met.found) || (mine.byRowId === true && met.found === without)
          : met.outcome === CODES[promised] && met.found === without;
      if (!right) {
        context.violated(
          `${what}, at call ${at}: ${met.outcome}, they ${met.told}, and ${met.found}`,
        );
      }
      for (const problem of met.problems) context.violated(`${what}, at call ${at}: ${problem}`);
    }
  }
  return cases;
}

const WRITERS = 3;
const OPERATIONS = 30;

/** Three writers of one table; the order of publication is the serial one. */
async function history(seed: number): Promise<readonly string[]> {
  const base = strictFileSystem(memoryFs());
  const told = new History();
  const simulation = new Simulation(seed, base, {}, told);
  const counter = { next: 1 };
  const options = { ...OPTIONS, limits: { batchRows: 2, fragmentRows: 4 } };
  const make = (): SimulatedWriter => new SimulatedWriter(simulation, told, options, counter);
  const first = make();
  await simulation.run([async () => void (await first.attempt(first.create(id, 'create')))]);
  const wrong: string[] = [];
  const next = (writer: SimulatedWriter): Attempt => {
    const roll = simulation.below(20);
    if (roll < 7) return writer.append(id);
    if (roll < 10) return writer.delete(id, ...writer.rule());
    if (roll < 13) return writer.update(id, ...writer.rule());
    if (roll < 15) return writer.merge(id);
    if (roll < 17) return writer.optimize(id);
    return roll < 18 ? writer.overwrite(id) : writer.restore(id, 1 + simulation.below(9));
  };
  await simulation.run(
    Array.from({ length: WRITERS }, make).map((writer) => async () => {
      while (counter.next <= OPERATIONS) {
        const attempt = next(writer);
        const outcome = await writer.attempt(attempt);
        if (!['ok', 'ConcurrentModification', 'TableVersionNotFound'].includes(outcome))
          wrong.push(`${attempt.what} ends with ${outcome}`);
      }
    }),
  );
  await simulation.run([
    async () => void wrong.push(...(await settledProblems(simulation, OPTIONS.root, told))),
  ]);
  return wrong;
}

export const conflicts: ProofRow = {
  row: 'T8 conflicts',
  async run(context) {
    const fresh = await startingFs();
    const tabled = await matrix(context, fresh);
    const stride = context.size === 'nightly' ? 1 : context.size === 'ci' ? 140 : 9;
    const places = await everywhere(context, fresh, stride);
    const random = await eachSeed(context, { ci: 8, short: 150 }, history);
    return {
      cases: tabled + places + random,
      note: `${tabled} pairs as promised, ${places} places of interruption, ${random} histories of ${WRITERS} writers`,
    };
  },
};
