/**
 * Remembers index segments that cannot be read (`noteDamage`, `damageOf`), so that not every query
 * reads them again: 10,000 files for each open catalog. `withoutDamage` runs work that reads
 * indexes, and repeats it if it meets damage of an index; the damaged segment then covers nothing
 * (coverage.ts). Damage of other files is thrown.
 */
import { type DirspaceError, isDirspaceError } from '../../errors.ts';
import { type IndexSegment, indexFile } from '../../format/index.ts';
import type { Awaitable } from '../../store/index.ts';
import type { Engine, Snapshot } from '../versions/index.ts';

/** By the cache of an open catalog: what is wrong, by the paths of the files. */
const known = new WeakMap<Engine['cache'], Map<string, string>>();

/** Files remembered for a catalog; the oldest give way. */
const MOST = 10_000;

const filesOf = ({ branch }: Snapshot, { files }: IndexSegment): string[] =>
  files.map(({ file }) => indexFile(branch.tableFolder, file));

/** What is wrong with a file of the segment, as far as that was met. */
export function damageOf(
  engine: Engine,
  snapshot: Snapshot,
  segment: IndexSegment,
): string | undefined {
  const ofCatalog = known.get(engine.cache);
  if (ofCatalog === undefined) return undefined;
  for (const file of filesOf(snapshot, segment)) {
    const damage = ofCatalog.get(file);
    if (damage !== undefined) return damage;
  }
  return undefined;
}

/** Whether the error is damage of a file of the version's indexes, which is remembered then. */
export function noteDamage(engine: Engine, snapshot: Snapshot, error: unknown): boolean {
  if (!isDirspaceError(error, 'Corrupt')) return false;
  const file = (error as DirspaceError).details?.file;
  const { indexes = [] } = snapshot.manifest;
  const isOfIndex = indexes.some(({ segments }) =>
    segments.some((segment) => filesOf(snapshot, segment).includes(file as string)),
  );
  if (!isOfIndex) return false;
  let ofCatalog = known.get(engine.cache);
  if (ofCatalog === undefined) {
    ofCatalog = new Map();
    known.set(engine.cache, ofCatalog);
  }
  ofCatalog.set(file as string, (error as DirspaceError).message);
  const [oldest] = ofCatalog.keys();
  if (ofCatalog.size > MOST) ofCatalog.delete(oldest as string);
  return true;
}

/**
 * @param forget is called before the work runs again
 * @throws what the work throws, but for damage of the version's indexes
 */
export async function withoutDamage<Result>(
  engine: Engine,
  snapshot: Snapshot,
  forget: (snapshot: Snapshot) => void,
  work: () => Awaitable<Result>,
): Promise<Result> {
  const { indexes = [] } = snapshot.manifest;
  // Each round meets another segment.
  let rounds = indexes.reduce((sum, { segments }) => sum + segments.length, 0);
  while (true) {
    try {
      return await work();
    } catch (error) {
      if (!noteDamage(engine, snapshot, error) || rounds-- <= 0) throw error;
      forget(snapshot);
    }
  }
}
