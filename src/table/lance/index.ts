/**
 * Exports the functions that make tables readable by Lance. `lanceProblem` tells whether Lance can
 * read a version, and `clientPlace` returns the path by which its clients open a table that they
 * may write. Others write the manifests, deletion files, tags and branches that Lance reads, update
 * them after commits, and find leftovers that cleanup removes.
 */

export { absentStructs } from './absent-structs.ts';
export { type ClientPath, clientPath, clientPlace } from './client-place.ts';
export {
  holds,
  holdsManifestOf,
  keptManifest,
  keptManifestsFolder,
  type LanceManifestFile,
} from './lance-files.ts';
export { followCommit, followTable, hasToFollow } from './lance-follow.ts';
export { lagByPath } from './lance-lag.ts';
export {
  asideFiles,
  goneDeletions,
  goneManifests,
  type LanceLeftover,
  lanceTemporaries,
  writerFiles,
} from './lance-leftovers.ts';
export {
  clientTag,
  deleteClientRef,
  isOwnRef,
  isSameRef,
  type PlacedRefs,
  placeRefs,
  type WantedRefs,
  wantedRefs,
} from './lance-refs.ts';
export { datasetOf, isOwn, moveAside, setStrangersAside } from './lance-strangers.ts';
export { type LanceSynced, syncLance } from './lance-sync.ts';
export {
  foundByPath,
  type PlacedVersions,
  placedManifest,
  placeVersion,
  placeVersions,
} from './lance-versions.ts';
export { lanceFieldsOf, lanceProblem } from './lance-view.ts';
export {
  isOpenForLance,
  orderOfNewRows,
  type StructOrder,
  structOrder,
  structRuns,
  structsToCut,
} from './struct-runs.ts';
