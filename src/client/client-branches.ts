/**
 * Protects branches from servers that ignore the request member `branch`, as Lance's own server
 * does: they would read or change the main branch instead. `tableOfBranch` tells which requests are
 * at risk: changes of another branch than main, and queries on one. `honoursBranch` tells from an
 * answer whether its server honours branches; it returns undefined for a failure that does not
 * tell. client.ts sends a request at risk only to a server that honours them; for others it throws
 * Unsupported (`branchesPassedOver`).
 */
import { DirspaceError } from '../errors.ts';
import { MAIN_BRANCH } from '../format/index.ts';
import {
  type AnyOperation,
  namesIn,
  type OperationRow,
  SUPPORTS_HEADER,
} from '../protocol/index.ts';
import type { Answer } from './whole-answer.ts';

interface BranchMembers {
  readonly id?: string[];
  readonly branch?: string;
  readonly from_branch?: string;
}

interface BranchRequest extends BranchMembers {
  readonly query?: BranchMembers;
  readonly entries?: readonly BranchMembers[];
  readonly operations?: readonly Readonly<Record<string, BranchMembers>>[];
}

/** Reads whose rows would be those of the main branch; what is told of a branch is not refused. */
const READS_ROWS: ReadonlySet<AnyOperation> = new Set<AnyOperation>([
  'QueryTable',
  'AnalyzeTableQueryPlan',
  'ExplainTableQueryPlan',
]);

/** The table on whose branch the request changes or reads rows, or undefined where it does not. */
export function tableOfBranch(
  operation: AnyOperation,
  { changes }: OperationRow,
  request: object,
): { readonly id?: string[] } | undefined {
  if (!changes && !READS_ROWS.has(operation)) return undefined;
  const { id, query, entries, operations, ...members } = request as BranchRequest;
  const inParts = [query, entries, operations?.map((one) => Object.values(one))].flat(2);
  const found = [members as BranchMembers, ...inParts].find(
    (part) => part !== undefined && (isNamed(part.branch) || isNamed(part.from_branch)),
  );
  if (found === undefined) return undefined;
  const table = id ?? found.id;
  return table === undefined ? {} : { id: table };
}

const isNamed = (branch: string | undefined): boolean =>
  branch !== undefined && branch !== MAIN_BRANCH;

/**
 * Whether the server behind an answer honours `branch`. Undefined for a failure without the header,
 * which may come from a gateway.
 */
export function honoursBranch({ ok, headers }: Answer): boolean | undefined {
  const supported = headers.get(SUPPORTS_HEADER);
  if (supported === 'branch' || namesIn(supported).includes('branch')) return true;
  return ok ? false : undefined;
}

export function branchesPassedOver(operation: AnyOperation, changes: boolean): DirspaceError {
  const consequence = changes
    ? 'the change could have been made to the main branch. Nothing was sent'
    : 'the rows could have been those of the main branch';
  return new DirspaceError(
    'Unsupported',
    `The server does not say that it honours "branch", and other servers may ignore it: ${consequence}. Work on the main branch, or use a server of dirspace.`,
    { details: { operation, member: 'branch' } },
  );
}
