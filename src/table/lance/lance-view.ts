/**
 * Tells whether Lance can read a version of a table. `lanceProblem` returns the reason why not, or
 * undefined. `lanceView` returns that reason, or the content of the version's manifest for Lance.
 * `lanceFieldsOf` lists the fields of a version as Lance has them, or returns undefined if one has
 * no form there. `lanceFacts` tells of a run of fragments whether Lance reads all, and which have
 * deleted rows. `lanceDone` returns the transaction that is kept for Lance's clients. If none is
 * kept it returns `append` or `other`, which tells them what the version may have changed.
 */
import {
  columnFiles,
  type FragmentEntry,
  type FragmentOutline,
  isReadByLance,
  type LanceField,
  type LanceVersion,
  lanceNumbered,
  liveRows,
  MAIN_BRANCH,
  type Manifest,
} from '../../format/index.ts';
import { type Engine, lanceFieldsIn, type Snapshot } from '../versions/index.ts';

export type LanceView =
  | { readonly opens: true; readonly version: LanceVersion<FragmentOutline> }
  /** A whole sentence that says what keeps Lance from reading the table, and what to do. */
  | { readonly opens: false; readonly reason: string };

/** The fields of a version as Lance lists them; undefined where one has no form in Lance. */
export function lanceFieldsOf(snapshot: Snapshot): readonly LanceField[] | undefined {
  const found = lanceFieldsIn(snapshot.manifest);
  return 'fields' in found ? found.fields : undefined;
}

/** Why Lance cannot read a version, as a whole sentence; undefined where it can. */
export async function lanceProblem(snapshot: Snapshot): Promise<string | undefined> {
  const { manifest } = snapshot;
  if (manifest.lance !== true) return 'It was written without Lance.';
  const found = lanceFieldsIn(manifest);
  if ('problem' in found) {
    return `${upperFirst(found.problem)}, which this release does not write for Lance.`;
  }
  const { lanceFragments = 0, fragments } = manifest.totals;
  return lanceFragments === fragments ? undefined : fragmentProblem(await snapshot.fragments());
}

/** What Lance's manifest of a version is made of. */
export async function lanceView(engine: Engine, snapshot: Snapshot): Promise<LanceView> {
  const fragments = await snapshot.outlineRuns();
  // The total may be another program's, which published a manifest of its own.
  const reason = (await lanceProblem(snapshot)) ?? (await runProblem(snapshot, fragments));
  if (reason !== undefined) return { opens: false, reason };
  const { manifest, schema, branch } = snapshot;
  return {
    opens: true,
    version: {
      version: manifest.version,
      timestamp: manifest.timestamp,
      fields: lanceNumbered(lanceFieldsOf(snapshot) ?? [], manifest),
      ids: manifest,
      schemaMetadata: schema.metadata,
      tableMetadata: manifest.metadata,
      fragments,
      nextFragmentId: manifest.nextFragmentId,
      transaction: manifest.transaction,
      table: manifest.table,
      writable: manifest.lanceWrites === true,
      done: lanceDone(manifest),
      branch:
        branch.branch === MAIN_BRANCH
          ? undefined
          : { name: branch.branch, tablePath: engine.locate(branch.tableFolder) },
    },
  };
}

/**
 * What a writer of Lance is told that has read a version before. Where no transaction was kept it
 * may pass over an append alone; versions that Lance does not write are told of by the next that it
 * does.
 */
export function lanceDone({
  lanceWrites,
  lanceTransaction,
  operation,
}: Manifest): NonNullable<LanceVersion['done']> {
  if (lanceTransaction !== undefined) return Buffer.from(lanceTransaction, 'base64');
  return lanceWrites !== true || operation.kind === 'append' ? 'append' : 'other';
}

const runProblem = async (
  snapshot: Snapshot,
  runs: readonly (readonly FragmentOutline[])[],
): Promise<string | undefined> =>
  runs.every((run) => lanceFacts(run).isRead)
    ? undefined
    : fragmentProblem(await snapshot.fragments());

interface LanceFacts {
  /** Whether Lance can read all of the fragments. */
  readonly isRead: boolean;
  /** The fragments with deleted rows. */
  readonly deleted: readonly FragmentOutline[];
}

/** By the list, which the versions that share its chunk have in common. */
const knownFacts = new WeakMap<readonly FragmentOutline[], LanceFacts>();

export function lanceFacts(run: readonly FragmentOutline[]): LanceFacts {
  let facts = knownFacts.get(run);
  if (facts === undefined) {
    const deleted: FragmentOutline[] = [];
    let isRead = true;
    // Plain steps: a process walks over its first manifest before anything is compiled.
    for (let at = 0; at < run.length; at++) {
      const fragment = run[at] as FragmentOutline;
      if (fragment.deletion !== undefined) deleted.push(fragment);
      if (isRead) isRead = isReadByLance(fragment);
    }
    facts = { isRead, deleted };
    knownFacts.set(run, facts);
  }
  return facts;
}

/** What the first fragment that Lance cannot read holds. */
function fragmentProblem(fragments: readonly FragmentEntry[]): string | undefined {
  const without = fragments.filter((fragment) => !isReadByLance(fragment));
  if (without.length === 0) return undefined;
  const rows = without.reduce((sum, fragment) => sum + liveRows(fragment), 0);
  const [first] = without;
  const files = first === undefined ? [] : columnFiles(first).map((each) => each.lance);
  const lance = files.find((each) => each === undefined || 'problem' in each);
  return lance !== undefined && 'problem' in lance
    ? `${upperFirst(lance.problem)}, which Lance 2.0 cannot read: so it is in ${rows} rows.`
    : `Fragments with ${rows} rows were written without Lance: optimize the table to write them anew.`;
}

const upperFirst = (text: string): string => text.charAt(0).toUpperCase() + text.slice(1);
