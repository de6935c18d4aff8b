/**
 * `ownSchema` copies a schema, so that changing the metadata of one does not change the other.
 * `internSchema` returns the same copy for schemas that are equal in everything, metadata included,
 * so that it can serve as a key of caches. It remembers the 16 schemas used last.
 */
import { Field, Schema } from './apache.ts';
import { childFields, mapType } from './arrow-types.ts';
import { schemasEqual } from './schema-equality.ts';

/** An equal schema that shares no map and no list with the one given. */
export const ownSchema = ({ fields, metadata, dictionaries }: Schema): Schema =>
  // With its dictionaries, which the constructor would look for in all of its types.
  new Schema(fields.map(ownField), ownMap(metadata), ownMap(dictionaries));

const ownField = ({ name, type, nullable, metadata }: Field): Field =>
  new Field(
    name,
    childFields(type).length === 0 ? type : mapType(type, ownField),
    nullable,
    ownMap(metadata),
  );

/** To copy an empty map takes several times as long as to make one. */
const ownMap = <Key, Value>(map: ReadonlyMap<Key, Value>): Map<Key, Value> =>
  map.size === 0 ? new Map() : new Map(map);

/** Copies made last, the newest first: most programs write data of a few schemas over and over. */
const interned: Schema[] = [];
const MAX_INTERNED = 16;
const IN_EVERYTHING = { metadata: true, itemNames: true };

/**
 * A private copy of a schema; equal schemas give the same copy while it is in use, so that it can
 * serve as a cache key.
 */
export function internSchema(schema: Schema): Schema {
  const at = interned.findIndex((known) => schemasEqual(known, schema, IN_EVERYTHING));
  const own = interned[at] ?? ownSchema(schema);
  if (at !== 0) {
    if (at > 0) interned.splice(at, 1);
    interned.unshift(own);
    interned.length = Math.min(interned.length, MAX_INTERNED);
  }
  return own;
}
