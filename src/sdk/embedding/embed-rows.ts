/**
 * `toEmbeddedStream` converts data to record batches as `toRecordBatchStream` does, and computes
 * the vector columns that the data lacks, one record batch at a time, from the columns that it has.
 * The metadata of the schema that is passed names the embedding functions, or without one that of
 * the data's own schema; for a new table the caller may pass a function. A vector column that is
 * null or undefined in every row of an array counts as lacking if the rows have its texts. A
 * function that is needed and not registered, or that does not return one vector for each value,
 * throws InvalidInput. `queryVector` computes the vector of a search by text. It returns undefined
 * for a table without a function, and throws InvalidInput for one with several.
 */
import {
  columnsAt,
  columnsOf,
  type Data,
  type DataType,
  Field,
  FixedSizeList,
  Null,
  type RecordBatch,
  type RecordBatchStream,
  recordBatch,
  recordBatchStream,
  Schema,
} from '../../arrow/index.ts';
import { DirspaceError } from '../../errors.ts';
import { buildBatch, buildContext, hasMember, type Records, take } from '../build/index.ts';
import {
  batchRows,
  closedBy,
  type DataInput,
  type DataOptions,
  isRepeatable,
  toRecordBatchStream,
  toSchema,
} from '../convert/index.ts';
import type { EmbeddingFunction, Vectors } from './embedding-function.ts';
import { type EmbeddingMetadataEntry, METADATA_KEY, parseEmbeddingMetadata } from './metadata.ts';
import { type EmbeddingFunctionConfig, getRegistry } from './registry.ts';

/** A column to fill. */
interface Filling {
  readonly source: string;
  readonly column: string;
  readonly function: EmbeddingFunction;
  /** Known where the table has the column. */
  readonly field: Field | undefined;
}

/**
 * @param given a function for a new table, which is added to those of the schema
 * @throws InvalidInput where a function is needed that is not registered
 */
export async function toEmbeddedStream(
  data: DataInput,
  options: DataOptions,
  given?: EmbeddingFunctionConfig,
): Promise<RecordBatchStream> {
  const asked = options.schema === undefined ? undefined : toSchema(options.schema);
  const named = asked?.metadata.get(METADATA_KEY);
  const isNamed = named !== undefined && parseEmbeddingMetadata(named).length > 0;
  if (given === undefined && asked !== undefined && !isNamed) {
    return toRecordBatchStream(data, options);
  }
  const partial = asked !== undefined || options.partial === true;
  const vectors = named === undefined ? [] : parseEmbeddingMetadata(named);
  const empty = emptyIn(data, vectors, given);
  const read = toRecordBatchStream(data, { ...options, ...nullsOf(data, empty, asked), partial });
  const stream = withoutColumns(await read, empty);
  const json = named ?? stream.schema.metadata.get(METADATA_KEY);
  const entries = json === undefined ? [] : parseEmbeddingMetadata(json);
  if (given === undefined && entries.length === 0) return stream;
  const own = given && ownConfig(given);
  const metadata = new Map(asked?.metadata ?? stream.schema.metadata);
  if (own !== undefined) metadata.set(METADATA_KEY, joined(entries, own));
  const fillings = await fillingsOf(stream.schema, asked, entries, own);
  const filled = fillings.length === 0 ? stream : await fill(stream, fillings, options.signal);
  const known = asked ?? filled.schema;
  const more = filled.schema.fields.filter(
    ({ name }) => !known.fields.some((field) => field.name === name),
  );
  const schema = new Schema([...known.fields, ...more], metadata);
  if (options.partial === true) return filled;
  return toRecordBatchStream(filled, { schema, signal: options.signal });
}

/**
 * The vector columns that are null or undefined in every row of an array, and are filled: those
 * whose texts no row has keep their nulls, which a merge writes. For the function that is given
 * with the data, missing texts are refused later.
 */
function emptyIn(
  data: DataInput,
  entries: readonly EmbeddingMetadataEntry[],
  given: EmbeddingFunctionConfig | undefined,
): ReadonlySet<string> {
  if (!Array.isArray(data) || data.length === 0 || !isRepeatable(data)) return new Set();
  const rows: Records = data;
  const isEmpty = (column: string): boolean =>
    take(rows, column).every((value) => value === null || value === undefined);
  const filled = entries.filter(({ sourceColumn }) => hasMember(rows, sourceColumn));
  const columns = filled.map(({ vectorColumn }) => vectorColumn);
  if (given !== undefined) columns.push(given?.vectorColumn ?? 'vector');
  return new Set(columns.filter(isEmpty));
}

/** Lets the columns be read as nulls: a schema may require values, and inference finds no type. */
function nullsOf(
  data: DataInput,
  columns: ReadonlySet<string>,
  asked: Schema | undefined,
): Pick<DataOptions, 'schema' | 'columnTypes'> {
  if (columns.size === 0) return { schema: asked };
  if (asked !== undefined) {
    const fields = asked.fields.map((field) =>
      columns.has(field.name) ? field.clone({ nullable: true }) : field,
    );
    return { schema: new Schema(fields, asked.metadata) };
  }
  const rows = data as Records;
  const named = [...columns].filter((name) =>
    rows.some((row) => row?.[name] === null && Object.keys(row).includes(name)),
  );
  return { columnTypes: new Map(named.map((name) => [name, new Null()])) };
}

function withoutColumns(
  stream: RecordBatchStream,
  columns: ReadonlySet<string>,
): RecordBatchStream {
  const { fields, metadata } = stream.schema;
  const kept = fields.flatMap(({ name }, at) => (columns.has(name) ? [] : [at]));
  if (kept.length === fields.length) return stream;
  const schema = new Schema(
    kept.map((at) => fields[at] as Field),
    metadata,
  );
  async function* batches(): AsyncGenerator<RecordBatch> {
    for await (const batch of stream) yield columnsAt(batch, schema, kept);
  }
  return recordBatchStream(schema, batches());
}

/** The vector of a text, and its column, by the only function of a table; undefined where it has none. */
export async function queryVector(
  schema: Schema,
  query: string,
): Promise<{ readonly column: string; readonly vector: ArrayLike<number> } | undefined> {
  const json = schema.metadata.get(METADATA_KEY);
  const [entry, ...more] = json === undefined ? [] : parseEmbeddingMetadata(json);
  if (entry === undefined) return undefined;
  if (more.length > 0) {
    const columns = [entry, ...more].map(({ vectorColumn }) => vectorColumn).join(', ');
    throw new DirspaceError(
      'InvalidInput',
      `The table has embedding functions for several columns: ${columns}. Make the vector with one of them, and search by it.`,
    );
  }
  const made = await getRegistry().made(entry);
  return { column: entry.vectorColumn, vector: await made.computeQueryEmbeddings(query) };
}

function ownConfig(given: EmbeddingFunctionConfig): EmbeddingFunctionConfig {
  const known = typeof given === 'object' && given !== null;
  if (known && typeof given.sourceColumn === 'string' && typeof given.function === 'object')
    return given;
  throw new DirspaceError(
    'InvalidInput',
    'embeddingFunction is an object such as {sourceColumn: "text", vectorColumn: "vector", function}.',
  );
}

/** The metadata with a function more, in place of another of its column. */
function joined(entries: readonly EmbeddingMetadataEntry[], own: EmbeddingFunctionConfig): string {
  const added = getRegistry().functionToMetadata(own);
  const kept = entries.filter(({ vectorColumn }) => vectorColumn !== added.vectorColumn);
  return JSON.stringify([
    ...kept.map(({ name, sourceColumn, vectorColumn, model }) => {
      return { sourceColumn, vectorColumn, name, model };
    }),
    added,
  ]);
}

async function fillingsOf(
  have: Schema,
  asked: Schema | undefined,
  entries: readonly EmbeddingMetadataEntry[],
  own: EmbeddingFunctionConfig | undefined,
): Promise<Filling[]> {
  const names = new Set(have.fields.map(({ name }) => name));
  const fieldOf = (column: string): Field | undefined =>
    asked?.fields.find(({ name }) => name === column);
  const found: Filling[] = [];
  const { sourceColumn: source = '', vectorColumn: column = 'vector' } = own ?? {};
  if (own !== undefined && !names.has(column)) {
    requireSource(names, source);
    found.push({ source, column, function: own.function, field: fieldOf(column) });
  }
  for (const entry of entries) {
    const { sourceColumn, vectorColumn } = entry;
    if (names.has(vectorColumn) || !names.has(sourceColumn)) continue;
    if (own !== undefined && vectorColumn === column) continue;
    const made = await getRegistry().made(entry);
    const field = fieldOf(vectorColumn);
    found.push({ source: sourceColumn, column: vectorColumn, function: made, field });
  }
  return found;
}

function requireSource(names: ReadonlySet<string>, source: string): void {
  if (names.has(source)) return;
  throw new DirspaceError(
    'InvalidInput',
    `The data has no column ${JSON.stringify(source)}, which the embedding function reads; it has ${[...names].join(', ')}.`,
    { details: { column: source } },
  );
}

/** Adds the columns to each batch; the first one is made at once, as it tells the lengths of vectors. */
async function fill(
  stream: RecordBatchStream,
  fillings: readonly Filling[],
  signal: AbortSignal | undefined,
): Promise<RecordBatchStream> {
  const batches = stream[Symbol.asyncIterator]();
  try {
    let first = await batches.next();
    // Batches without rows tell nothing.
    while (first.done !== true && first.value.numRows === 0) first = await batches.next();
    const made = first.done ? [] : await vectorsOf(first.value, fillings);
    const fields = fillings.map((one, at) => one.field ?? newField(one, made[at] ?? []));
    const schema = new Schema([...stream.schema.fields, ...fields], stream.schema.metadata);
    async function* rows(): AsyncGenerator<RecordBatch> {
      let base = 0;
      let vectors = made;
      try {
        for (let step = first; !step.done; step = await batches.next()) {
          signal?.throwIfAborted();
          if (base > 0) vectors = await vectorsOf(step.value, fillings);
          const columns = fields.map((field, at) => columnOf(field, vectors[at] ?? [], base));
          yield recordBatch(schema, [...columnsOf(step.value), ...columns], step.value.numRows);
          base += step.value.numRows;
        }
      } finally {
        await batches.return?.();
      }
    }
    return closedBy(recordBatchStream(schema, rows()), async () => batches.return?.());
  } catch (error) {
    await batches.return?.();
    throw error;
  }
}

type Vector = Vectors[number] | null;

/** For each filling a vector of every row. */
async function vectorsOf(batch: RecordBatch, fillings: readonly Filling[]): Promise<Vector[][]> {
  const made: Vector[][] = [];
  for (const { source, column, function: own } of fillings) {
    const at = batch.schema.fields.findIndex(({ name }) => name === source);
    const field = batch.schema.fields[at] as Field;
    const data = columnsOf(batch)[at] as Data;
    const alone = recordBatch(new Schema([field]), [data], batch.numRows);
    const values = batchRows(alone).map((row) => row[source]);
    const present = values.filter((value) => value !== null);
    const vectors = present.length === 0 ? [] : await own.computeSourceEmbeddings(present);
    if (vectors.length !== present.length) {
      throw new DirspaceError(
        'InvalidInput',
        `The embedding function of ${JSON.stringify(column)} made ${vectors.length} vectors of ${present.length} values; it makes one of each.`,
        { details: { column } },
      );
    }
    let next = 0;
    made.push(values.map((value) => (value === null ? null : (vectors[next++] as Vector))));
  }
  return made;
}

function newField({ column, function: own }: Filling, vectors: readonly Vector[]): Field {
  const size = own.ndims() ?? vectors.find((vector) => vector !== null)?.length;
  if (size !== undefined) {
    const item: DataType = own.embeddingDataType();
    return new Field(column, new FixedSizeList(size, new Field('item', item, true)), true);
  }
  throw new DirspaceError(
    'InvalidInput',
    `The length of the vectors ${JSON.stringify(column)} is not known: there is no row to make one of. Give a schema with the column, or let ndims() tell it.`,
    { details: { column } },
  );
}

function columnOf(field: Field, vectors: readonly Vector[], base: number): Data {
  const rows = vectors.map((vector) => ({ [field.name]: vector }));
  const batch = buildBatch(new Schema([field]), rows, base, buildContext());
  return columnsOf(batch)[0] as Data;
}
