import { isDirspaceError } from '../../src/errors.ts';

/** 'ok', or the code of a typed error; anything else is a failure of the test. */
export async function outcomeOf(work: Promise<unknown>): Promise<string> {
  try {
    await work;
    return 'ok';
  } catch (error) {
    if (isDirspaceError(error)) return error.code;
    throw error;
  }
}
