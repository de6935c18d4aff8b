/**
 * Cleanup that spares nothing, `deleteUnverified` with no age, beside processes that write all the
 * time and are killed in the middle of it: every acknowledged row stays, and what the killed ones
 * left goes.
 */
import { setImmediate as nextTurn } from 'node:timers/promises';
import { connect } from '../../src/index.ts';
import type { Durability } from '../../src/store/disk/disk.ts';
import { seeded } from '../helpers/seeded.ts';
import { Child, inFolder } from './processes.ts';
import type { ProofContext, ProofRow } from './row.ts';

const SIZES = { ci: [3, 8, 1], short: [5, 120, 2], nightly: [8, 1500, 10] } as const;

export interface CleanupTask {
  readonly root: string;
  readonly writer: number;
  readonly changes: number;
  readonly durability: Durability;
}

export interface CleanupLine {
  readonly ready?: true;
  readonly trying?: number;
  /** Acknowledged. */
  readonly row?: number;
  /** A change whose writer was told that its state is unknown. */
  readonly unknown?: number;
  readonly error?: string;
}

export const cleanupWriters: ProofRow = {
  row: 'T21 cleanup beside writers',
  async run(context) {
    const counts = { rows: 0, cleanups: 0, kills: 0, files: 0, kept: 0, unknown: 0 };
    const rounds = SIZES[context.size][2];
    for (let round = 0; round < rounds; round++) {
      for (const durability of ['relaxed', 'full'] as const)
        await inFolder((root) => meet(context, root, durability, round, counts));
    }
    const { rows, cleanups, kills, files, kept, unknown } = counts;
    return {
      cases: rows,
      note: `${cleanups} cleanups removed ${files} files and kept ${kept}, ${kills} SIGKILLs, ${unknown} changes of unknown state, no acknowledged row lost`,
    };
  },
};

async function meet(
  { size, seed, violated }: ProofContext,
  root: string,
  durability: Durability,
  round: number,
  counts: Record<'rows' | 'cleanups' | 'kills' | 'files' | 'kept' | 'unknown', number>,
): Promise<void> {
  const [processes, changes] = SIZES[size];
  const random = seeded(seed + round);
  const connection = await connect(root, { durability });
  const table = await connection.createTable('t', [{ row: -1, value: 0 }]);
  const children: Child<CleanupLine>[] = [];
  const start = async (): Promise<Child<CleanupLine>> => {
    const child = new Child<CleanupLine>('cleanup-child');
    const writer = children.push(child);
    await child.line((line) => line.ready === true);
    child.tell({ root, writer, changes, durability } satisfies CleanupTask);
    return child;
  };
  let open = processes;
  const write = async (isKilled: boolean): Promise<void> => {
    if (isKilled) {
      const child = await start();
      const from = Math.floor(random() * (changes / 2));
      await child.line(({ trying }) => trying !== undefined && trying % 1_000_000 >= from);
      await child.kill();
      counts.kills += 1;
    }
    const code = await (await start()).ended();
    if (code !== 0) violated(`a writer ended with ${code}`);
    open -= 1;
  };
  const clean = async (): Promise<void> => {
    const { prune } = await table.optimize({
      cleanupOlderThan: new Date(),
      deleteUnverified: true,
      compaction: counts.cleanups % 3 === 0 ? {} : false,
    });
    counts.cleanups += 1;
    counts.files += prune.filesRemoved;
    counts.kept += prune.filesKept ?? 0;
  };
  const janitor = async (): Promise<void> => {
    while (open > 0) {
      await clean().catch((error: unknown) => violated(`cleanup: ${String(error)}`));
      // Without flushes nothing in a cleanup waits, and what the writers say would never be heard.
      await nextTurn();
    }
  };
  await Promise.all([
    ...Array.from({ length: processes }, (_, at) => write(at % 2 === 0)),
    janitor(),
  ]);
  const acknowledged = new Set<number>();
  const tried = new Set<number>([-1]);
  for (const { lines } of children) {
    for (const { row, trying, unknown, error } of lines) {
      if (unknown !== undefined) counts.unknown += 1;
      if (error !== undefined) violated(error);
      if (trying !== undefined) tried.add(trying);
      if (row !== undefined) acknowledged.add(row);
    }
  }
  counts.rows += acknowledged.size;
  const check = async (): Promise<void> => {
    const found = (await table.query().select(['row']).toArray()).map(({ row }) => Number(row));
    const there = new Set(found);
    if (there.size !== found.length) violated('a row is there twice');
    for (const row of acknowledged) if (!there.has(row)) violated(`row ${row} is lost`);
    for (const row of there) if (!tried.has(row)) violated(`row ${row} was never written`);
  };
  await check();
  await clean();
  await check();
  const { problems = [], leftovers = [] } = (await connection.namespace.verify?.({})) ?? {};
  if (problems.length > 0) violated(`verify finds ${JSON.stringify(problems)}`);
  const orphans = leftovers.filter(({ kind }) => kind === 'orphan');
  if (orphans.length > 0) violated(`killed writers left ${JSON.stringify(orphans)}`);
  await connection.close();
}
