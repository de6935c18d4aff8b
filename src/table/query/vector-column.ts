/**
 * `vectorColumn`: finds the column that a vector search reads, by name or as the only one that
 * fits; its errors name the vector columns of the table. `hasVectors` and `isMultivector` test a
 * column's type, and `vectorsOf` returns the vectors of one batch in the form that the kernels
 * take.
 */
import { type Data, DataType, describeType, getBit, setBit } from '../../arrow/index.ts';
import { DirspaceError } from '../../errors.ts';
import { suggestion } from '../../known-names.ts';
import type { ElementType, VectorBatch, VectorValues } from '../../vector/index.ts';
import type { IdentifiedField } from '../fields/index.ts';
import type { Snapshot } from '../versions/index.ts';

/** @throws InvalidInput, TableColumnNotFound naming the columns that would do */
export function vectorColumn(
  snapshot: Snapshot,
  name: string | undefined,
  [vector = []]: readonly (readonly number[])[],
): IdentifiedField {
  const able = snapshot.fields.filter(({ field }) => elementTypeNamed(field.type) !== undefined);
  const names = able.map(({ field }) => field.name).join(', ') || 'none';
  if (name === undefined) {
    const fitting = able.filter(({ field }) => listSizeOf(field.type) === vector.length);
    const [only] = able.length === 1 ? able : fitting.length === 1 ? fitting : [];
    if (only !== undefined) return only;
    throw new DirspaceError(
      'InvalidInput',
      `The table has ${able.length} vector columns (${names}); name the one to search.`,
    );
  }
  const field = snapshot.fields.find((candidate) => candidate.field.name === name);
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
  if (able.includes(field)) return field;
  throw new DirspaceError(
    'InvalidInput',
    `Column ${name} is ${describeType(field.field.type)}; a search needs a fixed_size_list of float16, float32, float64 or uint8, or a list of those. Vectors are in ${names}.`,
    { details: { column: name } },
  );
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

export const elementTypeOf = ({ field }: IdentifiedField): ElementType =>
  elementTypeNamed(field.type) as ElementType;

/** A vector that is null, or has a null in it, never matches. */
export function vectorsOf(data: Data, rows: number, dimension: number): VectorBatch {
  const child = data.children[0] as Data;
  const from = data.offset * dimension;
  const values = (child.values as unknown as Float32Array).subarray(
    from,
    from + rows * dimension,
  ) as VectorValues;
  if (child.nullCount === 0) {
    if (data.nullCount === 0) return { values, rows };
    return { values, rows, validity: data.nullBitmap, validityOffset: data.offset };
  }
  const validity = new Uint8Array((rows + 7) >> 3);
  for (let row = 0; row < rows; row++) {
    let whole = data.nullCount === 0 || getBit(data.nullBitmap, data.offset + row);
    for (let at = 0; whole && at < dimension; at++) {
      whole = getBit(child.nullBitmap, child.offset + from + row * dimension + at);
    }
    if (whole) setBit(validity, row);
  }
  return { values, rows, validity };
}
