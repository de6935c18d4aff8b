/**
 * Reads rows from streamed JSON text: one object per line (`jsonLines`), or one array of objects
 * (`jsonArray`). Numbers keep every digit. Errors name the line, counted from 1.
 */
import { UsageError } from '../terminal/index.ts';
import { parseExactJson } from './exact-json.ts';

/** One object, and the line on which it begins. */
export interface JsonRow {
  readonly line: number;
  readonly row: object;
}

/** Characters of one row; more are refused before memory runs out. */
const MAX_ROW = 1 << 27;

/** Empty lines are passed over. Throws UsageError. */
export async function* jsonLines(
  bytes: AsyncIterable<Uint8Array>,
  file: string,
): AsyncGenerator<JsonRow> {
  let line = 1;
  let rest = '';
  for await (const text of decoded(bytes, file, () => line)) {
    let start = 0;
    for (let end = text.indexOf('\n'); end >= 0; end = text.indexOf('\n', start)) {
      const whole = rest + text.slice(start, end);
      rest = '';
      start = end + 1;
      if (whole.trim() !== '') yield { line, row: rowOf(whole, file, line) };
      line++;
    }
    rest += text.slice(start);
    checkLength(rest, file, line);
  }
  if (rest.trim() !== '') yield { line, row: rowOf(rest, file, line) };
}

/** Where the reading of an array stands. */
type Place = 'start' | 'value or end' | 'value' | 'comma or end' | 'end';

const EXPECTED: Readonly<Record<Place, string>> = {
  start: 'is no JSON array of objects',
  'value or end': 'has no object there, nor the end of the array',
  value: 'has no object after a comma',
  'comma or end': 'has neither a comma nor the end of the array after an object',
  end: 'goes on after the end of the array',
};

/** Characters between which an object is taken as it is, to be read once its end is there. */
const WITHIN = /["{}[\]\n]/g;
const IN_STRING = /["\\\n]/g;
const BETWEEN = /[^ \t\r]/g;

/** Throws UsageError. */
export async function* jsonArray(
  bytes: AsyncIterable<Uint8Array>,
  file: string,
): AsyncGenerator<JsonRow> {
  let line = 1;
  let place: Place = 'start';
  let row = '';
  let rowLine = 1;
  let depth = 0;
  let inString = false;
  let escaped = false;
  const wrong = (): UsageError => new UsageError(`${file}, line ${line}, ${EXPECTED[place]}.`);
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
        yield { line: rowLine, row: rowOf(row + text.slice(from, at), file, rowLine) };
        row = '';
        place = 'comma or end';
      } else if (place === 'start') {
        if (character !== '[') throw wrong();
        place = 'value or end';
      } else if (character === '{' && (place === 'value or end' || place === 'value')) {
        [depth, from, rowLine] = [1, at - 1, line];
      } else if (character === ',' && place === 'comma or end') place = 'value';
      else if (character === ']' && (place === 'comma or end' || place === 'value or end')) {
        place = 'end';
      } else throw wrong();
    }
    if (depth === 0) continue;
    row += text.slice(from);
    checkLength(row, file, rowLine);
  }
  // Blank: without rows, as blank lines are.
  if (place !== 'end' && place !== 'start') {
    throw new UsageError(`${file} ends on line ${line}, before the end of its array of objects.`);
  }
}

/** UTF-8 without its mark. What is none would be stored as other text. */
async function* decoded(
  bytes: AsyncIterable<Uint8Array>,
  file: string,
  line: () => number,
): AsyncGenerator<string> {
  const decoder = new TextDecoder('utf-8', { fatal: true });
  const decode = (piece?: Uint8Array): string => {
    try {
      return decoder.decode(piece, { stream: piece !== undefined });
    } catch (cause) {
      throw new UsageError(`${file} is not in UTF-8 from line ${line()} on, or soon after.`, {
        cause,
      });
    }
  };
  for await (const piece of bytes) yield decode(piece);
  const last = decode();
  if (last !== '') yield last;
}

function checkLength(text: string, file: string, line: number): void {
  if (text.length <= MAX_ROW) return;
  throw new UsageError(
    `${file}, line ${line}: one row has more than ${MAX_ROW.toLocaleString('en')} characters.`,
  );
}

function rowOf(text: string, file: string, line: number): object {
  let row: unknown;
  try {
    row = parseExactJson(text);
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error;
    throw new UsageError(`${file}, line ${line} is no JSON: ${error.message}`);
  }
  if (typeof row !== 'object' || row === null || Array.isArray(row)) {
    throw new UsageError(`${file}, line ${line} is no JSON object.`);
  }
  const twice = mayRepeatKeys(text, row) ? repeatedKey(text) : undefined;
  if (twice === undefined) return row;
  throw new UsageError(
    `${file}, line ${line} has the key ${twice} twice in one object; which of the two values is meant is not known.`,
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

const STRINGS_AND_MARKS = /"(?:[^"\\]|\\.)*"|[{}[\],]/g;

/** A key as it is written that an object of valid JSON text has twice. */
function repeatedKey(text: string): string | undefined {
  const open: (Set<string> | undefined)[] = [];
  let isKey = false;
  for (const [token] of text.matchAll(STRINGS_AND_MARKS)) {
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
