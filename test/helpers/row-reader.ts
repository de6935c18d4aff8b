/** Runs a reader of rows to its end with a synchronous source of bytes. */
import type { ByteRange } from '../../src/format/fragment/fragment-decoder.ts';
import type { RowReader } from '../../src/format/fragment/sparse-pages.ts';

export function runReader<Result>(
  reader: RowReader<Result>,
  read: (range: ByteRange) => Uint8Array,
): Result {
  let step = reader.next();
  while (!step.done) step = reader.next(step.value.map(read));
  return step.value;
}
