/**
 * `StagedFiles` reads columns of the data files that a writer of Lance has staged for one fragment,
 * a `RowRange` at a time, in the types of the table. The files are untrusted. They must have the
 * sizes that the manifest states, the rows of the fragment, the types of the listed fields, and no
 * null in a required field; otherwise InvalidInput, Unsupported or, while they are opened, Corrupt
 * is thrown. `close` closes the files.
 */
import { type Data, DataType, type Field, recordBatch, Schema } from '../../arrow/index.ts';
import { isDirspaceError } from '../../errors.ts';
import {
  FragmentColumns,
  fragmentsFolder,
  type LanceColumn,
  LanceDataFile,
  type ParsedDataFile,
  type ReadBudget,
  viewsOf,
} from '../../format/index.ts';
import type { ObjectReader } from '../../store/index.ts';
import type { IdentifiedField } from '../fields/index.ts';
import { datasetOf } from '../lance/index.ts';
import type { Engine, Snapshot } from '../versions/index.ts';
import { RequiredValues } from '../write/index.ts';
import { blamed, invalid, shown } from './refusals.ts';
import type { PlannedFragment } from './staged-fragments.ts';
import type { StagedSchema } from './staged-schema.ts';
import { requireTypes } from './staged-types.ts';

/** Rows of a fragment. */
export interface RowRange {
  readonly first: number;
  readonly count: number;
}

export class StagedFiles {
  readonly #columns: FragmentColumns;
  readonly #schema: StagedSchema;
  readonly #readers: readonly ObjectReader[];
  readonly #id: number;

  /** @throws InvalidInput, Corrupt, Unsupported */
  static async open(
    { store }: Engine,
    { branch }: Snapshot,
    planned: PlannedFragment,
    schema: StagedSchema,
  ): Promise<StagedFiles> {
    const readers: ObjectReader[] = [];
    const files = new Map<ParsedDataFile, LanceDataFile>();
    try {
      for (const { file } of planned.places.values()) {
        if (files.has(file)) continue;
        const path = `${fragmentsFolder(datasetOf(branch))}/${file.path}`;
        const reader = await store.open(path);
        if (reader === undefined) throw invalid(`there is no file ${shown(file.path)}`);
        readers.push(reader);
        if (reader.size !== file.fileSize)
          throw invalid(
            `the file ${shown(file.path)} has ${reader.size} bytes, not ${file.fileSize}`,
          );
        const bytes = {
          size: reader.size,
          read: (from: number, to: number) => reader.read(from, to - from),
        };
        files.set(file, await LanceDataFile.open(bytes, path));
      }
      requireTypes(planned, files, schema);
      return new StagedFiles(planned, schema, files, readers);
    } catch (error) {
      for (const reader of readers) reader.close();
      throw error;
    }
  }

  private constructor(
    { id, rows, places, sources }: PlannedFragment,
    schema: StagedSchema,
    files: ReadonlyMap<ParsedDataFile, LanceDataFile>,
    readers: readonly ObjectReader[],
  ) {
    this.#id = id;
    this.#schema = schema;
    this.#readers = readers;
    const found = [...places].map(
      ([field, { file, column }]) =>
        [field, { file: files.get(file) as LanceDataFile, column }] as const,
    );
    const columns = schema.lanceColumns.filter((_, at) => sources?.[at] === 'files');
    this.#columns = new FragmentColumns(
      { schema: new Schema(columns.map(({ field }) => field)), columns },
      new Map(found),
      rows,
      `fragment ${id}`,
    );
  }

  /**
   * How many rows to read at once.
   * @throws Corrupt where a column has other rows than the fragment
   */
  batchRows(): Promise<number> {
    return blamed(() => this.#columns.batchRows());
  }

  /** The bytes that columns read together may take. */
  budget(): ReadBudget {
    return this.#columns.budget();
  }

  /**
   * Rows of the column at that position of the schema, as that field.
   * @throws InvalidInput, Unsupported
   */
  async column(
    at: number,
    node: IdentifiedField,
    { first, count }: RowRange,
    budget: ReadBudget,
  ): Promise<Data> {
    const column = this.#schema.lanceColumns[at] as LanceColumn;
    const data = await blamed(() => this.#columns.column(column, first, count, budget));
    const typed = retyped(data, node.field.type);
    this.#requireValues(node, typed);
    return typed;
  }

  close(): void {
    for (const reader of this.#readers) reader.close();
  }

  /** Nothing in a file says that a field may not be null. */
  #requireValues(column: IdentifiedField, data: Data): void {
    const { field } = column;
    const refused = (name: string, cause?: unknown): Error =>
      invalid(`fragment ${this.#id} has nulls in ${shown(name)}, which may not be null`, cause);
    if (!field.nullable && data.nullCount > 0) throw refused(field.name);
    const nested = RequiredValues.of([column]);
    if (nested === undefined) return;
    try {
      nested.check(recordBatch(new Schema([field]), [data], data.length), 0);
    } catch (error) {
      if (!isDirspaceError(error, 'TableSchemaValidation')) throw error;
      throw refused(String(error.details.column), error);
    }
  }
}

/**
 * The column as the type of the table. Files of Lance hold views in their plain form, and know
 * neither the names of items nor whether they may be null.
 */
function retyped(data: Data, type: DataType): Data {
  const { length, nullCount, offset, buffers } = data;
  if (DataType.isDictionary(type)) return data;
  const asViews = viewsOf(data.type, type);
  if (asViews !== undefined) return asViews(data);
  const fields = (type.children ?? []) as readonly Field[];
  const children = fields.map((field, at) => retyped(data.children[at] as Data, field.type));
  return data.clone(type, offset, length, nullCount, buffers as never, children);
}
