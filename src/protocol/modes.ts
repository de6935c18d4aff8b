/**
 * Lists the values of modes, drop behaviours and transaction statuses (`CREATE_MODES`, ...).
 * `parseMode` reads such a word in any case, with or without underscores. A missing value means
 * the first word of the list; an unknown word throws InvalidInput. `spellsMode` is for checks of
 * permissions: it tells whether a value could be read as a given mode, and is true for every value
 * that is not text.
 */
import { DirspaceError } from '../errors.ts';
import { suggestion } from '../known-names.ts';

export const CREATE_MODES = ['Create', 'ExistOk', 'Overwrite'] as const;
export const REGISTER_MODES = ['Create', 'Overwrite'] as const;
export const INSERT_MODES = ['Append', 'Overwrite'] as const;
export const DROP_MODES = ['Fail', 'Skip'] as const;
export const DROP_BEHAVIORS = ['Restrict', 'Cascade'] as const;
export const SET_PROPERTY_MODES = ['Overwrite', 'Fail', 'Skip'] as const;
export const UNSET_PROPERTY_MODES = ['Skip', 'Fail'] as const;
export const TRANSACTION_STATUSES = [
  'Queued',
  'Running',
  'Succeeded',
  'Failed',
  'Canceled',
] as const;

export type CreateMode = (typeof CREATE_MODES)[number];
export type InsertMode = (typeof INSERT_MODES)[number];
export type DropBehavior = (typeof DROP_BEHAVIORS)[number];
export type TransactionStatus = (typeof TRANSACTION_STATUSES)[number];

const folded = (word: string): string => word.replaceAll('_', '').toLowerCase();

/** The word in snake_case, as the SDK and its documentation write it. */
const inSnakeCase = (word: string): string =>
  word.replaceAll(/(?<=[a-z])(?=[A-Z])/g, '_').toLowerCase();

/** Whether `value` may mean `mode`: a text that spells it, or any value that is not a text. */
export function spellsMode(value: unknown, mode: string): boolean {
  return typeof value !== 'string' || folded(value) === folded(mode);
}

/** The word of `allowed` that `value` spells; the first one when there is no value. */
export function parseMode<const Mode extends string>(
  value: string | undefined,
  allowed: readonly [Mode, ...Mode[]],
  member = 'mode',
): Mode {
  if (value === undefined) return allowed[0];
  const wanted = folded(value);
  for (const mode of allowed) if (folded(mode) === wanted) return mode;
  const words = allowed.map(inSnakeCase);
  throw new DirspaceError(
    'InvalidInput',
    `Invalid ${member} '${value.slice(0, 80)}': it is one of ${words.join(', ')}.${suggestion(value, words)}`,
    { details: { member, allowed } },
  );
}
