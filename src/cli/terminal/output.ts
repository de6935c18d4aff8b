/**
 * Formats values as text for commands. `toJson` writes JSON that loses no digit of an integer.
 * `columns` and `facts` align values in columns for people, by the widths of `widthsOf`; `cell` and
 * `shortCell` format one value, `counted` a number of things. Long texts can be cut, and characters
 * that control a terminal are escaped. cli/print.ts writes the text to standard output.
 */
import { Buffer } from 'node:buffer';
import { displayWidth } from '../../display-width.ts';
import { cut, safeJson, visible } from './terminal-text.ts';

/**
 * One JSON document. Integers that a JSON reader would round are strings, bytes are base64, what
 * JSON has no number for is its name, maps are lists of pairs.
 */
export function toJson(value: unknown, indent = 2): string {
  let hasNegativeZero = false;
  const json = JSON.stringify(
    value,
    (_, item: unknown) => {
      hasNegativeZero ||= Object.is(item, -0);
      return plain(item);
    },
    indent,
  );
  if (json === undefined) return 'null';
  return safeJson(hasNegativeZero ? withNegativeZeros(value, indent, json) : json);
}

/**
 * JSON has a zero of either sign, and JSON.stringify writes one: a text that is nowhere else stands
 * for it.
 */
function withNegativeZeros(value: unknown, indent: number, json: string): string {
  let mark = '-0';
  while (json.includes(`"${mark}"`)) mark += '0';
  const marked = JSON.stringify(
    value,
    (_, item: unknown) => (Object.is(item, -0) ? mark : plain(item)),
    indent,
  );
  return marked.replaceAll(`"${mark}"`, '-0');
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

/** A value in a column: strings as they are, the rest as JSON. */
export function cell(value: unknown): string {
  if (value === undefined || value === null) return '';
  return visible(typeof value === 'string' ? value : unquoted(toJson(value, 0)));
}

/** A cell of at most so many columns of a terminal; of a long text the end is not looked at. */
export function shortCell(value: unknown, columns: number): string {
  const text =
    typeof value === 'string' && value.length > LONGEST_TEXT
      ? `${value.slice(0, LONGEST_TEXT)}…`
      : value;
  return cut(cell(text), columns);
}

const LONGEST_TEXT = 4096;

const unquoted = (json: string): string => (/^"[^"\\]*"$/.test(json) ? json.slice(1, -1) : json);

/** Rows under a head, each column as wide as its longest cell. */
export function columns(head: readonly string[], rows: readonly (readonly unknown[])[]): string {
  const lines = [head.map(visible), ...rows.map((row) => row.map(cell))];
  const widths = widthsOf(lines);
  return lines.map((line) => alignedLine(line, widths)).join('\n');
}

/** The width of the widest cell of each column. */
export function widthsOf(lines: readonly (readonly string[])[]): number[] {
  const widths: number[] = [];
  for (const line of lines) {
    for (const [at, text] of line.entries()) {
      widths[at] = Math.max(widths[at] ?? 0, displayWidth(text));
    }
  }
  return widths;
}

/** Cells side by side; one that is longer than its column pushes the others to the right. */
export const alignedLine = (line: readonly string[], widths: readonly number[]): string =>
  line
    .map((text, at) => text + ' '.repeat(Math.max(0, (widths[at] ?? 0) - displayWidth(text))))
    .join('  ')
    .trimEnd();

/** Names and values, one to a line. */
export function facts(entries: readonly (readonly [name: string, value: unknown])[]): string {
  const known = entries
    .filter(([, value]) => value !== undefined && value !== null)
    .map(([name, value]) => [visible(name), visible(factText(value))]);
  const widths = widthsOf(known.map(([name = '']) => [name]));
  return known.map((line) => alignedLine(line, widths)).join('\n');
}

const factText = (value: unknown): string =>
  typeof value === 'string' ? value : unquoted(toJson(value, 0));

/** `1 row`, `12,345 rows`. */
export const counted = (count: number, one: string): string =>
  `${count.toLocaleString('en')} ${one}${count === 1 ? '' : 's'}`;
