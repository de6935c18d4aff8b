/**
 * `indexedKeys` finds the rows of a version that may have the key of a source row by an index of a
 * key column, so that a merge of few rows does not read the keys of all others. The result names
 * the fragments that the index covers (`covered`); the merge scans the keys of the others. It is
 * undefined if the source has more than a thousandth as many rows as the table, or more than 4,096,
 * or if no index of a key column tells: then the merge scans all keys.
 */
import type { Data } from '../../arrow/index.ts';
import { loadColumn, reader, type Value } from '../../sql/index.ts';
import type { IdentifiedField } from '../fields/index.ts';
import { type IndexedRows, rowsWithValues } from '../indexes/index.ts';
import type { Engine, Snapshot } from '../versions/index.ts';
import type { KeyChunk } from './key-index.ts';

/** Looking so many times as many keys up by hash takes as long as one by an index. */
const SCANNED_KEYS = 1_000;
/** Keys that are looked up at once: that takes some ten milliseconds. */
const MOST_KEYS = 4_096;

/**
 * @param chunks consecutive rows of the source, of each the columns of `keys`
 * @returns rows of the fragments that the index covers, and no others of these
 * @throws Corrupt
 */
export async function indexedKeys(
  engine: Engine,
  snapshot: Snapshot,
  keys: readonly IdentifiedField[],
  chunks: readonly KeyChunk[],
): Promise<IndexedRows | undefined> {
  const rows = chunks.reduce((sum, [first]) => sum + (first?.length ?? 0), 0);
  if (rows > MOST_KEYS || rows * SCANNED_KEYS > snapshot.rowCount) return undefined;
  for (const [at, { field }] of keys.entries()) {
    const values = valuesOf(chunks.map((chunk) => chunk[at] as Data));
    const found = values && (await rowsWithValues(engine, snapshot, [field.name], values));
    if (found !== undefined) return { ...found, isChoice: true };
  }
  return undefined;
}

/** The values that are not null, each once; undefined for those that are no numbers and no texts. */
function valuesOf(columns: readonly Data[]): Value[] | undefined {
  const values = new Set<Value>();
  for (const column of columns) {
    const read = reader(loadColumn(column));
    for (let row = 0; row < column.length; row++) {
      const value = read(row) ?? null;
      if (typeof value === 'object' && value !== null) return undefined;
      if (value !== null) values.add(value);
    }
  }
  return [...values];
}
