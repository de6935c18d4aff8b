/** Whether a catalog holds what a process that is gone said it did. */
import { connect } from '../../src/index.ts';
import type { KillLine, KillTask } from './kill-child.ts';
import {
  applied,
  type CatalogState,
  type Operation,
  possible,
  tablesOf,
  visible,
} from './kill-model.ts';
import { perform, readBack } from './kill-operations.ts';

export interface Counts {
  acknowledged: number;
  /** Operations that had begun and were not acknowledged, and those of them that are there. */
  inFlight: number;
  landed: number;
  readonly kinds: Set<string>;
}

export const noCounts = (): Counts => ({
  acknowledged: 0,
  inFlight: 0,
  landed: 0,
  kinds: new Set(),
});

export const noteOf = ({ acknowledged, inFlight, landed, kinds }: Counts): string =>
  `${acknowledged} operations acknowledged, ${inFlight} in flight (${landed} of them landed) in ${kinds.size} kinds`;

export interface Lane {
  readonly root: string;
  readonly state: CatalogState;
}

/** The state the catalog is in. @throws at whatever is wrong with it */
export async function checked(
  { root, state: before }: Lane,
  durability: KillTask['durability'],
  lines: readonly KillLine[],
  counts: Counts,
): Promise<CatalogState> {
  let state = before;
  let pending: Operation | undefined;
  for (const { begin, done, error } of lines) {
    if (error !== undefined) throw new Error(`refused: ${error}`);
    if (begin !== undefined) pending = begin;
    if (done === undefined || pending === undefined) continue;
    state = applied(state, pending, done);
    pending = undefined;
    counts.acknowledged++;
  }
  const connection = await connect(root, { durability });
  try {
    const found = await readBack(connection);
    const allowed = pending === undefined ? [state] : possible(state, pending);
    const at = allowed.findIndex(({ namespaces }) => visible(namespaces) === found);
    if (at < 0) {
      const expected = allowed.map(({ namespaces }) => visible(namespaces)).join(' or ');
      throw new Error(`killed in ${JSON.stringify(pending)}, found ${found}, expected ${expected}`);
    }
    if (pending !== undefined) {
      counts.inFlight++;
      counts.kinds.add(pending.kind);
      if (at > 0) counts.landed++;
    }
    state = await writeOnceMore(connection, allowed[at] as CatalogState);
    const again = await readBack(connection);
    if (again !== visible(state.namespaces))
      throw new Error(`one more write left ${again} instead of ${visible(state.namespaces)}`);
    const { problems } = (await connection.namespace.verify?.({})) ?? { problems: ['no verify'] };
    if (problems.length > 0) throw new Error(`verify found ${JSON.stringify(problems)}`);
    return state;
  } finally {
    await connection.close();
  }
}

/** An append where there is a table, else a namespace. */
async function writeOnceMore(
  connection: Awaited<ReturnType<typeof connect>>,
  state: CatalogState,
): Promise<CatalogState> {
  const [id] = tablesOf(state);
  const free = ['a', 'b', 'c'].find((ns) => state.namespaces[ns] === undefined);
  if (id === undefined && free === undefined) return state;
  const operation: Operation =
    id === undefined
      ? { kind: 'create namespace', ns: free as string }
      : { kind: 'append', id, rows: [state.next] };
  const done = await perform(connection, operation);
  return applied(state, operation, done);
}
