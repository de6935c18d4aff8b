/**
 * Maps this engine's ids of fields to those that Lance knows (`lanceIdOf`, `lanceIdsOf`), and names
 * a fragment's file for Lance (`lanceDataFile`). Lance reuses ids of dropped fields, and this
 * engine never does. Where Lance's writers reused one, the version records which field has which id
 * in Lance.
 */
import {
  type FragmentEntry,
  fragmentName,
  type LanceEntry,
  type LanceFileEntry,
  type Manifest,
} from '../catalog/index.ts';

/** What Lance finds in place of a field that the file holds and nothing refers to. */
const NO_FIELD = -2;

/** Lance's ids of the fields of one version. */
export type LanceIds = Pick<Manifest, 'lanceIds' | 'fieldIds'>;

/** @param id ours, of a field of that version */
export const lanceIdOf = ({ lanceIds }: LanceIds, id: number): number => lanceIds?.get(id) ?? id;

/** The ids of a fragment's fields; those of fields that are gone go where another has the number now. */
export function lanceIdsOf(fields: readonly number[], ids: LanceIds): readonly number[] {
  const { lanceIds, fieldIds } = ids;
  if (lanceIds === undefined) return fields;
  const living = new Set(fieldIds);
  const taken = new Set(lanceIds.values());
  return fields.map((id) => {
    if (living.has(id)) return lanceIdOf(ids, id);
    return taken.has(id) ? NO_FIELD : id;
  });
}

/** The file of a fragment that Lance can read. */
export function lanceDataFile(entry: FragmentEntry, ids: LanceIds): LanceFileEntry {
  const { fields, fileSize } = entry.lance as Extract<LanceEntry, { fileSize: number }>;
  return {
    path: fragmentName(entry.file),
    fields: lanceIdsOf(fields, ids),
    columns: fields.map((_, at) => at),
    fileSize,
  };
}
