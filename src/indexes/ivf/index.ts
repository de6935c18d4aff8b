/**
 * Exports the building and searching of IVF indexes of vectors in memory: `IvfBuilder` makes
 * partitions, `Probe` searches them in the memory of kernels that `PartitionMemory` lends, and
 * functions such as `blockBytes` compute the sizes of their parts in bytes.
 */

export { IvfBuilder, type IvfOptions, MOST_PARTITIONS, type Partition } from './builder.ts';
export { BLOCK_ROWS, blockBytes, lengthOf, MOST_ELEMENTS, rowBytes } from './layout.ts';
export { PartitionMemory, requirePartitions } from './memory.ts';
export { type PartitionFacts, type PartitionPlace, Probe } from './probe.ts';
export type { IvfMetric } from './rows.ts';
