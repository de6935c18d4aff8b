/**
 * Defines `ConformanceCase`, one check of an operation. It has a claim about the operation, the
 * sentence of the protocol behind the claim, and the function that checks it. `SAYS` holds
 * sentences that several cases share. `pathOf` builds the HTTP path of an operation on a table or
 * namespace.
 */
import type { OperationName } from '../../protocol/index.ts';
import type { Kit } from './kit.ts';

export interface ConformanceCase {
  /** The operation that the case is about. */
  readonly operation: OperationName;
  /** What is true of a server that passes. */
  readonly name: string;
  /** The sentence of the protocol that says so, word for word. */
  readonly basis: string;
  /** The protocol leaves the point open: a server that decides it otherwise differs, and is not wrong. */
  readonly open?: true;
  /** Sends one request, the last, that the protocol does not allow. All others are valid. */
  readonly malformed?: true;
  run(kit: Kit): Promise<void>;
}

/** Sentences of the protocol's table of error codes, and of its answers. */
export const SAYS = {
  namespaceMissing: '1 - NamespaceNotFound: The specified namespace does not exist',
  tableMissing: '4 - TableNotFound: The specified table does not exist',
  tableTaken: '5 - TableAlreadyExists: A table with this name already exists',
  indexMissing: '6 - TableIndexNotFound: The specified table index does not exist',
  tagMissing: '8 - TableTagNotFound: The specified table tag does not exist',
  tagTaken: '9 - TableTagAlreadyExists: A table tag with this name already exists',
  transactionMissing: '10 - TransactionNotFound: The specified transaction does not exist',
  versionMissing: '11 - TableVersionNotFound: The specified table version does not exist',
  columnMissing: '12 - TableColumnNotFound: The specified table field does not exist',
  branchMissing: '22 - TableBranchNotFound: The specified table branch does not exist',
  branchTaken: '23 - TableBranchAlreadyExists: A table branch with this name already exists',
  malformed:
    'Indicates a bad request error. It could be caused by an unexpected request body format or other forms of request validation failure, such as invalid json.',
  pages:
    'if there are more items than the page limit specified in the request, the implementation must return a page token in the response, indicating there are more results available.',
  words: 'Case insensitive, supports both PascalCase and snake_case.',
} as const;

/** The path of an operation on an object. */
export const pathOf = (kind: 'table' | 'namespace', id: readonly string[], verb: string): string =>
  `/v1/${kind}/${encodeURIComponent(id.join('$'))}/${verb}`;
