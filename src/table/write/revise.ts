/**
 * Commits versions that write no fragment: they make the content of an older version the newest
 * again (`restore`), replace the metadata of the schema (`replaceSchemaMetadata`), or set how new
 * fragments are compressed (`setCompression`, which commits nothing if they are already). A
 * declared table throws InvalidTableState for the last two. `restored` gives other writers the
 * draft of a restore, in which no field or fragment id is given out twice.
 */

import type { Compression } from '../../compression.ts';
import type { Manifest } from '../../format/index.ts';
import {
  type Committed,
  commit,
  compressionOf,
  type Draft,
  type Engine,
  emptyTable,
  fragmentListOf,
  type Snapshot,
  sameContent,
  storedProperties,
  type TableBranch,
} from '../versions/index.ts';
import type { WriteOptions } from './append.ts';

/** Makes the content of `source` the newest version again. */
export function restore(
  engine: Engine,
  branch: TableBranch,
  source: Snapshot,
  options: WriteOptions = {},
): Promise<Committed> {
  return commit(engine, branch, {
    transaction: options.transaction,
    signal: options.signal,
    survivesOverwrite: true,
    build: async (base) => restored(source, base?.manifest ?? source.manifest),
  });
}

/** The content of `source`, with ids given out after those that `newest` has given out. */
export function restored(
  { manifest, version }: Snapshot,
  newest: Pick<Manifest, 'nextFieldId' | 'nextFragmentId'>,
): Draft {
  return {
    kind: 'restore',
    summary: { restored_version: version },
    schema: manifest.schema,
    fieldIds: manifest.fieldIds,
    nextFieldId: Math.max(manifest.nextFieldId, newest.nextFieldId),
    nextFragmentId: Math.max(manifest.nextFragmentId, newest.nextFragmentId),
    view: manifest.view,
    metadata: manifest.metadata,
    lanceIds: manifest.lanceIds ?? new Map(),
    fragments: fragmentListOf(manifest),
    indexes: manifest.indexes ?? null,
  };
}

/** Replaces the metadata of the schema as a whole. */
export function replaceSchemaMetadata(
  engine: Engine,
  branch: TableBranch,
  metadata: Readonly<Record<string, string>>,
  options: WriteOptions = {},
): Promise<Committed> {
  return commit(engine, branch, {
    transaction: options.transaction,
    signal: options.signal,
    build: async (base) => {
      if (base === undefined) throw emptyTable();
      const { manifest } = base;
      return {
        ...sameContent(manifest, { entries: Object.keys(metadata).length }),
        schema: { ...manifest.schema, metadata },
      };
    },
  });
}

/**
 * Publishes nothing where the table says so already.
 * @throws InvalidTableState for a declared table
 */
export function setCompression(
  engine: Engine,
  branch: TableBranch,
  compression: Compression,
  options: WriteOptions = {},
): Promise<Committed> {
  return commit(engine, branch, {
    transaction: options.transaction,
    signal: options.signal,
    build: async (base) => {
      if (base === undefined) throw emptyTable();
      const { manifest } = base;
      if ((await compressionOf(engine, branch, manifest)) === compression) return undefined;
      const properties = await storedProperties(engine, branch, manifest);
      return { ...sameContent(manifest, {}), properties: { ...properties, compression } };
    },
  });
}
