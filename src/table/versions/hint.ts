/**
 * Reads and writes the hint of a branch, a small file that names one of the newest versions, where
 * readers start to search. `readHint` returns that number, or undefined if the hint is torn,
 * missing or not usable. `writeHint` writes it for every eighth version (`HINT_EVERY`), `hintAt`
 * for any, and `hintNamed` makes sure that it names a version or a later one. Errors of the store
 * are ignored, because the hint does not decide which versions exist, and losing it is harmless. A
 * hint above every existing version shows that versions were lost (lost-versions.ts).
 */
import { isDirspaceError } from '../../errors.ts';
import { latestFile, parseVersionDigits, refuseNewer, versionDigits } from '../../format/index.ts';
import { encodeChecksummed, parseChecksummed, stringMember } from '../../json.ts';
import type { Engine } from './engine.ts';
import type { TableBranch } from './head.ts';

/** Looking at a few more names costs a reader less than a hint costs every commit. */
export const HINT_EVERY = 8;
/** A hint that names a version above it is none: numbers after it must be free to be used. */
export const LARGEST_HINTED = 2 ** 52;

/**
 * Losing a hint costs time, nothing else: the version is there, and its commit must not fail now.
 */
export async function writeHint(engine: Engine, branch: TableBranch, slot: number): Promise<void> {
  if (slot % HINT_EVERY === 0) await hintAt(engine, branch, slot);
}

/**
 * Makes sure that the hint names the version or a later one. For what is to name it as well, a tag
 * or a branch: were the version lost, its number would be used again, and they would name other
 * rows.
 */
export async function hintNamed(
  engine: Engine,
  branch: TableBranch,
  version: number,
): Promise<void> {
  if (((await readHint(engine, branch)) ?? 0) < version) await hintAt(engine, branch, version);
}

/** Writes the hint whatever the number of the version. */
export async function hintAt(engine: Engine, branch: TableBranch, slot: number): Promise<void> {
  const { bytes } = encodeChecksummed({ version: versionDigits(slot) });
  try {
    await engine.store.putHint(latestFile(branch.folder), bytes);
  } catch (error) {
    if (!isDirspaceError(error)) throw error;
  }
}

/**
 * The version that the hint names. It may be torn, stale, missing or a newer release's: then none.
 */
export async function readHint(engine: Engine, branch: TableBranch): Promise<number | undefined> {
  const file = latestFile(branch.folder);
  const bytes = await engine.store.getHint(file);
  const version = bytes === undefined ? undefined : parseHint(bytes, file);
  return version === undefined || version < 1 || version > LARGEST_HINTED ? undefined : version;
}

function parseHint(bytes: Uint8Array, file: string): number | undefined {
  try {
    const { document } = parseChecksummed(bytes, file);
    if (Object.hasOwn(document, 'format')) refuseNewer(document, file);
    return parseVersionDigits(stringMember(document, 'version', file));
  } catch {
    return undefined;
  }
}
