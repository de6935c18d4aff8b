/**
 * Reads members of many objects at once, so that rows become columns. `take` reads one member of
 * all objects; where the object or the member is missing, the value is null or undefined.
 * `hasMember` tells whether any object has it with a value other than undefined.
 * `refuseUnknownKeys` throws TableSchemaValidation for a member that none of the fields has, unless
 * its value is undefined. A name that every object inherits, such as `constructor`, counts only as
 * an object's own member.
 */
import type { Field } from '../../arrow/index.ts';
import { DirspaceError } from '../../errors.ts';
import { suggestion } from '../../known-names.ts';
import type { BuildContext, Place } from './column-data.ts';
import { isInheritedName } from './js-values.ts';
import { showValue } from './show-value.ts';

export type Records = readonly (Record<string, unknown> | null | undefined)[];

/** One member of every record; null where the record or the member is missing. */
export function take(records: Records, name: string): unknown[] {
  const { length } = records;
  const out = new Array<unknown>(length);
  if (isInheritedName(name)) {
    for (let i = 0; i < length; i++) {
      const record = records[i];
      out[i] = record && Object.hasOwn(record, name) ? record[name] : null;
    }
  } else {
    for (let i = 0; i < length; i++) {
      const record = records[i];
      out[i] = record === null || record === undefined ? null : record[name];
    }
  }
  return out;
}

/** Whether any record has the member, with a value other than undefined. */
export function hasMember(records: Records, name: string): boolean {
  const own = isInheritedName(name);
  return records.some(
    (record) =>
      record !== null &&
      record !== undefined &&
      record[name] !== undefined &&
      (!own || Object.hasOwn(record, name)),
  );
}

/** Throws on a key that no field has, unless its value is undefined. */
export function refuseUnknownKeys(
  fields: readonly Field[],
  records: Records,
  place: Place,
  context: BuildContext,
): void {
  const names = fields.map((field) => field.name);
  const known = new Set(names);
  for (let i = 0; i < records.length; i++) {
    const record = records[i];
    if (record === null || record === undefined) continue;
    let next = 0;
    for (const key in record) {
      // Rows mostly name their columns in the order of the schema.
      if (key === names[next]) next++;
      else if (!known.has(key) && Object.hasOwn(record, key) && record[key] !== undefined) {
        throw unknownKey(names, record[key], key, place, i, context);
      }
    }
  }
}

function unknownKey(
  names: readonly string[],
  value: unknown,
  key: string,
  place: Place,
  index: number,
  context: BuildContext,
): DirspaceError {
  const [row, parent] = [place.row(index), place.path(index)];
  const column = parent === '' ? key : `${parent}.${key}`;
  const found = showValue(value);
  // Of a name of one or two letters, any other is near.
  const meant = key.length > 2 ? suggestion(key, names) : '';
  return new DirspaceError(
    'TableSchemaValidation',
    // LanceDB's programs look for the first words.
    `Found field not in schema: ${column} at row ${row}: found ${found}, but there is no such column ` +
      `(${names.length === 0 ? 'there are none' : names.slice(0, 20).join(', ')}).${meant}${context.hint(column, true)}`,
    { details: { row, column, found } },
  );
}
