/**
 * `openCsv` reads CSV as record batches; rows are read as they are pulled. It detects the encoding,
 * delimiter, quotes, header and types that the caller does not give, from the beginning of the
 * file. With the option `sample: 'all'` it detects types from all rows, and reads the file twice. A
 * row that cannot be read goes to the caller's `onReject`, or throws InvalidInput with line and
 * column. An empty file, and one that holds JSON, throw InvalidInput too, unless options say how to
 * read it. `csvTypes` reads whole files to find types that fit all their rows.
 */
import { isUtf8 } from 'node:buffer';
import {
  type DataType,
  describeType,
  Field,
  type RecordBatch,
  type RecordBatchStream,
  recordBatch,
  recordBatchStream,
  Schema,
} from '../../arrow/index.ts';
import { DirspaceError, isDirspaceError } from '../../errors.ts';
import { suggestion } from '../../known-names.ts';
import { plainPause } from '../../steps.ts';
import { type ByteSource, fileProblem, requireColumns } from '../files/index.ts';
import {
  type BuildColumn,
  type ColumnWriter,
  type CsvColumn,
  columnWriter,
} from './column-writers.ts';
import { dialectOf } from './csv-dialect.ts';
import { type FoundHeader, headerOf } from './csv-header.ts';
import { textOf } from './csv-numbers.ts';
import { type CheckedCsvOptions, type CsvOptions, checkCsvOptions } from './csv-options.ts';
import { type BadRecord, type CsvDialect, CsvScanner, startOf } from './csv-scanner.ts';
import { typeOfKinds } from './csv-types.ts';
import { CsvWindows } from './csv-windows.ts';
import { type OpenText, openText } from './open-text.ts';
import { adviceFor, OTHER_ENCODING, whyRefused } from './row-refusals.ts';
import { TypeGuess } from './type-guess.ts';

/** What is known of the file, beside the options of CSV. */
export interface CsvReadOptions extends CsvOptions {
  /** Types by the names of columns, or by position where the file has no header. */
  readonly schema?: Schema | undefined;
  readonly types?: ReadonlyMap<string, DataType> | undefined;
  /** For types that are not read from bytes: lists, structs, decimals and their like. */
  readonly build?: BuildColumn | undefined;
  /** Names of the columns to read, which come in the order of the file; all if not given. */
  readonly columns?: readonly string[] | undefined;
  /** Most rows of a batch. If not given, 65,536, or 4,194,304 fields. */
  readonly batchRows?: number | undefined;
}

const BATCH_ROWS = 65_536;
/** Fields of a batch: memory of all columns is taken for as many rows as a batch may have. */
const BATCH_FIELDS = 1 << 22;
/** Bytes of texts with which a batch ends early. */
const BATCH_BYTES = 1 << 24;

/** Reads as far as the types need. @throws InvalidInput naming the file and the place */
export async function openCsv(
  source: ByteSource,
  options: CsvReadOptions = {},
): Promise<RecordBatchStream> {
  const { schema, types, build, columns, batchRows, ...given } = options;
  const checked = checkCsvOptions(given);
  const sampled = await openSample(source, checked, schema);
  try {
    return await rowsOf(source, sampled, checked, options);
  } catch (error) {
    await sampled.opened.close();
    throw error;
  }
}

/** Bytes that types, header and dialect are found out from at most. */
const MOST_SAMPLE = 1 << 23;

interface Sample {
  readonly opened: OpenText;
  readonly dialect: CsvDialect;
  readonly found: FoundHeader;
}

/** A file with so much of its beginning that the header and a row end there, or the most of it. */
async function openSample(
  source: ByteSource,
  options: CheckedCsvOptions,
  schema: Schema | undefined,
): Promise<Sample> {
  let opened = await openText(source, options);
  try {
    for (;;) {
      const { head, from, isWhole } = opened;
      const to = head.length - 1;
      const isLast = isWhole || to >= MOST_SAMPLE;
      const delimiter = options.delimiter ?? opened.delimiter;
      const asked = { ...options, delimiter };
      const { dialect, isSure } = dialectOf(head, from, to, isWhole, asked);
      try {
        const found = headerOf(head, from, to, isWhole, dialect, options, schema);
        const scanner = new CsvScanner(dialect, Math.max(1, found.names.length), true);
        scanner.scan(head, found.end, to, isWhole, 1);
        const hasRow = scanner.rows + scanner.bad.length > 0;
        if (isLast || (isSure && hasRow)) return { opened, dialect, found };
      } catch (error) {
        // A quote that is not closed may be closed further on.
        const isCut = isDirspaceError(error) && error.details.problem === 'open quote';
        if (isLast || !isCut) throw error;
      }
      opened = await opened.longer();
    }
  } catch (error) {
    await opened.close();
    throw error;
  }
}

async function rowsOf(
  source: ByteSource,
  { opened, dialect, found }: Sample,
  checked: CheckedCsvOptions,
  { schema, types, build, columns: wanted, batchRows, ...given }: CsvReadOptions,
): Promise<RecordBatchStream> {
  const { head, from, isWhole, line } = opened;
  const to = head.length - 1;
  if (from >= to && schema === undefined) {
    throw fileProblem(`${source.name} is empty: it has no rows and no columns.`, {
      file: source.name,
    });
  }
  if (schema === undefined && given.header === undefined && given.delimiter === undefined) {
    refuseOthers(source.name, Buffer.from(head.buffer, from, to - from).toString(), isWhole);
  }
  const names = found.names;
  requireTyped(source.name, names, types);
  const columnCount = Math.max(1, names.length);
  const guess = new TypeGuess(columnCount, checked);
  const allTypes = checked.sample === 'all' ? await csvTypes([source], given) : undefined;
  const known = names.map((name, at) =>
    knownType(name, at, found.hasHeader, schema, types, allTypes),
  );
  const pads = checked.ragged === 'pad';
  if (known.includes(undefined)) {
    const scanner = new CsvScanner(dialect, columnCount, pads);
    // The last record may be cut.
    scanner.scan(head, found.end, to, isWhole, MOST_ROWS);
    guess.add(head, scanner);
  }
  const columns = names.map((name, at): CsvColumn => {
    const field = known[at];
    if (field !== undefined) return { field, isGuessed: false };
    return { field: new Field(name, guess.typeOf(at), true), isGuessed: true };
  });
  requireColumns(source.name, names, wanted ?? []);
  const read = [...names.keys()].filter((at) => wanted?.includes(names[at] as string) ?? true);
  const reader = new CsvReader(source.name, dialect, columns, read, checked, guess.rows);
  const own = new Schema(read.map((at) => (columns[at] as CsvColumn).field));
  const windows = new CsvWindows(opened.after(found.end), source.name, line + found.lines);
  const most = Math.max(1, Math.floor(BATCH_FIELDS / Math.max(1, read.length)));
  const rows = batchRows ?? Math.min(BATCH_ROWS, most);
  return recordBatchStream(own, reader.batches(windows, own, { build, batchRows: rows, pads }));
}

/** @throws InvalidInput for a text that is no CSV but for its name: JSON, or blank lines alone */
function refuseOthers(file: string, text: string, isWhole: boolean): void {
  if (isWhole && /^[\r\n]*$/.test(text)) {
    const message = `${file} has blank lines alone: no rows and no columns. With the option header it is a column.`;
    throw fileProblem(message, { file });
  }
  const [line = ''] = text.trimStart().split(/\r\n|\r|\n/, 1);
  const isLines = isJson(line);
  if (!isLines && !(isWhole && isJson(text))) return;
  const format = isLines && line.trimStart().startsWith('{') ? 'ndjson' : 'json';
  const message = `${file} holds JSON. Read it as ${format}, by its ending or the format; with the option header it is read as CSV.`;
  throw fileProblem(message, { file });
}

/** Whether a text is an object, or a list of objects. */
function isJson(text: string): boolean {
  if (!/^\s*(?:\{|\[\s*\{)/.test(text)) return false;
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}

/**
 * The types that all rows of all files fit, by the names of columns. Reads the files whole.
 * @throws InvalidInput for a file that can be read once only
 */
export async function csvTypes(
  sources: readonly ByteSource[],
  options: CsvOptions,
): Promise<Map<string, DataType>> {
  const checked = checkCsvOptions(options);
  const kinds = new Map<string, number>();
  for (const source of sources) {
    if (!source.isRepeatable) {
      throw new DirspaceError(
        'InvalidInput',
        `${source.name} can be read once only, so that types cannot be found out from all rows first. Give the types of columns.`,
      );
    }
    const sampled = await openSample(source, checked, undefined);
    try {
      await addKinds(kinds, sampled, source.name, checked);
    } finally {
      await sampled.opened.close();
    }
  }
  return new Map(Array.from(kinds, ([name, found]) => [name, typeOfKinds(found)]));
}

/** Adds the kinds of the fields of all rows to those of their columns. */
async function addKinds(
  kinds: Map<string, number>,
  { opened, dialect, found }: Sample,
  file: string,
  options: CheckedCsvOptions,
): Promise<void> {
  const { names, end } = found;
  const guess = new TypeGuess(Math.max(1, names.length), options);
  const scanner = new CsvScanner(dialect, guess.columns, options.ragged === 'pad');
  const windows = new CsvWindows(opened.after(end), file);
  const pause = plainPause();
  while (await windows.next(scanner, MOST_ROWS)) {
    guess.add(windows.bytes, scanner);
    const waiting = pause();
    if (waiting !== undefined) await waiting;
  }
  for (const [at, name] of names.entries()) {
    kinds.set(name, (kinds.get(name) ?? 0) | guess.kindsOf(at));
  }
}

/** More than a window holds. */
const MOST_ROWS = 1 << 20;

/** The field that the caller says the column is; undefined where its type is to be found out. */
function knownType(
  name: string,
  at: number,
  hasHeader: boolean,
  schema: Schema | undefined,
  types: ReadonlyMap<string, DataType> | undefined,
  allTypes: ReadonlyMap<string, DataType> | undefined,
): Field | undefined {
  const ofSchema = hasHeader
    ? schema?.fields.find((field) => field.name === name)
    : schema?.fields[at];
  if (ofSchema !== undefined) return new Field(name, ofSchema.type, ofSchema.nullable);
  const type = types?.get(name) ?? allTypes?.get(name);
  return type === undefined ? undefined : new Field(name, type, true);
}

function requireTyped(
  file: string,
  names: readonly string[],
  types: ReadonlyMap<string, DataType> | undefined,
): void {
  for (const name of types?.keys() ?? []) {
    if (names.includes(name)) continue;
    const message = `A type is given for the column ${JSON.stringify(name)}, which ${file} does not have.${suggestion(name, names)}`;
    throw new DirspaceError('InvalidInput', message, { details: { column: name } });
  }
}

interface BatchOptions {
  readonly build: BuildColumn | undefined;
  readonly batchRows: number;
  readonly pads: boolean;
}

/** A row that cannot be taken, and where in the bytes of its window the problem is. */
interface Problem {
  readonly from: number;
  readonly to: number;
  readonly at: number;
  readonly reason: string;
  /** What to do, where the file is refused because of it. */
  readonly advice?: string;
  readonly details: Readonly<Record<string, unknown>>;
}

class CsvReader {
  readonly #file: string;
  readonly #dialect: CsvDialect;
  readonly #columns: readonly CsvColumn[];
  /** Places of those that are read. */
  readonly #read: readonly number[];
  readonly #options: CheckedCsvOptions;
  readonly #hint: string;

  constructor(
    file: string,
    dialect: CsvDialect,
    columns: readonly CsvColumn[],
    read: readonly number[],
    options: CheckedCsvOptions,
    sampled: number,
  ) {
    this.#file = file;
    this.#dialect = dialect;
    this.#columns = columns;
    this.#read = read;
    this.#options = options;
    this.#hint = ` The type was found out from the first ${sampled.toLocaleString('en')} rows; give the type of the column, or find types out from all rows.`;
  }

  async *batches(
    windows: CsvWindows,
    schema: Schema,
    { build, batchRows, pads }: BatchOptions,
  ): AsyncGenerator<RecordBatch> {
    const { nulls, emptyIsNull, hasDecimalComma } = this.#options;
    const parsed = { nulls, emptyIsNull, hasDecimalComma };
    const shared = { ...parsed, dialect: this.#dialect, build, batchRows };
    const writers = this.#read.map((at) => columnWriter(this.#columns[at] as CsvColumn, shared));
    const scanner = new CsvScanner(this.#dialect, Math.max(1, this.#columns.length), pads);
    const pause = plainPause();
    let length = 0;
    const finish = (): RecordBatch => {
      const columns = writers.map((writer) => writer.finish());
      const batch = recordBatch(schema, columns, length);
      length = 0;
      return batch;
    };
    try {
      while (await windows.next(scanner, batchRows - length)) {
        this.#take(windows, scanner, writers, length);
        length += scanner.rows;
        const size = writers.reduce((sum, writer) => sum + writer.size, 0);
        if (length >= batchRows || size >= BATCH_BYTES) yield finish();
        const waiting = pause();
        if (waiting !== undefined) await waiting;
      }
      if (length > 0) yield finish();
    } finally {
      await windows.close();
    }
  }

  /** Adds the records of a window to the columns, but for those that are rejected. */
  #take(
    windows: CsvWindows,
    scanner: CsvScanner,
    writers: readonly ColumnWriter[],
    length: number,
  ): void {
    const { bytes } = windows;
    const problems = scanner.bad.map((record) => this.#ofRecord(record));
    const bad = new Uint8Array(scanner.rows);
    if (!isUtf8(bytes.subarray(windows.from, scanner.end))) {
      this.#findNoText(bytes, scanner, bad, problems);
      scanner.remove(bad);
      bad.fill(0);
    }
    let hasBad = false;
    // A row is rejected once, for the first of its fields that does not fit.
    const told = new Uint8Array(scanner.rows);
    for (const [at, writer] of writers.entries()) {
      const column = this.#read[at] as number;
      if (!writer.append(bytes, scanner, column, bad)) continue;
      hasBad = true;
      for (let row = 0; row < scanner.rows; row++) {
        if (bad[row] === 0 || told[row] === 1) continue;
        told[row] = 1;
        problems.push(this.#ofField(bytes, scanner, row, column));
      }
    }
    if (problems.length === 0) return;
    problems.sort((left, right) => left.from - right.from);
    for (const problem of problems) this.#reject(windows, problem);
    if (!hasBad) return;
    for (const writer of writers) writer.truncate(length);
    scanner.remove(bad);
    bad.fill(0);
    for (const [at, writer] of writers.entries()) {
      writer.append(bytes, scanner, this.#read[at] as number, bad);
    }
  }

  #reject(windows: CsvWindows, problem: Problem): void {
    const { line, column } = windows.placeOf(problem.at);
    const { onReject } = this.#options;
    const file = this.#file;
    if (onReject === undefined) {
      const isGuessed = problem.details.guessed === true;
      const advice = isGuessed ? this.#hint : (problem.advice ?? '');
      const message = `${file}, line ${line}, column ${column}: ${problem.reason}.${advice}`;
      throw new DirspaceError('InvalidInput', message, {
        details: { ...problem.details, file, line, column },
      });
    }
    const text = textOf(windows.bytes, problem.from, problem.to);
    onReject({
      file,
      line: windows.placeOf(problem.from).line,
      column,
      reason: problem.reason,
      text,
    });
  }

  #ofRecord({ problem, fields, from, to, at }: BadRecord): Problem {
    const count = this.#columns.length;
    const reason = whyRefused(problem, fields, count);
    const advice = adviceFor(problem, count);
    return { from, to, at, reason, advice, details: {} };
  }

  #ofField(bytes: Uint8Array, scanner: CsvScanner, row: number, column: number): Problem {
    const { field, isGuessed } = this.#columns[column] as CsvColumn;
    const [start, end] = fieldAt(scanner, row, column);
    const [from] = fieldAt(scanner, row, 0);
    const [, to] = fieldAt(scanner, row, scanner.columns - 1);
    const found = start === end ? 'nothing' : shortText(bytes, start, end);
    const expected = describeType(field.type) + (field.nullable ? '' : ' (not null)');
    const reason = `column ${JSON.stringify(field.name)}: found ${found}, expected ${expected}`;
    const guessed = isGuessed ? { guessed: true } : {};
    // The quotes around the first and the last field belong to the row.
    const begin = bytes[from - 1] === this.#dialect.quote ? from - 1 : from;
    const ends = bytes[to] === this.#dialect.quote ? to + 1 : to;
    return { from: begin, to: ends, at: start, reason, details: { name: field.name, ...guessed } };
  }

  /** Marks the rows whose bytes are no UTF-8. */
  #findNoText(bytes: Uint8Array, scanner: CsvScanner, bad: Uint8Array, problems: Problem[]): void {
    for (let row = 0; row < scanner.rows; row++) {
      const [from] = fieldAt(scanner, row, 0);
      const [, to] = fieldAt(scanner, row, scanner.columns - 1);
      if (isUtf8(bytes.subarray(from, to))) continue;
      bad[row] = 1;
      const reason = 'the row is not in UTF-8';
      const column = this.#columns.findIndex(
        (_, at) => !isUtf8(bytes.subarray(...fieldAt(scanner, row, at))),
      );
      const [at] = fieldAt(scanner, row, Math.max(0, column));
      problems.push({ from, to, at, reason, advice: OTHER_ENCODING, details: {} });
    }
  }
}

const fieldAt = (
  { bounds, columns }: CsvScanner,
  row: number,
  column: number,
): [number, number] => {
  const slot = 2 * (row * columns + column);
  return [startOf(bounds[slot] as number), bounds[slot + 1] as number];
};

/** Characters of a field in a message. */
const SHOWN = 40;

const shortText = (bytes: Uint8Array, start: number, end: number): string => {
  const text = textOf(bytes, start, Math.min(end, start + 4 * SHOWN));
  return JSON.stringify(text.length > SHOWN ? `${text.slice(0, SHOWN)}...` : text);
};
