/**
 * The order of the test files: those that take longest begin first, so that no worker is left with
 * one of them at the end while the others have nothing to do.
 */
import { BaseSequencer, type TestSpecification } from 'vitest/node';

/**
 * Files of more than two seconds of processor time, and some that wait as long; the longest first. A name
 * that is missing here costs time alone.
 */
const LONGEST = [
  ...['package/bench', 'client/namespace', 'directory/crash', 'directory/namespace'],
  ...['table/work/turns', 'conformance/servers', 'directory/race', 'table/indexing/vectors'],
  ...['indexes/ivf', 'cli/interrupted', 'sdk/incarnation', 'cli/output', 'server/idempotency'],
  ...['proof/runner', 'conformance/suite', 'interchange/csv/csv-reader', 'ipc/zstd-stream'],
  ...['cli/export', 'package/readme', 'server/answer-memory', 'table/write/crash'],
  ...['server/malformed', 'directory/aliasing', 'directory/verify', 'store/faults'],
  ...['table/query/sort', 'table/work/abort-turns', 'interchange/json/json-rows'],
  ...['server/stream', 'table/query/sketches', 'interchange/parquet/parquet-hostile'],
  ...['vector/search', 'directory/lance-listing', 'conformance/verdicts'],
  ...['table/versions/lost-versions', 'server/half-requests', 'statements/steps'],
  ...['conformance/report', 'sdk/blobs', 'sql/regexp', 'table/indexing/forged'],
  ...['package/examples', 'sdk/export-file', 'cli/errors', 'table/indexing/vector-crash'],
  ...['table/query/text-index', 'vector/sieve', 'store/conformance'],
  ...['interchange/parquet/parquet-writer', 'vector/residents', 'table/history/history'],
  ...['sdk/foreign-files', 'table/write/overlays', 'server/sockets'],
  ...['table/write/wide-batches', 'ipc/foreign-corpus', 'table/versions/fragment-list'],
  ...['ipc/foreign-fuzz', 'vector/distances', 'package/bundle', 'sql/like'],
  ...['table/merge/merge', 'conformance/target', 'server/json-steps'],
  ...['table/history/references', 'server/body-memory', 'statements/answers'],
  ...['table/versions/writers', 'table/write/compact', 'table/lance/manifest-crash'],
  ...['directory/root-gone', 'directory/model', 'table/lance-write/hostile'],
  ...['package/package', 'table/write/interrupted', 'format/fragment-damage'],
  ...['conformance/unanswered', 'sql/kernels', 'cli/hostile-text', 'cli/completion'],
  ...['arrow/rebatch', 'sql/random', 'sql/postgres', 'table/merge/merge-turns'],
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
