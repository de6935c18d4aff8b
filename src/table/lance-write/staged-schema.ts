/**
 * `stagedSchema` turns the fields of a staged Lance manifest into fields of the table. It tells
 * which are new or changed, and refuses those that a table cannot hold (InvalidInput, Unsupported).
 * Lance reuses the ids of dropped fields, and this engine never does. So a new field whose id was
 * used before gets another id here, and the version records both.
 */
import {
  DataType,
  Field,
  LargeList,
  List,
  metadataEqual,
  Struct,
  typesEqual,
} from '../../arrow/index.ts';
import { isDirspaceError } from '../../errors.ts';
import {
  type LanceColumn,
  type LanceField,
  lanceFields,
  lanceIdOf,
  lanceSchema,
  metadataFromLance,
  type ParsedField,
} from '../../format/index.ts';
import {
  checkName,
  checkWidth,
  type IdentifiedField,
  listFieldIds,
  refuseTwins,
} from '../fields/index.ts';
import { lanceFieldsIn, type Snapshot } from '../versions/index.ts';
import { invalid, shown, unsupported } from './refusals.ts';

export interface StagedSchema {
  readonly tree: readonly IdentifiedField[];
  /** For each column, Lance's ids of it and of the fields in it, depth first. */
  readonly columns: readonly (readonly number[])[];
  /** Every field as the manifest describes it, by Lance's ids. */
  readonly described: ReadonlyMap<number, ParsedField>;
  /** The same columns as Lance's files hold them. */
  readonly lanceColumns: readonly LanceColumn[];
  readonly nextFieldId: number;
  /** Lance's ids by ours, where they differ. */
  readonly lanceIds: ReadonlyMap<number, number>;
  /** Our ids by Lance's, of all fields that Lance has. */
  readonly ownIds: ReadonlyMap<number, number>;
  /** Our ids of the fields that the base has too. */
  readonly known: ReadonlySet<number>;
  /** Whether Lance has a field of this id of ours, and the base has not. */
  readonly isNew: (id: number) => boolean;
  /** Names, order, nullability, fields that came or went. */
  readonly fieldsChanged: boolean;
  readonly fieldMetadataChanged: boolean;
}

const idsOf = ({ id, children }: LanceColumn): number[] => [id, ...children.flatMap(idsOf)];

/** Lance counts ids on; a client that jumps ahead would use them up, and they have 31 bits. */
const MOST_NEW_IDS = 1_000_000;

/** A field of the base as Lance sees it. */
interface Known {
  readonly lance: LanceField;
  readonly node: IdentifiedField;
  /** Lance's id of the field that holds it; -1 for a column. */
  readonly parent: number;
}

/**
 * @param anew whether no field goes on from the base, as in an overwrite
 * @throws InvalidInput, Unsupported naming the field
 */
export function stagedSchema(
  fields: readonly ParsedField[],
  base: Snapshot,
  anew: boolean,
): StagedSchema {
  const { columns: roots } = lanceSchema(fields, new Map(), 'of the staged manifest');
  if (roots.length === 0) throw invalid('it has no fields');
  const described = new Map(fields.map((field) => [field.id, field]));
  const known = anew ? new Map<number, Known>() : knownFields(base);
  const used = fields.reduce((most, { id }) => Math.max(most, id), -1);
  let next = Math.max(base.manifest.nextFieldId, used + 1);
  const ownIds = new Map<number, number>();
  const lanceIds = new Map<number, number>();
  const found = new Set<number>();
  const build = (column: LanceColumn): IdentifiedField => {
    const field = described.get(column.id) as ParsedField;
    const before = known.get(field.id);
    if (before !== undefined) requireSameField(before, field);
    const isFree = field.id >= base.manifest.nextFieldId;
    if (field.id >= base.manifest.nextFieldId + MOST_NEW_IDS)
      throw invalid(
        `the field ${shown(field.name)} has the id ${field.id}, far above ${base.manifest.nextFieldId - 1}`,
      );
    const id = before?.node.id ?? (isFree ? field.id : next++);
    if (before !== undefined) found.add(id);
    ownIds.set(field.id, id);
    if (id !== field.id) lanceIds.set(id, field.id);
    const below = column.children.map(build);
    const type = typeOf(column, below, before?.node.field.type);
    return {
      id,
      field: new Field(
        field.name,
        type,
        field.nullable,
        metadataFromLance(field.metadata, before?.lance.metadata),
      ),
      // The items of a vector are a field of ours, and none of Lance's.
      children: DataType.isFixedSizeList(type)
        ? (before?.node.children ?? [
            { id: next++, field: type.children[0] as Field, children: [] },
          ])
        : below,
    };
  };
  const tree = roots.map(build);
  requireReadable(tree);
  const changes = changesOf(fields, base, ownIds, tree);
  if (changes.fieldsChanged || anew) checkNames(roots, tree, known, anew ? [] : base.fields);
  const columns = roots.map(idsOf);
  const all = new Set(ownIds.values());
  const isNew = (id: number): boolean => all.has(id) && !found.has(id);
  return {
    tree,
    columns,
    described,
    lanceColumns: roots,
    nextFieldId: next,
    lanceIds,
    ownIds,
    known: found,
    isNew,
    ...changes,
  };
}

function knownFields(base: Snapshot): Map<number, Known> {
  const { manifest } = base;
  const found = lanceFieldsIn(manifest);
  if ('problem' in found) throw unsupported(`Lance cannot read the table: ${found.problem}`);
  const nodes = new Map<number, IdentifiedField>();
  const walk = (fields: readonly IdentifiedField[]): void => {
    for (const node of fields) {
      nodes.set(node.id, node);
      walk(node.children);
    }
  };
  walk(base.fields);
  return new Map(
    found.fields.map((lance) => [
      lanceIdOf(manifest, lance.id),
      {
        lance,
        parent: lance.parent === -1 ? -1 : lanceIdOf(manifest, lance.parent),
        node: nodes.get(lance.id) as IdentifiedField,
      },
    ]),
  );
}

function requireSameField({ lance, parent }: Known, field: ParsedField): void {
  if (lance.logicalType !== field.logicalType)
    throw invalid(`field ${field.id} is ${shown(field.logicalType)}, and was ${lance.logicalType}`);
  if (parent !== field.parent)
    throw invalid(`field ${field.id} is in field ${field.parent}, and was in field ${parent}`);
}

function typeOf(
  { field }: LanceColumn,
  children: readonly IdentifiedField[],
  before: DataType | undefined,
): DataType {
  const { type } = field;
  if (DataType.isStruct(type)) return new Struct(children.map((child) => child.field));
  if (DataType.isList(type)) return new List((children[0] as IdentifiedField).field);
  if (DataType.isLargeList(type)) return new LargeList((children[0] as IdentifiedField).field);
  if (before !== undefined) return before;
  return type;
}

/** A version of a table that opens in Lance opens there too. */
function requireReadable(tree: readonly IdentifiedField[]): void {
  const fields = tree.map(({ field }) => field);
  const found = lanceFields(fields, listFieldIds(tree));
  if ('problem' in found) throw unsupported(`Lance's readers cannot read it: ${found.problem}`);
}

function changesOf(
  fields: readonly ParsedField[],
  base: Snapshot,
  ownIds: ReadonlyMap<number, number>,
  tree: readonly IdentifiedField[],
): Pick<StagedSchema, 'fieldsChanged' | 'fieldMetadataChanged'> {
  const found = lanceFieldsIn(base.manifest);
  const before = 'fields' in found ? found.fields : [];
  const isSame = (field: ParsedField, at: number): boolean => {
    const other = before[at];
    return (
      other?.id === ownIds.get(field.id) &&
      other?.name === field.name &&
      other.nullable === field.nullable &&
      other.logicalType === field.logicalType
    );
  };
  const same =
    fields.length === before.length &&
    fields.every(isSame) &&
    tree.every(({ field }, at) => {
      const type = base.fields[at]?.field.type;
      return type !== undefined && typesEqual(field.type, type);
    });
  return {
    fieldsChanged: !same,
    fieldMetadataChanged: fields.some(({ metadata }, at) => {
      const had = before[at]?.metadata;
      return !metadataEqual(metadataFromLance(metadata, had), had ?? new Map());
    }),
  };
}

/**
 * Checks the names of new and renamed fields, and the types of new columns; older ones may have
 * names that are no longer allowed, and fields of one struct may have one name.
 */
function checkNames(
  columns: readonly LanceColumn[],
  tree: readonly IdentifiedField[],
  known: ReadonlyMap<number, Known>,
  before: readonly IdentifiedField[],
): void {
  const check = ({ id, field, children }: LanceColumn, isItem: boolean): void => {
    if (!isItem && known.get(id)?.lance.name !== field.name) checkName(field.name);
    for (const child of children) check(child, !DataType.isStruct(field.type));
  };
  try {
    for (const column of columns) {
      check(column, false);
      if (!known.has(column.id)) checkWidth(column.field);
    }
    refuseTwins(tree, before);
  } catch (error) {
    if (!isDirspaceError(error, 'InvalidInput')) throw error;
    throw invalid(error.message.replace(/\.$/, ''), error);
  }
}
