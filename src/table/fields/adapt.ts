/**
 * `adapterOf` returns the function that converts a stored column to the type of a version's schema,
 * or null if none is needed; `adapterBetween` does so for two fields. Members of structs are
 * matched by field id (by name in files without ids), and missing members are filled with nulls.
 * Narrower types are widened (widen.ts). A type whose values do not fit throws Unsupported.
 * `storedTree` joins the fields of a file with their ids.
 */

import {
  type Data,
  DataType,
  describeType,
  type Field,
  nullColumn,
  typesEqual,
} from '../../arrow/index.ts';
import { DirspaceError } from '../../errors.ts';
import type { FragmentFooter } from '../../format/index.ts';
import { viewsOf } from '../../format/index.ts';
import { type IdentifiedField, identifiedChildren } from './field-ids.ts';
import { isListLike, listsFit, wideningOf, widenList, withChildren } from './widen.ts';

export type Adapter = (data: Data) => Data;
/** One object for all fragments of the same schema. */
type StoredSchema = FragmentFooter['stored'];

/** A field of a fragment; a file that came without ids has none. */
export interface StoredField {
  readonly id: number | undefined;
  readonly field: Field;
  readonly children: readonly StoredField[];
}

/** Null where the column is already as it is wanted. */
const adapters = new WeakMap<IdentifiedField, WeakMap<StoredSchema, Adapter | null>>();

/**
 * What makes a column of a fragment the one wanted; null where it is that already.
 * @param position of the column in the fragment
 */
export function adapterOf(
  wanted: IdentifiedField,
  stored: StoredSchema,
  position: number,
): Adapter | null {
  let known = adapters.get(wanted);
  if (known === undefined) {
    known = new WeakMap();
    adapters.set(wanted, known);
  }
  let adapter = known.get(stored);
  if (adapter === undefined) {
    const field = storedTree(stored)[position];
    adapter = field === undefined ? null : adapterBetween(wanted, field);
    known.set(stored, adapter);
  }
  return adapter;
}

const trees = new WeakMap<StoredSchema, readonly StoredField[]>();

/** The fields of a file with their ids. */
export function storedTree(stored: StoredSchema): readonly StoredField[] {
  let tree = trees.get(stored);
  if (tree === undefined) {
    let next = 0;
    const identify = (field: Field): StoredField => {
      const id = stored.fieldIds[next++];
      return { id, field, children: identifiedChildren(field).map(identify) };
    };
    tree = stored.schema.fields.map((field) => identify(field as Field));
    trees.set(stored, tree);
  }
  return tree;
}

/**
 * Null where nothing is to be done.
 * @throws Unsupported where values of the one type are no values of the other
 */
export function adapterBetween(wanted: IdentifiedField, stored: StoredField): Adapter | null {
  const [from, to] = [stored.field.type, wanted.field.type];
  if (typesEqual(from, to) && sameIds(wanted, stored)) return null;
  if (DataType.isStruct(from) && DataType.isStruct(to)) return structAdapter(wanted, stored);
  const nested =
    (isListLike(from) && isListLike(to) && listsFit(from, to)) ||
    (DataType.isMap(from) && DataType.isMap(to));
  const [child, storedChild] = [wanted.children[0], stored.children[0]];
  if (nested && child !== undefined && storedChild !== undefined) {
    const inner = adapterBetween(child, storedChild);
    return (data) => {
      const items = data.children[0] as Data;
      return widenList(data, to, inner === null ? items : inner(items));
    };
  }
  const adapter = wideningOf(from, to) ?? viewsOf(from, to);
  if (adapter !== undefined) return adapter;
  // Unions and the like are the same as long as they look the same.
  if (typesEqual(from, to)) return null;
  throw new DirspaceError(
    'Unsupported',
    `A stored column of ${describeType(from)} cannot be read as ${describeType(to)}.`,
  );
}

function sameIds(wanted: IdentifiedField, stored: StoredField): boolean {
  return wanted.children.every((child, at) => {
    const other = stored.children[at];
    return (
      other !== undefined &&
      (other.id === undefined || other.id === child.id) &&
      sameIds(child, other)
    );
  });
}

function structAdapter(wanted: IdentifiedField, stored: StoredField): Adapter {
  const type = wanted.field.type;
  const members = wanted.children.map((child) => {
    const at = stored.children.findIndex(({ id, field }) =>
      id === undefined ? field.name === child.field.name : id === child.id,
    );
    const found = stored.children[at];
    return { at, type: child.field.type, adapter: found ? adapterBetween(child, found) : null };
  });
  return (data) => {
    const children = members.map((member) => {
      const child = data.children[member.at];
      if (child === undefined) return nullColumn(member.type, data.length);
      return member.adapter === null ? child : member.adapter(child);
    });
    return withChildren(data, type, children);
  };
}
