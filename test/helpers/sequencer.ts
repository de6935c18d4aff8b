/**
 * The order of the test files: those that take longest begin first, so that no worker is left with
 * one of them at the end while the others have nothing to do.
 */
import { BaseSequencer, type TestSpecification } from 'vitest/node';

/** Files of more than eight seconds, the longest first. A name that is missing here costs time alone. */
const LONGEST = [
  ...['directory/crash', 'cli/completion', 'conformance/servers', 'sdk/incarnation'],
  ...['table/write/crash', 'cli/hostile-text', 'client/namespace', 'table/work/abort-turns'],
  ...['table/work/turns', 'server/idempotency', 'table/write/compact', 'vector/sieve'],
  ...['table/versions/lost-versions', 'ipc/foreign-fuzz', 'table/query/sort'],
  ...['table/history/references', 'store/faults', 'table/versions/writers'],
  ...['table/lance/manifest-crash', 'sql/like', 'directory/namespace', 'format/fragment-damage'],
  ...['table/write/interrupted', 'conformance/verdicts', 'directory/race', 'package/package'],
  ...['conformance/unanswered', 'cli/interrupted', 'cli/output', 'table/merge/merge-turns'],
  ...['sdk/foreign-files', 'conformance/suite', 'sql/regexp', 'server/answer-memory'],
  ...['server/malformed', 'package/examples', 'conformance/report'],
  ...['proof/runner', 'proof/contention-model', 'package/readme', 'store/watch'],
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
