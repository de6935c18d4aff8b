/**
 * Reads the properties of a table at a version (`storedProperties`): those of its record, or those
 * that the version has if they are newer. From them follow the compression of new fragments
 * (`compressionOf`) and the table's Lance mode, which defaults to the catalog's (`lanceModeOf`).
 * `lanceWritten` marks in a manifest whether Lance's clients may write the table; if the table is
 * not written for Lance, it returns the manifest as it is. The record may be one that was read
 * earlier in the same operation.
 */
import { type Compression, DEFAULT_COMPRESSION, isCompression } from '../../compression.ts';
import {
  decodeTable,
  joinPath,
  type Manifest,
  TABLE_FILE,
  type TableRecord,
} from '../../format/index.ts';
import { isLanceMode, type LanceMode } from '../../lance-mode.ts';
import type { Engine } from './engine.ts';
import type { TableBranch } from './head.ts';

type Properties = Readonly<Record<string, string>>;

/** @param manifest undefined where the table has no version yet */
export async function storedProperties(
  engine: Engine,
  { tableFolder, incarnation }: TableBranch,
  manifest: Pick<Manifest, 'properties'> | undefined,
): Promise<Properties> {
  const record = await recordOf(engine, tableFolder, incarnation);
  const versioned = manifest?.properties;
  const isLater = versioned !== undefined && versioned.since > (record?.since ?? 0);
  return isLater ? versioned.values : (record?.properties ?? {});
}

/** How new fragments are compressed. */
export async function compressionOf(
  engine: Engine,
  branch: TableBranch,
  manifest: Pick<Manifest, 'properties'> | undefined,
): Promise<Compression> {
  const { compression } = await storedProperties(engine, branch, manifest);
  return isCompression(compression) ? compression : DEFAULT_COMPRESSION;
}

/** The table's own mode, or its catalog's where it has none. */
export async function lanceModeOf(
  engine: Engine,
  branch: TableBranch,
  manifest: Pick<Manifest, 'properties'>,
): Promise<LanceMode> {
  const { lance } = await storedProperties(engine, branch, manifest);
  return isLanceMode(lance) ? lance : engine.lance;
}

/** The manifest with what Lance's clients have to know: whether they may write the table now. */
export async function lanceWritten(
  engine: Engine,
  branch: TableBranch,
  manifest: Manifest,
): Promise<Manifest> {
  if (manifest.lance !== true) return manifest;
  const mode = await lanceModeOf(engine, branch, manifest);
  return { ...manifest, lanceWrites: mode === 'write' ? true : undefined };
}

/** The record as it was read last: every operation on a table begins with reading it. */
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
