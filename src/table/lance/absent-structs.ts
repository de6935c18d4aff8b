/**
 * `absentStructs` lists the ids of the top-level struct columns that no file of a fragment holds.
 * Lance 2.0 has no form for a null struct, but it reads a column that no file holds as null. So in
 * a table that is written for Lance, an update or a compaction may leave such a column out of the
 * fragments that it writes anew, and compaction then does not join them with fragments that have
 * the struct. write/compact.ts and write/rewrite-fragments.ts decide when.
 */
import { DataType } from '../../arrow/index.ts';
import type { FragmentEntry } from '../../format/index.ts';
import type { IdentifiedField } from '../fields/index.ts';

/** The ids of the columns. */
export const absentStructs = (
  fields: readonly IdentifiedField[],
  entry: Pick<FragmentEntry, 'fields'>,
): readonly number[] =>
  fields.flatMap(({ id, field }) =>
    DataType.isStruct(field.type) && !entry.fields.includes(id) ? [id] : [],
  );
