/**
 * Decides multi-table commits. Each version of such a commit names the commit's id, and counts once
 * the decision file of that id says `committed`. The first writer to create the file decides for
 * good; `decideMultiTable` returns the decision that holds, which may be another writer's.
 * `multiTableDecision` reads it, and returns undefined if there is none yet;
 * `isMultiTableCommitted` asks for `committed`. The file may also list the tables
 * (`decisionTables`). `decodeDecision` and `decodeDecisionTables` decode its bytes. A damaged file
 * throws Corrupt, one of a newer release UnsupportedFormat, and a decision that cannot be read back
 * CommitStateUnknown. A text that is no id (`isMultiTableId`) throws Corrupt as well. A writer may
 * abort an abandoned commit that is in its way (settle-undecided.ts).
 */
import { DirspaceError } from '../../errors.ts';
import { decisionFile, refuseNewer } from '../../format/index.ts';
import {
  arrayMember,
  corrupt,
  encodeChecksummed,
  parseChecksummed,
  stringMember,
} from '../../json.ts';
import type { Engine } from './engine.ts';

export type Decision = 'committed' | 'aborted';

const MULTI_TABLE_ID = /^[0-9a-f-]{8,64}$/;

/** Whether a text can be the id of a multi-table commit: what callers ask for may be anything. */
export const isMultiTableId = (text: string): boolean => MULTI_TABLE_ID.test(text);

const fileOf = (commitId: string): string => {
  if (!isMultiTableId(commitId)) {
    throw new DirspaceError(
      'Corrupt',
      `A version names ${JSON.stringify(commitId.slice(0, 80))} as its multi-table commit; such ids have 8 to 64 characters of 0-9, a-f and "-".`,
    );
  }
  return decisionFile(commitId);
};

/** The decision, or undefined while there is none. */
export async function multiTableDecision(
  engine: Engine,
  commitId: string,
): Promise<Decision | undefined> {
  const file = fileOf(commitId);
  const known = engine.cache.get<Decision>(file);
  if (known !== undefined) return known;
  const bytes = await engine.store.get(file);
  if (bytes === undefined) return undefined;
  const decision = decodeDecision(bytes, file);
  engine.cache.set(file, decision, 128);
  return decision;
}

/** @throws Corrupt, UnsupportedFormat */
export function decodeDecision(bytes: Uint8Array, file: string): Decision {
  const { document } = parseChecksummed(bytes, file);
  refuseNewer(document, file);
  const outcome = stringMember(document, 'outcome', file);
  if (outcome !== 'committed' && outcome !== 'aborted') {
    throw corrupt(file, `its outcome is ${outcome.slice(0, 40)}`);
  }
  return outcome;
}

export async function isMultiTableCommitted(engine: Engine, commitId: string): Promise<boolean> {
  return (await multiTableDecision(engine, commitId)) === 'committed';
}

/**
 * The ids of the tables of a multi-table commit, as recorded with the decision; none where another
 * writer decided it, or an older release.
 */
export async function decisionTables(engine: Engine, commitId: string): Promise<readonly string[]> {
  const file = fileOf(commitId);
  const bytes = await engine.store.get(file);
  return bytes === undefined ? [] : decodeDecisionTables(bytes, file);
}

/** @throws Corrupt, UnsupportedFormat */
export function decodeDecisionTables(bytes: Uint8Array, file: string): readonly string[] {
  const { document } = parseChecksummed(bytes, file);
  refuseNewer(document, file);
  if (document.tables === undefined) return [];
  return arrayMember(document, 'tables', file).map((id) => stringMember({ id }, 'id', file));
}

/** Decides unless it is decided; returns the decision that holds. `tables` are its tables' ids. */
export async function decideMultiTable(
  engine: Engine,
  commitId: string,
  decision: Decision,
  tables: readonly string[] = [],
): Promise<Decision> {
  const noted = tables.length === 0 ? {} : { tables };
  const { bytes } = encodeChecksummed({ format: 1, outcome: decision, ...noted });
  if (await engine.store.putIfAbsent(fileOf(commitId), bytes)) return decision;
  const holds = await multiTableDecision(engine, commitId);
  if (holds === undefined) {
    throw new DirspaceError(
      'CommitStateUnknown',
      `The decision of the multi-table commit ${commitId} could not be read back. Read the tables to see whether it was committed.`,
    );
  }
  return holds;
}
