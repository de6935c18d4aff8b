/**
 * `schemaDifferences` compares the columns of two versions by the ids of their fields. It finds
 * which were added and dropped, and which differ in name, type, nullability or metadata. Fields of
 * structs and lists are compared like columns, and named by their path. Ids that two branches do
 * not have in common (common-fields.ts) mean the same field only if the names are equal too.
 * `pairFields` lists the fields that are in both versions, and `columnSummary` describes one.
 */
import { DataType, describeType, type Field } from '../../arrow/index.ts';
import type { IdentifiedField } from '../fields/index.ts';

export interface ColumnSummary {
  readonly name: string;
  readonly type: string;
  readonly nullable: boolean;
}

export interface ColumnChange {
  readonly from: ColumnSummary;
  readonly to: ColumnSummary;
  /** Whether the metadata of the field is another. */
  readonly metadata: boolean;
}

export interface SchemaDifferences {
  readonly added: readonly ColumnSummary[];
  readonly dropped: readonly ColumnSummary[];
  readonly changed: readonly ColumnChange[];
}

/** Fields that are the same column in two versions. */
export interface FieldPair {
  readonly from: IdentifiedField;
  readonly to: IdentifiedField;
}

type Fields = readonly IdentifiedField[];

/**
 * @param commonIds ids below it mean the same in both versions. Above it, branches that went apart
 * may have given one id to different fields: these are the same only where their names are.
 */
export function pairFields(from: Fields, to: Fields, commonIds: number): FieldPair[] {
  const known = new Map(from.map((field) => [field.id, field]));
  return to.flatMap((field) => {
    const before = known.get(field.id);
    const isSame =
      before !== undefined && (field.id < commonIds || before.field.name === field.field.name);
    return isSame ? [{ from: before, to: field }] : [];
  });
}

export function schemaDifferences(from: Fields, to: Fields, commonIds: number): SchemaDifferences {
  const found = { added: [], dropped: [], changed: [] };
  compare(from, to, commonIds, ['', ''], found);
  return found;
}

export const columnSummary = ({ field }: IdentifiedField, parent = ''): ColumnSummary => ({
  name: parent + field.name,
  type: describeType(field.type),
  nullable: field.nullable,
});

function compare(
  from: Fields,
  to: Fields,
  commonIds: number,
  [before, after]: readonly [from: string, to: string],
  found: { added: ColumnSummary[]; dropped: ColumnSummary[]; changed: ColumnChange[] },
): void {
  const pairs = pairFields(from, to, commonIds);
  const [old, kept] = [new Set(pairs.map((pair) => pair.from)), new Set(pairs.map(({ to }) => to))];
  for (const field of from) if (!old.has(field)) found.dropped.push(columnSummary(field, before));
  for (const field of to) if (!kept.has(field)) found.added.push(columnSummary(field, after));
  for (const pair of pairs) {
    const metadata = metadataOf(pair.from.field) !== metadataOf(pair.to.field);
    if (metadata || ownForm(pair.from) !== ownForm(pair.to)) {
      const [one, other] = [columnSummary(pair.from, before), columnSummary(pair.to, after)];
      found.changed.push({ from: one, to: other, metadata });
    }
    const parents = [
      `${before}${pair.from.field.name}.`,
      `${after}${pair.to.field.name}.`,
    ] as const;
    compare(pair.from.children, pair.to.children, commonIds, parents, found);
  }
}

/** Name, type and nullability, without what is told of its children. */
function ownForm({ field, children }: IdentifiedField): string {
  const { type } = field;
  const size = DataType.isFixedSizeList(type) ? type.listSize : '';
  const own = children.length === 0 ? describeType(type) : `${type.typeId} ${size}`;
  return JSON.stringify([field.name, field.nullable, own]);
}

const metadataOf = ({ metadata }: Field): string => JSON.stringify([...metadata].sort());
