/** Small parts of requests and answers that the methods of a connection share. */
import { type ErrorCode, isDirspaceError } from '../errors.ts';
import type { PageOptions } from './connection-options.ts';
import { defined } from './handles/index.ts';

/** What is no object of strings is left for the catalog to refuse. */
export const copy = (
  strings: Readonly<Record<string, string>> | undefined,
): Record<string, string> | undefined =>
  typeof strings === 'object' && !Array.isArray(strings) ? { ...strings } : strings;

export const page = ({ limit, pageToken }: PageOptions): { limit?: number; page_token?: string } =>
  defined({ limit, page_token: pageToken });

/** Whether an exists operation resolves; failures of other kinds stay failures. */
export async function isThere(answer: Promise<unknown>, ...missing: ErrorCode[]): Promise<boolean> {
  try {
    await answer;
    return true;
  } catch (error) {
    if (isDirspaceError(error, ...missing)) return false;
    throw error;
  }
}
