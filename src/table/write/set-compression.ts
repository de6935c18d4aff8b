/**
 * `setCompression`: publishes a version that says how new fragments of a table are compressed. Those
 * that are there stay as they are until compaction rewrites them.
 */
import type { Compression } from '../../compression.ts';
import {
  type Committed,
  commit,
  compressionOf,
  type Engine,
  fragmentListOf,
  storedProperties,
  type TableBranch,
} from '../versions/index.ts';
import { emptyTable, type WriteOptions } from './append.ts';

/** Publishes nothing where the table says so already. @throws InvalidTableState for a declared table */
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
      return {
        kind: 'metadata',
        summary: {},
        schema: manifest.schema,
        fieldIds: manifest.fieldIds,
        nextFieldId: manifest.nextFieldId,
        nextFragmentId: manifest.nextFragmentId,
        metadata: manifest.metadata,
        properties: { ...properties, compression },
        fragments: fragmentListOf(manifest),
      };
    },
  });
}
