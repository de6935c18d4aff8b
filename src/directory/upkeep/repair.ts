/**
 * `repairCatalog` repairs a damaged catalog or namespace; without `apply` it only lists what it
 * would do. Nobody else should write to the catalog meanwhile. It moves damaged tags and manifests,
 * stray fragments, ghosts and empty folders into quarantine, and records where each was. A branch
 * whose newest versions are damaged or lost continues from its newest whole version. A new version
 * leaves damaged index files out. A damaged or missing format file is written again; if nothing
 * tells whether versions are managed, the request has to, or nothing is done. Problems that it
 * cannot repair are returned as `left`. A missing namespace throws NamespaceNotFound. verify.ts
 * finds the problems.
 */

import {
  detachedFolder,
  FORMAT_FILE,
  joinPath,
  lastName,
  latestFile,
  MAIN_BRANCH,
  PRIVATE_FOLDER,
  parentFolder,
  parseVersionFile,
  QUARANTINE_FOLDER,
  versionFile,
} from '../../format/index.ts';
import type {
  CallOptions,
  RepairAction,
  RepairRequest,
  RepairResponse,
  VerifyProblem,
} from '../../protocol/index.ts';
import {
  type Acceptance,
  acceptVersion,
  dropSegments,
  planAcceptance,
  segmentsOn,
  type VerifiedBranch,
  WITHOUT_MANIFEST,
  writeObject,
} from '../../table/index.ts';
import { beginWrite, type Catalog, GHOST, recordQuarantine } from '../catalog/index.ts';
import { type Inspection, inspectCatalog, SHARED_NAME } from './verify.ts';

/** In bytes; a larger file is moved. */
const LARGEST_COPY = 64 * 1024 * 1024;

interface Plan {
  readonly path: string;
  /**
   * A table that is detached can be registered under another name. A file that is about to be
   * replaced stays until then: a crash in between must not lose what it says. What is lost cannot be
   * moved.
   */
  readonly kind: 'file' | 'folder' | 'detach' | 'replaced' | 'lost';
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
  const format = (request.id ?? []).length > 0 ? undefined : await mendFormat(catalog, request);
  if (format?.unknown === true) {
    return {
      applied: apply,
      actions: [],
      left: [{ path: FORMAT_FILE, kind: 'format', what: format.why }],
    };
  }
  if (apply) await beginWrite(catalog);
  const inspection = await inspectCatalog(catalog, request.id, options);
  const ends: Acceptance[] = [];
  const plans: Plan[] = [];
  for (const branch of inspection.branches) {
    const end = await planAcceptance(catalog.engine, branch);
    if (end !== undefined) {
      ends.push(end);
      plans.push(...endOf(end, branch));
    } else plans.push(...unprovenHint(branch, inspection.branches));
  }
  plans.push(...planRepair(inspection));
  const indexed = brokenIndexes(inspection, ends);
  const first = format === undefined ? [] : [format.action];
  const mended = new Set([...first, ...plans].map(({ path }) => path));
  if (!apply) {
    const left = inspection.findings.problems.filter(
      (problem) => !mended.has(problem.path) && !ends.some(goesWith(problem)),
    );
    const actions = [
      ...first,
      ...plans.map(({ path, why }) => ({ path, why })),
      ...indexed.flatMap((broken) => broken.actions),
    ];
    return { applied: false, actions, left };
  }
  const actions =
    plans.length === 0 ? [...first] : [...first, ...(await quarantine(catalog, plans))];
  for (const end of ends) await acceptVersion(catalog.engine, end);
  for (const { branch } of inspection.branches) catalog.engine.heads.forgetHead(branch);
  for (const broken of indexed) {
    await dropSegments(catalog.engine, broken.branch, broken.files);
    actions.push(...broken.actions);
  }
  const { findings } = await inspectCatalog(catalog, request.id, options);
  return { applied: true, actions, left: findings.problems };
}

type FormatRepair =
  | { readonly unknown: true; readonly why: string }
  | { readonly unknown: false; readonly action: RepairAction };

/**
 * Writes the format file anew where it is damaged or missing, if `apply` is set. If nothing tells
 * whether versions are managed, the request has to: repair then does nothing else.
 */
async function mendFormat(
  catalog: Catalog,
  request: RepairRequest,
): Promise<FormatRepair | undefined> {
  const { format, store, readOnly } = catalog;
  const problem = await format.check();
  if (problem === undefined) return undefined;
  const { foldsCase, managed: found, lance } = await format.propose();
  const managed = request.managed_versioning ?? found;
  if (managed === undefined) {
    const why = `${problem.message} Nothing tells whether versions are managed, so say it with the request: managed_versioning is true or false (--managed-versioning of the command line); it is false unless the catalog was switched.`;
    return { unknown: true, why };
  }
  const why = `${problem.message} It is written anew: folds_case ${foldsCase}, managed_versioning ${managed}, lance ${lance}.`;
  const action = { path: FORMAT_FILE, why };
  if (request.apply !== true) return { unknown: false, action };
  if (readOnly) await beginWrite(catalog);
  let quarantined: string | undefined;
  const parent = (await store.list(PRIVATE_FOLDER)) ?? [];
  const kind = parent.find(({ name }) => joinPath(PRIVATE_FOLDER, name) === FORMAT_FILE)?.kind;
  if (kind === 'file' || kind === 'folder') {
    const how = kind === 'file' ? 'replaced' : kind;
    const [moved] = await quarantine(catalog, [{ path: FORMAT_FILE, kind: how, why }]);
    quarantined = moved?.quarantined;
  }
  await format.mend(foldsCase, managed, lance);
  return {
    unknown: false,
    action: { ...action, ...(quarantined === undefined ? {} : { quarantined }) },
  };
}

/** A branch whose newest version names files of indexes that cannot be read. */
interface BrokenIndexes {
  readonly branch: VerifiedBranch['branch'];
  readonly files: ReadonlySet<string>;
  readonly actions: readonly RepairAction[];
}

/** Of branches that can be committed to; with the version that is accepted as the newest one. */
function brokenIndexes(
  { findings, branches }: Inspection,
  ends: readonly Acceptance[],
): BrokenIndexes[] {
  const { problems } = findings;
  const files = new Set(problems.flatMap(({ path, kind }) => (kind === 'index' ? path : [])));
  const detached = problems.flatMap(({ path, what }) => (what === SHARED_NAME ? path : []));
  if (files.size === 0) return [];
  return branches.flatMap(({ branch, versions, lost }) => {
    if (detached.includes(branch.tableFolder)) return [];
    const end = ends.find((one) => one.branch === branch);
    const newest =
      end === undefined
        ? versions.at(-1)
        : versions.find(({ version }) => version === end.accepted);
    if (end === undefined && (lost !== undefined || newest?.damage !== undefined)) return [];
    if (newest?.manifest === undefined) return [];
    const actions = segmentsOn(branch, newest.manifest, files).map(({ index, path }) => ({
      path,
      why: `It is damaged or missing. A new version of branch ${branch.branch} leaves it out of the index ${index}. All rows and versions stay; rows that it covered are scanned until optimize builds this part of the index anew.`,
    }));
    return actions.length === 0 ? [] : [{ branch, files, actions }];
  });
}

function planRepair({ findings }: Inspection): Plan[] {
  const plans: Plan[] = [];
  for (const { path, kind, what } of findings.problems) {
    const isRecord = kind === 'tag' && !what.startsWith('It names version');
    if (kind === 'fragment' && what === WITHOUT_MANIFEST)
      plans.push({ path, kind: 'file', why: what });
    if (isRecord) plans.push({ path, kind: 'file', why: what });
    if (kind === 'table' && what === SHARED_NAME) plans.push({ path, kind: 'detach', why: what });
  }
  for (const { path, kind } of findings.leftovers) {
    if (kind === 'empty folder')
      plans.push({ path, kind: 'folder', why: 'It is an empty folder.' });
    if (kind === 'ghost') plans.push({ path, kind: 'folder', why: GHOST });
  }
  return plans;
}

/**
 * The hint of a table that has no version at all, on no branch. Without it, and without its
 * fragments, the table is declared.
 */
function unprovenHint(
  { branch, lost }: VerifiedBranch,
  branches: readonly VerifiedBranch[],
): Plan[] {
  if (lost === undefined || lost.newest > 0 || branch.branch !== MAIN_BRANCH) return [];
  const hasVersion = (other: VerifiedBranch): boolean =>
    other.branch.tableFolder === branch.tableFolder && other.versions.length > 0;
  if (branches.some(hasVersion)) return [];
  const why = `${lost.what} There is none to accept.`;
  return [{ path: latestFile(branch.folder), kind: 'file', why }];
}

/** What is done to the end of a branch whose newest versions are lost or damaged. */
function endOf(plan: Acceptance, { lost }: VerifiedBranch): Plan[] {
  const { branch, accepted, first, last, torn } = plan;
  const then = `Version ${accepted} is accepted: version ${last + 1} restores it, and the numbers ${first} to ${last} are not used again.`;
  const plans: Plan[] = torn.map(({ path, damage }) => ({
    path,
    kind: 'replaced',
    why: `${damage ?? ''} ${then}`,
  }));
  if (lost === undefined) return plans;
  const path = versionFile(branch.folder, lost.newest + 1);
  return [{ path, kind: 'lost', why: `It is missing. ${lost.what} ${then}` }, ...plans];
}

/** Whether a problem is with one of the numbers that are not used again. */
const goesWith =
  ({ path }: VerifyProblem) =>
  ({ branch, first, last }: Acceptance): boolean => {
    if (!path.startsWith(`${branch.folder}/`)) return false;
    const version = parseVersionFile(path.slice(branch.folder.length + 1));
    return version !== undefined && version >= first && version <= last;
  };

/** The record is written first: whatever happens after it, it says where things belong. */
async function quarantine(catalog: Catalog, plans: readonly Plan[]): Promise<RepairAction[]> {
  const { store, env } = catalog;
  const folder = `${QUARANTINE_FOLDER}/${env.uuid()}`;
  const moves = plans.map((plan, at) => ({
    ...plan,
    quarantined:
      plan.kind === 'lost'
        ? undefined
        : plan.kind === 'detach'
          ? detachedFolder(env.uuid())
          : joinPath(folder, `${at}-${lastName(plan.path)}`),
  }));
  await recordQuarantine(catalog, folder, moves.map(itemOf));
  for (const { path, kind, quarantined } of moves) {
    if (quarantined === undefined) continue;
    if (kind === 'folder' || kind === 'detach') {
      await store.moveFolder(path, quarantined);
      continue;
    }
    if (((await store.head(path))?.size ?? 0) > LARGEST_COPY) {
      await store.renameFile(path, quarantined);
      continue;
    }
    const bytes = await store.get(path);
    if (bytes === undefined) continue;
    await writeObject(store, quarantined, bytes);
    await store.syncFolders([folder]);
    if (kind === 'replaced') continue;
    await store.delete(path);
    await store.syncFolders([parentFolder(path)]);
  }
  return moves.map(itemOf);
}

const itemOf = ({
  path,
  why,
  quarantined,
}: Plan & { readonly quarantined: string | undefined }): RepairAction =>
  quarantined === undefined ? { path, why } : { path, why, quarantined };
