/**
 * `lanceFields` converts the fields of an Arrow schema to Lance's list of fields, depth first, with
 * ids, parents and logical types. If Lance cannot hold a type, or its readers fail on a name or on
 * metadata, it returns a `problem`, which says in which column and why. `fieldMembers` encodes a
 * field for a data file, and `manifestFieldMembers` for a manifest. lance-schema.ts is the inverse.
 *
 * A writer of Lance may reuse the id of a dropped field, so Lance's ids can differ from the
 * engine's. `lanceIdOf`, `lanceIdsOf` and `lanceNumbered` convert the engine's ids to Lance's.
 * `lanceFiles` lists the files of a fragment that Lance can read with the engine's ids, and
 * `lanceDataFiles` with Lance's.
 */
import { childFields, type DataType, type Field, Type } from '../../arrow/index.ts';
import { FIELD_ID_KEY } from '../../ipc/index.ts';
import { lanceTypeName } from '../../protocol/index.ts';
import {
  type FragmentEntry,
  fragmentName,
  type LanceEntry,
  type LanceFileEntry,
  type Manifest,
} from '../catalog/index.ts';
import { noMembers, type ProtoMembers } from './protobuf.ts';

export interface LanceField {
  readonly id: number;
  /** Id of the field that holds this one; -1 for a column. */
  readonly parent: number;
  readonly name: string;
  readonly logicalType: string;
  readonly nullable: boolean;
  readonly metadata: ReadonlyMap<string, string>;
  readonly dictionary: boolean;
}

export type LanceFields =
  | { readonly fields: readonly LanceField[] }
  /** A sentence's end: which column is not written for Lance, and which type or name it has. */
  | { readonly problem: string };

const LEAF = 2;
const REPEATED = 1;
const PARENT = 0;

class NoForm extends Error {}

/**
 * @param ids of all fields, nested ones too, depth first; a dictionary's values have none
 */
export function lanceFields(fields: readonly Field[], ids: readonly number[]): LanceFields {
  const found: LanceField[] = [];
  let next = 0;
  const add = (field: Field, parent: number, path: string, isPlain: boolean): void => {
    const id = ids[next++] as number;
    const { type } = field;
    const isRequired = isPlain && !field.nullable;
    requireReadable(field, path, parent === -1, isRequired);
    found.push({
      id,
      parent,
      name: field.name,
      logicalType: logicalType(type, path),
      nullable: field.nullable,
      metadata: field.metadata,
      dictionary: type.typeId === Type.Dictionary,
    });
    if (type.typeId === Type.Dictionary) return;
    const children = childFields(type);
    if (type.typeId === Type.FixedSizeList) {
      // Lance has no field for the items of a vector; ours have an id.
      next += 1;
      return;
    }
    const goesOn = isRequired && type.typeId === Type.Struct;
    for (const child of children) add(child, id, `${path}.${child.name}`, goesOn);
  };
  try {
    for (const field of fields) add(field, -1, field.name, true);
    return { fields: found };
  } catch (error) {
    if (error instanceof NoForm) return { problem: error.message };
    throw error;
  }
}

/** Columns that Lance's readers make themselves; one of a table makes them fail. */
const LANCE_COLUMNS: ReadonlySet<string> = new Set([
  '_rowid',
  '_rowaddr',
  '_rowoffset',
  '_row_created_at_version',
  '_row_last_updated_at_version',
]);
/** Extension types that Lance stores in a form of its own. */
const LANCE_EXTENSIONS: ReadonlySet<string> = new Set(['arrow.json', 'lance.blob.v2']);
const EXTENSION_KEY = 'ARROW:extension:name';
const EXTENSION_METADATA_KEY = 'ARROW:extension:metadata';

/** Extension types that pyarrow knows: with another type or other metadata it opens no table, and so pylance does. */
interface ExtensionForm {
  /** What it has to be, as the end of a sentence that begins with "is not". */
  readonly name: string;
  /** @param metadata of the extension type; '' where there is none */
  readonly isIt: (type: DataType, metadata: string) => boolean;
}

const EXTENSION_FORMS: ReadonlyMap<string, ExtensionForm> = new Map([
  [
    'arrow.uuid',
    {
      name: 'fixed_size_binary[16] without metadata of it',
      isIt: (type, metadata) =>
        type.typeId === Type.FixedSizeBinary &&
        (type as unknown as { byteWidth: number }).byteWidth === 16 &&
        metadata === '',
    },
  ],
  [
    'arrow.bool8',
    {
      name: 'int8 without metadata of it',
      isIt: (type, metadata) => isInt(type, 8) && metadata === '',
    },
  ],
  [
    'arrow.opaque',
    {
      name: 'described by a type_name and a vendor_name',
      isIt: (_, metadata) => {
        const { type_name: type, vendor_name: vendor } = jsonObject(metadata) ?? {};
        return typeof type === 'string' && typeof vendor === 'string';
      },
    },
  ],
  [
    'arrow.fixed_shape_tensor',
    {
      name: 'a vector described by a shape of as many items',
      isIt: (type, metadata) => {
        const described = jsonObject(metadata);
        const shape = described?.shape;
        if (described === undefined || !isWholeNumbers(shape)) return false;
        const items = shape.reduce((product, size) => product * size, 1);
        const isVector = type.typeId === Type.FixedSizeList && sizeOf(type) === items;
        return isVector && areDimensions(described, shape.length);
      },
    },
  ],
  [
    'arrow.variable_shape_tensor',
    {
      name: 'a struct of a list and a vector of int32, its shape, described by an object',
      isIt: (type, metadata) => {
        const described = jsonObject(metadata);
        if (described === undefined || type.typeId !== Type.Struct) return false;
        const [data, shape, ...others] = childFields(type);
        if (data?.type.typeId !== Type.List || others.length > 0) return false;
        if (shape?.type.typeId !== Type.FixedSizeList) return false;
        const isShape = isInt(childFields(shape.type)[0]?.type as DataType, 32);
        const count = sizeOf(shape.type);
        const { uniform_shape: uniform } = described;
        return isShape && areDimensions(described, count) && isOf(uniform, isSize, count);
      },
    },
  ],
]);

function isInt(type: DataType, bits: number): boolean {
  const { bitWidth, isSigned } = type as unknown as { bitWidth: number; isSigned: boolean };
  return type.typeId === Type.Int && bitWidth === bits && isSigned;
}

const sizeOf = (type: DataType): number => (type as unknown as { listSize: number }).listSize;

const FRACTION = /[[,]\s*-?\d+[.eE]/;

function jsonObject(text: string): Record<string, unknown> | undefined {
  try {
    // A whole number that is written as a fraction is none for pyarrow.
    const found: unknown = FRACTION.test(text) ? undefined : JSON.parse(text);
    const isObject = typeof found === 'object' && found !== null && !Array.isArray(found);
    return isObject ? (found as Record<string, unknown>) : undefined;
  } catch {
    return undefined;
  }
}

const isWholeNumbers = (value: unknown): value is readonly number[] =>
  Array.isArray(value) && value.every((each) => Number.isSafeInteger(each) && each >= 0);

/** What else may be said of the dimensions of a tensor: their names and their order. */
function areDimensions(described: Readonly<Record<string, unknown>>, count: number): boolean {
  const { dim_names: names, permutation } = described;
  const areNames = (found: unknown): boolean =>
    Array.isArray(found) && found.every((each) => typeof each === 'string');
  const isOrder = (found: unknown): boolean =>
    isWholeNumbers(found) &&
    new Set(found).size === found.length &&
    found.every((each) => each < count);
  return isOf(names, areNames, count) && isOf(permutation, isOrder, count);
}

/** The size of a dimension where all tensors have the same. */
const isSize = (found: unknown): boolean =>
  Array.isArray(found) && found.every((each) => each === null || isWholeNumbers([each]));

const isOf = (found: unknown, is: (found: unknown) => boolean, count: number): boolean =>
  found === undefined || (is(found) && (found as readonly unknown[]).length === count);

const PRIMARY_KEY = 'lance-schema:unenforced-primary-key';

/**
 * The place of a field in the primary key of its table, from 1 on; 0 without a place of its own, and
 * undefined outside the key. Lance takes it from metadata where a schema is handed to it, and from
 * members of their own in its files.
 */
function keyPosition(metadata: ReadonlyMap<string, string>): number | undefined {
  const text = metadata.get(`${PRIMARY_KEY}:position`) ?? '';
  if (/^\+?\d+$/.test(text) && Number(text) <= 0xffff_ffff) return Number(text);
  return /^(true|1|yes)$/i.test(metadata.get(PRIMARY_KEY) ?? '') ? 0 : undefined;
}

/**
 * Names and metadata on which Lance's readers fail or crash: they take a column's name for a path, and
 * pass all names on as text of C.
 * @param isRequired neither the field nor a struct around it may be null, and no list is around it
 */
function requireReadable(
  { name, metadata, type }: Field,
  path: string,
  isColumn: boolean,
  isRequired: boolean,
): void {
  const refuse = (what: string): never => {
    throw new NoForm(`column ${JSON.stringify(path)} ${what}`);
  };
  if (name.includes('\0')) refuse('has a name with a NUL character');
  if (isColumn) {
    if (name === '') refuse('has an empty name');
    if (name.includes('.')) refuse('has a name with a period');
    if (name.includes('`')) refuse('has a name with a backtick');
    if (LANCE_COLUMNS.has(name)) refuse('has the name of a column that Lance makes itself');
  }
  const extension = metadata.get(EXTENSION_KEY);
  if (extension !== undefined && LANCE_EXTENSIONS.has(extension))
    refuse(`has the extension type ${extension}`);
  const form = extension === undefined ? undefined : EXTENSION_FORMS.get(extension);
  if (form !== undefined && !form.isIt(type, metadata.get(EXTENSION_METADATA_KEY) ?? ''))
    refuse(`has the extension type ${extension} and is not ${form.name}`);
  const isKey = keyPosition(metadata) !== undefined;
  const isLeaf = type.typeId === Type.Dictionary || childFields(type).length === 0;
  if (isKey && !(isRequired && isLeaf))
    refuse(
      'has metadata that makes it a primary key, and it is in a list, holds others, or may be null',
    );
}

function logicalType(type: DataType, path: string): string {
  const refuse = (what: string): never => {
    throw new NoForm(`column ${JSON.stringify(path)} holds ${what}`);
  };
  switch (type.typeId) {
    case Type.Struct:
      if (childFields(type).length === 0) return refuse('structs without members');
      return 'struct';
    case Type.List:
    case Type.LargeList: {
      const name = type.typeId === Type.List ? 'list' : 'large_list';
      return childFields(type)[0]?.type.typeId === Type.Struct ? `${name}.struct` : name;
    }
    case Type.FixedSizeList: {
      const items = childFields(type)[0]?.type as DataType;
      const { listSize } = type as unknown as { listSize: number };
      if (!isFixedWidth(items)) refuse(`vectors of ${String(items)}`);
      if (listSize === 0) refuse('vectors of no dimensions');
      return `fixed_size_list:${logicalType(items, path)}:${listSize}`;
    }
    case Type.FixedSizeBinary: {
      const { byteWidth } = type as unknown as { byteWidth: number };
      if (byteWidth === 0) refuse('binary values of no bytes');
      return `fixed_size_binary:${byteWidth}`;
    }
    case Type.Map:
    case Type.Union:
    case Type.Interval:
      return refuse(String(type));
    // Fragments for Lance hold them in their plain form.
    case Type.Utf8View:
      return 'string';
    case Type.BinaryView:
      return 'binary';
    case Type.Dictionary: {
      const values = (type as unknown as { dictionary: DataType }).dictionary;
      const index = (type as unknown as { indices: DataType }).indices;
      if (values.typeId !== Type.Utf8 && values.typeId !== Type.Binary) {
        refuse(`a dictionary of ${String(values)}`);
      }
      return `dict:${logicalType(values, path)}:${logicalType(index, path)}:false`;
    }
    default:
      if (
        type.typeId === Type.Decimal &&
        (type as unknown as { bitWidth: number }).bitWidth < 128
      ) {
        refuse(String(type));
      }
      return lanceTypeName(type, refuse);
  }
}

/** Numbers, dates and times: what lies in a vector without bits or offsets of its own. */
function isFixedWidth(type: DataType): boolean {
  switch (type.typeId) {
    case Type.Int:
    case Type.Float:
    case Type.Decimal:
    case Type.Date:
    case Type.Time:
    case Type.Timestamp:
    case Type.Duration:
      return true;
    default:
      return false;
  }
}

const encoder = new TextEncoder();

/** Of metadata: by these Lance takes a column to be stored in a way that ours are not. */
const LAYOUT_KEYS: ReadonlySet<string> = new Set([
  'packed',
  'lance-encoding:packed',
  'lance-encoding:blob',
]);

/** The metadata of a field of which Lance's clients say `metadata`: what they do not see stays. */
export const metadataFromLance = (
  metadata: ReadonlyMap<string, string>,
  before: ReadonlyMap<string, string> = new Map(),
): Map<string, string> =>
  new Map([...[...before].filter(([key]) => LAYOUT_KEYS.has(key)), ...metadata]);

/**
 * `lance.file.Field` without its place in a primary key, as manifests of earlier releases have it.
 * The bytes of metadata values are UTF-8.
 */
export const earlierFieldMembers =
  (field: LanceField): ProtoMembers =>
  (into) => {
    const { logicalType: type } = field;
    const kind = type === 'struct' ? PARENT : /^(large_)?list/.test(type) ? REPEATED : LEAF;
    into
      .integer(1, kind)
      .text(2, field.name)
      .integer(3, field.id)
      .integer(4, field.parent)
      .text(5, type)
      .integer(6, field.nullable ? 1 : 0);
    if (field.dictionary) into.message(8, noMembers);
    for (const [key, value] of field.metadata) {
      if (key === FIELD_ID_KEY || LAYOUT_KEYS.has(key)) continue;
      into.message(10, (pair) => {
        pair.text(1, key).bytes(2, encoder.encode(value));
      });
    }
  };

/** `lance.file.Field`. */
export const fieldMembers =
  (field: LanceField): ProtoMembers =>
  (into) => {
    earlierFieldMembers(field)(into);
    const position = keyPosition(field.metadata);
    if (position !== undefined) into.integer(12, 1);
    if (position) into.integer(13, position);
  };

const PLAIN = 1;
const TEXTS = 2;
const DICTIONARY = 3;

/**
 * The same in a manifest. Lance compares the encoding there with that of schemas made anew, such as
 * one of pyarrow that a merge of columns names, and reads pages by what they say themselves.
 */
export const manifestFieldMembers =
  (field: LanceField): ProtoMembers =>
  (into) => {
    const { logicalType: type, dictionary } = field;
    fieldMembers(field)(into);
    if (type === 'struct') return;
    const isText = /^(large_)?(string|binary)$/.test(type);
    into.integer(7, dictionary ? DICTIONARY : isText ? TEXTS : PLAIN);
  };

/** What Lance finds in place of a field that the file holds and nothing refers to. */
const NO_FIELD = -2;

/** Lance's ids of the fields of one version. */
export type LanceIds = Pick<Manifest, 'lanceIds' | 'fieldIds'>;

/** @param id ours, of a field of that version */
export const lanceIdOf = ({ lanceIds }: LanceIds, id: number): number => lanceIds?.get(id) ?? id;

/** The ids of a fragment's fields; those of fields that are gone go where another has the number now. */
export function lanceIdsOf(fields: readonly number[], ids: LanceIds): readonly number[] {
  const { lanceIds, fieldIds } = ids;
  if (lanceIds === undefined) return fields;
  const living = new Set(fieldIds);
  const taken = new Set(lanceIds.values());
  return fields.map((id) => {
    if (living.has(id)) return lanceIdOf(ids, id);
    return taken.has(id) ? NO_FIELD : id;
  });
}

/** Fields with the ids that Lance gave them. */
export const lanceNumbered = (
  fields: readonly LanceField[],
  ids: LanceIds,
): readonly LanceField[] =>
  ids.lanceIds === undefined
    ? fields
    : fields.map((field) => ({
        ...field,
        id: lanceIdOf(ids, field.id),
        parent: field.parent === -1 ? -1 : lanceIdOf(ids, field.parent),
      }));

/** A file of a fragment, with our ids of the fields that Lance sees in it. */
export interface LanceFileOfFragment {
  readonly name: string;
  /** `NO_FIELD` for one that a later file holds. */
  readonly fields: readonly number[];
  readonly fileSize: number;
}

/** The files of a fragment that Lance can read, oldest first. */
export function lanceFiles({
  file,
  lance,
  overlays,
}: Pick<FragmentEntry, 'file' | 'lance' | 'overlays'>): readonly LanceFileOfFragment[] {
  const own = lance as LanceFile;
  if (overlays === undefined) return [{ name: file, fields: own.fields, fileSize: own.fileSize }];
  const later = new Set<number>();
  const files: LanceFileOfFragment[] = [];
  for (const each of [{ file, lance }, ...overlays].reverse()) {
    const { fields, fileSize } = each.lance as LanceFile;
    files.push({
      name: each.file,
      fields: fields.map((id) => (later.has(id) ? NO_FIELD : id)),
      fileSize,
    });
    for (const id of fields) later.add(id);
  }
  return files.reverse();
}

type LanceFile = Extract<LanceEntry, { fileSize: number }>;

/** The same as Lance names them. */
export const lanceDataFiles = (entry: FragmentEntry, ids: LanceIds): readonly LanceFileEntry[] =>
  lanceFiles(entry).map(({ name, fields, fileSize }) => ({
    path: fragmentName(name),
    fields: lanceIdsOf(fields, ids),
    columns: fields.map((_, at) => at),
    fileSize,
  }));
