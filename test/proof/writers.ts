/** Many processes append to one table: every version is there, every row in it once. */
import { connect } from '../../src/index.ts';
import { mixedChanges } from './mixed-writers.ts';
import { Child, inFolder } from './processes.ts';
import type { ProofContext, ProofRow } from './row.ts';

const SIZES = { ci: [4, 25], short: [8, 250], nightly: [16, 2000] } as const;

export interface AppendTask {
  readonly root: string;
  readonly durability: 'full' | 'relaxed';
  readonly writer: number;
  readonly appends: number;
}

interface Line {
  readonly ready?: true;
  readonly n?: number;
  readonly version?: number;
  readonly error?: string;
}

export const writers: ProofRow = {
  row: 'T7 writers',
  async run(context) {
    const notes: string[] = [];
    let cases = 0;
    for (const durability of ['full', 'relaxed'] as const) {
      const { total, seconds } = await inFolder((root) => appends(context, root, durability));
      cases += total;
      notes.push(`${Math.round(total / seconds)} versions/s ${durability}`);
    }
    const mixed = await inFolder((root) => mixedChanges(context, root));
    cases += mixed.cases;
    notes.push(`${mixed.cases} mixed changes (${mixed.clashes} clashes with an overwrite)`);
    return { cases, note: notes.join(', ') };
  },
};

async function appends(
  { size, violated }: ProofContext,
  root: string,
  durability: AppendTask['durability'],
): Promise<{ readonly total: number; readonly seconds: number }> {
  const [processes, each] = SIZES[size];
  const connection = await connect(root, { durability: 'relaxed' });
  const table = await connection.createTable('t', [{ writer: -1, n: -1 }]);
  const children = Array.from({ length: processes }, () => new Child<Line>('writer-child'));
  await Promise.all(children.map((child) => child.line((line) => line.ready === true)));
  const start = performance.now();
  for (const [writer, child] of children.entries())
    child.tell({ root, durability, writer, appends: each } satisfies AppendTask);
  for (const [writer, child] of children.entries()) {
    const code = await child.ended();
    if (code !== 0) violated(`process ${writer} ended with ${code}`);
  }
  const seconds = (performance.now() - start) / 1000;
  const versions = new Map<number, string>();
  for (const [writer, child] of children.entries()) {
    for (const line of child.lines) {
      if (line.error !== undefined) violated(`writer ${writer} got ${line.error}`);
      if (line.version === undefined) continue;
      if (versions.has(line.version)) violated(`version ${line.version} was given twice`);
      versions.set(line.version, `${writer} ${line.n}`);
    }
  }
  const total = processes * each;
  const listed = (await table.listVersions()).map(({ version }) => version);
  const expected = Array.from({ length: total + 1 }, (_, at) => at + 1);
  if (listed.join() !== expected.join())
    violated(`${listed.length} versions are listed instead of ${total + 1}`);
  const rows = (await table.query().toArray()).map(({ writer, n }) => `${writer} ${n}`);
  // Rows stand in the order of the versions that brought them.
  for (const [at, row] of rows.slice(1).entries()) {
    if (versions.get(at + 2) !== row)
      violated(`row ${at + 1} is ${row}, version ${at + 2} added ${versions.get(at + 2)}`);
  }
  if (rows.length !== total + 1 || new Set(rows).size !== rows.length)
    violated(`${rows.length} rows, ${new Set(rows).size} different, instead of ${total + 1}`);
  const { problems } = (await connection.namespace.verify?.({})) ?? { problems: [] };
  if (problems.length > 0) violated(`verify finds ${JSON.stringify(problems)}`);
  await connection.close();
  return { total, seconds };
}
