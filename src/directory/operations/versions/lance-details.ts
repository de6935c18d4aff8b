/**
 * Describes a table that other programs write in Lance's format, from its manifest and without
 * reading rows. `lanceDetails` returns schema, metadata and counts, and `lanceStats` returns
 * statistics of the newest version. Manifests are untrusted, and these two do not read those of
 * more than 8 MiB (`LARGEST_MANIFEST_READ`). If one cannot be read, `lanceDetails` returns the
 * reason. `lanceStats` returns undefined then, and also if the manifest does not tell all numbers.
 * `manifestIn` reads a manifest of any size, and throws Corrupt or UnsupportedFormat.
 */
import { isDirspaceError } from '../../../errors.ts';
import {
  lanceManifestSteps,
  lanceSchema,
  type ParsedManifest,
  strangeToReaders,
} from '../../../format/index.ts';
import {
  type DescribeTableResponse,
  type GetTableStatsResponse,
  schemaToJson,
} from '../../../protocol/index.ts';
import { plainPause, runSteps } from '../../../steps.ts';
import type { ObjectReader } from '../../../store/index.ts';
import {
  type Catalog,
  type LanceVersion,
  lanceVersion,
  lanceVersions,
  type Table,
} from '../../catalog/index.ts';
import { fragmentStatistics } from './fragment-statistics.ts';

/** Larger manifests are not read: some 50,000 fragments. */
export const LARGEST_MANIFEST_READ = 8 * 1024 * 1024;

/** @throws Corrupt, UnsupportedFormat */
export async function manifestIn(reader: ObjectReader, file: string): Promise<ParsedManifest> {
  const bytes = (await reader.read(0, reader.size)).slice();
  return runSteps(lanceManifestSteps(bytes, file), plainPause());
}

type Details = Pick<DescribeTableResponse, 'version' | 'schema' | 'metadata' | 'stats' | 'lance'>;

/** What is known of a version; nothing where the table has none. */
export async function lanceDetails(
  catalog: Catalog,
  table: Table,
  named: number | undefined,
): Promise<Details> {
  const found = await versionOf(catalog, table, named);
  // Outside of the root the version that was asked for is taken to be there.
  if (found === undefined) return named === undefined ? {} : { version: named };
  const { version } = found;
  const manifest = await readManifest(catalog, found);
  if (manifest === undefined) return { version };
  if (typeof manifest === 'string') {
    return { version, lance: { opens: false, reason: manifest, external: true } };
  }
  const { fragments, schemaMetadata } = manifest;
  const counts = countsOf(manifest);
  return {
    version,
    ...schemaOf(manifest, found.file),
    metadata: Object.fromEntries(schemaMetadata),
    ...(counts === undefined
      ? {}
      : { stats: { num_deleted_rows: counts.deleted, num_fragments: fragments.length } }),
  };
}

/** Undefined where the newest manifest does not say how many rows and bytes there are. */
export async function lanceStats(
  catalog: Catalog,
  table: Table,
): Promise<GetTableStatsResponse | undefined> {
  const found = await versionOf(catalog, table, undefined);
  const manifest = found === undefined ? undefined : await readManifest(catalog, found);
  if (manifest === undefined || typeof manifest === 'string') return undefined;
  const { fragments, indexes } = manifest;
  const counts = countsOf(manifest);
  const sizes = fragments.flatMap(({ files }) => files.map(({ fileSize }) => fileSize));
  const bytes = sizes.reduce((sum, size) => sum + size, 0);
  const lengths = fragments.map(({ physicalRows }) => physicalRows);
  // Old writers leave numbers out, which are 0 then.
  const isKnown = !lengths.includes(0) && !sizes.includes(0) && Number.isSafeInteger(bytes);
  if (counts === undefined || !isKnown) return undefined;
  const names = indexes.map(({ name }) => name).filter((name) => !name.startsWith(OWN_INDEX));
  return {
    total_bytes: bytes,
    num_rows: counts.rows - counts.deleted,
    num_indices: new Set(names).size,
    fragment_stats: fragmentStatistics(lengths),
  };
}

/** Undefined for numbers that cannot be, and where something unknown may say of other rows. */
function countsOf(
  manifest: ParsedManifest,
): { readonly rows: number; readonly deleted: number } | undefined {
  if (strangeToReaders(manifest) !== undefined) return undefined;
  let rows = 0;
  let deleted = 0;
  for (const { physicalRows, deletion } of manifest.fragments) {
    rows += physicalRows;
    deleted += deletion?.rows ?? 0;
  }
  return Number.isSafeInteger(rows) && deleted <= rows ? { rows, deleted } : undefined;
}

/** Lance keeps records of its own among the indexes. */
const OWN_INDEX = '__lance_';

async function versionOf(
  catalog: Catalog,
  table: Table,
  named: number | undefined,
): Promise<LanceVersion | undefined> {
  if (named !== undefined) return lanceVersion(catalog, table, named);
  return (await lanceVersions(catalog, table)).at(-1);
}

/** A text says why it cannot be read; undefined where it went meanwhile. */
async function readManifest(
  { store }: Catalog,
  { file, version }: LanceVersion,
): Promise<ParsedManifest | string | undefined> {
  const reader = await store.open(file);
  if (reader === undefined) return undefined;
  try {
    if (reader.size > LARGEST_MANIFEST_READ) {
      return `its manifest has ${reader.size} bytes, and at most ${LARGEST_MANIFEST_READ} are read for a description`;
    }
    const manifest = await manifestIn(reader, file);
    if (manifest.version === version) return manifest;
    return `its manifest ${file} is of version ${manifest.version}, not ${version}`;
  } catch (error) {
    if (isDirspaceError(error, 'Corrupt', 'UnsupportedFormat')) return error.message;
    throw error;
  } finally {
    reader.close();
  }
}

/** The schema, or why it is not told. */
function schemaOf(manifest: ParsedManifest, file: string): Pick<Details, 'schema' | 'lance'> {
  const strange = strangeToReaders(manifest);
  if (strange !== undefined)
    return schemaUntold(`the manifest has ${strange}, which this release does not know`);
  const { fields, schemaMetadata } = manifest;
  try {
    const { schema } = lanceSchema(fields, schemaMetadata, file);
    return { schema: schemaToJson(schema), lance: { opens: true, external: true } };
  } catch (error) {
    if (isDirspaceError(error, 'Corrupt'))
      return { lance: { opens: false, reason: error.message, external: true } };
    if (!isDirspaceError(error, 'Unsupported', 'TableSchemaValidation')) throw error;
    return schemaUntold(error.message);
  }
}

const schemaUntold = (why: string): Pick<Details, 'lance'> => ({
  lance: { opens: true, reason: `its schema is not told: ${why}`, external: true },
});
