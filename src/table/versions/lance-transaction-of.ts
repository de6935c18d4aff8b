/**
 * `lanceToldOf` adds to a new manifest of a table that is written for Lance what Lance's clients
 * need to know: whether they may write the table and, if so, the changes of the version as a Lance
 * transaction, unless the manifest has one already. There is no transaction for a first version, if
 * Lance has no operation for the change, if clients would build on it wrongly, or if it has more
 * than 4 MiB (`MOST_LANCE_TRANSACTION_BYTES`). A client that has read an older version then gives
 * up. `lanceFieldsIn` lists the fields of a version as Lance has them, or tells which one has no
 * form there.
 */

import { metadataEqual } from '../../arrow/index.ts';
import {
  type ChunkEntry,
  type FragmentEntry,
  fileIds,
  isReadByLance,
  type LanceField,
  type LanceOperation,
  lanceFields,
  lanceNumbered,
  lanceTransactionSteps,
  MAIN_BRANCH,
  type Manifest,
} from '../../format/index.ts';
import { sharedSchema } from '../../protocol/index.ts';
import { inTurns, Turn } from '../work/index.ts';
import type { Engine } from './engine.ts';
import type { TableBranch } from './head.ts';
import { readChunk, type Snapshot } from './snapshot.ts';
import { lanceWritten } from './stored-properties.ts';

/**
 * Larger transactions are not kept: a writer that they come before gives up in place of building on
 * them.
 */
export const MOST_LANCE_TRANSACTION_BYTES = 4 * 1024 * 1024;
/** Longer predicates are not passed on to Lance. */
const MOST_PREDICATE = 4096;

/** @param predicate the SQL that chose the rows which are gone */
export async function lanceToldOf(
  engine: Engine,
  branch: TableBranch,
  manifest: Manifest,
  base: Snapshot | undefined,
  predicate?: string,
): Promise<Manifest> {
  const written = await lanceWritten(engine, branch, manifest);
  if (written.lanceWrites !== true || written.lanceTransaction !== undefined) return written;
  return { ...written, lanceTransaction: await transactionOf(engine, base, written, predicate) };
}

/** The transaction in base64, as a manifest keeps it. */
async function transactionOf(
  engine: Engine,
  base: Snapshot | undefined,
  manifest: Manifest,
  predicate: string | undefined,
): Promise<string | undefined> {
  if (base === undefined) return undefined;
  const operation = await operationOf(engine, base, manifest, predicate);
  if (operation === undefined) return undefined;
  const steps = lanceTransactionSteps(operation, {
    readVersion: base.version,
    uuid: manifest.transaction,
    ids: manifest,
    isBranch: base.branch.branch !== MAIN_BRANCH,
  });
  const bytes = await inTurns(new Turn(engine.env), steps, undefined);
  if (bytes.length > MOST_LANCE_TRANSACTION_BYTES) return undefined;
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length).toString('base64');
}

/**
 * After a version that clients might not write, a restore of that version, whatever was changed.
 * Otherwise the manifest's operation tells a restore or an overwrite. A compaction or an append
 * counts as one only if comparing the two versions allows it, and all else follows from comparing
 * them, because the operation that a staged manifest names may be wrong.
 */
async function operationOf(
  engine: Engine,
  base: Snapshot,
  manifest: Manifest,
  predicate = '',
): Promise<LanceOperation | undefined> {
  // The versions before do not say what they did: a writer that has read one of them gives up.
  if (base.manifest.lanceWrites !== true) return { kind: 'restore', version: base.version };
  const { kind, summary } = manifest.operation;
  if (kind === 'restore') {
    const version = summary.restored_version;
    return version === undefined ? undefined : { kind, version };
  }
  const fields = fieldsOf(manifest);
  const schemaMetadata = new Map(Object.entries(manifest.schema.metadata ?? {}));
  if (fields === undefined) return undefined;
  if (kind === 'overwrite') {
    const added = await allFragments(engine, base, manifest);
    return added.every(isReadByLance) ? { kind, fields, schemaMetadata, added } : undefined;
  }
  const { added, changed, rewritten, removed, groups } = await difference(engine, base, manifest);
  if (![...added, ...changed, ...rewritten].every(isReadByLance)) return undefined;
  const movesRows = added.length + changed.length + removed.length > 0;
  const before = fieldsOf(base.manifest);
  const schema =
    before === undefined ? 'other' : before === fields ? 'same' : schemaChange(before, fields);
  const isSameMetadata = metadataEqual(
    new Map(Object.entries(base.manifest.schema.metadata ?? {})),
    schemaMetadata,
  );
  const tableMetadata = changedEntries(base.manifest.metadata, manifest.metadata);
  if (schema !== 'same' || !isSameMetadata) {
    if (schema === 'other' || movesRows || tableMetadata.size > 0) return undefined;
    if (schema === 'merge') return { kind: schema, fields, schemaMetadata, rewritten };
    return rewritten.length > 0 ? undefined : { kind: 'project', fields };
  }
  if (rewritten.length > 0) return undefined;
  if (tableMetadata.size > 0 || !movesRows)
    return movesRows ? undefined : { kind: 'update_config', tableMetadata };
  if (kind === 'compact') return changed.length > 0 ? undefined : { kind: 'rewrite', groups };
  if (kind === 'append' && changed.length + removed.length === 0) return { kind, added };
  if (added.length > 0) return { kind: 'update', changed, removed, added };
  const short = predicate.length > MOST_PREDICATE ? '' : predicate;
  return { kind: 'delete', changed, removed, predicate: short };
}

interface KnownFields {
  readonly fieldIds: Manifest['fieldIds'];
  readonly found: ReturnType<typeof lanceFields>;
}

/** By the JSON form of the schema, which versions that leave it alone share. */
const knownFields = new WeakMap<Manifest['schema'], KnownFields>();

/**
 * The fields of a version as Lance lists them, by this engine's ids; or the problem of one that has
 * no form in Lance. The same object for versions that share their schema.
 */
export function lanceFieldsIn({
  schema,
  fieldIds,
}: Pick<Manifest, 'schema' | 'fieldIds'>): ReturnType<typeof lanceFields> {
  const known = knownFields.get(schema);
  if (known?.fieldIds === fieldIds) return known.found;
  const found = lanceFields(sharedSchema(schema).fields, fieldIds);
  knownFields.set(schema, { fieldIds, found });
  return found;
}

/** The fields as Lance numbers them; undefined if one has no form in Lance. */
function fieldsOf(manifest: Manifest): readonly LanceField[] | undefined {
  const found = lanceFieldsIn(manifest);
  return 'fields' in found ? lanceNumbered(found.fields, manifest) : undefined;
}

/**
 * What became of the fields. A client that has read the old ones goes on writing them: that is
 * right while each of them keeps its type, takes the nulls that it took, and new columns take
 * nulls.
 */
function schemaChange(
  before: readonly LanceField[],
  after: readonly LanceField[],
): 'same' | 'project' | 'merge' | 'other' {
  const known = new Map(before.map((field) => [field.id, field]));
  const fresh = new Set<number>();
  for (const field of after) {
    const was = known.get(field.id);
    if (was === undefined) {
      const isPart = fresh.has(field.parent);
      if (!isPart && (field.parent !== -1 || !field.nullable)) return 'other';
      fresh.add(field.id);
    } else if (
      was.logicalType !== field.logicalType ||
      was.parent !== field.parent ||
      (was.nullable && !field.nullable)
    )
      return 'other';
  }
  const isGone = after.length - fresh.size < before.length;
  if (fresh.size > 0) return isGone ? 'other' : 'merge';
  const isSame =
    !isGone &&
    after.every((field, at) => {
      const was = before[at] as LanceField;
      return (
        was.id === field.id &&
        was.name === field.name &&
        was.nullable === field.nullable &&
        metadataEqual(was.metadata, field.metadata)
      );
    });
  return isSame ? 'same' : 'project';
}

function changedEntries(
  before: Readonly<Record<string, string>>,
  after: Readonly<Record<string, string>>,
): Map<string, string | undefined> {
  const changed = new Map<string, string | undefined>();
  for (const [key, value] of Object.entries(after))
    if (!Object.hasOwn(before, key) || before[key] !== value) changed.set(key, value);
  for (const key of Object.keys(before))
    if (!Object.hasOwn(after, key)) changed.set(key, undefined);
  return changed;
}

interface Difference {
  readonly added: readonly FragmentEntry[];
  /** Fragments with the same file and other deleted rows. */
  readonly changed: readonly FragmentEntry[];
  /** With another file. */
  readonly rewritten: readonly FragmentEntry[];
  /** Removed fragments, as they were. */
  readonly removed: readonly FragmentEntry[];
  /**
   * Fragments before and after the change in each place between fragments, or chunks of them, that
   * stay.
   */
  readonly groups: readonly {
    readonly before: readonly FragmentEntry[];
    readonly after: readonly FragmentEntry[];
  }[];
}

type Listed = ChunkEntry | FragmentEntry;

/** Chunks that both versions have are not read. */
async function difference(engine: Engine, base: Snapshot, manifest: Manifest): Promise<Difference> {
  const shared = new Set(base.manifest.chunks.map(({ file }) => file));
  const both = new Set(manifest.chunks.map(({ file }) => file).filter((file) => shared.has(file)));
  const allBefore = await listed(engine, base, base.manifest, both);
  const allAfter = await listed(engine, base, manifest, both);
  // Most commits append: what both lists begin with is not compared.
  const same = sharedLength(allBefore, allAfter);
  const before = allBefore.slice(same);
  const after = allAfter.slice(same);
  const known = entriesById(before);
  const now = entriesById(after);
  const added = [...now.values()].filter(({ id }) => !known.has(id));
  const changed: FragmentEntry[] = [];
  const rewritten: FragmentEntry[] = [];
  for (const [id, entry] of now) {
    const was = known.get(id);
    if (was === undefined) continue;
    if (fileIds(was).join() !== fileIds(entry).join()) rewritten.push(entry);
    else if (was.deletion?.file !== entry.deletion?.file) changed.push(entry);
  }
  const removed = [...known.values()].filter(({ id }) => !now.has(id));
  const gone = runs(before, (id) => !now.has(id));
  const come = runs(after, (id) => !known.has(id));
  const places = new Set([...gone.keys(), ...come.keys()]);
  const groups = [...places].map((place) => ({
    before: gone.get(place) ?? [],
    after: come.get(place) ?? [],
  }));
  return { added, changed, rewritten, removed, groups };
}

/** The fragments in their order; a chunk that is in `skipped` stands for its own. */
async function listed(
  engine: Engine,
  { branch }: Snapshot,
  { chunks, fragments }: Manifest,
  skipped: ReadonlySet<string>,
): Promise<Listed[]> {
  const found: Listed[] = [];
  for (const chunk of chunks) {
    if (skipped.has(chunk.file)) found.push(chunk);
    else for (const entry of await readChunk(engine, branch.tableFolder, chunk)) found.push(entry);
  }
  for (const entry of fragments) found.push(entry);
  return found;
}

const allFragments = async (
  engine: Engine,
  base: Snapshot,
  manifest: Manifest,
): Promise<readonly FragmentEntry[]> => [
  ...entriesById(await listed(engine, base, manifest, new Set())).values(),
];

/** How many entries two lists begin with that are the same: the entry itself, or a chunk of one file. */
function sharedLength(one: readonly Listed[], other: readonly Listed[]): number {
  let at = 0;
  for (; at < one.length && at < other.length; at++) {
    const [left, right] = [one[at] as Listed, other[at] as Listed];
    if (left !== right && ('id' in left || 'id' in right || left.file !== right.file)) break;
  }
  return at;
}

function entriesById(list: readonly Listed[]): Map<number, FragmentEntry> {
  const found = new Map<number, FragmentEntry>();
  for (const each of list) if ('id' in each) found.set(each.id, each);
  return found;
}

/** Neighbours of which `is` holds, by what stands before them in the list. */
function runs(
  list: readonly Listed[],
  is: (id: number) => boolean,
): Map<string, readonly FragmentEntry[]> {
  const found = new Map<string, FragmentEntry[]>();
  let place = '';
  for (const each of list) {
    if (!('id' in each)) place = each.file;
    else if (!is(each.id)) place = String(each.id);
    else {
      const run = found.get(place);
      if (run === undefined) found.set(place, [each]);
      else run.push(each);
    }
  }
  return found;
}
