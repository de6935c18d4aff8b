/**
 * `storedLayout` helps programs that read fragment files themselves. It describes in which file of
 * a fragment each column of a version lies, under which name and type, and whether its values are
 * those of the version. These may differ, because a fragment keeps what was true when it was
 * written. It also tells whether the file alone is as the version, and whether writing the fragment
 * anew would bring it nearer to that.
 */
import { describeType, Schema, typesEqual } from '../../arrow/index.ts';
import {
  columnFiles,
  type FragmentEntry,
  type FragmentFooter,
  wideSchema,
  withoutViews,
} from '../../format/index.ts';
import { type IdentifiedField, type StoredField, storedTree } from '../fields/index.ts';

/**
 * `stored`: the values of the version. `cast`: Arrow casts them to its type. `fields`: what is
 * within them has other names, order or members. `missing`: the fragment has no such column, and
 * its rows have nulls there.
 */
export type StoredForm = 'stored' | 'cast' | 'fields' | 'missing';

/** A column of the version, in a fragment. */
export interface StoredColumn {
  readonly name: string;
  readonly form: StoredForm;
  /** The number of the file of the fragment that has it. */
  readonly file?: number;
  /** Its name and type there. */
  readonly storedName?: string;
  readonly storedType?: string;
}

export interface StoredLayout {
  readonly columns: readonly StoredColumn[];
  /** Whether the file alone has the columns of the version, in their order, and no others. */
  readonly isPlain: boolean;
  /** Whether the fragment would be nearer to that if it were written anew. */
  readonly isRewritable: boolean;
}

export function storedLayout(
  fields: readonly IdentifiedField[],
  entry: FragmentEntry,
  { stored, wide }: FragmentFooter,
): StoredLayout {
  const tree = storedTree(stored);
  const files = columnFiles(entry);
  const places = new Map(entry.fields.map((id, at) => [id, at]));
  const wideColumns = new Set(wide);
  const found = fields.map((field) => {
    const at = places.get(field.id) ?? -1;
    const own = tree[at];
    if (own === undefined) return { name: field.field.name, form: 'missing' as const };
    return {
      name: field.field.name,
      form: formOf(field, own, wideColumns.has(at)),
      file: files.findIndex(({ first, columns }) => at < first + columns),
      storedName: own.field.name,
      storedType: describeType(wideColumns.has(at) ? widened(own) : own.field.type),
    };
  });
  const isSame = ({ name, form, storedName }: StoredColumn): boolean =>
    form === 'stored' && storedName === name;
  const isInPlace = files.length === 1 && tree.length === fields.length && isInOrder(fields, entry);
  return {
    columns: found,
    isPlain: isInPlace && found.every(isSame),
    isRewritable:
      !isInPlace ||
      found.some(
        (column, at) =>
          column.storedName !== column.name ||
          column.form === 'fields' ||
          (column.form === 'cast' &&
            !isWritten(fields[at] as IdentifiedField, tree[at] as StoredField)),
      ),
  };
}

const isInOrder = (fields: readonly IdentifiedField[], entry: FragmentEntry): boolean =>
  fields.every(({ id }, at) => entry.fields[at] === id);

function formOf(wanted: IdentifiedField, own: StoredField, isWide: boolean): StoredForm {
  if (!isLikeWithin(wanted, own)) return 'fields';
  return typesEqual(wanted.field.type, own.field.type) && !isWide ? 'stored' : 'cast';
}

/** Whether the fields within have the same names and ids, in the same order. */
const isLikeWithin = ({ children }: IdentifiedField, own: StoredField): boolean =>
  children.length === own.children.length &&
  children.every((child, at) => {
    const other = own.children[at] as StoredField;
    const isSame = other.id === undefined || other.id === child.id;
    return isSame && other.field.name === child.field.name && isLikeWithin(child, other);
  });

/**
 * Whether a column of the version is written in that type, which views and wide offsets may change.
 */
function isWritten({ field }: IdentifiedField, own: StoredField): boolean {
  const [plain] = withoutViews(new Schema([field])).fields;
  return [field, plain].some((one) => one !== undefined && typesEqual(one.type, own.field.type));
}

const widened = ({ field }: StoredField): (typeof field)['type'] =>
  wideSchema(new Schema([field])).schema.fields[0]?.type ?? field.type;
