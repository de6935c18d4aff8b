/** What is written anew comes from the disk: memory that others read is not trusted with it. */
import { describe, expect, test } from 'vitest';
import {
  type Data,
  type Float64,
  type Int32,
  recordBatchStream,
  tableFromArrays,
  Vector,
} from '../../../src/arrow/apache.ts';
import { columnsOf } from '../../../src/arrow/arrow-data.ts';
import { RequestMemory } from '../../../src/request-memory.ts';
import { openFragment } from '../../../src/table/fragments/open-fragment.ts';
import { mergeRows } from '../../../src/table/merge/merge.ts';
import { readSource } from '../../../src/table/merge/merge-source.ts';
import { scan } from '../../../src/table/read/scan.ts';
import type { TableBranch } from '../../../src/table/versions/head.ts';
import { resolveHead } from '../../../src/table/versions/head.ts';
import type { Snapshot } from '../../../src/table/versions/snapshot.ts';
import { addColumns } from '../../../src/table/write/add-columns.ts';
import { append, overwrite } from '../../../src/table/write/append.ts';
import { compact } from '../../../src/table/write/compact.ts';
import { updateRows } from '../../../src/table/write/update.ts';
import { declared, type TestEngine, testEngine } from '../../helpers/engines.ts';

const COMPACTION = {
  targetRows: 1e6,
  targetBytes: 1e9,
  maxDeletedShare: 0.1,
  tiered: false,
  dryRun: false,
};

const rowsFrom = (first: number, rows: number) => {
  const { schema, batches } = tableFromArrays({
    id: Int32Array.from({ length: rows }, (_, row) => first + row),
    x: Float64Array.from({ length: rows }, (_, row) => first + row + 0.5),
  });
  return recordBatchStream(schema, batches);
};

async function newest({ engine }: TestEngine, branch: TableBranch): Promise<Snapshot> {
  const head = await resolveHead(engine, branch);
  if (head === undefined) throw new Error('the table has no version');
  return head.snapshot;
}

async function valuesOf(subject: TestEngine, branch: TableBranch): Promise<Map<number, number>> {
  const found = new Map<number, number>();
  for await (const batch of await scan(subject.engine, await newest(subject, branch), {})) {
    const [id, x] = columnsOf(batch).map((data) => new Vector([data])) as [
      Vector<Int32>,
      Vector<Float64>,
    ];
    for (let row = 0; row < batch.numRows; row++)
      found.set(id.get(row) as number, x.get(row) as number);
  }
  return found;
}

/** Two fragments, all of them in memory, where the numbers of `x` are wrong by then. */
async function poisoned(rows: number) {
  const subject = testEngine();
  const branch = await declared(subject);
  const kept: unknown[] = [];
  const { buffers } = subject.engine;
  const set = buffers.set.bind(buffers);
  buffers.set = (key, value, bytes) => {
    kept.push(value);
    set(key, value, bytes);
  };
  await overwrite(subject.engine, branch, undefined, rowsFrom(0, rows));
  await append(subject.engine, await newest(subject, branch), rowsFrom(rows, rows));
  for (let read = 0; read < 3; read++) await valuesOf(subject, branch);
  const columns = (value: unknown): readonly Data[] =>
    typeof value === 'object' && value !== null && 'columns' in value
      ? (value as { columns(batch: number, columns: readonly number[]): Data[] }).columns(0, [0, 1])
      : [value as Data];
  let spoilt = 0;
  for (const { values } of kept.flatMap(columns)) {
    if (!(values instanceof Float64Array)) continue;
    values.fill(-1);
    spoilt += values.length;
  }
  return { subject, branch, spoilt };
}

describe.each([
  ['small', 20],
  ['large', 4_000],
])('of %s fragments that are spoilt in memory', (_, rows) => {
  const expected = new Map(Array.from({ length: 2 * rows }, (_, id) => [id, id + 0.5]));

  test('a query sees them, so they are in memory', async () => {
    const { subject, branch, spoilt } = await poisoned(rows);
    expect(spoilt).toBe(2 * rows);
    expect(new Set((await valuesOf(subject, branch)).values())).toEqual(new Set([-1]));
  });

  test.each([
    [
      'update',
      ({ engine }: TestEngine, branch: TableBranch) =>
        updateRows(engine, branch, { updates: [['id', 'id']] }),
    ],
    [
      'update where',
      ({ engine }: TestEngine, branch: TableBranch) =>
        updateRows(engine, branch, { updates: [['id', 'id']], filter: 'x >= 0' }),
    ],
    [
      'compaction',
      ({ engine }: TestEngine, branch: TableBranch) => compact(engine, branch, COMPACTION),
    ],
    [
      'a column with values',
      ({ engine }: TestEngine, branch: TableBranch) =>
        addColumns(engine, branch, [{ path: 'y', expression: 'x' }]),
    ],
    [
      'merge',
      async ({ engine }: TestEngine, branch: TableBranch) => {
        const { schema, batches } = tableFromArrays({
          id: Int32Array.from({ length: 2 * rows }, (_, id) => id),
        });
        const memory = new RequestMemory();
        const held = memory.hold('The rows of a merge');
        const source = await readSource(recordBatchStream(schema, batches), engine.limits, held);
        await mergeRows(engine, branch, { on: ['id'], updateMatched: {} }, source, memory);
      },
    ],
  ])('%s writes what is on the disk', async (_, change) => {
    const { subject, branch } = await poisoned(rows);
    const before = (await newest(subject, branch)).version;
    await change(subject, branch);
    expect((await newest(subject, branch)).version).toBe(before + 1);
    expect(await valuesOf(testEngine({ fs: subject.fs }), branch)).toEqual(expected);
  });
});

test('a small fragment in memory is not taken for one of another checksum', async () => {
  const subject = testEngine();
  const branch = await declared(subject);
  await overwrite(subject.engine, branch, undefined, rowsFrom(0, 20));
  await valuesOf(subject, branch);
  const snapshot = await newest(subject, branch);
  const [entry] = await snapshot.fragments();
  if (entry === undefined) throw new Error('the table has no fragment');
  const other = { ...entry, footerChecksum: entry.footerChecksum ^ 1 };
  const open = async (which: typeof entry) =>
    openFragment(subject.engine, snapshot, which, { keep: true });
  await expect(open(other)).rejects.toMatchObject({ code: 'Corrupt' });
  // The one that is kept is as good as before.
  const reader = await open(entry);
  expect((await reader.columns(0, [0]))[0]?.length).toBe(20);
});
