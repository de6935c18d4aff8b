/**
 * `matchFields` matches the columns of incoming data with the fields of a table by name. Nullable
 * columns may be missing, and with `partial` required ones too. A type may be narrower if it widens
 * without loss. Any other difference throws TableSchemaValidation. `fitOf` keeps the result for the
 * next data of the same schema.
 *
 * `fitFragments` checks fragments that are already written against the newest schema. A column that
 * is gone or of an unfit type by now, and nulls in a required column, throw TableSchemaValidation.
 * If another field has the name of a column meanwhile, or a nested field was made required, it
 * throws ConcurrentModification; `isWrittenFor` returns false for these.
 */
import { DataType, describeType, type Field, type Schema, typesEqual } from '../../arrow/index.ts';
import { DirspaceError } from '../../errors.ts';
import {
  canWiden,
  type IdentifiedField,
  isListLike,
  listFieldIds,
  listsFit,
} from '../fields/index.ts';
import { refuseNulls, requiredIds } from './required-values.ts';
import type { NewFragment } from './write.ts';

/**
 * The data's columns with the ids of the table's fields, in the data's order.
 * @param partial whether required columns may be missing
 * @throws TableSchemaValidation naming the first column that does not fit
 */
export function matchFields(
  fields: readonly IdentifiedField[],
  schema: Schema,
  partial = false,
): readonly IdentifiedField[] {
  const known = new Map(fields.map((field) => [field.field.name, field]));
  const matched = schema.fields.map((column) => {
    const field = known.get(column.name);
    if (field === undefined) {
      throw mismatch(
        `the table has no column ${JSON.stringify(column.name)}; it has ${fields
          .map(({ field }) => field.name)
          .slice(0, 20)
          .join(', ')}`,
      );
    }
    known.delete(column.name);
    const node = matchNode(field, column);
    if (node !== undefined) return node;
    throw mismatch(
      `column ${JSON.stringify(column.name)} is ${describeType(column.type)} in the data and ${describeType(field.field.type)} in the table`,
    );
  });
  for (const field of known.values()) {
    if (!field.field.nullable && !partial) {
      throw mismatch(
        `column ${JSON.stringify(field.field.name)} is required and missing in the data`,
      );
    }
  }
  return matched;
}

/** Undefined where the column does not fit. */
function matchNode(wanted: IdentifiedField, column: Field): IdentifiedField | undefined {
  const [from, to] = [column.type as DataType, wanted.field.type];
  if (typesEqual(from, to)) return wanted;
  const inner = (from.children ?? []) as readonly Field[];
  if (DataType.isStruct(from) && DataType.isStruct(to)) {
    const missing = new Set(wanted.children);
    const children = inner.flatMap((field) => {
      const child = wanted.children.find((candidate) => candidate.field.name === field.name);
      if (child === undefined || !missing.delete(child)) return [];
      return matchNode(child, field) ?? [];
    });
    const complete = [...missing].every((child) => child.field.nullable);
    if (children.length < inner.length || !complete) return undefined;
    return { id: wanted.id, field: column, children };
  }
  const [child, item] = [wanted.children[0], inner[0]];
  if (isListLike(from) && isListLike(to) && child !== undefined && item !== undefined) {
    if (!listsFit(from, to)) return undefined;
    const node = matchNode(child, item);
    return node === undefined ? undefined : { id: wanted.id, field: column, children: [node] };
  }
  return canWiden(from, to) ? { id: wanted.id, field: column, children: [] } : undefined;
}

/** How the columns of written data become columns of the table. */
export interface Fit {
  readonly fields: readonly IdentifiedField[];
  readonly schema: Schema;
  /** The data's columns with the ids of the table's fields. */
  readonly matched: readonly IdentifiedField[];
  /** The table's fields, in the order of the data's columns. */
  readonly known: readonly Field[];
  /** Columns that are not of the very type of their field. */
  readonly widened: ReadonlySet<number>;
}

/** By the data's schema: a program that appends does so with the same one over and over. */
const fits = new WeakMap<Schema, Fit>();

/** @throws TableSchemaValidation naming the first column that does not fit */
export function fitOf(fields: readonly IdentifiedField[], schema: Schema): Fit {
  const last = fits.get(schema);
  if (last?.fields === fields) return last;
  const matched = matchFields(fields, schema);
  const byId = new Map(fields.map(({ id, field }) => [id, field]));
  const known = matched.map(({ id, field }) => byId.get(id) ?? field);
  const widened = new Set<number>();
  for (const [at, { type }] of known.entries()) {
    if (!typesEqual(type, schema.fields[at]?.type as DataType)) widened.add(at);
  }
  const fit = { fields, schema, matched, known, widened };
  fits.set(schema, fit);
  return fit;
}

/**
 * Whether fragments that were written for other fields have the ids that `fields` give their
 * columns, and were checked for nulls in all nested fields that are required now.
 * @throws TableSchemaValidation naming the first column that does not fit
 */
export const isWrittenFor = (fields: readonly IdentifiedField[], written: Fit): boolean =>
  haveSameIds(fitOf(fields, written.schema).matched, written.matched) &&
  !requiresMore(fields, written.fields);

/**
 * Fragments that were written for one table's fields as entries of a version with `fields`, which
 * may have changed meanwhile. @throws TableSchemaValidation, ConcurrentModification
 */
export function fitFragments(
  fields: readonly IdentifiedField[],
  written: Fit,
  fragments: readonly NewFragment[],
): readonly NewFragment[] {
  const fit = fitOf(fields, written.schema);
  if (fit !== written && !haveSameIds(fit.matched, written.matched)) {
    throw new DirspaceError(
      'ConcurrentModification',
      'Columns of the table were dropped or renamed while rows for them were written. Nothing was changed; look at the new schema and write the rows again.',
    );
  }
  if (fit !== written && requiresMore(fields, written.fields)) {
    throw new DirspaceError(
      'ConcurrentModification',
      'A nested column of the table was made required while rows for it were written. Nothing was changed; look at the new schema and write the rows again.',
    );
  }
  refuseNulls(
    fit.matched.map(({ id }, at) => ({ id, field: fit.known[at] as Field })),
    fragments,
  );
  if (fit.widened.size === 0) return fragments;
  // Statistics are read in terms of the table's type.
  const widened = fit.known.filter((_, at) => fit.widened.has(at)).map(({ name }) => name);
  const ids = new Set(fit.matched.flatMap(({ id }, at) => (fit.widened.has(at) ? [id] : [])));
  const problem = `column ${JSON.stringify(widened[0])} was written before it was widened`;
  return fragments.map((fragment) => ({
    ...fragment,
    ...(fragment.lance === undefined ? {} : { lance: { problem } }),
    statistics: fragment.statistics.map((statistics, at) =>
      ids.has(fragment.fields[at] ?? -1) ? [] : statistics,
    ),
  }));
}

/** Whether a nested field is required that was not so before. */
function requiresMore(
  fields: readonly IdentifiedField[],
  before: readonly IdentifiedField[],
): boolean {
  const known = requiredIds(before);
  return [...requiredIds(fields)].some((id) => !known.has(id));
}

const haveSameIds = (one: readonly IdentifiedField[], other: readonly IdentifiedField[]): boolean =>
  listFieldIds(one).join() === listFieldIds(other).join();

const mismatch = (what: string): DirspaceError =>
  new DirspaceError(
    'TableSchemaValidation',
    `The data does not fit the table: ${what}. Nothing was written.`,
  );
