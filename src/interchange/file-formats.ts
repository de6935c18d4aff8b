/**
 * The table of file formats that can be read (`FORMATS`): for each its name, the endings of its
 * files, and the function that opens a file of it as rows. `formatOfName` finds the format of a file
 * by its ending. A new format is a row here; its reader is in the folder of its name.
 *
 * Readers that need Arrow are loaded when a file is opened: other commands start faster without.
 */
import type { DataType, RecordBatchStream, Schema } from '../arrow/index.ts';
import type { ByteSource } from './files/index.ts';
import { jsonArray, jsonLines, jsonRows } from './json/index.ts';

/** What is asked of a reader, whatever the format. */
export interface ReadOptions {
  /** All columns with their types. Formats that have types of their own give those; the caller fits them. */
  readonly schema?: Schema | undefined;
  /** Types of some columns by name. */
  readonly types?: ReadonlyMap<string, DataType> | undefined;
  readonly signal?: AbortSignal | undefined;
}

/** The rows of a file that is open. */
export interface FileRows {
  /** Batches with a schema, or objects whose columns are yet to be found out. */
  readonly data: RecordBatchStream | AsyncIterable<object>;
  /** The line on which a row begins, of the last that were read; rows count from 0, lines from 1. */
  lineOf?(row: number): number | undefined;
}

export interface FileFormat {
  readonly name: string;
  /** In small letters, with the dot. */
  readonly endings: readonly string[];
  /** Whether its files have columns with types, as opposed to objects of any. */
  readonly isArrow: boolean;
  /** Reads as far as the schema. @throws InvalidInput naming the file and the place */
  open(source: ByteSource, options: ReadOptions): FileRows | Promise<FileRows>;
}

export const FORMATS: readonly FileFormat[] = [
  {
    name: 'arrow',
    endings: ['.arrow', '.arrows', '.feather', '.ipc'],
    isArrow: true,
    open: async ({ ranges, pieces }) => {
      const { openArrowBody, openArrowFile } = await import('../ipc/index.ts');
      return {
        data: await (ranges === undefined ? openArrowBody(pieces()) : openArrowFile(ranges)),
      };
    },
  },
  {
    name: 'json',
    endings: ['.json'],
    isArrow: false,
    open: (source) => jsonRows(jsonArray(source.pieces(), source.name)),
  },
  {
    name: 'ndjson',
    endings: ['.ndjson', '.jsonl'],
    isArrow: false,
    open: (source) => jsonRows(jsonLines(source.pieces(), source.name)),
  },
];

/** Undefined where no format has the ending of the name. */
export const formatOfName = (name: string): FileFormat | undefined =>
  FORMATS.find(({ endings }) => endings.some((ending) => name.toLowerCase().endsWith(ending)));
