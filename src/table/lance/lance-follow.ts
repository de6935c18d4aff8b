/**
 * Updates the files by which Lance opens a table by its path, if the table's mode asks for it:
 * after each commit (`followCommit`), and after each change of tags and branches (`followTable`). A
 * failure here never fails the change. verify and describe then report that Lance does not find the
 * newest state, and the next commit or `syncLance` repairs it.
 */
import { decodeTable, joinPath, TABLE_FILE, type TableRecord } from '../../format/index.ts';
import { followsByPath, isLanceMode, type LanceMode } from '../../lance-mode.ts';
import { type Engine, mainBranch, resolveHead, type Snapshot } from '../versions/index.ts';
import { placeRefs } from './lance-refs.ts';
import { placeVersion, placeVersions } from './lance-versions.ts';

/** Never rejects. */
export async function followCommit(engine: Engine, snapshot: Snapshot): Promise<void> {
  if (snapshot.manifest.lance !== true) return;
  try {
    if (followsByPath(await lanceModeOf(engine, snapshot))) await placeVersion(engine, snapshot);
  } catch {
    // The version is committed, whatever becomes of its second name.
  }
}

/** What a change of a table besides a commit makes different. */
export interface Followed {
  /** Versions are gone, or the whole table has another place. */
  readonly versions?: boolean;
}

/** After tags, branches or versions came or went. Never rejects. */
export async function followTable(
  engine: Engine,
  tableFolder: string,
  incarnation: string,
  { versions = false }: Followed = {},
): Promise<void> {
  try {
    const main = mainBranch(tableFolder, incarnation);
    const snapshot = (await resolveHead(engine, main))?.snapshot;
    if (snapshot?.manifest.lance !== true) return;
    if (!followsByPath(await lanceModeOf(engine, snapshot))) return;
    if (versions) await placeVersions(engine, main);
    await placeRefs(engine, tableFolder, incarnation);
  } catch {
    // The change is made, whatever becomes of what Lance sees of it.
  }
}

/** The table's own mode, or its catalog's where it has none. */
export async function lanceModeOf(engine: Engine, snapshot: Snapshot): Promise<LanceMode> {
  const { tableFolder, incarnation } = snapshot.branch;
  const record = await recordOf(engine, tableFolder, incarnation);
  const versioned = snapshot.manifest.properties;
  const isLater = versioned !== undefined && versioned.since > (record?.since ?? 0);
  const { lance } = isLater ? versioned.values : (record?.properties ?? {});
  return isLanceMode(lance) ? lance : engine.lance;
}

/** As it was read last: every operation on a table begins with reading it. */
async function recordOf(
  engine: Engine,
  tableFolder: string,
  incarnation: string,
): Promise<TableRecord | undefined> {
  const known = engine.heads.record(tableFolder)?.record;
  if (known?.id === incarnation) return known;
  const file = joinPath(tableFolder, TABLE_FILE);
  const bytes = await engine.store.get(file);
  const record = bytes === undefined ? undefined : decodeTable(bytes, file);
  return record?.id === incarnation ? record : undefined;
}
