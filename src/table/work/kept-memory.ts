/**
 * `keptMemory`: creates the memory that open catalogs keep: budgets for the caches of metadata and
 * of table data, and read buffers. A server shares one among all catalogs that it opens, so that
 * memory does not grow with their number.
 */
import { CacheBudget } from './cache.ts';
import { Scratch } from './scratch.ts';

export interface KeptMemory {
  readonly cache: CacheBudget;
  readonly heads: CacheBudget;
  readonly buffers: CacheBudget;
  readonly scratch: Scratch;
}

const DEFAULT_CACHE_BYTES: number = 64 * 1024 * 1024;
/** Bytes of table data that are kept where nothing else is said. */
export const DEFAULT_BUFFER_BYTES: number = 128 * 1024 * 1024;

/**
 * Budgets for the caches of one engine, or of several that share them.
 * @param cacheBytes of metadata
 * @param bufferBytes of table data
 */
export const keptMemory = (
  cacheBytes: number = DEFAULT_CACHE_BYTES,
  bufferBytes: number = DEFAULT_BUFFER_BYTES,
): KeptMemory => ({
  cache: new CacheBudget(cacheBytes / 2),
  heads: new CacheBudget(cacheBytes / 2),
  buffers: new CacheBudget(bufferBytes),
  scratch: new Scratch(),
});
