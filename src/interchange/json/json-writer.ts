/**
 * Writes rows as JSON: one object per line (`encodeJsonLines`), or one array with an object per
 * line (`encodeJson`). The bytes come in pieces that are made as they are pulled.
 */
import { columnsOf, type RecordBatchStream } from '../../arrow/index.ts';
import { PIECE_BYTES, TextOut } from '../text/index.ts';
import { objectOf } from './json-cells.ts';

const LF = 10;
const COMMA = 44;

export const encodeJsonLines = (rows: RecordBatchStream): AsyncGenerator<Uint8Array> =>
  encoded(rows, false);

export const encodeJson = (rows: RecordBatchStream): AsyncGenerator<Uint8Array> =>
  encoded(rows, true);

async function* encoded(rows: RecordBatchStream, isArray: boolean): AsyncGenerator<Uint8Array> {
  const out = new TextOut();
  const { fields } = rows.schema;
  let isFirst = true;
  if (isArray) out.byte(91);
  for await (const batch of rows) {
    const write = objectOf(fields, columnsOf(batch));
    for (let row = 0; row < batch.numRows; row++) {
      if (isArray) {
        if (!isFirst) out.byte(COMMA);
        out.byte(LF);
      }
      write(out, row);
      if (!isArray) out.byte(LF);
      isFirst = false;
      if (out.at >= PIECE_BYTES) yield out.take();
    }
  }
  if (isArray) out.ascii(isFirst ? ']\n' : '\n]\n');
  if (out.at > 0) yield out.take();
}
