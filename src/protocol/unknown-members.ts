/**
 * `refuseUnknownMembers` throws InvalidInput for a member that the model does not have, and
 * suggests the nearest known one (`meant`). It is called for operations that change the catalog,
 * where a misspelt condition would be ignored, and for the queries of views. Members whose value
 * is null or undefined, and maps, are not checked. Other requests may have unknown members, so
 * this check is not part of normalize.ts. `shown` quotes a name for messages.
 */
import { DirspaceError } from '../errors.ts';
import { nearest } from '../known-names.ts';
import { type JsonSchema, MODELS, type ModelName } from './models/index.ts';

interface Unknown {
  readonly name: string;
  /** Members that the object may have. */
  readonly known: readonly string[];
  /** Where the object is, from the innermost member outwards. */
  readonly path: (string | number)[];
}

/** The first unknown member of a value; undefined where there is none. */
type Search = (value: unknown, depth: number) => Unknown | undefined;

/** Deeper values are refused as such by normalize.ts. */
const MAX_DEPTH = 64;

const searches = new Map<ModelName, Search | undefined>();

/** @throws InvalidInput that names the member, where it stands, and the known one nearest to it */
export function refuseUnknownMembers(model: ModelName, value: unknown): void {
  const found = searchOf(model)?.(value, 0);
  if (found === undefined) return;
  const { name, known } = found;
  const path = found.path
    .toReversed()
    .map((part) => (typeof part === 'number' ? `[${part}]` : `.${part}`));
  const place = path.join('').slice(0, 200);
  throw new DirspaceError(
    'InvalidInput',
    `${model}${place} has no member ${shown(name)}${meant(name, known)} It takes ${known.join(', ')}.`,
    { details: { model, member: name.slice(0, 80), known } },
  );
}

/** `"nmae"; did you mean "name"?` from its semicolon on, or a full stop. */
export function meant(name: string, known: readonly string[]): string {
  const word = OTHER_WORDS[name]?.find((other) => known.includes(other)) ?? nearest(name, known);
  return word === undefined ? '.' : `; did you mean ${JSON.stringify(word)}?`;
}

export const shown = (name: string): string => JSON.stringify(name.slice(0, 80));

/** What other interfaces, this package's own among them, call the members of the protocol. */
const OTHER_WORDS: Readonly<Record<string, readonly string[] | undefined>> = Object.assign(
  Object.create(null),
  {
    filter: ['predicate'],
    where: ['predicate', 'filter'],
    values: ['updates'],
    set: ['updates'],
  },
);

function searchOf(model: ModelName): Search | undefined {
  if (!searches.has(model)) searches.set(model, compile(MODELS[model] as JsonSchema));
  return searches.get(model);
}

/** Undefined where no value of the schema can hold an object that has a model. */
function compile(schema: JsonSchema): Search | undefined {
  if (schema.$ref !== undefined) return compileRef(schema.$ref);
  if (schema.anyOf !== undefined) return firstOf(schema.anyOf.map(compile));
  if (schema.items !== undefined) return compileItems(compile(schema.items));
  if (schema.additionalProperties !== undefined) return undefined;
  return schema.properties === undefined ? undefined : compileObject(schema.properties);
}

function compileRef(reference: string): Search {
  const name = reference.slice(reference.lastIndexOf('/') + 1) as ModelName;
  return (value, depth) => (depth < MAX_DEPTH ? searchOf(name)?.(value, depth + 1) : undefined);
}

/** Of a union at most one part is an object, so that the others find nothing. */
function firstOf(parts: readonly (Search | undefined)[]): Search | undefined {
  const searching = parts.filter((part) => part !== undefined);
  if (searching.length === 0) return undefined;
  return (value, depth) => {
    for (const part of searching) {
      const found = part(value, depth);
      if (found !== undefined) return found;
    }
    return undefined;
  };
}

function compileItems(item: Search | undefined): Search | undefined {
  if (item === undefined) return undefined;
  return (value, depth) => {
    if (!Array.isArray(value)) return undefined;
    for (const [at, one] of value.entries()) {
      const found = item(one, depth);
      if (found !== undefined) return within(found, at);
    }
    return undefined;
  };
}

function compileObject(properties: Readonly<Record<string, JsonSchema>>): Search {
  const known = Object.keys(properties);
  const members = new Map(known.map((name) => [name, compile(properties[name] as JsonSchema)]));
  return (value, depth) => {
    if (typeof value !== 'object' || value === null || Array.isArray(value)) return undefined;
    for (const name of Object.keys(value)) {
      const member = (value as Readonly<Record<string, unknown>>)[name];
      if (member === undefined || member === null) continue;
      if (!members.has(name)) return { name, known, path: [] };
      const found = members.get(name)?.(member, depth);
      if (found !== undefined) return within(found, name);
    }
    return undefined;
  };
}

function within(found: Unknown, at: string | number): Unknown {
  found.path.push(at);
  return found;
}
