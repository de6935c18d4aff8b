/**
 * `lancedbError` changes the status of an error so that LanceDB's clients react correctly. They
 * take a 404 for a missing object, send a request again after 409 and 500, and give up after 400. A
 * 404 stays for a missing namespace, table, index or job, and for a version or branch where the
 * clients expect it; other 404s become 400. So do conflicts that they would repeat in vain, and
 * 500s of calls that must not be repeated. An address without a route becomes 406. The message for
 * an existing table gets the words that the clients look for.
 */
import { ERROR_KINDS } from '../../errors.ts';
import {
  type AnyOperation,
  ERROR_STATUSES,
  type ErrorBody,
  type ErrorStatus,
  EVERY_OPERATION,
} from '../../protocol/index.ts';

/** Sent once only, so a conflict is not sent again. */
const SENT_ONCE: ReadonlySet<AnyOperation> = new Set([
  'CreateNamespace',
  'DropNamespace',
  'RenameTable',
  'CreateTableBranch',
]);

/** A 404 to these says that there is no such job. */
const JOBS: ReadonlySet<AnyOperation> = new Set(['DescribeJob', 'CancelJob']);

export function lancedbError(operation: AnyOperation | undefined, body: ErrorBody): ErrorBody {
  if (operation === undefined) return body.status === 404 ? withStatus(body, 406) : body;
  switch (body.status) {
    case 404:
      return JOBS.has(operation) || isMissingTable(operation, body.code)
        ? body
        : withStatus(body, 400);
    case 409:
      if (operation === 'CreateTable') return existing(body);
      return isFinal(operation, body.code) ? withStatus(body, 400) : body;
    case 500:
      // What may have been committed must not be done twice.
      return EVERY_OPERATION[operation].repeatable ? body : withStatus(body, 400);
    default:
      return body;
  }
}

const { NamespaceNotFound, TableNotFound, TableIndexNotFound, TableVersionNotFound } = ERROR_KINDS;
const { TableBranchNotFound, ConcurrentModification, TableAlreadyExists } = ERROR_KINDS;

function isMissingTable(operation: AnyOperation, code: number): boolean {
  switch (code) {
    case TableVersionNotFound.number:
      return operation === 'DescribeTable';
    case TableBranchNotFound.number:
      return operation === 'DeleteTableBranch';
    default:
      return [NamespaceNotFound, TableNotFound, TableIndexNotFound].some(
        ({ number }) => number === code,
      );
  }
}

function isFinal(operation: AnyOperation, code: number): boolean {
  return !SENT_ONCE.has(operation) && code !== ConcurrentModification.number;
}

/** The clients search the text for these words. */
function existing(body: ErrorBody): ErrorBody {
  const final = withStatus(body, 400);
  if (body.code !== TableAlreadyExists.number || body.error.includes('already exists'))
    return final;
  const error = `${body.error} The table already exists.`;
  return { ...final, error, detail: error };
}

function withStatus(body: ErrorBody, status: ErrorStatus): ErrorBody {
  return { ...body, ...ERROR_STATUSES[status], status };
}
