/**
 * Exports `Engine`, the services of the table engine, and the handling of versions: finding the
 * newest one, snapshots, fragment lists and files, commits, multi-table commits, tags, branches,
 * stored properties, and the announcements of writers.
 */

export {
  createBranch,
  deleteBranch,
  type FoundBranch,
  findBranch,
  listBranches,
  mainBranch,
} from './branches.ts';
export {
  type CommitRequest,
  type Committed,
  commit,
  type Draft,
  incarnationOfTransaction,
  isRefusedOnView,
  madeVisible,
  newTransaction,
  nextManifest,
  notNextVersion,
  sameContent,
} from './commit.ts';
export { DEFAULT_LIMITS, type Engine, type Limits, type PublishVersion } from './engine.ts';
export {
  EMPTY_FRAGMENTS,
  editFragments,
  type FragmentList,
  fragmentListOf,
} from './fragment-list.ts';
export {
  closedOnFailure,
  missingFile,
  openObject,
  openSized,
  readObject,
} from './fragment-object.ts';
export {
  type Head,
  isBaseGone,
  resolveHead,
  snapshotAt,
  type TableBranch,
} from './head.ts';
export { HeadCache, isUnchanged, type KnownNames, type SortedNames } from './head-cache.ts';
export { HINT_EVERY, hintAt, hintNamed } from './hint.ts';
export {
  emptyTable,
  incarnationAt,
  isEmptyTable,
  isTableAt,
  leftAtThatMoment,
  requireVersionsFolder,
  tableGone,
  tableLeft,
  tableMadeAnew,
  tableNamed,
} from './incarnation.ts';
export {
  lanceFieldsIn,
  lanceToldOf,
  MOST_LANCE_TRANSACTION_BYTES,
} from './lance-transaction-of.ts';
export { type LostTail, lostTail } from './lost-versions.ts';
export {
  decideMultiTable,
  decisionTables,
  isMultiTableId,
  multiTableDecision,
} from './multi-table-commit.ts';
export { stands, winnerOf } from './publish.ts';
export { settleUndecided } from './settle-undecided.ts';
export { blockKey, readChunk, Snapshot } from './snapshot.ts';
export {
  compressionOf,
  lanceModeOf,
  lanceWritten,
  storedProperties,
} from './stored-properties.ts';
export { createTag, deleteTag, findTag, listTags, replaceTag } from './tags.ts';
export {
  highestListed,
  isCommitted,
  isVisible,
  listedVersions,
  listedVersionsOf,
  readManifest,
  readVersion,
  type SortedVersions,
  sortedVersions,
  visibleOf,
  visibleSnapshot,
  visibleVersions,
} from './version-files.ts';
export { MAX_CLOCK_SKEW, nextTimestamp, Supersession } from './version-times.ts';
export { announced, announcedWriters, UNKNOWN_WRITER_GRACE, unannounced } from './writers.ts';
