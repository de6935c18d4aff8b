/**
 * Reads rows from streamed JSON text. `jsonLines` reads one object per line, and `jsonArray` reads
 * one array of objects, or objects one after another. Integers keep every digit. Invalid JSON or
 * UTF-8, repeated keys, values that no column can hold, and a row of more than 2^27 characters
 * throw InvalidInput, which tells the file and the line.
 */
import { isUtf8 } from 'node:buffer';
import type { DirspaceError } from '../../errors.ts';
import { fileProblem } from '../files/index.ts';
import { parseExactJson, stringEnd } from './exact-json.ts';
import { refuseUnstorable } from './unstorable.ts';

/** One object, and the line on which it begins. */
export interface JsonRow {
  readonly line: number;
  readonly row: object;
}

/** Characters of one row; more are refused before memory runs out. */
const MAX_ROW = 1 << 27;

/** Empty lines are passed over. Throws InvalidInput. */
export async function* jsonLines(
  bytes: AsyncIterable<Uint8Array>,
  file: string,
): AsyncGenerator<JsonRow> {
  let line = 1;
  let rows = 0;
  let rest = '';
  const rowAt = (text: string): JsonRow => {
    rows++;
    return { line, row: rowOf(text, { file, row: rows, line, column: 1 }) };
  };
  for await (const text of decoded(bytes, file, () => line)) {
    let start = 0;
    for (let end = text.indexOf('\n'); end >= 0; end = text.indexOf('\n', start)) {
      const whole = rest + text.slice(start, end);
      rest = '';
      start = end + 1;
      if (whole.trim() !== '') yield rowAt(whole);
      line++;
    }
    rest += text.slice(start);
    checkLength(rest, file, line);
  }
  if (rest.trim() !== '') yield rowAt(rest);
}

/** Where the reading of an array stands. */
type Place = 'start' | 'value or end' | 'value' | 'comma or end' | 'end' | 'objects';

const EXPECTED: Readonly<Record<Place, string>> = {
  start: 'is neither a JSON array of objects nor an object',
  'value or end': 'has no object there, nor the end of the array',
  value: 'has no object after a comma',
  'comma or end': 'has neither a comma nor the end of the array after an object',
  end: 'goes on after the end of the array',
  objects: 'has no object after another one',
};

/** Characters between which an object is taken as it is, to be read once its end is there. */
const WITHIN = /["{}[\]\n]/g;
const IN_STRING = /["\\\n]/g;
const BETWEEN = /[^ \t\r]/g;

/** Throws InvalidInput. */
export async function* jsonArray(
  bytes: AsyncIterable<Uint8Array>,
  file: string,
): AsyncGenerator<JsonRow> {
  let line = 1;
  let place: Place = 'start';
  let row = '';
  let rowLine = 1;
  let rowColumn = 1;
  let rows = 0;
  /** Characters of the line before the text at hand. */
  let passed = 0;
  let depth = 0;
  let inString = false;
  let escaped = false;
  const wrong = (): DirspaceError =>
    fileProblem(`${file}, line ${line}, ${EXPECTED[place]}.`, { file, line });
  for await (const text of decoded(bytes, file, () => line)) {
    let from = 0;
    for (let at = 0; at < text.length; ) {
      if (escaped) {
        escaped = false;
        at++;
        continue;
      }
      const looked = inString ? IN_STRING : depth > 0 ? WITHIN : BETWEEN;
      looked.lastIndex = at;
      const found = looked.exec(text);
      if (found === null) break;
      at = found.index + 1;
      const [character] = found;
      if (character === '\n') line++;
      else if (inString) {
        if (character === '\\') escaped = true;
        else inString = false;
      } else if (depth > 0) {
        if (character === '"') inString = true;
        else depth += character === '{' || character === '[' ? 1 : -1;
        if (depth > 0) continue;
        rows++;
        const begin = { file, row: rows, line: rowLine, column: rowColumn };
        yield { line: rowLine, row: rowOf(row + text.slice(from, at), begin) };
        row = '';
        if (place !== 'objects') place = 'comma or end';
      } else if (place === 'start' && character === '[') place = 'value or end';
      else if (character === '{' && place !== 'comma or end' && place !== 'end') {
        // Without an array, objects follow each other, on lines of their own or not.
        if (place === 'start') place = 'objects';
        [depth, from, rowLine] = [1, at - 1, line];
        rowColumn = 1 + columnsAfter(passed, text.slice(0, from));
      } else if (character === ',' && place === 'comma or end') place = 'value';
      else if (character === ']' && (place === 'comma or end' || place === 'value or end')) {
        place = 'end';
      } else throw wrong();
    }
    passed = columnsAfter(passed, text);
    if (depth === 0) continue;
    row += text.slice(from);
    checkLength(row, file, rowLine);
  }
  // Blank: without rows, as blank lines are.
  if (place === 'end' || place === 'start' || (place === 'objects' && depth === 0)) return;
  const what = place === 'objects' ? 'an object' : 'its array of objects';
  throw fileProblem(`${file} ends on line ${line}, before the end of ${what}.`, { file, line });
}

/** Characters of the last line, where the text follows `before` characters of a line. */
function columnsAfter(before: number, text: string): number {
  const end = text.lastIndexOf('\n');
  return end < 0 ? before + text.length : text.length - end - 1;
}

/** UTF-8 without its mark. What is none would be stored as other text. */
async function* decoded(
  bytes: AsyncIterable<Uint8Array>,
  file: string,
  line: () => number,
): AsyncGenerator<string> {
  const decoder = new TextDecoder('utf-8', { fatal: true });
  let passed = 0;
  /** The bytes of a character that the next piece goes on with. */
  let open: Uint8Array = new Uint8Array();
  const decode = (piece?: Uint8Array): string => {
    const all = (): Uint8Array => Buffer.concat(piece === undefined ? [open] : [open, piece]);
    try {
      const text = decoder.decode(piece, { stream: piece !== undefined });
      passed = columnsAfter(passed, text);
      open = openEnd(piece === undefined || piece.length < 3 ? all() : piece);
      return text;
    } catch (cause) {
      const bytes = Buffer.from(all());
      const text = bytes.toString('utf8', 0, validBytes(bytes));
      const at = line() + text.split('\n').length - 1;
      const column = columnsAfter(passed, text) + 1;
      const message = `${file} is not in UTF-8 on line ${at}, column ${column}.`;
      throw fileProblem(message, { file, line: at, column }, cause);
    }
  };
  for await (const piece of bytes) yield decode(piece);
  const last = decode();
  if (last !== '') yield last;
}

/** How many bytes hold whole characters before the first that are none. */
function validBytes(bytes: Uint8Array): number {
  let [low, high] = [0, bytes.length];
  while (low < high) {
    const middle = (low + high + 1) >> 1;
    if (isUtf8(bytes.subarray(0, middle - openEnd(bytes.subarray(0, middle)).length))) low = middle;
    else high = middle - 1;
  }
  return low - openEnd(bytes.subarray(0, low)).length;
}

/** The bytes at the end that begin a character of more bytes. */
function openEnd(bytes: Uint8Array): Uint8Array {
  for (let length = 1; length <= 3 && length <= bytes.length; length++) {
    const byte = bytes[bytes.length - length] as number;
    if (byte < 0x80) break;
    if (byte < 0xc0) continue;
    const size = byte < 0xe0 ? 2 : byte < 0xf0 ? 3 : 4;
    return bytes.slice(length < size ? bytes.length - length : bytes.length);
  }
  return new Uint8Array();
}

function checkLength(text: string, file: string, line: number): void {
  if (text.length <= MAX_ROW) return;
  throw fileProblem(
    `${file}, line ${line}: one row has more than ${MAX_ROW.toLocaleString('en')} characters.`,
    { file, line },
  );
}

/** Where the text of a row begins; each counted from 1. */
interface RowBegin {
  readonly file: string;
  readonly row: number;
  readonly line: number;
  readonly column: number;
}

function rowOf(text: string, begin: RowBegin): object {
  const { file, line } = begin;
  let row: unknown;
  try {
    row = parseExactJson(text);
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error;
    throw noJson(text, begin, error.message);
  }
  if (typeof row !== 'object' || row === null || Array.isArray(row)) {
    throw fileProblem(`${file}, line ${line} is no JSON object.`, { file, row: begin.row, line });
  }
  refuseUnstorable(text, row, begin);
  const twice = mayRepeatKeys(text, row) ? repeatedKey(text) : undefined;
  if (twice === undefined) return row;
  throw fileProblem(
    `${file}, line ${line} has the key ${twice} twice in one object; which of the two values is meant is not known.`,
    { file, row: begin.row, line },
  );
}

/** The parser counts characters from 0, and from the begin of the row. */
const POSITION = / (?:in JSON )?at position (\d+)(?: \(line \d+ column \d+\))?/;

function noJson(text: string, begin: RowBegin, why: string): DirspaceError {
  const { file, row, line, column } = begin;
  const [found, position] = POSITION.exec(why) ?? [];
  if (found === undefined) {
    return fileProblem(`${file}, line ${line} is no JSON: ${why}`, { file, row, line });
  }
  const before = text.slice(0, Number(position));
  const at = line + before.split('\n').length - 1;
  const after = columnsAfter(column - 1, before) + 1;
  return fileProblem(
    `${file}, line ${at} is no JSON at column ${after}: ${why.replace(found, '')}`,
    { file, row, line: at, column: after },
  );
}

/** False where the text has as many strings as its value has keys and strings: then no key was lost. */
function mayRepeatKeys(text: string, row: object): boolean {
  // What is escaped may be a quote.
  if (text.includes('\\')) return true;
  let quotes = 0;
  for (let at = text.indexOf('"'); at >= 0; at = text.indexOf('"', at + 1)) quotes++;
  const rest: unknown[] = [row];
  for (let item = rest.pop(); item !== undefined; item = rest.pop()) {
    const isList = Array.isArray(item);
    for (const value of Object.values(item as object)) {
      if (!isList) quotes -= 2;
      if (typeof value === 'string') quotes -= 2;
      else if (typeof value === 'object' && value !== null) rest.push(value);
    }
  }
  return quotes !== 0;
}

const MARKS = /["{}[\],]/g;

/** A key as it is written that an object of valid JSON text has twice. */
function repeatedKey(text: string): string | undefined {
  const open: (Set<string> | undefined)[] = [];
  let isKey = false;
  MARKS.lastIndex = 0;
  for (let match = MARKS.exec(text); match !== null; match = MARKS.exec(text)) {
    const isString = match[0] === '"';
    if (isString) MARKS.lastIndex = stringEnd(text, match.index);
    const token: string = isString && isKey ? text.slice(match.index, MARKS.lastIndex) : match[0];
    const keys = open.at(-1);
    if (token === '{' || token === '[') open.push(token === '{' ? new Set() : undefined);
    else if (token === '}' || token === ']') open.pop();
    else if (isKey && token !== ',') {
      const key = JSON.parse(token) as string;
      if (keys?.has(key)) return token;
      keys?.add(key);
    }
    isKey = token === '{' || (token === ',' && keys !== undefined);
  }
  return undefined;
}
