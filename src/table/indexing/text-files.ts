/**
 * `writeTextFiles` writes the files of one segment of a full-text index: the terms with their
 * postings, and the number of words of each row. If the index keeps positions of words, a third
 * file has these. Each text is read once. The postings are held in memory in their stored form. A
 * row with too many tokens, and postings that exceed the memory of the request, throw InvalidInput.
 * If anything fails, the files are deleted.
 */
import {
  Binary,
  bytesColumn,
  columnsOf,
  type Data,
  dataOf,
  Field,
  type RecordBatch,
  type RecordBatchStream,
  recordBatch,
  recordBatchStream,
  Uint32,
  Utf8,
} from '../../arrow/index.ts';
import type { JsonObject } from '../../json.ts';
import type { HeldMemory } from '../../request-memory.ts';
import {
  PostingsBuilder,
  SEALED_POSITIONS,
  type TextMembers,
  Tokenizer,
  textSettings,
} from '../../search/index.ts';
import { quotedPath } from '../../sql-quotes.ts';
import { TextReader } from '../query/index.ts';
import { requestMemory, scan } from '../read/index.ts';
import type { Engine, Snapshot } from '../versions/index.ts';
import { inTurns, Turn } from '../work/index.ts';
import {
  numberColumn,
  segmentSchema,
  type WrittenSegmentFiles,
  writeSegmentFiles,
} from './write-segment.ts';

/** Bytes of texts that are read between two steps. */
const STEP_BYTES = 1 << 16;
/** Terms of a batch that is handed to the writer. */
const BATCH_TERMS = 1024;
const BATCH_LENGTHS = 1 << 16;

/**
 * @param part the fragments of the segment alone, none of their rows deleted
 * @param onRows is told how many rows were read
 */
export async function writeTextFiles(
  engine: Engine,
  part: Snapshot,
  parameters: JsonObject,
  path: readonly string[],
  signal: AbortSignal | undefined,
  onRows: ((rows: number) => void) | undefined,
): Promise<WrittenSegmentFiles> {
  const tokenizer = await Tokenizer.open(textSettings(parameters as TextMembers));
  const withPositions = parameters.with_position === true;
  const builder = new PostingsBuilder(tokenizer, withPositions);
  const memory = requestMemory(engine);
  const held = memory.hold('The postings of an index');
  const turn = new Turn(engine.env);
  try {
    const columns = { text: quotedPath(path) };
    const texts = await scan(engine, part, { columns, keep: false, fresh: true, signal, memory });
    let read = 0;
    for await (const batch of texts) {
      await inTurns(turn, addTexts(builder, batch, held), signal);
      held.set(2 * builder.heldBytes);
      read += batch.numRows;
      onRows?.(read);
    }
    const order = await inTurns(turn, builder.order(), signal);
    return await writeSegmentFiles(engine, part.branch.tableFolder, signal, async (write) => {
      await write(termRows(builder, order));
      await write(lengthRows(builder));
      if (withPositions) await write(positionRows(builder, order));
    });
  } finally {
    held.end();
  }
}

function* addTexts(
  builder: PostingsBuilder,
  batch: RecordBatch,
  held: HeldMemory,
): Generator<void> {
  const reader = new TextReader(columnsOf(batch)[0] as Data);
  let bytes = 0;
  for (let row = 0; row < batch.numRows; row++) {
    const isShort =
      reader.isPlain && !reader.isNull(row) && builder.isShort(reader.to(row) - reader.from(row));
    if (isShort) {
      const [from, to] = [reader.from(row), reader.to(row)];
      builder.addShort(reader.bytes, from, to);
      bytes += to - from;
    } else {
      const count = reader.textsOf(row);
      for (const _ of builder.add({ bytes: reader.bytes, ranges: reader.ranges, count })) {
        held.set(2 * builder.heldBytes);
        yield;
      }
      bytes += 256 * count;
    }
    bytes += 64;
    if (bytes < STEP_BYTES) continue;
    bytes = 0;
    yield;
  }
}

const TERMS = segmentSchema([
  new Field('term', new Utf8(), false),
  new Field('documents', new Uint32(), false),
  new Field('postings', new Binary(), false),
]);
const LENGTHS = segmentSchema([new Field('tokens', new Uint32(), false)]);
const POSITIONS = segmentSchema([new Field(SEALED_POSITIONS, new Binary(), false)]);

const NO_CELL = new Uint8Array(0);

/** A file has a row at least: of texts without a word, one of no word in no document. */
function termRows(builder: PostingsBuilder, order: Uint32Array): RecordBatchStream {
  const batches = async function* (): AsyncGenerator<RecordBatch> {
    if (order.length === 0) {
      const columns = [
        bytesColumn(new Utf8(), [NO_CELL]),
        numberColumn([0]),
        bytesColumn(new Binary(), [NO_CELL]),
      ];
      yield recordBatch(TERMS, columns, 1);
    }
    for (const terms of slices(order)) {
      const all = Array.from(terms);
      yield recordBatch(
        TERMS,
        [
          bytesColumn(
            new Utf8(),
            all.map((term) => builder.termOf(term)),
          ),
          numberColumn(all.map((term) => builder.documentsOf(term))),
          bytesColumn(
            new Binary(),
            all.map((term) => builder.postingsOf(term)),
          ),
        ],
        all.length,
      );
    }
  };
  return recordBatchStream(TERMS, batches());
}

function positionRows(builder: PostingsBuilder, order: Uint32Array): RecordBatchStream {
  const batches = async function* (): AsyncGenerator<RecordBatch> {
    if (order.length === 0) yield recordBatch(POSITIONS, [bytesColumn(new Binary(), [NO_CELL])], 1);
    for (const terms of slices(order)) {
      const all = Array.from(terms, (term) => builder.positionsOf(term));
      yield recordBatch(POSITIONS, [bytesColumn(new Binary(), all)], all.length);
    }
  };
  return recordBatchStream(POSITIONS, batches());
}

function lengthRows({ lengths, documents }: PostingsBuilder): RecordBatchStream {
  const batches = async function* (): AsyncGenerator<RecordBatch> {
    for (let from = 0; from < documents; from += BATCH_LENGTHS) {
      const values = lengths.slice(from, Math.min(documents, from + BATCH_LENGTHS));
      yield recordBatch(LENGTHS, [dataOf(new Uint32(), values.length, { values })], values.length);
    }
  };
  return recordBatchStream(LENGTHS, batches());
}

function* slices(order: Uint32Array): Generator<Uint32Array> {
  for (let from = 0; from < order.length; from += BATCH_TERMS) {
    yield order.subarray(from, from + BATCH_TERMS);
  }
}
