/**
 * `keptMemory` creates the memory that open catalogs keep: budgets for the caches of metadata (64
 * MiB if not said otherwise) and of table data (128 MiB), a cache of sketches of vectors (twice
 * that for table data), and a pool of read buffers. A server shares one among all catalogs that it
 * opens, so that memory does not grow with their number.
 */
import { SketchCache } from '../../vector/index.ts';
import { CacheBudget } from './cache.ts';
import { Scratch } from './scratch.ts';

export interface KeptMemory {
  /** For immutable metadata, such as chunks. */
  readonly cache: CacheBudget;
  /** For newest versions, records and names; shares its bytes with `cache`. */
  readonly heads: CacheBudget;
  readonly buffers: CacheBudget;
  readonly scratch: Scratch;
  readonly sketches: SketchCache;
}

const DEFAULT_CACHE_BYTES: number = 64 * 1024 * 1024;
/** Bytes of table data that are kept where nothing else is said. */
export const DEFAULT_BUFFER_BYTES: number = 128 * 1024 * 1024;

/** Bytes of sketches that are kept where nothing else is said: none where no table data is. */
const defaultVectorBytes = (bufferBytes: number): number => 2 * bufferBytes;

/**
 * Budgets for the caches of one engine, or of several that share them.
 * @param cacheBytes of metadata
 * @param bufferBytes of table data
 * @param vectorBytes of sketches of vectors, which take a quarter of float32 vectors' bytes and a
 * little
 */
export const keptMemory = (
  cacheBytes: number = DEFAULT_CACHE_BYTES,
  bufferBytes: number = DEFAULT_BUFFER_BYTES,
  vectorBytes: number = defaultVectorBytes(bufferBytes),
): KeptMemory => {
  const metadata = new CacheBudget(cacheBytes);
  return {
    cache: metadata,
    heads: metadata,
    buffers: new CacheBudget(bufferBytes),
    scratch: new Scratch(),
    sketches: new SketchCache(vectorBytes),
  };
};
