/**
 * Defines the base classes of embedding functions, which turn values into vectors:
 * `EmbeddingFunction`, and `TextEmbeddingFunction` for texts. A table's schema stores the options
 * of a function, so the constructor of a subclass has to pass them to `resolveVariables`. That
 * method replaces `$var:NAME` by the value of a variable, and throws InvalidInput for a secret
 * (`getSensitiveKeys`) that is given itself. `sourceField` and `vectorField` declare the columns of
 * values and vectors, and throw InvalidInput if the type or the length of the vectors is not known.
 */
import { DataType, Field, FixedSizeList, type Float, Float32, Utf8 } from '../../arrow/index.ts';
import { DirspaceError } from '../../errors.ts';
import { variable } from './variables.ts';

// biome-ignore lint/suspicious/noExplicitAny: programs give functions options of any kind
type Unchecked = any;

/** The options of a function: what JSON can hold, and `$var:name` in place of a secret. */
export interface FunctionOptions {
  [key: string]: Unchecked;
}

/** Makes a function of its options. */
export interface EmbeddingFunctionConstructor<T extends EmbeddingFunction = EmbeddingFunction> {
  new (modelOptions?: T['TOptions']): T;
}

/** The type of a column, and for vectors their length. */
export interface FieldOptions<T extends DataType = DataType> {
  datatype: T;
  dims?: number;
}

/** A column's type with the role that a function has for it; `LanceSchema` reads it. */
export type FunctionField = [DataType, Map<string, EmbeddingFunction>];

/** The roles of columns, as `LanceSchema` looks for them. */
export const SOURCE_ROLE = 'source_column_for';
export const VECTOR_ROLE = 'vector_column_for';

/** Vectors of several values, in their order. */
export type Vectors = number[][] | Float32Array[] | Float64Array[];

/** The vector of one value. */
export type QueryEmbedding = number[] | Float32Array | Float64Array | Uint8Array;

/** Turns values of a column into vectors. */
export abstract class EmbeddingFunction<
  T = Unchecked,
  M extends FunctionOptions = FunctionOptions,
> {
  /** The type of the options; there is no such member. */
  declare readonly TOptions: M;
  #options: Partial<M> = {};

  /** Loads what the function needs; `create` of the registry waits for it. */
  init?(): Promise<void>;

  /** The options as they were given to `resolveVariables`. */
  toJSON(): Record<string, Unchecked> {
    return { ...this.#options };
  }

  /** Names of options that may be given by variables alone. */
  protected getSensitiveKeys(): string[] {
    return [];
  }

  /**
   * Keeps the options for `toJSON`, and answers them with the values of variables in place of `$var:name` and
   * `$var:name:default`. @throws InvalidInput for a secret that is given itself, and for a variable that is not set
   */
  protected resolveVariables(config: Partial<M>): Partial<M> {
    for (const name of this.getSensitiveKeys()) {
      const value: unknown = config[name];
      if (value === undefined || (typeof value === 'string' && value.startsWith('$var:'))) continue;
      throw new DirspaceError(
        'InvalidInput',
        `The key ${JSON.stringify(name)} is sensitive and cannot be set directly, as tables would keep it: set a variable of the registry, and give "$var:NAME".`,
        { details: { option: name } },
      );
    }
    this.#options = config;
    return resolved(config) as Partial<M>;
  }

  /** Declares the column that the values are in. */
  sourceField(optionsOrDatatype: Partial<FieldOptions> | DataType): FunctionField {
    const { datatype } = fieldOptions(optionsOrDatatype);
    if (datatype === undefined) {
      throw new DirspaceError('InvalidInput', 'sourceField takes a type, such as new Utf8().');
    }
    return [datatype, new Map<string, EmbeddingFunction>([[SOURCE_ROLE, this]])];
  }

  /** Declares the column that the vectors are in. */
  vectorField(optionsOrDatatype?: Partial<FieldOptions> | DataType): FunctionField {
    const { datatype, dims } = fieldOptions(optionsOrDatatype);
    const role = new Map<string, EmbeddingFunction>([[VECTOR_ROLE, this]]);
    if (datatype !== undefined && DataType.isFixedSizeList(datatype)) return [datatype, role];
    const size = this.ndims() ?? dims;
    if (size === undefined) {
      throw new DirspaceError(
        'InvalidInput',
        'vectorField needs the length of the vectors: give dims, or let ndims() of the function tell it.',
      );
    }
    const item = datatype ?? this.embeddingDataType();
    return [new FixedSizeList(size, new Field('item', item, true)), role];
  }

  /** The length of the vectors, where it is known without making one. */
  ndims(): number | undefined {
    return undefined;
  }

  /** The type of the vectors' items. */
  abstract embeddingDataType(): Float;

  /** Vectors of values, one for each. */
  abstract computeSourceEmbeddings(data: T[]): Promise<Vectors>;

  /** The vector to search with. */
  async computeQueryEmbeddings(data: T): Promise<QueryEmbedding> {
    const [vector] = await this.computeSourceEmbeddings([data]);
    if (vector !== undefined) return vector;
    throw new DirspaceError('InvalidInput', 'The embedding function made no vector of the query.');
  }
}

/** Turns texts into vectors. */
export abstract class TextEmbeddingFunction<
  M extends FunctionOptions = FunctionOptions,
> extends EmbeddingFunction<string, M> {
  abstract generateEmbeddings(texts: string[], ...args: Unchecked[]): Promise<Vectors>;

  override async computeQueryEmbeddings(data: string): Promise<QueryEmbedding> {
    return super.computeQueryEmbeddings(data);
  }

  override embeddingDataType(): Float {
    return new Float32();
  }

  override sourceField(optionsOrDatatype?: Partial<FieldOptions> | DataType): FunctionField {
    return super.sourceField(optionsOrDatatype ?? new Utf8());
  }

  override computeSourceEmbeddings(data: string[]): Promise<Vectors> {
    return this.generateEmbeddings(data);
  }
}

function fieldOptions(given: Partial<FieldOptions> | DataType = {}): Partial<FieldOptions> {
  return 'typeId' in given ? { datatype: given } : (given as Partial<FieldOptions>);
}

function resolved(value: unknown): unknown {
  if (typeof value === 'string') return value.startsWith('$var:') ? variable(value) : value;
  if (Array.isArray(value)) return value.map(resolved);
  if (typeof value !== 'object' || value === null) return value;
  if (Object.getPrototypeOf(value) !== Object.prototype) return value;
  return Object.fromEntries(Object.entries(value).map(([name, item]) => [name, resolved(item)]));
}
