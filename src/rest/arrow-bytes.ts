/** Record batches to the bytes of an Arrow IPC stream or file, one batch at a time. */
import {
  AsyncByteQueue,
  RecordBatchFileWriter,
  type RecordBatchStream,
  RecordBatchStreamWriter,
} from '../arrow.ts';

/** Takes what a writer makes of each batch, so that nothing more than that is in memory. */
class Pieces extends AsyncByteQueue {
  #pieces: Uint8Array[] = [];

  override write(piece: Uint8Array): void {
    if (piece.byteLength > 0) this.#pieces.push(new Uint8Array(piece));
  }

  take(): Uint8Array[] {
    const pieces = this.#pieces;
    this.#pieces = [];
    return pieces;
  }
}

type Writer = RecordBatchStreamWriter | RecordBatchFileWriter;

async function* encode(writer: Writer, rows: RecordBatchStream): AsyncGenerator<Uint8Array> {
  const pieces = new Pieces();
  writer.reset(pieces, rows.schema);
  for await (const batch of rows) {
    writer.write(batch);
    yield* pieces.take();
  }
  writer.finish();
  yield* pieces.take();
}

export function encodeIpcStream(rows: RecordBatchStream): AsyncIterable<Uint8Array> {
  return encode(new RecordBatchStreamWriter({ autoDestroy: false }), rows);
}

export function encodeIpcFile(rows: RecordBatchStream): AsyncIterable<Uint8Array> {
  return encode(new RecordBatchFileWriter({ autoDestroy: false }), rows);
}
