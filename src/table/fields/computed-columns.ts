/**
 * Handles columns whose values are computed from an SQL expression, which is in the metadata of the
 * field under the keys that LanceDB uses. `computedColumns` lists them. Each value is null or the
 * result of the expression for its row. When a column changes, `staleColumns` lists the computed
 * columns that read it; callers set their values to null. The functions `refuse...` throw
 * InvalidInput for changes that would break this rule. `computedMetadata` makes the metadata of
 * such a column, `keptMetadata` selects it from other metadata, and `plainMetadata` leaves it out.
 */
import { DirspaceError } from '../../errors.ts';
import type { IdentifiedField } from './field-ids.ts';
import type { FieldPlace } from './field-paths.ts';

const PREFIX = 'computed_column';
const EXPRESSION = `${PREFIX}.expression`;
const INPUTS = `${PREFIX}.inputs`;
const KIND = `${PREFIX}.kind`;

export interface ComputedColumn {
  readonly node: IdentifiedField;
  readonly name: string;
  /** SQL over the other columns. */
  readonly expression: string;
  /** Names of the top-level columns that it reads. */
  readonly inputs: readonly string[];
}

export const computedMetadata = (
  expression: string,
  inputs: readonly string[],
): ReadonlyMap<string, string> =>
  new Map([
    [PREFIX, 'true'],
    [EXPRESSION, expression],
    [INPUTS, JSON.stringify(inputs)],
    [KIND, 'sql'],
  ]);

const known = new WeakMap<readonly IdentifiedField[], readonly ComputedColumn[]>();

/** Those that are declared; in the order of the fields. */
export function computedColumns(fields: readonly IdentifiedField[]): readonly ComputedColumn[] {
  let found = known.get(fields);
  if (found === undefined) {
    found = fields.flatMap((node) => {
      const { name, metadata } = node.field;
      const expression = metadata.get(EXPRESSION);
      if (metadata.get(PREFIX) !== 'true' || expression === undefined) return [];
      return [{ node, name, expression, inputs: inputsOf(metadata.get(INPUTS)) }];
    });
    known.set(fields, found);
  }
  return found;
}

function inputsOf(json: string | undefined): readonly string[] {
  try {
    const names: unknown = JSON.parse(json ?? '[]');
    if (Array.isArray(names)) return names.filter((name) => typeof name === 'string');
  } catch {
    // As none: a writer of other programs put it there.
  }
  return [];
}

/** Computed columns that have to become null where the columns of those names change. */
export const staleColumns = (
  fields: readonly IdentifiedField[],
  changed: (name: string) => boolean,
): readonly ComputedColumn[] =>
  computedColumns(fields).filter(({ inputs }) => inputs.some(changed));

/** @throws InvalidInput for a value that is given to a computed column */
export function refuseValue({ name, expression }: ComputedColumn): never {
  throw new DirspaceError(
    'InvalidInput',
    `The column ${JSON.stringify(name)} is computed (${expression.slice(0, 200)}), and its values come from a backfill: it cannot be written directly. Leave it out, or null; nothing was changed.`,
    { details: { column: name } },
  );
}

interface PlannedChange {
  readonly rename?: string | undefined;
  readonly nullable?: boolean | undefined;
  readonly type?: unknown;
}

/** @throws InvalidInput for a change that the expression of a computed column would not survive */
export function refuseChange(
  fields: readonly IdentifiedField[],
  place: FieldPlace,
  { rename, nullable, type }: PlannedChange,
): void {
  const top = place.chain[0] as IdentifiedField;
  const own = computedColumns(fields).find(({ node }) => node === top);
  if (own !== undefined && (type !== undefined || nullable === false || place.chain.length > 1)) {
    throw new DirspaceError(
      'InvalidInput',
      `The column ${JSON.stringify(own.name)} is computed: its type is that of its expression, and rows that no backfill has reached are null. Drop it and add it anew with another expression.`,
      { details: { column: own.name } },
    );
  }
  if (rename !== undefined || type !== undefined) refuseReaders(fields, place, new Set());
}

/** @throws InvalidInput for dropping what a computed column reads that stays */
export function refuseDrop(
  fields: readonly IdentifiedField[],
  places: readonly FieldPlace[],
): void {
  const gone = new Set(
    places.flatMap(({ chain }) => (chain.length === 1 ? [chain[0]?.field.name ?? ''] : [])),
  );
  for (const place of places) refuseReaders(fields, place, gone);
}

function refuseReaders(
  fields: readonly IdentifiedField[],
  place: FieldPlace,
  gone: ReadonlySet<string>,
): void {
  const top = place.chain[0]?.field.name ?? '';
  const reader = staleColumns(fields, (name) => name === top).find(({ name }) => !gone.has(name));
  if (reader === undefined) return;
  throw new DirspaceError(
    'InvalidInput',
    `The column ${JSON.stringify(place.name)} is read by the computed column ${JSON.stringify(reader.name)}; drop that column first.`,
    { details: { column: place.name, computed: reader.name } },
  );
}

/** @throws InvalidInput for metadata that would make, change or end a declaration */
export function refuseMetadata(path: string, keys: readonly string[]): void {
  const key = keys.find(isOwn);
  if (key === undefined) return;
  throw new DirspaceError(
    'InvalidInput',
    `The metadata ${JSON.stringify(key)} of ${JSON.stringify(path)} says how a computed column is computed. Declare one with addColumns({computed: ...}), and drop it to end that.`,
    { details: { column: path } },
  );
}

const isOwn = (key: string): boolean => key === PREFIX || key.startsWith(`${PREFIX}.`);

/** Metadata that stays when all other is replaced. */
export const keptMetadata = (metadata: ReadonlyMap<string, string>): [string, string][] =>
  [...metadata].filter(([key]) => isOwn(key));

/** Metadata of values that are those of a computed column, and no longer computed. */
export const plainMetadata = (metadata: ReadonlyMap<string, string>): Map<string, string> =>
  new Map([...metadata].filter(([key]) => !isOwn(key)));
