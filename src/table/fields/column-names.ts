/**
 * Refuses columns by name or width, with InvalidInput. `checkName` refuses an empty name, a name
 * with a dot, and `_rowid` and `_rowoffset` in any case. `refuseTwins` refuses two columns, or two
 * members of a struct, of one name, also in structs and lists; it passes over what a change left as
 * it was. `checkWidth` refuses a type of which a null takes more than 16 MiB.
 */
import { DataType, type Field } from '../../arrow/index.ts';
import { DirspaceError } from '../../errors.ts';
import { nullBytes } from '../../format/index.ts';
import { VIRTUAL_COLUMNS } from '../../sql/index.ts';
import type { IdentifiedField } from './field-ids.ts';
import { isListLike } from './widen.ts';

/** @throws InvalidInput for names that a path or a query could not tell from others */
export function checkName(name: string): void {
  const reserved = VIRTUAL_COLUMNS.some((virtual) => virtual === name.toLowerCase());
  if (name !== '' && !name.includes('.') && !reserved) return;
  throw new DirspaceError(
    'InvalidInput',
    `A column cannot be named ${JSON.stringify(name)}: ${reserved ? 'queries give the row itself that name' : 'names are not empty and hold no dots'}.`,
    { details: { column: name } },
  );
}

/**
 * Fields that have one name in `before` may keep it: data may bring such structs.
 * @param before the fields that are changed, with the same ids
 * @throws InvalidInput for two fields of one name side by side
 */
export function refuseTwins(
  tree: readonly IdentifiedField[],
  before: readonly IdentifiedField[] = [],
): void {
  if (tree === before) return;
  const known = new Map(before.map((node) => [node.id, node]));
  /** Whether all fields of a name had it before. */
  const names = new Map<string, boolean>();
  for (const { id, field, children } of tree) {
    const old = known.get(id);
    const isOld = old?.field.name === field.name;
    const others = names.get(field.name);
    if (others !== undefined && !(others && isOld)) {
      throw new DirspaceError(
        'InvalidInput',
        `There is a column ${JSON.stringify(field.name)} already.`,
        { details: { column: field.name } },
      );
    }
    names.set(field.name, isOld);
    if (DataType.isStruct(field.type) || isListLike(field.type)) {
      refuseTwins(children, old?.children);
    }
  }
}

/** Rows that lack a column are null in it, and a null of a fixed size is as long as a value. */
const MOST_NULL_BYTES = 16 * 1024 * 1024;

/** @throws InvalidInput for a new column whose nulls no batch of rows could hold */
export function checkWidth({ name, type }: Field): void {
  const bytes = nullBytes(type);
  if (bytes <= MOST_NULL_BYTES) return;
  throw new DirspaceError(
    'InvalidInput',
    `A column ${JSON.stringify(name)} of type ${String(type)} takes ${bytes} bytes in each row, also where it is null, and at most ${MOST_NULL_BYTES} are taken. Use a list or binary values of any length.`,
    { details: { column: name, bytes } },
  );
}
