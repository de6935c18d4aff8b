import type { RecordBatch, RecordBatchStream } from '../../src/arrow/apache.ts';
import {
  type DataInput,
  type DataOptions,
  toRecordBatchStream,
} from '../../src/sdk/convert/data.ts';
import { collectRows, type Row } from '../../src/sdk/convert/rows.ts';

export async function collectBatches(stream: RecordBatchStream): Promise<RecordBatch[]> {
  const batches: RecordBatch[] = [];
  for await (const batch of stream) batches.push(batch);
  return batches;
}

/** What comes out of the engine's door when `data` goes in and is read back as rows. */
export async function throughArrow(data: DataInput, options?: DataOptions): Promise<Row[]> {
  return collectRows(await toRecordBatchStream(data, options));
}
