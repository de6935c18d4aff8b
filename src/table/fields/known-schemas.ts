/**
 * `withKnownSchema` gives versions with the same schema and field ids the same objects for them,
 * even in different tables. Results computed from a schema are cached by its object, so tables with
 * the same schema share them. The objects are frozen (`frozen`), because responses share them. It
 * remembers the last 256 schemas that have at most 64 fields and 8,192 characters of JSON each;
 * versions with a larger schema stay as they are. `isOfKnownSchema` tells whether the objects of a
 * version may be shared so.
 */
import type { Manifest } from '../../format/index.ts';

type KnownSchema = Pick<Manifest, 'schema' | 'fieldIds'>;

/** Schemas remembered. */
const MOST_SCHEMAS = 256;
/** Fields, nested ones too, and characters of JSON that a schema may have to be remembered. */
const MOST_FIELDS = 64;
const MOST_CHARACTERS = 8_192;

const known = new Map<string, KnownSchema>();

export function withKnownSchema(manifest: Manifest): Manifest {
  const { schema, fieldIds } = manifest;
  if (fieldIds.length > MOST_FIELDS) return manifest;
  const key = JSON.stringify([schema, fieldIds]);
  if (key.length > MOST_CHARACTERS) return manifest;
  let found = known.get(key);
  if (found === undefined) {
    found = { schema: frozen(schema), fieldIds: Object.freeze(fieldIds) };
    // The oldest goes: one that is still in use comes back with the next version that is read.
    if (known.size === MOST_SCHEMAS) known.delete(known.keys().next().value as string);
    known.set(key, found);
  }
  return { ...manifest, ...found };
}

/** Whether others may hold the schema too. */
export const isOfKnownSchema = ({ fieldIds }: KnownSchema): boolean => Object.isFrozen(fieldIds);

/** Freezes a value with all it holds. */
export function frozen<Value>(value: Value): Value {
  if (typeof value !== 'object' || value === null || Object.isFrozen(value)) return value;
  for (const member of Object.values(value)) frozen(member);
  return Object.freeze(value);
}
