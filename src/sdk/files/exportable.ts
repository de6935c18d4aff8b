/**
 * `Exportable` is the base class of queries and tables. A subclass gives the rows by `stream`. The
 * methods write them to a file or stream in another format, such as `toCsv` and `toParquet`.
 * `toFile` takes the format from an option or from the ending of the file's name, and `toBytes`
 * yields the bytes of the file instead. A file appears under its name only when it is complete. An
 * unknown format and a place that cannot be written throw InvalidInput, and a type that the format
 * has not Unsupported.
 */
import type { RecordBatchStream } from '../../arrow/index.ts';
import type { CallOptions } from '../../protocol/index.ts';
import { checkOptionNames } from '../handles/index.ts';
import {
  EXPORT_OPTIONS,
  type ExportOptions,
  type ExportResult,
  exportedBytes,
  exportRows,
  type FileOutput,
  type ToCsvOptions,
  type ToFileOptions,
  type ToParquetOptions,
} from './export-rows.ts';

/**
 * What gives rows that can be written as a file. A file appears at its place when it is whole, and
 * replaces one that is there. Memory holds a batch, and for Parquet the pages of one row group.
 */
export abstract class Exportable {
  /** The rows as one stream of batches with their schema; memory is bounded however many there are. */
  abstract stream(options?: CallOptions): Promise<RecordBatchStream>;

  /**
   * Writes a file of the format that the ending of its name tells, or the option `format`.
   * @throws InvalidInput for a format that there is not, and for a place that cannot be written
   */
  async toFile(output: FileOutput, options: ToFileOptions = {}): Promise<ExportResult> {
    return exportRows((run) => this.stream(run), output, options);
  }

  /** Writes CSV: null is an empty field, and an empty text `""`. */
  async toCsv(output: FileOutput, options: ToCsvOptions = {}): Promise<ExportResult> {
    checkOptionNames(options, ['delimiter', 'header', 'null', ...EXPORT_OPTIONS]);
    const { delimiter, header, null: nullText, ...rest } = options;
    const given = Object.entries({ delimiter, header, null: nullText });
    const csv = Object.fromEntries(given.filter(([, value]) => value !== undefined));
    return this.toFile(output, { ...rest, format: 'csv', csv });
  }

  /** Writes one JSON object on each line. */
  async toJsonLines(output: FileOutput, options: ExportOptions = {}): Promise<ExportResult> {
    checkOptionNames(options, EXPORT_OPTIONS);
    return this.toFile(output, { ...options, format: 'ndjson' });
  }

  /** Writes one JSON array of objects. */
  async toJson(output: FileOutput, options: ExportOptions = {}): Promise<ExportResult> {
    checkOptionNames(options, EXPORT_OPTIONS);
    return this.toFile(output, { ...options, format: 'json' });
  }

  /** Writes Parquet. @throws Unsupported naming a column of a type that Parquet has not */
  async toParquet(output: FileOutput, options: ToParquetOptions = {}): Promise<ExportResult> {
    checkOptionNames(options, ['rowGroupRows', ...EXPORT_OPTIONS]);
    const { compression, rowGroupRows, ...rest } = options;
    const given = Object.entries({ compression, rowGroupRows });
    const parquet = Object.fromEntries(given.filter(([, value]) => value !== undefined));
    return this.toFile(output, { ...rest, format: 'parquet', parquet });
  }

  /** Writes an Arrow IPC file, which is also Feather of version 2. */
  async toArrowFile(output: FileOutput, options: ExportOptions = {}): Promise<ExportResult> {
    checkOptionNames(options, EXPORT_OPTIONS);
    return this.toFile(output, { ...options, format: 'arrow' });
  }

  /** The bytes of such a file, pulled as they are wanted. */
  toBytes(format: string, options: Omit<ToFileOptions, 'format'> = {}): AsyncGenerator<Uint8Array> {
    return exportedBytes((run) => this.stream(run), { ...options, format });
  }
}
