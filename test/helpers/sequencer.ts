/**
 * The order of the test files: those that take longest begin first, so that no worker is left with
 * one of them at the end while the others have nothing to do.
 */
import { BaseSequencer, type TestSpecification } from 'vitest/node';

/** Files of more than eight seconds, the longest first. A name that is missing here costs time alone. */
const LONGEST = [
  ...['conformance/servers', 'cli/completion', 'sdk/incarnation', 'client/namespace'],
  ...['cli/hostile-text', 'conformance/verdicts', 'directory/namespace', 'table/versions/writers'],
  ...['table/versions/lost-versions', 'directory/race', 'table/write/compact', 'table/write/crash'],
  ...['package/package', 'conformance/unanswered', 'cli/interrupted', 'cli/output'],
  ...['format/fragment-damage', 'table/query/sort', 'package/examples', 'conformance/report'],
  ...['proof/runner', 'proof/contention-model', 'vector/sieve', 'package/readme', 'store/watch'],
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
