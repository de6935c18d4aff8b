/**
 * `findField` finds a field by its dotted path, such as address.city, and `fieldMetadata` its
 * metadata. Names are compared exactly; if none fits, case is ignored where that is unique. Names
 * in backticks work too, as LanceDB writes them. An unknown path throws TableColumnNotFound
 * (`noColumn`). `structPath` finds a field by exact names, through structs alone, and returns
 * undefined if there is none. `changeNode` copies the tree of fields with one node changed or
 * removed, and `nodeWithChildren` one node. `requireOpen` throws InvalidInput for a field inside
 * anything but structs and lists.
 */
import { DataType, describeType, Field, mapType, Struct } from '../../arrow/index.ts';
import { DirspaceError } from '../../errors.ts';
import { suggestion } from '../../known-names.ts';
import { withoutBackticks } from '../../sql-quotes.ts';
import type { IdentifiedField } from './field-ids.ts';

export interface FieldPlace {
  /** From the top-level column down to the field itself. */
  readonly chain: readonly IdentifiedField[];
  /** Positions of the same, each among its siblings. */
  readonly positions: readonly number[];
  /** The real names, joined. */
  readonly name: string;
}

/** The field itself. */
export const leafOf = (place: FieldPlace): IdentifiedField => place.chain.at(-1) as IdentifiedField;

/** The metadata of the field at a path. @throws TableColumnNotFound */
export const fieldMetadata = (
  { fields }: { readonly fields: readonly IdentifiedField[] },
  path: string,
): Record<string, string> => Object.fromEntries(leafOf(findField(fields, path)).field.metadata);

/**
 * Names match exactly, else without case where that is unique. A name that holds dots itself is
 * found too, and so are names between backticks. @throws TableColumnNotFound
 */
export function findField(fields: readonly IdentifiedField[], path: string): FieldPlace {
  const found =
    anyCase(fields, path) ?? (isQuoted(path) ? anyCase(fields, withoutBackticks(path)) : undefined);
  if (found !== undefined) {
    return { ...found, name: found.chain.map(({ field }) => field.name).join('.') };
  }
  throw noColumn(fields, path);
}

/** The error for a name or path that no column has. */
export function noColumn(fields: readonly IdentifiedField[], path: string): DirspaceError {
  const known = fields.map(({ field }) => field.name);
  return new DirspaceError(
    'TableColumnNotFound',
    `No field named ${/^[\w.]+$/.test(path) ? path : JSON.stringify(path)}; the table has ${known.slice(0, 30).join(', ')}.${suggestion(path, known)} Fields of structs are named with dots: a.b.`,
    { details: { column: path } },
  );
}

/** The names from the column down to a field of structs, by exact names; undefined if there is none. */
export function structPath(
  fields: readonly IdentifiedField[],
  path: string,
): readonly string[] | undefined {
  const chain = (
    search(fields, path, exactly) ??
    (isQuoted(path) ? search(fields, withoutBackticks(path), exactly) : undefined)
  )?.chain;
  const isOfStructs = chain?.slice(0, -1).every(({ field }) => DataType.isStruct(field.type));
  return isOfStructs === true ? chain?.map(({ field }) => field.name) : undefined;
}

const isQuoted = (path: string): boolean => path.includes('`');

type Found = Pick<FieldPlace, 'chain' | 'positions'>;
/** The position of the field of a name; -1 where there is none. */
type Named = (siblings: readonly IdentifiedField[], name: string) => number;

const exactly: Named = (siblings, name) => siblings.findIndex(({ field }) => field.name === name);

const withoutCase: Named = (siblings, name) => {
  const folded = name.toLowerCase();
  let found = -1;
  let alike = 0;
  for (const [at, { field }] of siblings.entries()) {
    if (field.name === name) return at;
    if (field.name.toLowerCase() !== folded) continue;
    found = at;
    alike += 1;
  }
  return alike === 1 ? found : -1;
};

const anyCase = (fields: readonly IdentifiedField[], path: string): Found | undefined =>
  search(fields, path, exactly) ?? search(fields, path, withoutCase);

function search(
  siblings: readonly IdentifiedField[],
  path: string,
  named: Named,
): Found | undefined {
  // A path may have any number of dots: what is longer than every name is no name. A letter of another
  // case takes twice as much at most.
  const longest = 2 * siblings.reduce((most, { field }) => Math.max(most, field.name.length), 0);
  const first = path.length <= longest ? path.length : path.lastIndexOf('.', longest);
  for (let end = first; end > 0; end = path.lastIndexOf('.', end - 1)) {
    const at = named(siblings, path.slice(0, end));
    const node = siblings[at];
    if (node === undefined) continue;
    if (end === path.length) return { chain: [node], positions: [at] };
    const below = search(node.children, path.slice(end + 1), named);
    if (below === undefined) continue;
    return { chain: [node, ...below.chain], positions: [at, ...below.positions] };
  }
  return undefined;
}

/** The tree with the node of `id` replaced, or taken out where `change` gives undefined. */
export function changeNode(
  fields: readonly IdentifiedField[],
  id: number,
  change: (node: IdentifiedField) => IdentifiedField | undefined,
): readonly IdentifiedField[] {
  let touched = false;
  const changed = fields.flatMap((node) => {
    if (node.id === id) {
      touched = true;
      return change(node) ?? [];
    }
    const children = changeNode(node.children, id, change);
    if (children === node.children) return [node];
    touched = true;
    return [nodeWithChildren(node, children)];
  });
  return touched ? changed : fields;
}

/** A node over other children; only a struct may get more of them or fewer. */
export function nodeWithChildren(
  node: IdentifiedField,
  children: readonly IdentifiedField[],
): IdentifiedField {
  const { field } = node;
  let next = 0;
  const type = DataType.isStruct(field.type)
    ? new Struct(children.map((child) => child.field))
    : mapType(field.type, () => (children[next++] as IdentifiedField).field);
  return { ...node, field: new Field(field.name, type, field.nullable, field.metadata), children };
}

/** @throws InvalidInput unless all that the field lies in are structs or lists */
export function requireOpen(place: FieldPlace, what: string): void {
  for (const { field } of place.chain.slice(0, -1)) {
    const { type } = field;
    const open =
      DataType.isStruct(type) ||
      DataType.isList(type) ||
      DataType.isLargeList(type) ||
      DataType.isFixedSizeList(type);
    if (!open) {
      throw new DirspaceError(
        'InvalidInput',
        `${JSON.stringify(place.name)} lies in a ${describeType(type)}, where ${what} is not possible.`,
      );
    }
  }
}
