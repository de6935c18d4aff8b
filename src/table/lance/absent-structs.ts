/**
 * `absentStructs` names the structs that no file of a fragment holds. Lance 2.0 has no form for a
 * struct that is null, but reads one that is nowhere as null: so whoever writes such a fragment
 * anew leaves the column out, and does not join it with rows that have the struct.
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
