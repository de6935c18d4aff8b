/**
 * Lists the exit codes of the command line (`EXIT`). `exitCode` maps an error to one of them:
 * errors of the command line by their class, errors of the catalog by their code and HTTP status,
 * and unknown errors to 1.
 */
import { type DirspaceError, isDirspaceError } from '../../errors.ts';
import { MissingFile, OtherProtocol, UsageError } from './command.ts';
import { Interrupted } from './interruption.ts';

export const EXIT = {
  ok: 0,
  failure: 1,
  usage: 2,
  notFound: 3,
  alreadyExists: 4,
  conflict: 5,
  auth: 6,
  unavailable: 7,
  otherProtocol: 8,
  interrupted: 130,
  terminated: 143,
} as const;

export function exitCode(error: unknown): number {
  if (error instanceof UsageError) return EXIT.usage;
  if (error instanceof MissingFile) return EXIT.notFound;
  if (error instanceof OtherProtocol) return EXIT.otherProtocol;
  if (error instanceof Interrupted) return error.exitCode;
  return isDirspaceError(error) ? codeOf(error) : EXIT.failure;
}

function codeOf({ code, status }: DirspaceError): number {
  // A name that was typed, whatever the command.
  if (code === 'TableColumnNotFound') return EXIT.usage;
  if (code.endsWith('AlreadyExists')) return EXIT.alreadyExists;
  switch (status) {
    case 404:
      return EXIT.notFound;
    case 409:
      return EXIT.conflict;
    case 401:
    case 403:
      return EXIT.auth;
    case 503:
      return EXIT.unavailable;
    default:
      return EXIT.failure;
  }
}
