/**
 * A request that is given up ends its work within a turn, whatever it is at. Under a clock that finds every
 * turn over each step is a round of the event loop, so rounds tell how much was done after the end.
 */
import { expect, test } from 'vitest';
import { tableFromArrays, Utf8, vectorFromArray } from '../../../src/arrow/apache.ts';
import type { RecordBatchStream } from '../../../src/arrow/index.ts';
import { systemEnv } from '../../../src/env.ts';
import { type Connection, connect } from '../../../src/index.ts';
import type { CallOptions } from '../../../src/protocol/index.ts';
import { memoryFs, type TestFs } from '../../helpers/memory-fs.ts';

const several = (count: number, of: (at: number) => string, joint: string): string =>
  Array.from({ length: count }, (_, at) => of(at)).join(joint);

const ROWS = 20_000;
const FRAGMENTS = 24;

/** The tables: one of many fragments, one of many rows, one with a long text. */
const TABLES: Readonly<Record<string, (db: Connection) => Promise<unknown>>> = {
  many: async (db) => {
    const many = await db.createTable('many', [{ id: 0, x: 0.5, v: Float32Array.of(0, 2) }]);
    for (let id = 1; id < FRAGMENTS; id++)
      await many.add([{ id, x: id / 2, v: Float32Array.of(id, 2) }]);
  },
  rows: (db) => db.createTable('rows', rowsFrom(0) as never),
  long: (db) => db.createTable('long', [{ s: 'x'.repeat(16 << 20) }]),
};

/** A disk with these tables. */
async function diskOf(names: readonly string[]): Promise<TestFs> {
  const fs = memoryFs();
  const db = await connect('/root', { fs });
  for (const name of names) await TABLES[name]?.(db);
  return fs;
}

/** A connection of its own to a disk, whose clock finds every turn over. */
async function opened(fs: TestFs): Promise<{ db: Connection; looks: () => number }> {
  let now = 0;
  const tick = (): number => {
    now += 10;
    return now;
  };
  const db = await connect('/root', { fs, env: { ...systemEnv, now: tick } });
  return { db, looks: () => now / 10 };
}

const rowsFrom = (first: number) =>
  tableFromArrays({
    id: Int32Array.from({ length: ROWS }, (_, at) => first + at),
    x: Float64Array.from({ length: ROWS }, (_, at) => (at * 7919) % ROWS),
    s: vectorFromArray(
      Array.from({ length: ROWS }, (_, at) => `t${first + at}`),
      new Utf8(),
    ) as never,
  });

async function all(rows: Promise<RecordBatchStream>): Promise<void> {
  for await (const _batch of await rows);
}

const ORS = several(150, (at) => `id * ${at} + x > ${at}e15`, ' OR ');
const CASE = `CASE ${several(150, (at) => `WHEN id * 3 = -${at + 7} THEN ${at}`, ' ')} ELSE 1 END`;
const k = 1_000_000;
const aliases = (count: number) => ({
  column_aliases: Object.fromEntries(
    Array.from({ length: count }, (_, at) => [`y${at}`, `x + ${at}`]),
  ),
});

type Work = (namespace: Connection['namespace'], options: CallOptions) => Promise<unknown>;

/** Work that reads goes over one disk again and again; what is changed is made anew. */
const READS: readonly (readonly [string, readonly string[], Work])[] = [
  ['a count', ['rows'], (at, o) => at.countTableRows({ id: ['rows'], predicate: ORS }, o)],
  [
    'a filter of many fragments',
    ['many'],
    (at, o) => all(at.queryTable({ id: ['many'], k, vector: {}, filter: ORS }, o)),
  ],
  [
    'computed columns',
    ['many'],
    (at, o) => all(at.queryTable({ id: ['many'], k, vector: {}, columns: aliases(60) }, o)),
  ],
  [
    'an ordering',
    ['rows'],
    (at, o) =>
      all(
        at.queryTable(
          { id: ['rows'], k, vector: {}, order_by: [{ column_name: 'x' }] } as never,
          o,
        ),
      ),
  ],
  [
    'a search',
    ['many'],
    (at, o) =>
      all(
        at.queryTable(
          { id: ['many'], k, vector: { single_vector: [1, 2] }, filter: ORS } as never,
          o,
        ),
      ),
  ],
  [
    'a pattern over a long text',
    ['long'],
    (at, o) => at.countTableRows({ id: ['long'], predicate: "regexp_like(s, 'q+z')" }, o),
  ],
  [
    'LIKE over a long text',
    ['long'],
    (at, o) => at.countTableRows({ id: ['long'], predicate: "s LIKE '%q%z%'" }, o),
  ],
  ['verify', ['many', 'rows'], async (at, o) => at.verify?.({ id: [] }, o)],
];

const CHANGES: readonly (readonly [string, Work])[] = [
  ['an update', (at, o) => at.updateTable({ id: ['rows'], updates: [['x', CASE]] } as never, o)],
  ['a delete', (at, o) => at.deleteFromTable({ id: ['rows'], predicate: ORS }, o)],
  [
    'a merge',
    (at, o) =>
      at.mergeInsertIntoTable(
        { id: ['rows'], on: 'id', when_not_matched_insert_all: true } as never,
        streamOf(rowsFrom(ROWS / 2)) as never,
        o,
      ),
  ],
  [
    'a new column',
    (at, o) =>
      at.alterTableAddColumns(
        { id: ['rows'], new_columns: [{ name: 'y', expression: CASE }] } as never,
        o,
      ),
  ],
];

const streamOf = (table: ReturnType<typeof rowsFrom>) => ({
  schema: table.schema,
  async *[Symbol.asyncIterator]() {
    yield* table.batches;
  },
});

/** Rounds until the work is settled, and those of them after it was given up in round `end`. */
async function roundsOf(fs: TestFs, work: Work, end = Number.POSITIVE_INFINITY) {
  const { db, looks } = await opened(fs);
  const controller = new AbortController();
  let rounds = 0;
  let over = false;
  const count = (): void => {
    rounds += 1;
    if (rounds === end) controller.abort(new Error('given up'));
    if (!over) setImmediate(count);
  };
  setImmediate(count);
  const outcome = await work(db.namespace, { signal: controller.signal }).then(
    () => 'done',
    (error: Error) => error.message,
  );
  over = true;
  const settled = rounds;
  const before = looks();
  for (let round = 0; round < 5; round++) await new Promise((resolve) => setImmediate(resolve));
  return { rounds: settled, outcome, later: looks() - before };
}

const title = '%s that is given up does no more than end its turn';

test.each(READS)(title, async (_, tables, work) => {
  const disk = await diskOf(tables);
  await checked(work, async () => disk);
});

test.each(CHANGES)(title, (_, work) => checked(work, () => diskOf(['rows'])));

async function checked(work: Work, disk: () => Promise<TestFs>): Promise<void> {
  const whole = await roundsOf(await disk(), work);
  expect(whole.outcome).toBe('done');
  expect(whole.rounds).toBeGreaterThan(5);
  for (const share of [0.3, 0.6]) {
    const end = Math.floor(whole.rounds * share);
    const { rounds, outcome, later } = await roundsOf(await disk(), work, end);
    expect(outcome).toBe('given up');
    expect(rounds - end).toBeLessThanOrEqual(2);
    // Nothing goes on behind the answer.
    expect(later).toBeLessThanOrEqual(2);
  }
}
