/**
 * Renames columns and changes their types and nullability (`alterColumns`), drops columns
 * (`dropColumns`), and changes the metadata of fields (`updateFieldMetadata`), in one version each.
 * Fragments stay, because readers adapt older ones by field ids (table/fields/adapt.ts). Columns
 * are rewritten only if a type becomes narrower, or wider in a table that is written for Lance. An
 * unknown column throws TableColumnNotFound. A value that the new type cannot hold, a null in a
 * column that becomes required, and a change that would leave no column or an empty struct throw
 * InvalidInput.
 */
import { DataType, describeType, Field, typesEqual } from '../../arrow/index.ts';
import { DirspaceError } from '../../errors.ts';
import { lanceFields } from '../../format/index.ts';
import {
  canNarrow,
  canWiden,
  changeNode,
  checkName,
  type FieldPlace,
  findField,
  type IdentifiedField,
  isListLike,
  keptMetadata,
  leafOf,
  listFieldIds,
  Narrowing,
  nodeWithChildren,
  refuseChange,
  refuseDrop,
  refuseMetadata,
  refuseTwins,
  requireOpen,
} from '../fields/index.ts';
import {
  announced,
  type Committed,
  type Engine,
  editFragments,
  type FragmentList,
  fragmentListOf,
  type Snapshot,
  type TableBranch,
} from '../versions/index.ts';
import type { WriteOptions } from './append.ts';
import { requireNoNulls } from './null-check.ts';
import { type FragmentRewriter, rewriting } from './rewrite-fragments.ts';
import { changeSchema, type NewSchema } from './schema-version.ts';

export interface ColumnChange {
  /** Nested fields with dots. All paths are those of before the change. */
  readonly path: string;
  readonly rename?: string | undefined;
  readonly nullable?: boolean | undefined;
  readonly type?: DataType | undefined;
}

/**
 * Renames, changes types and nullability, all in one version. Data is rewritten only where a column
 * is narrowed, or widened in a table that is written for Lance and whose columns have a form there.
 * @throws TableColumnNotFound, InvalidInput for a type that values could not be of, or a value that
 * does not fit, by its row
 */
export function alterColumns(
  engine: Engine,
  branch: TableBranch,
  changes: readonly ColumnChange[],
  options: WriteOptions = {},
): Promise<Committed> {
  const change = async (
    writing: Engine,
    base: Snapshot,
    rewriter: FragmentRewriter,
  ): Promise<NewSchema | undefined> => {
    let tree = base.fields;
    const retyped = new Set<number>();
    for (const change of changes) {
      const place = findField(base.fields, change.path);
      requireOpen(place, 'a change of fields');
      refuseChange(base.fields, place, change);
      tree = await altered(writing, base, tree, place, change);
      if (change.type !== undefined) retyped.add((place.chain[0] as IdentifiedField).id);
    }
    refuseTwins(tree, base.fields);
    if (sameFields(tree, base.fields)) return undefined;
    const conversions = await conversionsOf(base.fields, tree, retyped);
    const narrows = [...conversions.values()].some((conversion) => conversion !== undefined);
    // Lance adapts no column, and no reader narrows one: those are written anew.
    const widens = retyped.size > 0 && base.manifest.lance === true && hasLanceForm(tree);
    if (narrows || widens) {
      const { replaced, durable } = await rewriter.rewrite(base, tree, [], {
        retyped: conversions,
      });
      const list = fragmentListOf(base.manifest);
      const fragments = await editFragments(writing, branch.tableFolder, list, { replaced });
      return { tree, fragments, after: durable };
    }
    return { tree, fragments: await forgetStatistics(writing, base, retyped) };
  };
  return announced(engine, branch.tableFolder, (writing) =>
    rewriting(writing, branch, options, (rewriter) =>
      changeSchema(writing, branch, options, (base) =>
        rewriter.attempt(() => change(writing, base, rewriter)),
      ),
    ),
  );
}

/**
 * By the ids of columns whose type changes; undefined where all values of the old type are of the
 * new one.
 */
async function conversionsOf(
  before: readonly IdentifiedField[],
  after: readonly IdentifiedField[],
  retyped: ReadonlySet<number>,
): Promise<ReadonlyMap<number, Narrowing | undefined>> {
  const conversions = new Map<number, Narrowing | undefined>();
  for (const [at, from] of before.entries()) {
    const to = after[at] as IdentifiedField;
    if (!retyped.has(from.id)) continue;
    const widens = isWidened(from, to);
    conversions.set(from.id, widens ? undefined : await Narrowing.between(from, to));
  }
  return conversions;
}

/** Names of structs may change too, so types are compared leaf by leaf. */
const isWidened = (from: IdentifiedField, to: IdentifiedField): boolean =>
  from.children.length === 0
    ? typesEqual(from.field.type, to.field.type) || canWiden(from.field.type, to.field.type)
    : from.children.every((child, at) => isWidened(child, to.children[at] as IdentifiedField));

const hasLanceForm = (tree: readonly IdentifiedField[]): boolean =>
  'fields' in
  lanceFields(
    tree.map(({ field }) => field),
    listFieldIds(tree),
  );

/** @throws TableColumnNotFound, InvalidInput when no column would be left */
export function dropColumns(
  engine: Engine,
  branch: TableBranch,
  paths: readonly string[],
  options: WriteOptions = {},
): Promise<Committed> {
  return changeSchema(engine, branch, options, async (base) => {
    let tree = base.fields;
    const places = paths.map((path) => findField(base.fields, path));
    refuseDrop(base.fields, places);
    for (const place of places) {
      requireOpen(place, 'dropping a field');
      const parent = place.chain.at(-2);
      if (parent !== undefined && !DataType.isStruct(parent.field.type)) {
        throw new DirspaceError(
          'InvalidInput',
          `${JSON.stringify(place.name)} is what a list holds and cannot be dropped; drop the list.`,
        );
      }
      tree = changeNode(tree, leafOf(place).id, () => undefined);
      const left = parent === undefined ? tree : childrenOf(tree, parent.id);
      if (left?.length === 0) {
        throw new DirspaceError(
          'InvalidInput',
          `${JSON.stringify(place.name)} is the last field of ${parent === undefined ? 'the table' : JSON.stringify(parent.field.name)} and cannot be dropped${parent === undefined ? '; drop the table' : '; drop the struct'}.`,
          { details: { column: place.name } },
        );
      }
    }
    return tree === base.fields ? undefined : { tree };
  });
}

export interface MetadataChange {
  readonly path: string;
  /** Null removes the key. */
  readonly metadata: Readonly<Record<string, string | null>>;
  /** Whether keys that are not given are removed. */
  readonly replace?: boolean | undefined;
}

export interface MetadataChanged extends Committed {
  /** The metadata of the fields that were named, by path. */
  readonly fields: Readonly<Record<string, Record<string, string>>>;
}

/** @throws TableColumnNotFound */
export async function updateFieldMetadata(
  engine: Engine,
  branch: TableBranch,
  changes: readonly MetadataChange[],
  options: WriteOptions = {},
): Promise<MetadataChanged> {
  const fields = new Map<string, Record<string, string>>();
  const change = async (base: Snapshot): Promise<NewSchema> => {
    let tree = base.fields;
    fields.clear();
    for (const { path, metadata, replace } of changes) {
      const { id } = leafOf(findField(base.fields, path));
      refuseMetadata(path, Object.keys(metadata));
      tree = changeNode(tree, id, (node) => {
        const { name, type, nullable } = node.field;
        const kept = new Map(
          replace === true ? keptMetadata(node.field.metadata) : node.field.metadata,
        );
        for (const [key, value] of Object.entries(metadata)) {
          if (value === null) kept.delete(key);
          else kept.set(key, value);
        }
        fields.set(path, Object.fromEntries(kept));
        return { ...node, field: new Field(name, type, nullable, kept) };
      });
    }
    return { tree };
  };
  const committed = await changeSchema(engine, branch, options, change, 'metadata');
  return { ...committed, fields: Object.fromEntries(fields) };
}

async function altered(
  engine: Engine,
  base: Snapshot,
  tree: readonly IdentifiedField[],
  place: FieldPlace,
  change: ColumnChange,
): Promise<readonly IdentifiedField[]> {
  const { nullable, rename, type } = change;
  const parent = place.chain.at(-2)?.field.type;
  if (parent !== undefined && !DataType.isStruct(parent) && (rename ?? nullable) !== undefined) {
    throw new DirspaceError(
      'InvalidInput',
      `${JSON.stringify(place.name)} is what a list holds; only its type can be changed.`,
    );
  }
  if (rename !== undefined) checkName(rename);
  if (nullable === false && leafOf(place).field.nullable) await requireNoNulls(engine, base, place);
  return changeNode(tree, leafOf(place).id, (node) => {
    const typed = type === undefined ? node : retyped(node, type, place.name);
    const { field } = typed;
    const name = rename ?? field.name;
    return {
      ...typed,
      field: new Field(name, field.type, nullable ?? field.nullable, field.metadata),
    };
  });
}

/** The field with the leaves of its type changed; nested fields keep their names and ids. */
function retyped(node: IdentifiedField, type: DataType, path: string): IdentifiedField {
  const from = node.field.type;
  if (typesEqual(from, type)) return node;
  if (!canNarrow(from, type)) {
    throw new DirspaceError(
      'InvalidInput',
      `The column ${JSON.stringify(path)} of type ${describeType(from)} cannot become ${describeType(type)}: its values are of another kind. Add a column with a CAST and drop this one.`,
      { details: { column: path } },
    );
  }
  const nested = isListLike(from) || DataType.isStruct(from);
  const children = nested
    ? node.children.map((child, at) =>
        retyped(child, type.children?.[at]?.type as DataType, `${path}.${child.field.name}`),
      )
    : node.children;
  const { name, nullable, metadata } = node.field;
  if (DataType.isStruct(from)) return nodeWithChildren(node, children);
  return nodeWithChildren({ ...node, field: new Field(name, type, nullable, metadata) }, children);
}

/** Statistics of columns whose type changed are in the old type's terms. */
async function forgetStatistics(
  engine: Engine,
  base: Snapshot,
  fields: ReadonlySet<number>,
): Promise<FragmentList> {
  const list = fragmentListOf(base.manifest);
  if (fields.size === 0) return list;
  const replaced = new Map(
    (await base.fragments()).flatMap((entry) => {
      if (!entry.fields.some((id) => fields.has(id))) return [];
      const statistics = entry.statistics.map((known, at) =>
        fields.has(entry.fields[at] as number) ? [] : known,
      );
      return [[entry.id, { ...entry, statistics }] as const];
    }),
  );
  return editFragments(engine, base.branch.tableFolder, list, { replaced });
}

function childrenOf(
  tree: readonly IdentifiedField[],
  id: number,
): readonly IdentifiedField[] | undefined {
  for (const node of tree) {
    const found = node.id === id ? node.children : childrenOf(node.children, id);
    if (found !== undefined) return found;
  }
  return undefined;
}

const sameFields = (a: readonly IdentifiedField[], b: readonly IdentifiedField[]): boolean =>
  a.length === b.length &&
  a.every((node, at) => {
    const other = b[at];
    return (
      other !== undefined &&
      node.field.name === other.field.name &&
      node.field.nullable === other.field.nullable &&
      typesEqual(node.field.type, other.field.type) &&
      sameFields(node.children, other.children)
    );
  });
