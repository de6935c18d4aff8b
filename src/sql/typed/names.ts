/**
 * `resolveName` finds the column, or member of a struct, that a path such as a.b names in a schema;
 * `findIn` finds one part, or gives -1. Each part is compared exactly first, and then ignoring
 * case. A column whose name has periods in it is found by the whole path. An unknown name throws
 * TableColumnNotFound, with the nearest name (`nearestName`) if one is similar, and an ambiguous
 * one InvalidInput. `virtualColumn` recognises `_rowid` and `_rowoffset`, ignoring case, unless a
 * column has that very name.
 */
import { DataType, type Field, type Schema } from '../../arrow/index.ts';
import { editDistance } from '../../known-names.ts';
import { formatName, refuse, shorten } from '../parse/index.ts';

export interface ResolvedName {
  readonly index: number;
  readonly path: readonly number[];
  readonly names: readonly string[];
  readonly type: DataType;
}

/** Names that the caller supplies for every row, next to the columns. */
export const VIRTUAL_COLUMNS = ['_rowid', '_rowoffset'] as const;
export type VirtualColumn = (typeof VIRTUAL_COLUMNS)[number];

export function virtualColumn(schema: Schema, path: readonly string[]): VirtualColumn | null {
  const [name = ''] = path;
  if (path.length !== 1 || schema.fields.some((field) => field.name === name)) return null;
  return VIRTUAL_COLUMNS.find((virtual) => virtual === name.toLowerCase()) ?? null;
}

/** Throws TableColumnNotFound for a name that is not there, InvalidInput for one that is unclear. */
export function resolveName(
  schema: Schema,
  path: readonly string[],
  at: number | undefined,
): ResolvedName {
  // A column whose own name holds periods is found by its whole name.
  if (path.length > 1) {
    const whole = schema.fields.findIndex((field) => field.name === path.join('.'));
    const first = findIn(schema.fields, path[0] ?? '', at);
    if (whole >= 0 && first < 0) {
      const field = schema.fields[whole] as Field;
      return { index: whole, path: [], names: [field.name], type: field.type };
    }
  }
  let fields: readonly Field[] = schema.fields;
  const positions: number[] = [];
  const names: string[] = [];
  let type: DataType | undefined;
  for (const part of path) {
    const position = findIn(fields, part, at);
    const found = fields[position];
    if (found === undefined) notFound(schema, path, names, fields, type, at);
    positions.push(position);
    names.push(found.name);
    type = found.type as DataType;
    fields = DataType.isStruct(type) ? type.children : [];
  }
  const [index = 0, ...rest] = positions;
  return { index, path: rest, names, type: type as DataType };
}

/** Position among `fields`, or -1. */
export function findIn(fields: readonly Field[], name: string, at: number | undefined): number {
  const exact = fields.findIndex((field) => field.name === name);
  if (exact >= 0) return exact;
  const folded = name.toLowerCase();
  const alike = fields.flatMap((field, i) => (field.name.toLowerCase() === folded ? [i] : []));
  if (alike.length > 1) {
    const choices = alike.map((i) => formatName(fields[i]?.name ?? '')).join(', ');
    refuse(
      at,
      `The column name ${shorten(name)} is ambiguous: ${choices}; write one of them exactly`,
    );
  }
  return alike[0] ?? -1;
}

function notFound(
  schema: Schema,
  path: readonly string[],
  parents: readonly string[],
  fields: readonly Field[],
  parent: DataType | undefined,
  at: number | undefined,
): never {
  const asked = path.join('.');
  const missing = path[parents.length] ?? '';
  const names = fields.map((field) => field.name);
  if (parent === undefined) for (const virtual of VIRTUAL_COLUMNS) names.push(virtual);
  const near = nearestName(missing, names);
  const where = parents.length === 0 ? '' : ` in ${parents.join('.')}`;
  let hint = near === null ? '' : `; did you mean ${formatName([...parents, near].join('.'))}?`;
  if (near !== null && parents.length > 0) {
    hint = `; did you mean ${[...parents, near].map(formatName).join('.')}?`;
  }
  if (near === null && parent !== undefined && !DataType.isStruct(parent)) {
    hint = `; ${parents.join('.')} is no struct`;
  } else if (near === null && names.length <= 20) {
    const list = schema.fields.length === 0 ? 'none' : names.map(formatName).join(', ');
    hint = `; the columns are: ${shorten(list, 400)}`;
  }
  // LanceDB's programs look for the first words, to add columns that a table of an older release lacks.
  refuse(at, `No field named ${shorten(asked)}${where}${hint}`, {
    code: 'TableColumnNotFound',
    details: { column: asked, ...(near === null ? {} : { nearest: [...parents, near].join('.') }) },
  });
}

/** Comparing two names takes as long as the product of their lengths. */
const LONGEST_COMPARED = 200;

/** In names up to this length one letter is much: a suggestion must begin with the same letter. */
const SHORT = 3;

/** The candidate nearest to `name`, where that is near enough to be what was meant. */
export function nearestName(name: string, candidates: readonly string[]): string | null {
  const folded = name.toLowerCase();
  let best: string | null = null;
  let least = Math.max(1, Math.floor(Math.min(name.length, 60) / 3)) + 1;
  for (const candidate of candidates) {
    if (Math.abs(candidate.length - name.length) >= least) continue;
    if (Math.min(candidate.length, name.length) > LONGEST_COMPARED) continue;
    if (name.length <= SHORT && candidate[0]?.toLowerCase() !== folded[0]) continue;
    const distance = editDistance(folded, candidate.toLowerCase());
    if (distance < least) {
      least = distance;
      best = candidate;
    }
  }
  return best;
}
