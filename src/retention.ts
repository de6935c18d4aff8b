/**
 * `parseRetention` converts the time for which the trash keeps dropped objects to milliseconds. It
 * takes a number of milliseconds, the text `0`, or a text with a unit such as `7d` or `12h`;
 * anything else throws InvalidInput. 0 keeps nothing. `DEFAULT_TRASH_RETENTION` is 7 days.
 */
import { DirspaceError } from './errors.ts';

const DAY = 24 * 3_600_000;

/** In milliseconds. */
export const DEFAULT_TRASH_RETENTION: number = 7 * DAY;

const MILLIS: Readonly<Record<string, number>> = {
  ms: 1,
  s: 1000,
  m: 60_000,
  h: 3_600_000,
  d: DAY,
};

/**
 * Milliseconds of a number of them, or of text such as `7d`, `12h` and `0`.
 * @throws InvalidInput
 */
export function parseRetention(value: number | string, name = 'trashRetention'): number {
  if (typeof value === 'number' && value >= 0) return value;
  const text = typeof value === 'string' ? value.trim() : '';
  if (text === '0') return 0;
  const [, amount, unit = ''] = /^(\d{1,9}(?:\.\d{1,3})?)(ms|s|m|h|d)$/.exec(text) ?? [];
  if (amount !== undefined) return Number(amount) * (MILLIS[unit] as number);
  throw new DirspaceError(
    'InvalidInput',
    `${name} is ${JSON.stringify(value)}; give a number of milliseconds, or text with a unit (ms, s, m, h, d) such as "7d". 0 keeps nothing.`,
  );
}
