/**
 * `diffVersions` compares two versions of a table, of one branch or of two: columns, properties,
 * metadata, fragments and rows. With a key, rows are matched by the key and compared by value, both
 * through hashes, and the result has the first rows of each kind as examples. A key column that
 * only one version has, or that cannot be compared, throws InvalidInput; one that neither has
 * throws TableColumnNotFound. Rows whose hashes exceed the memory of a request throw InvalidInput.
 * Without a key, a row is identified by the file that it was written to and its place there, and no
 * column is read.
 */
import { DirspaceError } from '../../errors.ts';
import { suggestion } from '../../known-names.ts';
import type { DiffMap, DiffRow } from '../../protocol/index.ts';
import { adapterBetween, type IdentifiedField } from '../fields/index.ts';
import { planScan, requestMemory } from '../read/index.ts';
import type { Engine, Snapshot } from '../versions/index.ts';
import { Turn } from '../work/index.ts';
import { changedColumns, shownRows } from './changed-columns.ts';
import { commonFieldIds } from './common-fields.ts';
import {
  type FragmentDifferences,
  fragmentDifferences,
  rowDifferences,
} from './fragment-differences.ts';
import { matchRows, type Side } from './match-rows.ts';
import {
  type FieldPair,
  pairFields,
  type SchemaDifferences,
  schemaDifferences,
} from './schema-differences.ts';

export interface DiffRequest {
  /** Key columns, by their names in the later version; rows are not read if absent. */
  readonly on?: readonly string[] | undefined;
  /** Rows that are shown of each kind, at most. */
  readonly limit: number;
  readonly signal?: AbortSignal | undefined;
}

/** A row of one key in both versions. */
export interface ChangedRow {
  readonly before: DiffRow;
  readonly after: DiffRow;
  readonly columns: readonly string[];
}

export interface RowsDiff {
  /** Whether rows were matched by a key, or told apart by where they were written. */
  readonly by: 'key' | 'place';
  readonly added: number;
  readonly removed: number;
  /** By key: rows with other values. By place: rows with a column that was written anew. */
  readonly changed: number;
  readonly unchanged: number;
  /** By key: in how many of the changed rows a column has another value. */
  readonly changedColumns: readonly { readonly name: string; readonly rows: number }[];
  /** Columns of both versions whose values cannot be compared, as their types do not fit. */
  readonly notCompared: readonly string[];
  readonly examples?: {
    readonly added: readonly DiffRow[];
    readonly removed: readonly DiffRow[];
    readonly changed: readonly ChangedRow[];
  };
}

export interface VersionsDiff {
  readonly schema: SchemaDifferences;
  /** The differences in the metadata of the table and of its schema, by name. */
  readonly metadata: DiffMap;
  /** The differences in the table's properties, if the versions carry them. */
  readonly properties: DiffMap;
  readonly fragments: {
    readonly kept: number;
    readonly changed: number;
    readonly added: number;
    readonly removed: number;
  };
  readonly rows: RowsDiff;
}

/** Cells of all examples of one kind, at most. */
const MOST_CELLS = 100_000;

/**
 * @throws TableColumnNotFound for a key that neither version has, InvalidInput for one that only one
 * has, whose types do not fit, or where the rows take more than the memory of a request
 */
export async function diffVersions(
  engine: Engine,
  from: Snapshot,
  to: Snapshot,
  request: DiffRequest,
): Promise<VersionsDiff> {
  const commonIds = await commonFieldIds(engine, from, to);
  const fragments = await fragmentDifferences(engine, from, to);
  const { kept, changed, added, removed } = fragments;
  return {
    schema: schemaDifferences(from.fields, to.fields, commonIds),
    metadata: mapDifferences(metadataOf(from), metadataOf(to)),
    properties: mapDifferences(
      from.manifest.properties?.values ?? {},
      to.manifest.properties?.values ?? {},
    ),
    fragments: {
      kept,
      changed: changed.length,
      added: added.length,
      removed: removed.length,
    },
    rows:
      request.on === undefined
        ? {
            by: 'place',
            ...(await rowDifferences(engine, from, to, fragments)),
            changedColumns: [],
            notCompared: [],
          }
        : await diffByKey(engine, from, to, commonIds, fragments, request.on, request),
  };
}

async function diffByKey(
  engine: Engine,
  from: Snapshot,
  to: Snapshot,
  commonIds: number,
  fragments: FragmentDifferences,
  on: readonly string[],
  { limit, signal }: DiffRequest,
): Promise<RowsDiff> {
  const all = pairFields(from.fields, to.fields, commonIds);
  const pairs = all.flatMap((pair) => {
    const adapters = comparable(pair);
    return adapters === undefined ? [] : [{ ...pair, adapters }];
  });
  const compared = new Set(pairs.map((pair) => pair.to));
  const keys = on.map((name) => keyAt(name, pairs, from, to));
  const memory = requestMemory(engine);
  const planOf = (side: 'from' | 'to', snapshot: Snapshot) =>
    planScan(engine, snapshot, {
      columns: pairs.map((pair) => pair[side].field.name),
      signal,
      memory,
    });
  const one: Side = {
    plan: await planOf('from', from),
    adapters: pairs.map((p) => p.adapters.from),
  };
  const other: Side = { plan: await planOf('to', to), adapters: pairs.map((p) => p.adapters.to) };
  const turn = new Turn(engine.env);
  const { added, removed, before, after } = await matchRows(one, other, fragments, keys, turn);
  const held = memory.hold('The rows of one key that differ between two versions');
  try {
    held.set(added.bytes + removed.bytes + before.bytes + after.bytes);
    const columns = Math.max(1, from.fields.length, to.fields.length);
    const shown = Math.min(limit, Math.floor(MOST_CELLS / columns));
    const found = await changedColumns(one, other, before, after, shown, turn);
    const names = pairs.map((pair) => pair.to.field.name);
    const old = await shownRows(one, before, shown);
    const fresh = await shownRows(other, after, shown);
    return {
      by: 'key',
      added: added.length,
      removed: removed.length,
      changed: after.length,
      unchanged: to.rowCount - added.length - after.length,
      changedColumns: found.counts.flatMap((rows, at) =>
        rows === 0 ? [] : [{ name: names[at] as string, rows }],
      ),
      notCompared: all.flatMap((pair) => (compared.has(pair.to) ? [] : [pair.to.field.name])),
      examples: {
        added: await shownRows(other, added, shown),
        removed: await shownRows(one, removed, shown),
        changed: found.first.map((differing, at) => ({
          before: old[at] as DiffRow,
          after: fresh[at] as DiffRow,
          columns: differing.map((column) => names[column] as string),
        })),
      },
    };
  } finally {
    held.end();
  }
}

type Adapters = { readonly [At in 'from' | 'to']: ReturnType<typeof adapterBetween> };

/** The conversions that make the columns comparable: the narrower type becomes the wider one. */
function comparable({ from, to }: FieldPair): Adapters | undefined {
  const older = adapterIfAny(to, from);
  if (older !== undefined) return { from: older, to: null };
  const newer = adapterIfAny(from, to);
  return newer === undefined ? undefined : { from: null, to: newer };
}

function adapterIfAny(
  wanted: IdentifiedField,
  given: IdentifiedField,
): ReturnType<typeof adapterBetween> | undefined {
  try {
    return adapterBetween(wanted, given);
  } catch {
    return undefined;
  }
}

function keyAt(name: string, pairs: readonly FieldPair[], from: Snapshot, to: Snapshot): number {
  const at = pairs.findIndex((pair) => pair.to.field.name === name);
  if (at >= 0) return at;
  const named = ({ fields }: Snapshot): boolean => fields.some(({ field }) => field.name === name);
  const [isOld, isNew] = [named(from), named(to)];
  const names = pairs.map((pair) => pair.to.field.name);
  const known = `Columns of both are ${names.slice(0, 30).join(', ')}.${suggestion(name, names)}`;
  if (!isOld && !isNew) {
    throw new DirspaceError(
      'TableColumnNotFound',
      `There is no column ${JSON.stringify(name)} in version ${from.version} or ${to.version}. ${known}`,
      { details: { column: name } },
    );
  }
  const where = isOld && isNew ? 'is another column' : 'is no column';
  const version = isNew ? from.version : to.version;
  throw new DirspaceError(
    'InvalidInput',
    `${JSON.stringify(name)} ${where} in version ${version}, so rows cannot be matched by it. ${known}`,
    { details: { column: name } },
  );
}

const metadataOf = ({ manifest }: Snapshot): Record<string, string> => ({
  ...manifest.metadata,
  ...manifest.schema.metadata,
});

function mapDifferences(
  from: Readonly<Record<string, string>>,
  to: Readonly<Record<string, string>>,
): DiffMap {
  const only = (map: typeof from, other: typeof to): Record<string, string> =>
    Object.fromEntries(Object.entries(map).filter(([name]) => !Object.hasOwn(other, name)));
  const changed = Object.entries(to).flatMap(([name, value]) =>
    Object.hasOwn(from, name) && from[name] !== value
      ? [[name, { from: from[name] as string, to: value }] as const]
      : [],
  );
  return { added: only(to, from), removed: only(from, to), changed: Object.fromEntries(changed) };
}
