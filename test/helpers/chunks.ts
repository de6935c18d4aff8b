/** Encodes and decodes chunks at once, which the engine does in steps. */
import { decodeChunkInSteps, encodeChunkInSteps } from '../../src/format/catalog/chunk.ts';
import type { ChunkEntry, FragmentEntry } from '../../src/format/index.ts';
import { drained } from '../../src/steps.ts';

export const encodeChunk = (
  file: string,
  fragments: readonly FragmentEntry[],
): { bytes: Uint8Array; entry: ChunkEntry } => drained(encodeChunkInSteps(file, fragments));

export const decodeChunk = (bytes: Uint8Array, entry: ChunkEntry, file: string): FragmentEntry[] =>
  drained(decodeChunkInSteps(bytes, entry, file));
