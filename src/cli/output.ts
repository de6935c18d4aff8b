/** Values as text: JSON that loses no digit, and columns for people. Prints nothing. */
import { Buffer } from 'node:buffer';

/**
 * One JSON document. Integers that a JSON reader would round are strings, bytes are base64, what
 * JSON has no number for is its name, maps are lists of pairs.
 */
export function toJson(value: unknown, indent = 2): string {
  return JSON.stringify(value, (_, item: unknown) => plain(item), indent) ?? 'null';
}

function plain(value: unknown): unknown {
  switch (typeof value) {
    case 'bigint': {
      const rounded = Number(value);
      return Number.isSafeInteger(rounded) ? rounded : value.toString();
    }
    case 'number':
      return Number.isFinite(value) ? value : String(value);
    case 'object':
      return value === null ? null : plainObject(value);
    default:
      return value;
  }
}

function plainObject(value: object): unknown {
  // A Buffer has become {type, data} by the time it is seen here.
  if (value instanceof Uint8Array) {
    return Buffer.from(value.buffer, value.byteOffset, value.byteLength).toString('base64');
  }
  if (value instanceof Map) return [...value];
  if (ArrayBuffer.isView(value) && !(value instanceof DataView)) {
    return Array.from(value as unknown as Iterable<unknown>);
  }
  return value;
}

/** Control characters as escapes, so that what is stored cannot move a terminal's cursor. */
const visible = (text: string): string =>
  text.replace(/\p{Cc}/gu, (character) => JSON.stringify(character).slice(1, -1));

/** A value in a column: strings as they are, the rest as JSON. */
export function cell(value: unknown): string {
  if (value === undefined || value === null) return '';
  return visible(typeof value === 'string' ? value : unquoted(toJson(value, 0)));
}

/** At most so many characters, the last one a mark that there are more. */
export function cut(text: string, most: number): string {
  if (text.length <= most) return text;
  const characters = [...text];
  return characters.length > most ? `${characters.slice(0, most - 1).join('')}…` : text;
}

const unquoted = (json: string): string => (/^"[^"\\]*"$/.test(json) ? json.slice(1, -1) : json);

/** Rows under a head, each column as wide as its longest cell. */
export function columns(head: readonly string[], rows: readonly (readonly unknown[])[]): string {
  const lines = [head.map(visible), ...rows.map((row) => row.map(cell))];
  const widths = widthsOf(lines);
  return lines.map((line) => alignedLine(line, widths)).join('\n');
}

/** Of each column the characters of its longest cell. */
export function widthsOf(lines: readonly (readonly string[])[]): number[] {
  const widths: number[] = [];
  for (const line of lines) {
    for (const [at, text] of line.entries()) {
      widths[at] = Math.max(widths[at] ?? 0, characters(text));
    }
  }
  return widths;
}

/** Cells side by side; one that is longer than its column pushes the others to the right. */
export const alignedLine = (line: readonly string[], widths: readonly number[]): string =>
  line
    .map((text, at) => text + ' '.repeat(Math.max(0, (widths[at] ?? 0) - characters(text))))
    .join('  ')
    .trimEnd();

const characters = (text: string): number => [...text].length;

/** Names and values, one to a line. */
export function facts(entries: readonly (readonly [name: string, value: unknown])[]): string {
  const known = entries.filter(([, value]) => value !== undefined && value !== null);
  const width = Math.max(0, ...known.map(([name]) => name.length));
  return known
    .map(([name, value]) => `${name.padEnd(width)}  ${visible(factText(value))}`.trimEnd())
    .join('\n');
}

const factText = (value: unknown): string =>
  typeof value === 'string' ? value : unquoted(toJson(value, 0));

/** `1 row`, `12,345 rows`. */
export const counted = (count: number, one: string): string =>
  `${count.toLocaleString('en')} ${one}${count === 1 ? '' : 's'}`;
