/**
 * `coverageOf` finds which fragments of a version an index covers. A segment covers the fragments
 * of its runs that still exist and whose column is in the file that it was built from. It covers
 * none if the column is gone, if its files cannot be read, if this release does not know the type
 * of the index, or, in an index that has the values themselves, if the column has another type by
 * now. A scan reads the fragments that are not covered. `readingIndexes` runs work that reads
 * indexes, and again without a segment that turns out damaged. `indexedField` finds the column of
 * an index, and returns undefined if it is gone.
 */
import { type DataType, DataType as Types, typesEqual } from '../../arrow/index.ts';
import {
  columnStamp,
  type FragmentEntry,
  type IndexEntry,
  type IndexSegment,
  liveRows,
} from '../../format/index.ts';
import type { Awaitable } from '../../store/index.ts';
import type { IdentifiedField } from '../fields/index.ts';
import type { Engine, Snapshot } from '../versions/index.ts';
import { damageOf, noteDamage, withoutDamage } from './damaged-segments.ts';
import { openFiles } from './segment.ts';
import { type IndexReader, indexReader } from './segment-types.ts';

/** A segment that covers any fragment, with what it covers. */
export interface CoveredSegment {
  readonly segment: IndexSegment;
  /** Fragments that it covers and no segment before it does. */
  readonly entries: readonly FragmentEntry[];
  /** Whether it covers all of its runs and no row of these is deleted. */
  readonly isWhole: boolean;
}

export interface Coverage {
  /** Ids of the fragments. */
  readonly fragments: ReadonlySet<number>;
  readonly segments: readonly CoveredSegment[];
  /** What is wrong with segments that would cover fragments and cannot be read. */
  readonly damages: readonly string[];
  /** Live rows of the covered fragments, and of the others. */
  readonly indexedRows: number;
  readonly otherRows: number;
}

const known = new WeakMap<Snapshot, Map<string, Promise<Coverage>>>();

export function coverageOf(
  engine: Engine,
  snapshot: Snapshot,
  index: IndexEntry,
): Promise<Coverage> {
  let ofSnapshot = known.get(snapshot);
  if (ofSnapshot === undefined) {
    ofSnapshot = new Map();
    known.set(snapshot, ofSnapshot);
  }
  let coverage = ofSnapshot.get(index.id);
  if (coverage === undefined) {
    coverage = coverageIn(engine, snapshot, index);
    const kept = ofSnapshot;
    coverage.catch(() => kept.delete(index.id));
    ofSnapshot.set(index.id, coverage);
  }
  return coverage;
}

/**
 * Damage of an index that is met is remembered, and the work runs again without that segment.
 * @throws what the work throws, damage of rows too
 */
export const readingIndexes = <Result>(
  engine: Engine,
  snapshot: Snapshot,
  work: () => Awaitable<Result>,
): Promise<Result> => withoutDamage(engine, snapshot, (read) => known.delete(read), work);

async function coverageIn(
  engine: Engine,
  snapshot: Snapshot,
  index: IndexEntry,
): Promise<Coverage> {
  const place = indexedField(snapshot, index);
  const entries = await entriesOf(snapshot);
  const fragments = new Set<number>();
  const segments: CoveredSegment[] = [];
  const damages: string[] = [];
  let indexedRows = 0;
  for (const segment of place === undefined ? [] : index.segments) {
    const { top, leaf } = place as IndexedField;
    const fitting = segment.runs.flatMap(({ fragment, rows, stamp }) => {
      const entry = entries.get(fragment);
      const fits = entry?.rows === rows && columnStamp(entry, top.id) === stamp;
      return fits && !fragments.has(fragment) ? [entry] : [];
    });
    if (fitting.length === 0) continue;
    const reader = indexReader(index.type);
    if (reader === undefined) continue;
    const read = await valueTypeIn(engine, snapshot, segment, reader);
    if (typeof read === 'string') damages.push(read);
    if (typeof read === 'string') continue;
    if (read !== undefined && !typesEqual(read, indexedType(index, leaf))) continue;
    for (const entry of fitting) {
      fragments.add(entry.id);
      indexedRows += liveRows(entry);
    }
    const isWhole =
      fitting.length === segment.runs.length &&
      fitting.every(({ deletion }) => deletion === undefined);
    segments.push({ segment, entries: fitting, isWhole });
  }
  const otherRows = snapshot.rowCount - indexedRows;
  return { fragments, segments, damages, indexedRows, otherRows };
}

/** The type of what it holds; undefined where that does not matter; a text where it is damaged. */
async function valueTypeIn(
  engine: Engine,
  snapshot: Snapshot,
  segment: IndexSegment,
  reader: IndexReader,
): Promise<DataType | string | undefined> {
  const damage = damageOf(engine, snapshot, segment);
  if (damage !== undefined) return damage;
  try {
    if (reader.valueType !== undefined) return await reader.valueType(engine, snapshot, segment);
    await openFiles(engine, snapshot, segment);
    return undefined;
  } catch (error) {
    if (noteDamage(engine, snapshot, error)) return (error as Error).message;
    throw error;
  }
}

export interface IndexedField {
  /** The top-level column. */
  readonly top: IdentifiedField;
  /** The field itself, which may lie in structs. */
  readonly leaf: IdentifiedField;
  /** Real names from the top down. */
  readonly path: readonly string[];
}

/** Undefined where the column is gone. */
export function indexedField(
  { fields }: Pick<Snapshot, 'fields'>,
  { fields: ids }: Pick<IndexEntry, 'fields'>,
): IndexedField | undefined {
  const [wanted = -1] = ids;
  let ofFields = places.get(fields);
  if (ofFields === undefined) {
    ofFields = new Map();
    places.set(fields, ofFields);
  }
  if (!ofFields.has(wanted)) ofFields.set(wanted, placeOf(fields, wanted));
  return ofFields.get(wanted);
}

/** By the fields of a version, which most versions share. */
const places = new WeakMap<readonly IdentifiedField[], Map<number, IndexedField | undefined>>();

function placeOf(fields: readonly IdentifiedField[], wanted: number): IndexedField | undefined {
  const find = (
    siblings: readonly IdentifiedField[],
    above: readonly IdentifiedField[],
  ): IndexedField | undefined => {
    for (const field of siblings) {
      const chain = [...above, field];
      if (field.id === wanted) {
        const path = chain.map((each) => each.field.name);
        return { top: chain[0] as IdentifiedField, leaf: field, path };
      }
      const below = find(field.children, chain);
      if (below !== undefined) return below;
    }
    return undefined;
  };
  return find(fields, []);
}

/** The type of the values that the index holds. */
function indexedType({ type }: Pick<IndexEntry, 'type'>, leaf: IdentifiedField): DataType {
  const own = leaf.field.type as DataType;
  const inner = indexReader(type)?.ofItems === true ? (own.children?.[0]?.type as DataType) : own;
  return Types.isDictionary(inner) ? (inner.dictionary as DataType) : inner;
}

const byId = new WeakMap<Snapshot, Promise<ReadonlyMap<number, FragmentEntry>>>();

function entriesOf(snapshot: Snapshot): Promise<ReadonlyMap<number, FragmentEntry>> {
  let entries = byId.get(snapshot);
  if (entries === undefined) {
    entries = snapshot.fragments().then((all) => new Map(all.map((entry) => [entry.id, entry])));
    entries.catch(() => byId.delete(snapshot));
    byId.set(snapshot, entries);
  }
  return entries;
}
