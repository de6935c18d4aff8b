/**
 * `refuse` throws the error of an SQL expression, with a message and the position in the user's
 * text. Its code is InvalidInput unless another is given. `checked` runs a check and adds the
 * position to the InvalidInput that the check throws. `placeText` formats the position, and
 * `shorten` shortens a value for a message.
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
