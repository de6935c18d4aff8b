/**
 * `withRows` opens the Arrow body of a request as a stream of rows and runs an operation on it. A
 * body of bytes is decoded within limits: the memory for it counts against the request's budget
 * until the operation ends, and data of more than `limits.bodyBytes` bytes, once decompressed,
 * throws PayloadTooLarge. Record batches in memory are passed on as they are, without a limit.
 */
import type { ArrowBody, RecordBatchStream } from '../../arrow/index.ts';
import { openArrowBody } from '../../ipc/index.ts';
import type { RequestMemory } from '../../request-memory.ts';
import { requestMemory, Turn } from '../../table/index.ts';
import type { Catalog } from '../catalog/index.ts';

/** Runs `work` on the rows. Whatever it took of `memory` is given back when it has ended. */
export async function withRows<Result>(
  { engine }: Catalog,
  data: ArrowBody,
  work: (rows: RecordBatchStream, memory: RequestMemory) => Promise<Result>,
): Promise<Result> {
  const memory = requestMemory(engine);
  const turn = new Turn(engine.env);
  try {
    const rows = await openArrowBody(data, {
      memory,
      maxContentBytes: engine.limits.bodyBytes,
      pause: () => turn.pause(),
    });
    return await work(rows, memory);
  } finally {
    memory.giveBack(memory.taken);
  }
}
