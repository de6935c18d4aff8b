/**
 * `keepMembers` completes source structs that lack some members: an updated row keeps the table's
 * values of those members, or null where its struct is null. `missingMembers` finds the missing
 * members, in nested structs too, and returns undefined if there are none; `withoutMissing`
 * takes them out of a field. Structs in lists are replaced whole.
 */
import { type Data, DataType, gather, nullColumn, Vector } from '../../arrow/index.ts';
import { type IdentifiedField, withChildren } from '../fields/index.ts';

/** By the position of a member in the table's struct: that it is missing, or what of it is. */
export type MissingMembers = ReadonlyMap<number, MissingMembers | 'all'>;

/** Undefined where nothing is missing. What lists hold is replaced with the list. */
export function missingMembers(
  wanted: IdentifiedField,
  came: IdentifiedField,
): MissingMembers | undefined {
  if (!DataType.isStruct(wanted.field.type)) return undefined;
  const missing = new Map<number, MissingMembers | 'all'>();
  for (const [at, child] of wanted.children.entries()) {
    const found = came.children.find(({ id }) => id === child.id);
    const what = found === undefined ? 'all' : missingMembers(child, found);
    if (what !== undefined) missing.set(at, what);
  }
  return missing.size === 0 ? undefined : missing;
}

/** The field without its missing members. */
export function withoutMissing(
  field: IdentifiedField,
  missing: MissingMembers | undefined,
): IdentifiedField {
  if (missing === undefined) return field;
  const children = field.children.flatMap((child, at) => {
    const what = missing.get(at);
    return what === 'all' ? [] : withoutMissing(child, what);
  });
  return { ...field, children };
}

/** The structs that came, row by row with the missing members of the table's. */
export function keepMembers(kept: Data, came: Data, missing: MissingMembers): Data {
  const children = came.children.map((child, at) => {
    const what = missing.get(at);
    if (what === undefined) return child;
    const member = memberOf(kept, at);
    return what === 'all' ? member : keepMembers(member, child, what);
  });
  return withChildren(came, came.type, children);
}

/** Null where the struct is: what a file holds there is no value. */
function memberOf(struct: Data, at: number): Data {
  const member = struct.children[at] as Data;
  if (struct.nullCount === 0) return member;
  const rows = Uint32Array.from({ length: struct.length }, (_, row) =>
    struct.getValid(row) ? row : struct.length,
  );
  return gather(new Vector([member, nullColumn(member.type, 1)]), rows);
}
