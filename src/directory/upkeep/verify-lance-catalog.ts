/**
 * `verifyLanceCatalog`: verifies `__manifest`, the table by which Lance lists the catalog. Its
 * newest version must be this engine's own and undamaged. If it lists an older state of the
 * catalog, that is no damage.
 */
import {
  fragmentsFolder,
  isLanceAside,
  isOwnTemporary,
  joinPath,
  LANCE_CATALOG,
  LANCE_HINT,
  lanceCatalogDigest,
  lanceVersionFile,
  lanceVersionsFolder,
  parseLanceCatalogObject,
  parseLanceVersionFile,
} from '../../format/index.ts';
import { followsByPath } from '../../lance-mode.ts';
import { type Findings, problemIn } from '../../table/index.ts';
import type { Catalog } from '../catalog/index.ts';
import { catalogEntries, isWhole, listedCatalog, readCatalog } from './lance-catalog.ts';

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
  const entries = await catalogEntries(catalog);
  const digest = lanceCatalogDigest(entries);
  const used = new Set<string>();
  const versions = (await listedCatalog(catalog)).sort((a, b) => b - a);
  let isNewest = true;
  for (const version of versions) {
    const path = lanceVersionFile(LANCE_CATALOG, version);
    const found = await readCatalog(catalog, version);
    if (found === undefined) {
      problem(path, 'manifest', `${FORCED} ${MEND}`);
      continue;
    }
    if (found.digest === undefined) problem(path, 'manifest', `It cannot be read. ${MEND}`);
    if (found.file !== undefined) used.add(found.file);
    if (isNewest && found.digest === digest) {
      const what = await problemIn(async () => {
        if (!(await isWhole(catalog, found, entries)))
          throw new Error(`It is not what Lance is to read as the catalog. ${MEND}`);
      });
      if (what !== undefined) problem(found.file ?? path, 'fragment', what);
    } else if (isNewest && found.digest !== undefined && followsByPath(catalog.engine.lance)) {
      findings.leftovers.push({ path, kind: 'unsynced' });
    }
    isNewest = false;
  }
  const folders = [lanceVersionsFolder(LANCE_CATALOG), fragmentsFolder(LANCE_CATALOG)];
  for (const { name, kind } of (await store.list(LANCE_CATALOG)) ?? []) {
    const path = joinPath(LANCE_CATALOG, name);
    if (kind !== 'folder' || !folders.includes(path))
      problem(path, 'unknown', 'It is nothing that the engine makes.');
  }
  for (const folder of folders) {
    for (const { name, kind } of (await store.list(folder)) ?? []) {
      const path = joinPath(folder, name);
      if (kind === 'file' && (used.has(path) || parseLanceVersionFile(name) !== undefined))
        continue;
      const isLeft =
        parseLanceCatalogObject(name) !== undefined || isLanceAside(name) || name === LANCE_HINT;
      if (kind === 'file' && isOwnTemporary(name))
        findings.leftovers.push({ path, kind: 'temporary' });
      else if (kind === 'file' && isLeft) findings.leftovers.push({ path, kind: 'orphan' });
      else problem(path, 'unknown', 'It is nothing that the engine makes.');
    }
  }
}
