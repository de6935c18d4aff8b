/**
 * `vectorColumn` finds the column that a vector search reads. The request may name its path, which
 * may lead into structs. Without a name it takes the only top-level column with vectors of the
 * query's length, or else the only such field in structs. Otherwise it throws TableColumnNotFound
 * or InvalidInput, with the vector columns of the table. `hasVectors` tells whether rows of a type
 * are one vector each, and `isMultivector` whether they hold several. `listSizeOf` and
 * `elementTypeOf` tell the length and the elements of the vectors. `vectorsAt` returns the vectors
 * of a record batch as the kernels take them; one with a null in it counts as null.
 */
import { type Data, DataType, describeType, getBit, setBit } from '../../arrow/index.ts';
import { DirspaceError, isDirspaceError } from '../../errors.ts';
import { suggestion } from '../../known-names.ts';
import type { ElementType, VectorBatch, VectorValues } from '../../vector/index.ts';
import { type FieldPlace, findField, type IdentifiedField, leafOf } from '../fields/index.ts';
import type { Snapshot } from '../versions/index.ts';

/** A column of vectors, or such a field of a struct. */
export interface VectorColumn extends IdentifiedField {
  /** Its path, joined with dots. */
  readonly name: string;
  /** The top-level column that it is, or is in. */
  readonly column: string;
  /** Positions of the fields that lead to it from there; none of a top-level column. */
  readonly members: readonly number[];
}

const topLevel = (found: IdentifiedField): VectorColumn => ({
  ...found,
  name: found.field.name,
  column: found.field.name,
  members: [],
});

/** @throws InvalidInput, TableColumnNotFound naming the columns that would do */
export function vectorColumn(
  snapshot: Snapshot,
  name: string | undefined,
  [vector = []]: readonly (readonly number[])[],
): VectorColumn {
  const able = snapshot.fields.filter(({ field }) => elementTypeNamed(field.type) !== undefined);
  const names = able.map(({ field }) => field.name).join(', ') || 'none';
  if (name === undefined) {
    const all = [...able.map(topLevel), ...snapshot.fields.flatMap(vectorsIn)];
    const fitting = all.filter(({ field }) => listSizeOf(field.type) === vector.length);
    const whole = fitting.filter(({ members }) => members.length === 0);
    const [only, ...more] = whole.length === 0 ? fitting : whole;
    if (only !== undefined && more.length === 0) return only;
    const sizes = all
      .map(({ name: path, field }) => `${path} (${listSizeOf(field.type)})`)
      .join(', ');
    // Programs search for the words that LanceDB has for it.
    throw new DirspaceError(
      'InvalidInput',
      only === undefined
        ? `No vector column found to match with the query vector dimension: ${vector.length}. Vectors and their elements: ${sizes || 'none'}.`
        : `Vectors of ${vector.length} elements are in several columns (${sizes}); name the one to search.`,
    );
  }
  const field = snapshot.fields.find((candidate) => candidate.field.name === name);
  const nested = field === undefined ? nestedField(snapshot, name) : undefined;
  if (nested !== undefined) return nested;
  if (field === undefined) {
    throw new DirspaceError(
      'TableColumnNotFound',
      `There is no column ${JSON.stringify(name)}; vectors are in ${names}.${suggestion(
        name,
        able.map(({ field: vectors }) => vectors.name),
      )}`,
      { details: { column: name } },
    );
  }
  if (able.includes(field)) return topLevel(field);
  throw new DirspaceError(
    'InvalidInput',
    `Column ${name} is ${describeType(field.field.type)}; a search needs a fixed_size_list of float16, float32, float64 or uint8, or a list of those. Vectors are in ${names}.`,
    { details: { column: name } },
  );
}

/** The fields of vectors within a column of structs, however deep. */
function vectorsIn(top: IdentifiedField): VectorColumn[] {
  const column = top.field.name;
  const within = (
    node: IdentifiedField,
    name: string,
    members: readonly number[],
  ): VectorColumn[] =>
    DataType.isStruct(node.field.type)
      ? node.children.flatMap((child, at) => {
          const path = `${name}.${child.field.name}`;
          const found = { ...child, name: path, column, members: [...members, at] };
          return elementTypeNamed(child.field.type) === undefined
            ? within(child, path, found.members)
            : [found];
        })
      : [];
  return within(top, column, []);
}

/** The vectors at a path through structs; undefined where there is no such field of vectors. */
function nestedField(snapshot: Snapshot, path: string): VectorColumn | undefined {
  const place = fieldIn(snapshot, path);
  if (place === undefined) return undefined;
  const above = place.chain.slice(0, -1);
  const leaf = leafOf(place);
  if (!above.every(({ field }) => DataType.isStruct(field.type))) return undefined;
  if (elementTypeNamed(leaf.field.type) === undefined) return undefined;
  const [, ...members] = place.positions;
  return { ...leaf, name: place.name, column: place.chain[0]?.field.name as string, members };
}

function fieldIn({ fields }: Snapshot, path: string): FieldPlace | undefined {
  try {
    return findField(fields, path);
  } catch (error) {
    if (isDirspaceError(error, 'TableColumnNotFound')) return undefined;
    throw error;
  }
}

/** Whether a row of the column holds several vectors. */
export const isMultivector = ({ field }: Pick<IdentifiedField, 'field'>): boolean =>
  isListOfVectors(field.type);

const isListOfVectors = (type: DataType): boolean =>
  DataType.isList(type) || DataType.isLargeList(type);

/** The type of one vector of the column. */
const vectorTypeOf = (type: DataType): DataType =>
  isListOfVectors(type) ? (type.children[0]?.type as DataType) : type;

/** How many elements a vector of the column has. */
export const listSizeOf = (type: DataType): number =>
  (vectorTypeOf(type) as unknown as { listSize: number }).listSize;

function elementTypeNamed(column: DataType): ElementType | undefined {
  const type = vectorTypeOf(column);
  if (!DataType.isFixedSizeList(type)) return undefined;
  const element = type.children[0]?.type as DataType | undefined;
  if (DataType.isFloat(element)) {
    return (['float16', 'float32', 'float64'] as const)[element.precision];
  }
  return DataType.isInt(element) && element.bitWidth === 8 && !element.isSigned
    ? 'uint8'
    : undefined;
}

/** Whether each row of a column of that type is one vector that can be searched. */
export const hasVectors = (type: DataType): boolean =>
  !isListOfVectors(type) && elementTypeNamed(type) !== undefined;

export const elementTypeOf = ({ field }: Pick<IdentifiedField, 'field'>): ElementType =>
  elementTypeNamed(field.type) as ElementType;

/**
 * The first `rows` vectors of a column. A vector that is null, or has a null in it, never matches.
 * In Arrow, the offset of a slice counts in bitmaps alone: values and children are cut already.
 */
export function vectorsOf(data: Data, rows: number, dimension: number): VectorBatch {
  const child = data.children[0] as Data;
  const values = (child.values as unknown as Float32Array).subarray(
    0,
    rows * dimension,
  ) as VectorValues;
  if (child.nullCount === 0) {
    if (data.nullCount === 0) return { values, rows };
    return { values, rows, validity: data.nullBitmap, validityOffset: data.offset };
  }
  const validity = new Uint8Array((rows + 7) >> 3);
  for (let row = 0; row < rows; row++) {
    let whole = data.nullCount === 0 || getBit(data.nullBitmap, data.offset + row);
    for (let at = 0; whole && at < dimension; at++) {
      whole = getBit(child.nullBitmap, child.offset + row * dimension + at);
    }
    if (whole) setBit(validity, row);
  }
  return { values, rows, validity };
}

/** What lies in a batch of the top-level column, with the structs around it that have nulls. */
export function fieldData(
  { members }: Pick<VectorColumn, 'members'>,
  whole: Data,
): { readonly data: Data; readonly above: readonly Data[] } {
  const above: Data[] = [];
  let data = whole;
  for (const at of members) {
    if (data.nullCount > 0) above.push(data);
    data = data.children[at] as Data;
  }
  return { data, above };
}

/** Whether a row is in no struct that is null. */
export const isWithin = (above: readonly Data[], row: number): boolean =>
  above.every(({ nullBitmap, offset }) => getBit(nullBitmap, offset + row));

/** The vectors of a batch of the top-level column. */
export function vectorsAt(column: VectorColumn, whole: Data, rows: number): VectorBatch {
  const { data, above } = fieldData(column, whole);
  const batch = vectorsOf(data, rows, listSizeOf(column.field.type));
  if (above.length === 0) return batch;
  const { values, validity: own, validityOffset: offset = 0 } = batch;
  const validity = new Uint8Array((rows + 7) >> 3);
  for (let row = 0; row < rows; row++) {
    if (isWithin(above, row) && (own === undefined || getBit(own, offset + row)))
      setBit(validity, row);
  }
  return { values, rows, validity };
}
