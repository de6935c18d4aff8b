/**
 * `PartitionMemory` is the WebAssembly memory of one search. It holds one partition at a time, and
 * grows to the largest. `requirePartitions` opens kernels with a memory of their own, and throws
 * Unsupported if the runtime lacks them.
 */

import { DirspaceError } from '../../errors.ts';
import { openPartitions, type PartitionKernels, reserve, SKETCHES_AT } from '../../vector/index.ts';

export class PartitionMemory {
  #kernels: PartitionKernels | undefined;

  /** Where so many bytes may be copied; what was copied before is gone. */
  reserve(bytes: number): { readonly kernels: PartitionKernels; readonly at: number } {
    this.#kernels ??= requirePartitions();
    reserve(this.#kernels.memory, SKETCHES_AT + bytes);
    return { kernels: this.#kernels, at: SKETCHES_AT };
  }
}

/** @throws Unsupported where the runtime lacks the kernels */
export function requirePartitions(open = openPartitions): PartitionKernels {
  const kernels = open();
  if (kernels !== undefined) return kernels;
  throw new DirspaceError(
    'Unsupported',
    'This runtime has no WebAssembly SIMD, which an IVF index needs; vectors are searched exactly without one.',
  );
}
