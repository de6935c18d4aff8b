/**
 * `encodeCsv` writes rows as CSV, in pieces that are made as they are pulled. By default null is an
 * empty field and an empty text is `""`, so that csv-reader.ts can tell them apart. Nested values
 * are JSON. Texts and integers go from their columns to the file without a JavaScript string in
 * between. Unknown options, and options whose output no reader could parse, throw InvalidInput.
 */
import {
  columnsOf,
  type Data,
  type DataType,
  type Dictionary,
  type Field,
  type RecordBatchStream,
  Type,
  type Vector,
} from '../../arrow/index.ts';
import { DirspaceError } from '../../errors.ts';
import { suggestion } from '../../known-names.ts';
import { jsonCell, wordOf } from '../json/index.ts';
import { bytesAt, nullAt, PIECE_BYTES, plainText, TextOut, type WriteText } from '../text/index.ts';
import { mayBeEmpty } from './csv-types.ts';

/** How CSV is written. */
export interface CsvWriteOptions {
  /** One ASCII character between fields; a comma if not given. */
  readonly delimiter?: string | undefined;
  /** Whether the first row names the columns; true if not given. */
  readonly header?: boolean | undefined;
  /** What stands for null; the empty field if not given. A text that is the same is put in quotes. */
  readonly null?: string | undefined;
}

const OPTION_NAMES = [
  'delimiter',
  'header',
  'null',
] as const satisfies readonly (keyof CsvWriteOptions)[];
const [QUOTE, LF, CR, COLON] = [34, 10, 13, 58] as const;
/** The first byte of a byte order mark, which a reader would drop. */
const BOM = 0xef;

interface Dialect {
  readonly delimiter: number;
  /** 1 for the bytes that a field without quotes cannot hold. */
  readonly special: Uint8Array;
  readonly header: boolean;
  readonly nullText: Uint8Array;
}

/** @throws InvalidInput for options that no reader could take back */
function dialectOf(options: CsvWriteOptions): Dialect {
  const { delimiter = ',', header = true, null: nullText = '' } = options;
  const wrong = (name: string, expected: string): DirspaceError =>
    new DirspaceError(
      'InvalidInput',
      `The option ${name} of CSV is ${JSON.stringify(Reflect.get(options, name))}; give ${expected}.`,
    );
  for (const name of Object.keys(options)) {
    if ((OPTION_NAMES as readonly string[]).includes(name)) continue;
    const hint = suggestion(name, OPTION_NAMES);
    throw new DirspaceError(
      'InvalidInput',
      `The writing of CSV has no option ${JSON.stringify(name)}.${hint}`,
    );
  }
  const code =
    typeof delimiter === 'string' && delimiter.length === 1 ? delimiter.charCodeAt(0) : 0;
  if (
    code === 0 ||
    code > 127 ||
    [QUOTE, LF, CR].includes(code as never) ||
    /[\w.+-]/.test(delimiter)
  ) {
    throw wrong(
      'delimiter',
      'one ASCII character that is no quote, no line break and in no number',
    );
  }
  if (typeof header !== 'boolean') throw wrong('header', 'true or false');
  if (
    typeof nullText !== 'string' ||
    /["\r\n\ufeff]/.test(nullText) ||
    nullText.includes(delimiter)
  ) {
    throw wrong('null', 'a text without quotes, line breaks and the delimiter');
  }
  const special = new Uint8Array(256);
  for (const byte of [code, QUOTE, LF, CR]) special[byte] = 1;
  return { delimiter: code, special, header, nullText: new TextEncoder().encode(nullText) };
}

/** The bytes of the file in pieces, pulled as they are wanted. @throws InvalidInput for the options */
export function encodeCsv(
  rows: RecordBatchStream,
  options: CsvWriteOptions,
): AsyncGenerator<Uint8Array> {
  return encoded(rows, dialectOf(options));
}

async function* encoded(rows: RecordBatchStream, dialect: Dialect): AsyncGenerator<Uint8Array> {
  const out = new TextOut();
  const { delimiter, header } = dialect;
  const { fields } = rows.schema;
  if (fields.length === 0) return;
  if (header) {
    for (const [at, { name }] of fields.entries()) {
      if (at > 0) out.byte(delimiter);
      const bytes = Buffer.from(name);
      writeField(out, bytes, 0, bytes.length, dialect);
    }
    out.byte(LF);
  }
  // Many readers pass over blank lines. In quotes, nothing is null but in columns of texts and bytes.
  const isAlone = fields.length === 1 && !mayBeEmpty((fields[0] as Field).type);
  for await (const batch of rows) {
    const cells = columnsOf(batch).map((column) => cellOf(column, dialect));
    for (let row = 0; row < batch.numRows; row++) {
      const start = out.at;
      for (let at = 0; at < cells.length; at++) {
        if (at > 0) out.byte(delimiter);
        (cells[at] as WriteText)(out, row);
      }
      if (isAlone && out.at === start) out.ascii('""');
      out.byte(LF);
      if (out.at >= PIECE_BYTES) yield out.take();
    }
  }
  if (out.at > 0) yield out.take();
}

/** Writes the field of a row. */
function cellOf(data: Data, dialect: Dialect): WriteText {
  const write = writeOf(data, dialect);
  const { nullText } = dialect;
  const isNull = nullAt(data);
  return (out, row) => {
    if (isNull(row)) out.copy(nullText);
    else write(out, row);
  };
}

function writeOf(data: Data, dialect: Dialect): WriteText {
  if (data.length === 0) return () => {};
  const type = data.type as DataType;
  switch (type.typeId) {
    case Type.Utf8:
    case Type.LargeUtf8:
    case Type.Utf8View: {
      const place = bytesAt(data);
      return (out, row) => {
        const { bytes, start, end } = place(row);
        writeField(out, bytes, start, end, dialect);
      };
    }
    case Type.Dictionary: {
      const words = data.dictionary as Vector;
      if (isNested((type as Dictionary).dictionary)) return jsonField(data, dialect);
      return wordOf(words, data.values as Int32Array, (chunk) => cellOf(chunk, dialect));
    }
    default: {
      const text = plainText(data);
      if (text === undefined) return jsonField(data, dialect);
      // Of these only bytes may be none, only times have colons, and only what means null may be the
      // same as a value.
      const mayNeedQuotes =
        dialect.nullText.length > 0 || dialect.delimiter === COLON || isBinary(type);
      return mayNeedQuotes ? inField(text, dialect) : text;
    }
  }
}

const isBinary = ({ typeId }: DataType): boolean =>
  [Type.Binary, Type.LargeBinary, Type.BinaryView, Type.FixedSizeBinary].includes(typeId);

const isNested = (type: DataType): boolean =>
  type.typeId === Type.Interval || (type.children?.length ?? 0) > 0;

/** Values that are written as JSON. */
function jsonField(data: Data, dialect: Dialect): WriteText {
  return inField(jsonCell(data), dialect, 'null');
}

/**
 * Writes what `write` does as a field, in quotes where it needs them.
 * @param word that stands for null: of a union or a word of a dictionary, which no bitmap tells of
 */
function inField(write: WriteText, dialect: Dialect, word?: string): WriteText {
  const scratch = new TextOut();
  const { nullText } = dialect;
  return (out, row) => {
    scratch.at = 0;
    write(scratch, row);
    const { bytes, at } = scratch;
    if (at === word?.length && bytes.toString('latin1', 0, at) === word) {
      out.copy(nullText);
    } else writeField(out, bytes, 0, at, dialect);
  };
}

/** A text as a field: in quotes where it is empty, means null, or holds what ends a field. */
function writeField(
  out: TextOut,
  from: Uint8Array,
  start: number,
  end: number,
  { special, nullText }: Dialect,
): void {
  const size = end - start;
  out.room(size + 2);
  const { bytes, at } = out;
  let each = start;
  let into = at;
  if (size > 0 && from[start] !== BOM) {
    while (each < end) {
      const byte = from[each] as number;
      if (special[byte] === 1) break;
      bytes[into++] = byte;
      each++;
    }
    if (
      each === end &&
      !isSame(nullText, from, start, end) &&
      !isSpace(from[start], from[end - 1])
    ) {
      out.at = into;
      return;
    }
  }
  out.byte(QUOTE);
  for (each = start; each < end; each++) {
    const byte = from[each] as number;
    if (byte === QUOTE) out.byte(QUOTE);
    out.byte(byte);
  }
  out.byte(QUOTE);
}

/** Readers drop spaces around fields without quotes. */
const isSpace = (first: number | undefined, last: number | undefined): boolean =>
  first === 32 || first === 9 || last === 32 || last === 9;

function isSame(text: Uint8Array, from: Uint8Array, start: number, end: number): boolean {
  if (text.length !== end - start) return false;
  for (let at = 0; at < text.length; at++) if (text[at] !== from[start + at]) return false;
  return true;
}
