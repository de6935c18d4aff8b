/**
 * `Index` describes an index to create, by a static method for each type of index, and translates
 * it to members of the protocol's request. A catalog of directories builds every type for vectors
 * as IVF_SQ. An option that the type does not have throws Unsupported. `usualIndex` chooses the
 * type for a column: IVF_PQ for fixed-size lists, BTREE for all others; it throws
 * TableColumnNotFound for a missing column. `isScalar` tells whether CreateTableScalarIndex creates
 * the index, or CreateTableIndex.
 */
import { DataType, type Field, type Schema } from '../../arrow/index.ts';
import { DirspaceError } from '../../errors.ts';
import { suggestion } from '../../known-names.ts';
import type { CreateTableIndexRequest } from '../../protocol/index.ts';
import { withoutBackticks } from '../../sql-quotes.ts';
import { defined } from '../handles/index.ts';
import { TOKENIZE_MEMBERS, type TokenizeOptions } from '../query/index.ts';

/** What a request to create an index says of it, but for its name and place. */
export type IndexParameters = Omit<
  CreateTableIndexRequest,
  'id' | 'branch' | 'column' | 'name' | 'identity' | 'context'
>;

interface VectorIndexOptions {
  /** Partitions of each segment; a quarter of the square root of its rows if absent. */
  readonly numPartitions?: number;
  /** Of the searches that use it; l2 if absent. */
  readonly distanceType?: 'l2' | 'cosine' | 'dot';
  /** Rounds in which partitions are found, at most; 8 if absent. */
  readonly maxIterations?: number;
  /** Vectors that partitions are found with, for each of them; 64 if absent. */
  readonly sampleRate?: number;
}

/** Partitions of vectors in bytes, one for each element. */
export interface IvfSqOptions extends VectorIndexOptions {}

/** Partitions of whole vectors. A catalog of directories builds those of `ivfSq`. */
export interface IvfFlatOptions extends Omit<VectorIndexOptions, 'distanceType'> {
  readonly distanceType?: 'l2' | 'cosine' | 'dot' | 'hamming';
}

/** Partitions of vectors in so many bits a dimension. */
export interface IvfRqOptions extends VectorIndexOptions {
  readonly numBits?: number;
}

/** Partitions of vectors in codes, one for each of so many parts. */
export interface IvfPqOptions extends IvfRqOptions {
  readonly numSubVectors?: number;
}

/**
 * A graph in each partition, over vectors in bytes: `m` neighbours, found among `efConstruction`.
 */
export interface HnswSqOptions extends VectorIndexOptions {
  readonly m?: number;
  readonly efConstruction?: number;
}

/** A graph in each partition, over vectors in codes. */
export interface HnswPqOptions extends HnswSqOptions {
  readonly numSubVectors?: number;
}

/** How text becomes words. */
export interface FtsOptions extends TokenizeOptions {
  /** Whether phrases are found through the index too; false if absent. */
  readonly withPosition?: boolean;
  /** Rows of a block of postings; there is 128. */
  readonly blockSize?: 128 | 256;
}

/** The options of a kind that has none. */
type NoOptions = Readonly<Record<string, never>>;

const MEMBERS: Readonly<Record<string, keyof IndexParameters>> = {
  numPartitions: 'num_partitions',
  numSubVectors: 'num_sub_vectors',
  numBits: 'num_bits',
  distanceType: 'distance_type',
  maxIterations: 'max_iterations',
  sampleRate: 'sample_rate',
  m: 'm',
  efConstruction: 'ef_construction',
  withPosition: 'with_position',
  blockSize: 'block_size',
  ...TOKENIZE_MEMBERS,
};

/** The options of each kind that has any. */
const VECTOR_OPTIONS = ['numPartitions', 'distanceType', 'maxIterations', 'sampleRate'];
const OPTIONS: Readonly<Record<string, readonly string[]>> = {
  IVF_SQ: VECTOR_OPTIONS,
  IVF_FLAT: VECTOR_OPTIONS,
  IVF_RQ: [...VECTOR_OPTIONS, 'numBits'],
  IVF_PQ: [...VECTOR_OPTIONS, 'numBits', 'numSubVectors'],
  IVF_HNSW_SQ: [...VECTOR_OPTIONS, 'm', 'efConstruction'],
  IVF_HNSW_PQ: [...VECTOR_OPTIONS, 'm', 'efConstruction', 'numSubVectors'],
  FTS: ['withPosition', 'blockSize', ...Object.keys(TOKENIZE_MEMBERS)],
};

/** A kind of index with its options. @throws Unsupported for an option that the kind does not have */
export class Index {
  readonly parameters: IndexParameters;

  private constructor(index_type: string, options: object = {}) {
    const known = OPTIONS[index_type] ?? [];
    const members = Object.entries(defined({ ...options })).map(([name, value]) => {
      if (known.includes(name)) return [MEMBERS[name], value];
      const others = known.length === 0 ? 'It has none.' : `It has ${known.join(', ')}.`;
      throw new DirspaceError(
        'Unsupported',
        `An index ${index_type} has no option ${JSON.stringify(name)}.${suggestion(name, known)} ${others}`,
        { details: { option: name } },
      );
    });
    this.parameters = Object.freeze({ index_type, ...Object.fromEntries(members) });
  }

  /** For vectors; what searches measure is exact. The other kinds for vectors become this one in a catalog of directories. */
  static ivfSq(options?: IvfSqOptions): Index {
    return new Index('IVF_SQ', options);
  }

  /** For vectors. */
  static ivfPq(options?: IvfPqOptions): Index {
    return new Index('IVF_PQ', options);
  }

  /** For vectors. */
  static ivfRq(options?: IvfRqOptions): Index {
    return new Index('IVF_RQ', options);
  }

  /** For vectors; exact within the partitions searched. */
  static ivfFlat(options?: IvfFlatOptions): Index {
    return new Index('IVF_FLAT', options);
  }

  /** For vectors. */
  static hnswPq(options?: HnswPqOptions): Index {
    return new Index('IVF_HNSW_PQ', options);
  }

  /** For vectors. */
  static hnswSq(options?: HnswSqOptions): Index {
    return new Index('IVF_HNSW_SQ', options);
  }

  /** For values that are compared and sorted. */
  static btree(options?: NoOptions): Index {
    return new Index('BTREE', options);
  }

  /** For columns of few different values. */
  static bitmap(options?: NoOptions): Index {
    return new Index('BITMAP', options);
  }

  /** For lists of labels. */
  static labelList(options?: NoOptions): Index {
    return new Index('LABEL_LIST', options);
  }

  /** For any part of texts. */
  static fm(options?: NoOptions): Index {
    return new Index('FM', options);
  }

  /** For words of texts. */
  static fts(options?: FtsOptions): Index {
    return new Index('FTS', options);
  }
}

/** Whether it is one of plain values or words, which have an operation of their own. */
export function isScalar({ index_type }: IndexParameters): boolean {
  return !index_type.startsWith('IVF_');
}

/** The index a column gets where none is said. @throws TableColumnNotFound */
export function usualIndex(schema: Schema, column: string): Index {
  const field = fieldAt(schema.fields, column);
  if (field === undefined) {
    const known = schema.fields.map(({ name }) => name).join(', ');
    throw new DirspaceError(
      'TableColumnNotFound',
      `There is no column ${JSON.stringify(column)} to index; there is ${known}.`,
      { details: { column } },
    );
  }
  return DataType.isFixedSizeList(field.type) ? Index.ivfPq({ distanceType: 'l2' }) : Index.btree();
}

/**
 * By its name, or by its path with dots; without case where no name matches exactly, and with names in
 * backticks where none matches.
 */
function fieldAt(fields: readonly Field[], path: string): Field | undefined {
  const exact = fieldBy(fields, path, (name) => name);
  const found = exact ?? fieldBy(fields, path.toLowerCase(), (name) => name.toLowerCase());
  const plain = withoutBackticks(path);
  return found ?? (plain === path ? undefined : fieldAt(fields, plain));
}

/**
 * One of several that are alike is none. Names may hold dots: of the structs that a path may lead into,
 * the one of the longest name that has such a field counts, as where the index is built.
 */
function fieldBy(
  fields: readonly Field[],
  path: string,
  spelt: (name: string) => string,
): Field | undefined {
  const [whole, ...alike] = fields.filter(({ name }) => spelt(name) === path);
  if (whole !== undefined) return alike.length === 0 ? whole : undefined;
  const around = fields
    .map(({ name, type }) => ({ prefix: `${spelt(name)}.`, children: type.children ?? [] }))
    .filter(({ prefix }) => path.startsWith(prefix))
    .sort((one, other) => other.prefix.length - one.prefix.length);
  for (const { prefix, children } of around) {
    const found = fieldBy(children, path.slice(prefix.length), spelt);
    if (found !== undefined) return found;
  }
  return undefined;
}
