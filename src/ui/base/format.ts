/**
 * Formats numbers (`count`, `counted`, `short`, `percent`), bytes (`bytes`), times (`moment`) and
 * column types (`typeText`) as text for people. `moment` gives times in UTC, so that all who share
 * a link see the same text, and '' for a time that a `Date` cannot hold. `columnsOf` lists the
 * columns of a schema with their types as text, and `isVector` recognises vector columns:
 * fixed-size lists of numbers.
 */
import type { Column, JsonField, JsonType } from './types.ts';

export const count = (value: number): string => value.toLocaleString('en');

export const counted = (value: number, one: string): string =>
  `${count(value)} ${one}${value === 1 ? '' : 's'}`;

const UNITS = ['bytes', 'KiB', 'MiB', 'GiB', 'TiB'];

export function bytes(value: number): string {
  let unit = 0;
  let left = value;
  while (left >= 1024 && unit < UNITS.length - 1) {
    left /= 1024;
    unit++;
  }
  return `${unit === 0 || left >= 999.5 ? Math.floor(left) : left.toPrecision(3)} ${UNITS[unit]}`;
}

/** The last moment that a `Date` can hold, in milliseconds. */
const LAST_MOMENT = 8.64e15;

/** In UTC, so that it is the same text for all who share a link; '' for what no `Date` can hold. */
export const moment = (millis: number | undefined): string =>
  millis === undefined || !(Math.abs(millis) <= LAST_MOMENT)
    ? ''
    : new Date(millis).toISOString().replace('T', ' ').slice(0, 19);

/** `list<utf8>`, `fixed_size_list<float32>[768]`. */
export function typeText({ type, fields, length }: JsonType): string {
  const size = length === undefined ? '' : `[${length}]`;
  if (fields === undefined || fields.length === 0) return type + size;
  const inner =
    type === 'struct'
      ? fields.map((field) => `${field.name}: ${typeText(field.type)}`).join(', ')
      : fields.map((field) => typeText(field.type)).join(', ');
  return `${type}<${inner}>${size}`;
}

export const columnsOf = (fields: readonly JsonField[] | undefined): Column[] =>
  (fields ?? []).map(({ name, type }) => ({ name, type: typeText(type) }));

/** A column whose values are vectors: fixed-size lists of numbers. */
export const isVector = ({ type }: JsonField): boolean =>
  type.type === 'fixed_size_list' && /float|int/.test(type.fields?.[0]?.type.type ?? '');

/** A share from 0 to 1 in two digits; none and all are what is none and all alone. */
export function percent(share: number): string {
  const shown = Number((100 * share).toPrecision(2));
  return `${share < 1 && shown === 100 ? 'almost 100' : String(shown)} %`;
}

/** A few digits of a number, however large or small. */
export function short(value: number): string {
  if (!Number.isFinite(value)) return String(value);
  const size = Math.abs(value);
  if (Number.isInteger(value) && size < 1e15) return count(value);
  return size >= 1e6 || size < 1e-3 ? value.toExponential(2) : String(Number(value.toPrecision(4)));
}
