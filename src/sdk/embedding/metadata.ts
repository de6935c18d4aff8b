/**
 * `parseEmbeddingMetadata` parses the embedding functions in a schema's metadata (key
 * `METADATA_KEY`), as LanceDB's SDKs for JavaScript and for Python write them. It throws
 * InvalidInput if the text is not a list of functions with a name and a source column each, or if
 * two of them fill the same column. The column that is filled is `vector` if absent.
 */
import { DirspaceError } from '../../errors.ts';
import { isRecord } from '../build/index.ts';
import type { FunctionOptions } from './embedding-function.ts';

/** In the metadata of a schema. */
export const METADATA_KEY = 'embedding_functions';

/** A function of a table: its name in the registry, its columns and its options. */
export interface EmbeddingMetadataEntry {
  name: string;
  sourceColumn: string;
  vectorColumn: string;
  model: FunctionOptions;
}

/** @throws InvalidInput for anything but functions with a column each */
export function parseEmbeddingMetadata(json: string): EmbeddingMetadataEntry[] {
  let entries: unknown;
  try {
    entries = JSON.parse(json);
  } catch (cause) {
    throw invalid('is no JSON', cause);
  }
  if (!Array.isArray(entries)) throw invalid('is no list');
  const columns = new Set<string>();
  return entries.map((entry: unknown) => {
    if (!isRecord(entry)) throw invalid('has an entry that is no object');
    const text = (one: string, other: string, missing?: string): string => {
      const value = entry[one] ?? entry[other] ?? missing;
      if (typeof value === 'string' && value !== '') return value;
      throw invalid(`has an entry without ${one}`);
    };
    const vectorColumn = text('vectorColumn', 'vector_column', 'vector');
    if (columns.has(vectorColumn)) {
      throw invalid(`has several functions for the column ${JSON.stringify(vectorColumn)}`);
    }
    columns.add(vectorColumn);
    return {
      name: text('name', 'name'),
      sourceColumn: text('sourceColumn', 'source_column'),
      vectorColumn,
      model: isRecord(entry.model) ? entry.model : {},
    };
  });
}

const invalid = (what: string, cause?: unknown): DirspaceError =>
  new DirspaceError(
    'InvalidInput',
    `The metadata ${METADATA_KEY} of the schema ${what}; it lists functions as getRegistry().getTableMetadata() writes them.`,
    { cause },
  );
