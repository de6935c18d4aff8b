/**
 * `verifyLanceCatalog` verifies `__manifest`, the table by which Lance lists the catalog. It
 * reports as problems: damaged manifests, manifests of other programs, damaged files of this
 * engine's newest version, and unknown files. Temporary and unused files are leftovers. If the
 * catalog's Lance mode keeps the list up to date, a newest version that differs from the catalog is
 * a leftover too. `isLanceCatalog` recognises the folder of that table.
 */
import { isDirspaceError } from '../../errors.ts';
import {
  byLanceCatalogKey,
  fragmentsFolder,
  isOwnTemporary,
  joinPath,
  LANCE_CATALOG,
  LANCE_CATALOG_STALE,
  LANCE_HINT,
  type LanceCatalogVersion,
  lanceDeletionsFolder,
  lanceVersionFile,
  lanceVersionsFolder,
  parseLanceVersionFile,
  parseWriter,
} from '../../format/index.ts';
import { followsByPath } from '../../lance-mode.ts';
import { type Findings, problemIn } from '../../table/index.ts';
import type { Catalog } from '../catalog/index.ts';
import { areSame } from './follow-lance.ts';
import {
  filesOf,
  isRemovable,
  listedRows,
  listedVersions,
  readListedVersion,
  readListing,
} from './lance-catalog.ts';
import { catalogRows } from './lance-catalog-rows.ts';

const MEND = 'Synchronize the catalog with Lance again.';
const FORCED = 'Another program wrote it past the fence, and Lance may take it for the catalog.';

/** Of a folder that holds manifests; without one it is a namespace like any other. */
export async function isLanceCatalog({ store }: Catalog, path: string): Promise<boolean> {
  return path === LANCE_CATALOG && (await store.enter(lanceVersionsFolder(path)));
}

export async function verifyLanceCatalog(catalog: Catalog, findings: Findings): Promise<void> {
  const { store } = catalog;
  const problem = (path: string, kind: 'manifest' | 'fragment' | 'unknown', what: string): void => {
    findings.problems.push({ path, kind, what });
  };
  const used = new Set<string>();
  let isNewest = true;
  for (const version of await listedVersions(catalog)) {
    const path = lanceVersionFile(LANCE_CATALOG, version);
    const what = await problemIn(async () => {
      const found = await readListedVersion(catalog, version);
      if (found === undefined) {
        // A version that was removed since the list was made is nobody's.
        if ((await store.head(path)) !== undefined) problem(path, 'manifest', `${FORCED} ${MEND}`);
        return;
      }
      for (const file of filesOf(found)) used.add(file);
      if (isNewest) await compare(catalog, found, findings);
      isNewest = false;
    });
    if (what === undefined) continue;
    isNewest = false;
    problem(path, 'manifest', `${what} ${MEND}`);
  }
  const folders = [lanceVersionsFolder, fragmentsFolder, lanceDeletionsFolder].map((of) =>
    of(LANCE_CATALOG),
  );
  for (const { name, kind } of (await store.list(LANCE_CATALOG)) ?? []) {
    const path = joinPath(LANCE_CATALOG, name);
    const mark = kind === 'file' ? parseWriter(name) : undefined;
    if (kind === 'file' && path === LANCE_CATALOG_STALE) continue;
    if (mark !== undefined) {
      if (catalog.engine.processes.stateOf(mark) === 'dead')
        findings.leftovers.push({ path, kind: 'temporary' });
    } else if (kind !== 'folder' || !folders.includes(path))
      problem(path, 'unknown', 'It is nothing that the engine makes.');
  }
  for (const folder of folders) {
    for (const { name, kind } of (await store.list(folder)) ?? []) {
      const path = joinPath(folder, name);
      if (kind === 'file' && (used.has(path) || parseLanceVersionFile(name) !== undefined))
        continue;
      const isLeft = isRemovable(name) || name === LANCE_HINT;
      if (kind === 'file' && isOwnTemporary(name))
        findings.leftovers.push({ path, kind: 'temporary' });
      else if (kind === 'file' && isLeft) findings.leftovers.push({ path, kind: 'orphan' });
      else problem(path, 'unknown', 'It is nothing that the engine makes.');
    }
  }
}

/** Compares the newest version with the catalog, and its files with what they were written as. */
async function compare(
  catalog: Catalog,
  found: LanceCatalogVersion,
  findings: Findings,
): Promise<void> {
  const path = lanceVersionFile(LANCE_CATALOG, found.version);
  try {
    const listing = await readListing(catalog, found, true);
    const listed = [...listedRows(listing)].sort(byLanceCatalogKey);
    if (!areSame(listed, await catalogRows(catalog)) && followsByPath(catalog.engine.lance))
      findings.leftovers.push({ path, kind: 'unsynced' });
  } catch (error) {
    if (!isDirspaceError(error, 'Corrupt')) throw error;
    const { file } = error.details;
    findings.problems.push({
      path: typeof file === 'string' ? file : path,
      kind: 'fragment',
      what: `${error.message} ${MEND}`,
    });
  }
}
