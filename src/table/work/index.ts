/**
 * Exports the resources that work on tables shares: caches, read buffers, queues, synchronous
 * continuation (`andThen`), yielding to the event loop, staging folders, and the writing and quiet
 * deletion of new files.
 */

export { andThen } from './awaitable.ts';
export { ByteCache, CacheBudget } from './cache.ts';
export { DEFAULT_BUFFER_BYTES, type KeptMemory, keptMemory } from './kept-memory.ts';
export { Queue } from './queue.ts';
export { LentColumns, type MemorySource, SCRATCH_BYTES, Scratch } from './scratch.ts';
export { stagingFolder } from './staging-folder.ts';
export { inTurns, Turn } from './turn.ts';
export { deleteQuietly, writeObject } from './write-object.ts';
