/**
 * The order of the test files: those that take longest begin first, so that no worker is left with
 * one of them at the end while the others have nothing to do.
 */
import { BaseSequencer, type TestSpecification } from 'vitest/node';

/** Files of more than eight seconds, the longest first. A name that is missing here costs time alone. */
const LONGEST = [
  ...['directory/crash', 'table/write/crash', 'table/versions/writers'],
  ...['table/versions/lost-versions', 'sdk/incarnation', 'conformance/servers'],
  ...['table/write/compact', 'table/query/sort', 'ipc/foreign-fuzz', 'sql/like'],
  ...['client/namespace', 'table/work/turns', 'directory/race', 'table/lance/manifest-crash'],
  ...['directory/namespace', 'directory/root-gone', 'directory/model'],
  ...['table/history/references', 'table/lance-write/hostile', 'store/conformance'],
  ...['vector/sieve', 'store/faults', 'sql/regexp', 'package/package', 'table/write/interrupted'],
  ...['table/work/abort-turns', 'server/half-requests', 'conformance/verdicts'],
  ...['format/fragment-damage', 'conformance/unanswered', 'cli/output', 'conformance/suite'],
  ...['sdk/foreign-files', 'sql/kernels', 'cli/hostile-text', 'directory/verify'],
  ...['cli/completion', 'directory/lance-listing', 'arrow/rebatch', 'sql/random'],
  ...['package/examples', 'package/readme', 'cli/interrupted', 'sql/postgres'],
  ...['table/merge/merge-turns', 'server/idempotency', 'proof/runner'],
  ...['table/write/small-fragments', 'store/watch', 'arrow/gather', 'ipc/zstd'],
];

/** Where a file stands in the list; behind it where it is none of them. */
function placeOf({ moduleId }: TestSpecification): number {
  const at = LONGEST.findIndex((name) => moduleId.endsWith(`/test/${name}.test.ts`));
  return at === -1 ? LONGEST.length : at;
}

export class LongestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const sorted = await super.sort(files);
    return sorted.toSorted((one, other) => placeOf(one) - placeOf(other));
  }
}
