/**
 * Commits versions that write no fragment: `restore` makes the content of an older version the
 * newest again, and `replaceSchemaMetadata` replaces the metadata of the schema. `restored` builds
 * the draft of a restore for repair and for Lance's writers.
 */

import type { Manifest } from '../../format/index.ts';
import {
  type Committed,
  commit,
  type Draft,
  type Engine,
  fragmentListOf,
  type Snapshot,
  type TableBranch,
} from '../versions/index.ts';
import { emptyTable, type WriteOptions } from './append.ts';

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
        kind: 'metadata',
        summary: { entries: Object.keys(metadata).length },
        schema: { ...manifest.schema, metadata },
        fieldIds: manifest.fieldIds,
        nextFieldId: manifest.nextFieldId,
        nextFragmentId: manifest.nextFragmentId,
        metadata: manifest.metadata,
        fragments: fragmentListOf(manifest),
      };
    },
  });
}
