/** Processes change one table in all ways at once: some serial order explains every version. */
import { connect } from '../../src/index.ts';
import { Child } from './processes.ts';
import type { ProofContext } from './row.ts';

const SIZES = { ci: [4, 6], short: [8, 40], nightly: [16, 250] } as const;

export interface Change {
  readonly kind: 'append' | 'overwrite' | 'delete' | 'update' | 'compact';
  /** What an append, an overwrite or an update puts into `row`. */
  readonly row: number;
  /** The rows that a delete or an update takes. */
  readonly group: number;
}

/** How often each kind is chosen: an overwrite makes others give up, so it is rare. */
export const MIXED: readonly Change['kind'][] = [
  ...(['append', 'append', 'append', 'append', 'append', 'append', 'append', 'append'] as const),
  ...(['delete', 'delete', 'update', 'update', 'update', 'compact', 'compact'] as const),
  'overwrite',
];

export interface MixedTask {
  readonly root: string;
  readonly writer: number;
  readonly changes: number;
  readonly seed: number;
}

export interface MixedLine {
  readonly ready?: true;
  readonly change?: Change;
  /** Absent when there was nothing to change. */
  readonly version?: number | undefined;
  /** An overwrite came in between. */
  readonly clash?: boolean;
  readonly error?: string;
}

type Row = readonly [row: number, group: number];

const text = (rows: readonly Row[]): string => rows.map(String).sort().join(' ');

function changed(rows: readonly Row[], { kind, row, group }: Change): readonly Row[] {
  switch (kind) {
    case 'append':
      return [...rows, [row, group]];
    case 'overwrite':
      return [[row, group]];
    case 'delete':
      return rows.filter(([, of]) => of !== group);
    case 'update':
      return rows.map((old) => (old[1] === group ? [row, group + 1] : old));
    case 'compact':
      return rows;
  }
}

export async function mixedChanges(
  { size, seed, violated }: ProofContext,
  root: string,
): Promise<{ readonly cases: number; readonly clashes: number }> {
  const [processes, changes] = SIZES[size];
  const connection = await connect(root, { durability: 'relaxed' });
  const table = await connection.createTable('t', [{ row: -1, grp: 0 }]);
  const children = Array.from({ length: processes }, () => new Child<MixedLine>('mixed-child'));
  await Promise.all(children.map((child) => child.line((line) => line.ready === true)));
  for (const [writer, child] of children.entries())
    child.tell({ root, writer, changes, seed: seed + writer } satisfies MixedTask);
  const made = new Map<number, Change>();
  let clashes = 0;
  for (const [writer, child] of children.entries()) {
    const code = await child.ended();
    if (code !== 0) violated(`mixed writer ${writer} ended with ${code}`);
    for (const { change, version, clash, error } of child.lines) {
      if (error !== undefined) violated(`mixed writer ${writer}: ${error}`);
      if (clash === true) clashes++;
      if (change === undefined || version === undefined) continue;
      if (made.has(version)) violated(`version ${version} was acknowledged twice`);
      made.set(version, change);
    }
  }
  let rows: readonly Row[] = [[-1, 0]];
  const versions = (await table.listVersions()).map(({ version }) => version);
  if (versions.length !== made.size + 1 || versions.at(-1) !== versions.length)
    violated(`${made.size} changes were acknowledged, ${versions.length} versions are there`);
  for (const version of versions.slice(1)) {
    const change = made.get(version);
    if (change === undefined) {
      violated(`version ${version} is nobody's`);
      break;
    }
    rows = changed(rows, change);
    const old = await connection.openTable('t', [], { version });
    const found = (await old.query().toArray()).map(
      (row): Row => [Number(row.row), Number(row.grp)],
    );
    if (text(found) === text(rows)) continue;
    violated(
      `version ${version}, ${JSON.stringify(change)}: ${text(found)} instead of ${text(rows)}`,
    );
    break;
  }
  const { problems } = (await connection.namespace.verify?.({})) ?? { problems: [] };
  if (problems.length > 0) violated(`verify finds ${JSON.stringify(problems)}`);
  await connection.close();
  return { cases: processes * changes, clashes };
}
