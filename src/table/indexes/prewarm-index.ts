/**
 * `prewarmIndex` reads and verifies all columns of an index, so that they are cached before the
 * first query. It returns the size of the index files in bytes, or undefined if the version has no
 * index of that name. If the columns do not fit the cache, later ones evict earlier ones.
 */
import { openFragment } from '../fragments/index.ts';
import type { Engine, Snapshot } from '../versions/index.ts';
import { Turn } from '../work/index.ts';
import { entryOf } from './segment.ts';

/**
 * The bytes of its files; undefined where the version has no index of that name.
 * @throws Corrupt
 */
export async function prewarmIndex(
  engine: Engine,
  snapshot: Snapshot,
  name: string,
  signal?: AbortSignal,
): Promise<number | undefined> {
  const index = snapshot.manifest.indexes?.find((one) => one.name === name);
  if (index === undefined) return undefined;
  const turn = new Turn(engine.env);
  let bytes = 0;
  for (const file of index.segments.flatMap(({ files }) => files)) {
    bytes += file.bytes;
    const reader = await openFragment(engine, snapshot, entryOf(file), { keep: true, turn });
    try {
      const columns = [...reader.footer.schema.fields.keys()];
      for (const batch of reader.footer.batches.keys()) {
        await reader.columns(batch, columns);
        if (turn.isOver()) await turn.pass();
        signal?.throwIfAborted();
      }
    } finally {
      reader.close();
    }
  }
  return bytes;
}
