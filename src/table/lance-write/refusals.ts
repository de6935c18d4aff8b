/**
 * Builds the errors that refuse a staged Lance manifest. `invalid` (InvalidInput) is for a damaged
 * or inconsistent one, and `unsupported` (Unsupported) for one beyond what this release accepts;
 * `shown` quotes at most 80 characters of a text. `blamed` turns damage found while reading a
 * client's files into one of these errors, and lets errors of other kinds pass.
 */
import { DirspaceError, isDirspaceError } from '../../errors.ts';

const MEMBER = { details: { member: 'manifest_path' } };

/** The error for a manifest whose content cannot be right. */
export const invalid = (what: string, cause?: unknown): DirspaceError =>
  new DirspaceError(
    'InvalidInput',
    `The staged Lance manifest cannot be published: ${what}. Nothing was changed.`,
    { ...MEMBER, cause },
  );

/**
 * The error for a feature of Lance that tables of this engine do not have. @param advice a whole
 * sentence
 */
export const unsupported = (what: string, advice = ''): DirspaceError =>
  new DirspaceError(
    'Unsupported',
    `The staged Lance manifest is not taken: ${what} is not supported for tables with lance: "write". ${advice === '' ? '' : `${advice} `}Nothing was changed.`,
    MEMBER,
  );

/** A text of the manifest as messages show it. */
export const shown = (text: string): string => JSON.stringify(text.slice(0, 80));

/**
 * Damage of a file that a client wrote is the request's fault.
 * @throws InvalidInput, Unsupported
 */
export async function blamed<Value>(read: () => Value | Promise<Value>): Promise<Value> {
  try {
    return await read();
  } catch (error) {
    if (isDirspaceError(error) && error.details.member === 'manifest_path') throw error;
    if (isDirspaceError(error, 'UnsupportedFormat', 'Unsupported')) {
      throw new DirspaceError(
        'Unsupported',
        `The staged Lance manifest is not taken: ${endless(error.message)}. Nothing was changed.`,
        { details: { ...error.details, ...MEMBER.details }, cause: error },
      );
    }
    if (isDirspaceError(error, 'Corrupt', 'TableSchemaValidation', 'PayloadTooLarge'))
      throw invalid(endless(error.message), error);
    throw error;
  }
}

const endless = (message: string): string => message.replace(/\.$/, '');
