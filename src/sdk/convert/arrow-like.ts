/**
 * `ArrowRebuilder` converts Arrow data of any copy of apache-arrow to record batches of this
 * package's copy, so that a program may use a release of its own. It takes tables, record batches,
 * vectors of structs and objects of vectors; `isArrowLike` recognises them by their structure.
 * `batches` returns the schema and the record batches. Buffers that fit as they are stay shared.
 * Data that lacks a part, and a vector that is not of structs, throw InvalidInput, unknown types
 * Unsupported, and a vector with null rows TableSchemaValidation.
 */
import {
  type Data,
  type DataType,
  dataOf,
  layoutOf,
  nullColumn,
  type RecordBatch,
  recordBatch,
  type Schema,
  strideOf,
  Table,
  Type,
  Vector,
  valueArray,
} from '../../arrow/index.ts';
import { DirspaceError } from '../../errors.ts';
import { isRecord } from '../build/index.ts';
import {
  type FieldLike,
  isSchemaLike,
  isTypeLike,
  rebuildSchema,
  rebuildType,
  refused,
  type SchemaLike,
  type TypeCache,
  type TypeLike,
} from './arrow-like-types.ts';
import { broken, Sizer, validityOf } from './buffer-views.ts';

/** Data of any copy of apache-arrow, all unchecked. */
export interface DataLike {
  readonly type: TypeLike;
  readonly length: number;
  readonly offset: number;
  readonly nullCount: number;
  readonly children?: readonly DataLike[];
  readonly values?: ArrayBufferView;
  readonly valueOffsets?: ArrayBufferView;
  readonly nullBitmap?: Uint8Array;
  readonly typeIds?: Int8Array;
  readonly dictionary?: VectorLike;
  readonly variadicBuffers?: readonly Uint8Array[];
}

export interface VectorLike {
  readonly type: TypeLike;
  readonly data: readonly DataLike[];
}

/** A record batch of any copy of apache-arrow. */
export interface RecordBatchLike {
  readonly schema: SchemaLike;
  readonly data: DataLike;
}

/** A table of any copy of apache-arrow. */
export interface TableLike {
  readonly schema: SchemaLike;
  readonly batches: readonly RecordBatchLike[];
}

const isDataLike = (value: unknown): value is DataLike =>
  typeof value === 'object' &&
  value !== null &&
  isTypeLike(Reflect.get(value, 'type')) &&
  typeof Reflect.get(value, 'length') === 'number';

export const isTableLike = (value: object): value is TableLike =>
  'batches' in value &&
  Array.isArray(value.batches) &&
  'schema' in value &&
  isSchemaLike(value.schema);

export const isBatchLike = (value: object): value is RecordBatchLike =>
  'data' in value && 'schema' in value && isDataLike(value.data) && isSchemaLike(value.schema);

const isVectorLike = (value: unknown): value is VectorLike =>
  isDataLike(value) && 'data' in value && Array.isArray(value.data) && value.data.every(isDataLike);

/** A plain object that names vectors, as the constructor of an Arrow table takes. */
const isColumnsLike = (value: object): value is Record<string, VectorLike> => {
  if (!isRecord(value)) return false;
  const columns = Object.values(value);
  return columns.length > 0 && columns.every(isVectorLike);
};

export type ArrowLike = TableLike | RecordBatchLike | VectorLike | Record<string, VectorLike>;

export const isArrowLike = (value: unknown): value is ArrowLike =>
  typeof value === 'object' &&
  value !== null &&
  (isTableLike(value) || isBatchLike(value) || isVectorLike(value) || isColumnsLike(value));

interface Batches {
  readonly schema: Schema;
  readonly batches: Iterable<RecordBatch>;
}

/** Rebuilds Arrow objects; what is shared between batches (dictionaries) stays shared. */
export class ArrowRebuilder {
  readonly #types: TypeCache = new Map();
  readonly #vectors = new WeakMap<object, Vector>();
  readonly #chunks = new WeakMap<object, Data>();

  schema(schema: SchemaLike): Schema {
    return rebuildSchema(schema, this.#types);
  }

  batches(value: ArrowLike): Batches {
    if (isTableLike(value)) {
      const schema = this.schema(value.schema);
      return { schema, batches: this.#each(value.batches, schema) };
    }
    if (isBatchLike(value)) {
      const schema = this.schema(value.schema);
      return { schema, batches: [this.batch(value, schema)] };
    }
    if (isVectorLike(value)) return this.#structs(value);
    const vectors = Object.entries(value).map(([name, v]) => [name, this.#vector(v)] as const);
    const { schema, batches } = new Table(Object.fromEntries(vectors));
    return { schema, batches };
  }

  batch(batch: RecordBatchLike, schema: Schema): RecordBatch {
    const { length, children = [] } = batch.data;
    const columns = schema.fields.map((_, i) => {
      const child = children[i];
      if (!isDataLike(child)) throw broken(`column ${i} has no data`);
      // Batches may claim more rows than a column has; those are null.
      return this.#data(child, length);
    });
    return recordBatch(schema, columns, length);
  }

  /** Batches are rebuilt one at a time, anew for every reader. */
  #each(batches: readonly RecordBatchLike[], schema: Schema): Iterable<RecordBatch> {
    const rebuilt = (batch: RecordBatchLike): RecordBatch => this.batch(batch, schema);
    return {
      *[Symbol.iterator]() {
        for (const batch of batches) yield rebuilt(batch);
      },
    };
  }

  /** A vector of structs: every chunk is a batch whose columns are its members. */
  #structs(vector: VectorLike): Batches {
    if (vector.type.typeId !== Type.Struct) {
      throw new DirspaceError(
        'InvalidInput',
        'A vector that is not of structs has no column names. Pass an object of vectors, a table ' +
          'or a record batch.',
      );
    }
    if (vector.data.some((chunk) => chunk.nullCount > 0)) {
      throw new DirspaceError('TableSchemaValidation', 'A vector of rows must hold no null rows.');
    }
    const { children: fields } = vector.type as TypeLike & {
      readonly children: readonly FieldLike[];
    };
    const schema = this.schema({ fields });
    const batches = vector.data.map((data) => ({ schema: { fields }, data }));
    return { schema, batches: this.#each(batches, schema) };
  }

  #vector(vector: VectorLike): Vector {
    let made = this.#vectors.get(vector);
    if (made === undefined) {
      made = new Vector(vector.data.map((chunk) => this.#chunk(chunk)));
      this.#vectors.set(vector, made);
    }
    return made;
  }

  /** Chunks keep their identity too: writers tell a grown dictionary from a new one by it. */
  #chunk(chunk: DataLike): Data {
    let made = this.#chunks.get(chunk);
    if (made === undefined) {
      made = this.#data(chunk, chunk.length);
      this.#chunks.set(chunk, made);
    }
    return made;
  }

  #data(data: DataLike, length: number): Data {
    const type = rebuildType(data.type, this.#types);
    const layout = layoutOf(type);
    // Also because apache-arrow leaves off the children of some empty data.
    if (layout === 'null' || length === 0) return nullColumn(type, length);
    // Offsets are already applied to all buffers but the bitmaps.
    const offset = data.offset;
    const nullCount = layout === 'union' ? 0 : data.nullCount;
    const lacking = nullCount > 0 || length > data.length;
    const sized = new Sizer(type, lacking);
    const validity = validityOf(data, nullCount, length);
    const parts = {
      nullCount: nullCount + length - data.length,
      validity,
      ...this.#buffers(type, data, length, sized),
    };
    const made = dataOf(type, length, parts);
    return offset > 0 && (validity !== undefined || layout === 'bits')
      ? withOffset(made, offset)
      : made;
  }

  #buffers(type: DataType, data: DataLike, length: number, sized: Sizer): PartsOf {
    const child = (index: number, rows: number): Data => {
      const found = data.children?.[index];
      if (!isDataLike(found)) throw broken(`a ${type} lacks child ${index}`);
      if (found.length < rows && !sized.lacking) throw broken(`a child of ${type} is too short`);
      return this.#data(found, Math.max(rows, found.length));
    };
    const every = (rows: number): Data[] => (type.children ?? []).map((_, i) => child(i, rows));
    switch (layoutOf(type)) {
      case 'bits':
        return { values: sized.array(Uint8Array, data.values, (data.offset + length + 7) >> 3) };
      case 'fixed':
        return { values: sized.array(valueArray(type), data.values, length * strideOf(type)) };
      case 'view':
        return {
          values: sized.array(Uint8Array, data.values, length * 16),
          views: [...(data.variadicBuffers ?? [])],
        };
      case 'binary': {
        const offsets = sized.offsets(data.valueOffsets, length);
        const bytes = sized.array(Uint8Array, data.values, 0);
        if (Number(offsets[length]) > bytes.length) throw broken(`a ${type} is cut short`);
        return { offsets, values: bytes };
      }
      case 'list': {
        const offsets = sized.offsets(data.valueOffsets, length);
        const items = child(0, 0);
        if (Number(offsets[length]) > items.length) throw broken(`a ${type} is cut short`);
        return { offsets, children: [items] };
      }
      case 'fixed-list':
        return { children: [child(0, length * strideOf(type))] };
      case 'struct':
        return { children: every(length) };
      case 'union': {
        const typeIds = sized.array(Int8Array, data.typeIds, length) as Int8Array;
        if (data.valueOffsets === undefined) return { typeIds, children: every(length) };
        const offsets = sized.array(Int32Array, data.valueOffsets, length) as Int32Array;
        return { typeIds, offsets, children: every(0) };
      }
      case 'dictionary': {
        if (!isVectorLike(data.dictionary)) throw broken(`a ${type} lacks its dictionary`);
        const values = sized.array(valueArray(type), data.values, length);
        return { values, dictionary: this.#vector(data.dictionary) };
      }
      default:
        throw refused(`a type with number ${type.typeId}`);
    }
  }
}

type PartsOf = Parameters<typeof dataOf>[2];

/** Our copy's Data with a bit offset; all other buffers already start at the first row. */
const withOffset = (data: Data, offset: number): Data => data.clone(data.type, offset, data.length);
