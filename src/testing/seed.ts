/**
 * Defines the seed of a fixture (`Seed`): the namespaces and tables with which its catalog begins,
 * as plain JSON. `parseSeed` reads a seed from text and `copySeed` copies one from a value; both
 * validate it. `plant` creates its content in a catalog. InvalidInput names the faulty place.
 */
import { DirspaceError, isDirspaceError } from '../errors.ts';
import { parseExactJson } from '../interchange/index.ts';
import { suggestion } from '../known-names.ts';
import type { Connection, DataInput, NamedTypeField } from '../sdk/index.ts';

/** A namespace that a seed makes. */
export interface SeedNamespace {
  readonly path: readonly string[];
  readonly properties?: Readonly<Record<string, string>>;
}

/** A table that a seed makes. */
export interface SeedTable {
  readonly name: string;
  /** The namespace that it is in; the root if absent. It need not be listed in `namespaces`. */
  readonly path?: readonly string[];
  /** Columns with names of types; those of the rows if absent. */
  readonly schema?: readonly NamedTypeField[];
  readonly rows?: readonly Readonly<Record<string, unknown>>[];
  readonly properties?: Readonly<Record<string, string>>;
  /** Names of tags at the version that holds the rows. */
  readonly tags?: readonly string[];
}

/** What is in a catalog at the beginning; plain JSON. */
export interface Seed {
  readonly namespaces?: readonly SeedNamespace[];
  readonly tables?: readonly SeedTable[];
}

/** Integers keep all their digits. @throws InvalidInput */
export function parseSeed(text: string): Seed {
  let value: unknown;
  try {
    value = parseExactJson(text);
  } catch (error) {
    throw wrong('', `is no JSON: ${(error as Error).message}`);
  }
  return checkSeed(value);
}

/** A copy of a seed, which does not change with what was given. @throws InvalidInput */
export function copySeed(value: Seed): Seed {
  let copy: Seed;
  try {
    copy = structuredClone(value);
  } catch (cause) {
    throw wrong('', `cannot be copied, as it holds more than data: ${(cause as Error).message}`);
  }
  return checkSeed(copy);
}

/** @throws InvalidInput */
function checkSeed(value: unknown): Seed {
  const seed = object(value, '', ['namespaces', 'tables']);
  const paths = new Set<string>();
  for (const [at, one] of list(seed.namespaces, 'namespaces').entries()) {
    const place = `namespaces[${at}]`;
    const { path, properties } = object(one, place, ['path', 'properties']);
    if (texts(path, `${place}.path`).length === 0) throw wrong(`${place}.path`, 'is empty');
    const key = JSON.stringify(path);
    if (paths.has(key)) throw wrong(`${place}.path`, `is ${key}, which is listed before it`);
    paths.add(key);
    map(properties, `${place}.properties`);
  }
  for (const [at, one] of list(seed.tables, 'tables').entries()) {
    const place = `tables[${at}]`;
    const names = ['name', 'path', 'schema', 'rows', 'properties', 'tags'];
    const table = object(one, place, names);
    if (typeof table.name !== 'string') throw wrong(`${place}.name`, 'is no text');
    if (table.path !== undefined) texts(table.path, `${place}.path`);
    if (table.tags !== undefined) texts(table.tags, `${place}.tags`);
    map(table.properties, `${place}.properties`);
    for (const [row, own] of list(table.rows, `${place}.rows`).entries()) {
      object(own, `${place}.rows[${row}]`);
    }
    if (table.schema === undefined && list(table.rows, `${place}.rows`).length === 0) {
      throw wrong(place, 'has neither rows nor a schema; give one of them');
    }
    for (const [field, own] of list(table.schema, `${place}.schema`).entries()) {
      object(own, `${place}.schema[${field}]`);
    }
  }
  return seed as Seed;
}

/** Makes what the seed names, parents first. */
export async function plant(catalog: Connection, { namespaces, tables }: Seed): Promise<void> {
  const made = new Set<string>();
  const make = async (path: readonly string[], properties = {}): Promise<void> => {
    const key = JSON.stringify(path);
    if (path.length === 0 || made.has(key)) return;
    await make(path.slice(0, -1));
    await catalog.createNamespace([...path], { properties });
    made.add(key);
  };
  // A namespace that is listed has its properties whoever else needs it.
  const listed = [...(namespaces ?? [])].sort((one, other) => one.path.length - other.path.length);
  for (const one of listed) {
    const { path, properties } = one;
    const place = `namespaces[${namespaces?.indexOf(one)}]`;
    await atPlace(place, path, () => make(path, properties));
  }
  for (const [at, { name, path = [], schema, rows, properties, tags }] of (
    tables ?? []
  ).entries()) {
    await atPlace(`tables[${at}]`, [...path, name], async () => {
      await make(path);
      const table = await catalog.createTable(name, (rows ?? []) as DataInput, [...path], {
        ...(schema === undefined ? {} : { schema: { fields: schema } }),
        ...(properties === undefined ? {} : { properties }),
      });
      const own = await table.tags();
      for (const tag of tags ?? []) await own.create(tag, await table.version());
    });
  }
}

/** A catalog speaks of names and rows; whoever wrote the seed looks for a place in it. */
async function atPlace(place: string, path: readonly string[], make: () => Promise<void>) {
  try {
    await make();
  } catch (cause) {
    if (!isDirspaceError(cause)) throw cause;
    const why =
      cause.code === 'TableAlreadyExists'
        ? 'Another table of the seed has its name.'
        : cause.message;
    throw new DirspaceError(
      'InvalidInput',
      `The seed, at ${place}, ${JSON.stringify(path.join('/'))}, cannot be made. ${why}`,
      { cause, details: { member: place } },
    );
  }
}

const wrong = (place: string, what: string): DirspaceError =>
  new DirspaceError(
    'InvalidInput',
    `The seed${place === '' ? '' : `, at ${place},`} ${what}${/[.?]$/.test(what) ? '' : '.'} A seed is {"namespaces": [{"path", "properties"}], "tables": [{"name", "path", "schema", "rows", "properties", "tags"}]}.`,
    { details: { member: place } },
  );

function object(
  value: unknown,
  place: string,
  known?: readonly string[],
): Readonly<Record<string, unknown>> {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    throw wrong(place, 'is no object');
  }
  for (const name of known === undefined ? [] : Object.keys(value)) {
    if (known?.includes(name)) continue;
    const names = known?.join(', ');
    const hint = suggestion(name, known ?? []);
    throw wrong(place, `has ${JSON.stringify(name)}; it has ${names}.${hint}`);
  }
  return value as Readonly<Record<string, unknown>>;
}

function list(value: unknown, place: string): readonly unknown[] {
  if (value === undefined) return [];
  if (!Array.isArray(value)) throw wrong(place, 'is no list');
  return value;
}

function texts(value: unknown, place: string): readonly string[] {
  const found = list(value, place);
  if (value !== undefined && found.every((one) => typeof one === 'string')) return found;
  throw wrong(place, 'is no list of texts');
}

function map(value: unknown, place: string): void {
  if (value === undefined) return;
  for (const [name, own] of Object.entries(object(value, place))) {
    if (typeof own !== 'string') throw wrong(`${place}.${name}`, 'is no text');
  }
}
