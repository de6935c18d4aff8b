/** A stored column -> the column as a version describes it, after changes of the schema. */
import type { Data, DataType } from '../arrow.ts';
import { DirspaceError } from '../errors.ts';
import { nullColumn } from '../format/arrow-data.ts';
import { sameType } from '../format/arrow-types.ts';
import { describeType } from '../protocol/schema-equality.ts';

/** Nulls where the fragment has no such column. */
export function adaptColumn(wanted: DataType, data: Data | undefined, rows: number): Data {
  if (data === undefined) return nullColumn(wanted, rows);
  if (sameType(data.type, wanted)) return data;
  throw new DirspaceError(
    'Unsupported',
    `A stored column of ${describeType(data.type)} cannot be read as ${describeType(wanted)}.`,
  );
}
