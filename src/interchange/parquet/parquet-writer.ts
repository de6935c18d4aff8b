/**
 * `encodeParquet` writes rows as a Parquet file, in pieces that are made as they are pulled. Memory
 * holds the pages of one row group. An Arrow schema in the file names the types that Parquet does
 * not have. Invalid options, a value that Parquet cannot hold, and a null where its field allows
 * none, throw InvalidInput. A type that Parquet cannot hold, and Zstandard without WebAssembly,
 * throw Unsupported.
 */
import {
  childFields,
  columnsOf,
  type DataType,
  type Dictionary,
  Field,
  FixedSizeBinary,
  mapType,
  type RecordBatchStream,
  Schema,
  splitBatch,
  Type,
} from '../../arrow/index.ts';
import { DirspaceError } from '../../errors.ts';
import { canEncodeFrames, framed, prepareSchema } from '../../ipc/index.ts';
import { suggestion } from '../../known-names.ts';
import { plainPause } from '../../steps.ts';
import { VERSION } from '../../version.ts';
import { type Value, writeThrift } from './thrift-writer.ts';
import { ChunkWriter, PARQUET_COMPRESSIONS, type ParquetCompression } from './write-pages.ts';
import { writeSchema } from './write-schema.ts';

/** How Parquet is written. */
export interface ParquetWriteOptions {
  /** Of the pages; `snappy`, which every reader takes, if not given. */
  readonly compression?: ParquetCompression | undefined;
  /** Rows of a row group, at most; 1,048,576 if not given. One ends early when it has 32 MiB. */
  readonly rowGroupRows?: number | undefined;
}

const OPTION_NAMES = [
  'compression',
  'rowGroupRows',
] as const satisfies readonly (keyof ParquetWriteOptions)[];

const MAGIC = Buffer.from('PAR1');
const BATCH_ROWS = 1 << 16;
const GROUP_ROWS = 1 << 20;
const GROUP_BYTES = 1 << 25;

/** @throws InvalidInput for the options, Unsupported naming a column of a type that Parquet has not */
export function encodeParquet(
  rows: RecordBatchStream,
  options: ParquetWriteOptions = {},
): AsyncGenerator<Uint8Array> {
  const { compression, rowGroupRows } = checkOptions(options);
  return encoded(rows, compression, rowGroupRows, writeSchema(rows.schema));
}

function checkOptions(options: ParquetWriteOptions): {
  readonly compression: ParquetCompression;
  readonly rowGroupRows: number;
} {
  const { compression = 'snappy', rowGroupRows = GROUP_ROWS } = options;
  const invalid = (message: string): DirspaceError => new DirspaceError('InvalidInput', message);
  for (const name of Object.keys(options)) {
    if ((OPTION_NAMES as readonly string[]).includes(name)) continue;
    const hint = suggestion(name, OPTION_NAMES);
    throw invalid(`The writing of Parquet has no option ${JSON.stringify(name)}.${hint}`);
  }
  if (!PARQUET_COMPRESSIONS.includes(compression)) {
    throw invalid(
      `The compression of Parquet is ${JSON.stringify(compression)}; give one of ${PARQUET_COMPRESSIONS.join(', ')}.`,
    );
  }
  if (!Number.isSafeInteger(rowGroupRows) || rowGroupRows < 1) {
    throw invalid(`rowGroupRows is ${rowGroupRows}; give a whole number from 1 on.`);
  }
  if (compression === 'zstd' && !canEncodeFrames()) {
    throw new DirspaceError(
      'Unsupported',
      'This process cannot compress with Zstandard: it has no WebAssembly. Choose another compression.',
    );
  }
  return { compression, rowGroupRows };
}

async function* encoded(
  rows: RecordBatchStream,
  compression: ParquetCompression,
  groupRows: number,
  { elements, leaves }: ReturnType<typeof writeSchema>,
): AsyncGenerator<Uint8Array> {
  const pause = plainPause();
  const groups: Value[] = [];
  let position = MAGIC.length;
  let all = 0;
  let inGroup = 0;
  const begin = (): ChunkWriter[] => leaves.map((leaf) => new ChunkWriter(leaf, compression));
  let chunks = begin();
  async function* endGroup(): AsyncGenerator<Uint8Array> {
    const columns: Value[] = [];
    const start = position;
    for (const chunk of chunks) {
      const { pieces, chunk: column } = await chunk.end(position);
      columns.push(column);
      for (const piece of pieces) {
        position += piece.length;
        yield piece;
      }
    }
    const size = BigInt(position - start);
    groups.push({
      struct: [
        [1, { list: columns }],
        [2, size],
        [3, BigInt(inGroup)],
        [5, BigInt(start)],
        [6, size],
      ],
    });
    all += inGroup;
    inGroup = 0;
    chunks = begin();
  }
  yield MAGIC;
  for await (const batch of rows) {
    for (const part of splitBatch(batch, Math.min(BATCH_ROWS, groupRows))) {
      if (part.numRows === 0) continue;
      if (inGroup + part.numRows > groupRows) yield* endGroup();
      const columns = columnsOf(part);
      for (const [at, chunk] of chunks.entries()) {
        const waiting = pause();
        if (waiting !== undefined) await waiting;
        const leaf = leaves[at] as (typeof leaves)[number];
        await chunk.add(columns[leaf.column] as (typeof columns)[number]);
      }
      inGroup += part.numRows;
      const bytes = chunks.reduce((sum, chunk) => sum + chunk.bytes, 0);
      if (inGroup >= groupRows || bytes >= GROUP_BYTES) yield* endGroup();
    }
  }
  if (inGroup > 0) yield* endGroup();
  const message = framed(prepareSchema(hintSchema(rows.schema)).message, 0);
  const footer = writeThrift([
    [1, 2],
    [2, { list: elements }],
    [3, BigInt(all)],
    [4, { list: groups }],
    [5, { list: [pairOf('ARROW:schema', Buffer.from(message).toString('base64'))] }],
    [6, `dirspace version ${VERSION}`],
  ]);
  const tail = new Uint8Array(8);
  new DataView(tail.buffer).setUint32(0, footer.length, true);
  tail.set(MAGIC, 4);
  yield Buffer.concat([footer, tail]);
}

const pairOf = (key: string, value: string): Value => ({
  struct: [
    [1, key],
    [2, value],
  ],
});

/** Intervals of Parquet are bytes to pyarrow, which reads no file that calls them something else. */
function hintSchema(schema: Schema): Schema {
  const plain = (field: Field): Field =>
    new Field(field.name, hintType(field.type, plain), field.nullable, field.metadata);
  return schema.fields.some(({ type }) => hasInterval(type))
    ? new Schema(schema.fields.map(plain), schema.metadata)
    : schema;
}

const hintType = (type: DataType, plain: (field: Field) => Field): DataType =>
  type.typeId === Type.Interval
    ? new FixedSizeBinary(12)
    : type.typeId === Type.Dictionary && hasInterval(type)
      ? hintType((type as Dictionary).dictionary, plain)
      : mapType(type, plain);

const hasInterval = (type: DataType): boolean =>
  type.typeId === Type.Interval ||
  (type.typeId === Type.Dictionary
    ? hasInterval((type as Dictionary).dictionary)
    : childFields(type).some((field) => hasInterval(field.type)));
