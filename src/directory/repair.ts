/**
 * Taking out of the way what keeps a catalog from being read: a torn end of a branch, tags nobody
 * can read, empty folders. All of it goes to `.dirspace/quarantine/`, with a record of where it
 * was; nothing is ever deleted for good.
 */
import { encodeChecksummed } from '../format/json.ts';
import { DETACHED_FOLDER, joinPath, PRIVATE_FOLDER } from '../format/paths.ts';
import type { RepairAction, RepairRequest, RepairResponse } from '../protocol/extensions.ts';
import type { CallOptions } from '../protocol/namespace.ts';
import type { VerifiedBranch } from '../table/verify-manifest.ts';
import { writeObject } from '../table/write-object.ts';
import { beginWrite, type Catalog } from './catalog.ts';
import { type Inspection, inspectCatalog, SHARED_NAME } from './verify.ts';

const QUARANTINE_FOLDER = `${PRIVATE_FOLDER}/quarantine`;

interface Plan {
  readonly path: string;
  /** A table that is detached can be registered under another name. */
  readonly kind: 'file' | 'folder' | 'detach';
  readonly why: string;
}

/**
 * Nobody else should write to the catalog meanwhile.
 * @throws NamespaceNotFound for a namespace that is not there
 */
export async function repairCatalog(
  catalog: Catalog,
  request: RepairRequest,
  options: CallOptions = {},
): Promise<RepairResponse> {
  const apply = request.apply ?? false;
  if (apply) await beginWrite(catalog);
  const inspection = await inspectCatalog(catalog, request.id, options);
  const plans = planRepair(inspection);
  const mended = new Set(plans.map(({ path }) => path));
  if (!apply) {
    const left = inspection.findings.problems.filter(({ path }) => !mended.has(path));
    return { applied: false, actions: plans.map(({ path, why }) => ({ path, why })), left };
  }
  const actions = plans.length === 0 ? [] : await quarantine(catalog, plans);
  for (const { branch } of inspection.branches) catalog.engine.heads.delete(branch.folder);
  const { findings } = await inspectCatalog(catalog, request.id, options);
  return { applied: true, actions, left: findings.problems };
}

function planRepair({ findings, branches }: Inspection): Plan[] {
  const plans: Plan[] = branches.flatMap(tornEnd);
  for (const { path, kind, what } of findings.problems) {
    const isRecord = kind === 'tag' && !what.startsWith('It names version');
    if (isRecord) plans.push({ path, kind: 'file', why: what });
    if (kind === 'table' && what === SHARED_NAME) plans.push({ path, kind: 'detach', why: what });
  }
  for (const { path, kind } of findings.leftovers) {
    if (kind === 'empty folder')
      plans.push({ path, kind: 'folder', why: 'It is an empty folder.' });
  }
  return plans;
}

/**
 * The versions after the newest one of which everything verifies, newest first, so that after a
 * crash half way the rest is still a torn end. None where no version is whole: there is nothing to
 * fall back to.
 */
function tornEnd({ versions }: VerifiedBranch): Plan[] {
  const whole = versions.findLastIndex(({ damage }) => damage === undefined);
  if (whole < 0) return [];
  return versions
    .slice(whole + 1)
    .reverse()
    .map(({ path, damage }) => ({ path, kind: 'file', why: damage ?? '' }));
}

/** The record is written first: whatever happens after it, it says where things belong. */
async function quarantine(catalog: Catalog, plans: readonly Plan[]): Promise<RepairAction[]> {
  const { store, env } = catalog;
  const folder = `${QUARANTINE_FOLDER}/${env.uuid()}`;
  const moves = plans.map((plan, at) => ({
    ...plan,
    quarantined:
      plan.kind === 'detach'
        ? `${DETACHED_FOLDER}/${env.uuid()}.table`
        : joinPath(folder, `${at}-${plan.path.slice(plan.path.lastIndexOf('/') + 1)}`),
  }));
  await store.createFolder(folder);
  const record = encodeChecksummed({
    format: 1,
    quarantined_at: env.now(),
    items: moves.map(({ path, why, quarantined }) => ({ path, why, quarantined })),
  });
  await writeObject(store, joinPath(folder, 'record.json'), record.bytes);
  await store.syncFolders([folder]);
  for (const { path, kind, quarantined } of moves) {
    if (kind !== 'file') {
      await store.moveFolder(path, quarantined);
      continue;
    }
    const bytes = await store.get(path);
    if (bytes === undefined) continue;
    await writeObject(store, quarantined, bytes);
    await store.syncFolders([folder]);
    await store.delete(path);
    await store.syncFolders([path.slice(0, path.lastIndexOf('/'))]);
  }
  return moves.map(({ path, why, quarantined }) => ({ path, why, quarantined }));
}
