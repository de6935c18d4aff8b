/**
 * Throws and formats the errors of SQL text. `refuse` throws an error with a message and, if it is
 * given, a position in the user's text. The code is InvalidInput unless the caller gives another.
 * `checked` adds a position to the InvalidInput that a check throws. `placeText` is how such a
 * message ends, and `shorten` cuts a text for one.
 */
import { DirspaceError, type ErrorCode, isDirspaceError } from '../../errors.ts';

/**
 * Throws InvalidInput (or `code`) for offset `at` of the user's SQL, in UTF-16 units; `position`
 * counts them from 1.
 */
export function refuse(
  at: number | undefined,
  message: string,
  options: { code?: ErrorCode; details?: Record<string, unknown>; cause?: unknown } = {},
): never {
  const place = at === undefined || at < 0 ? '' : placeText(at + 1);
  throw new DirspaceError(options.code ?? 'InvalidInput', message + place, {
    details: {
      ...(at === undefined || at < 0 ? {} : { position: at + 1 }),
      ...options.details,
    },
    ...(options.cause === undefined ? {} : { cause: options.cause }),
  });
}

/** As every message ends that has a place. */
export const placeText = (position: number): string => ` (at position ${position})`;

/** Runs a check whose error has no place yet. */
export function checked(at: number | undefined, check: () => unknown): void {
  try {
    check();
  } catch (error) {
    if (isDirspaceError(error, 'InvalidInput')) refuse(at, error.message, { cause: error });
    throw error;
  }
}

/** A value shortened for a message. */
export function shorten(text: string, limit = 60): string {
  return text.length <= limit ? text : `${text.slice(0, limit - 1)}…`;
}
