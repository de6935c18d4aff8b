/**
 * `syncLance` updates the files by which Lance opens a table by its path, for all versions, tags
 * and branches, and reports what it did. It compares the content of each file. Manifests of other
 * programs are renamed so that Lance does not find them, and what refused or killed writers of
 * Lance left is removed after seven days. It writes nothing for a table that was never written for
 * Lance. It throws TableNotFound if the table leaves its place, and ServiceUnavailable if a
 * manifest cannot be placed.
 */
import { type Engine, mainBranch, resolveHead } from '../versions/index.ts';
import { lanceDebris, lanceTemporaries } from './lance-leftovers.ts';
import { type PlacedRefs, placeRefs } from './lance-refs.ts';
import { type PlaceOptions, placeVersions } from './lance-versions.ts';
import { lanceProblem } from './lance-view.ts';

export interface LanceSynced extends PlacedRefs {
  /** Why Lance cannot read the newest version, as a whole sentence; undefined where it can. */
  readonly problem: string | undefined;
}

/**
 * Writes nothing for a table that was never written for Lance.
 * @param now the time by the file system's clock, in milliseconds
 * @throws TableNotFound where the table left its place
 */
export async function syncLance(
  engine: Engine,
  tableFolder: string,
  incarnation: string,
  now: () => Promise<number>,
  signal?: AbortSignal,
): Promise<LanceSynced> {
  const main = mainBranch(tableFolder, incarnation);
  const snapshot = (await resolveHead(engine, main))?.snapshot;
  if (snapshot?.manifest.lance !== true) {
    const problem =
      snapshot === undefined ? 'It has no version yet.' : await lanceProblem(snapshot);
    return { ...NOTHING, problem };
  }
  const options: PlaceOptions = { thorough: true, signal };
  const versions = await placeVersions(engine, main, options);
  const refs = await placeRefs(engine, tableFolder, incarnation, options);
  const inTheWay = [...versions.inTheWay, ...refs.inTheWay];
  let removed = versions.removed + refs.removed;
  const debris = await lanceDebris(engine, tableFolder);
  debris.push(...(await lanceTemporaries(engine, tableFolder)));
  const time = debris.length === 0 ? 0 : await now();
  for (const { file, modified } of debris)
    if (time - modified >= DEBRIS_GRACE && (await engine.store.delete(file))) removed++;
  return {
    versions: versions.versions + refs.versions,
    written: versions.written + refs.written,
    removed,
    setAside: [...versions.setAside, ...refs.setAside],
    inTheWay,
    unnamed: refs.unnamed,
    strangers: refs.strangers,
    problem: problemOf(inTheWay) ?? (await lanceProblem(snapshot)),
  };
}

const problemOf = ([path]: readonly string[]): string | undefined =>
  path === undefined
    ? undefined
    : `${path} is a folder or a link and has the name of a manifest, so Lance may open another version by path than the newest, or none. Move it away, then synchronize the table again.`;

/**
 * A writer of Lance that may yet publish what it wrote is at work no longer than this, in
 * milliseconds.
 */
const DEBRIS_GRACE = 7 * 24 * 3_600_000;

const NOTHING = {
  versions: 0,
  written: 0,
  removed: 0,
  setAside: [],
  inTheWay: [],
  unnamed: [],
  strangers: [],
} satisfies PlacedRefs;
