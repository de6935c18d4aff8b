/** Deletes old versions, holds versions in use, and removes files that no version refers to. */

export { cleanup, DEFAULT_ORPHAN_GRACE, fileSystemTime } from './cleanup.ts';
export { deleteVersions, planDeletion } from './delete-versions.ts';
export { withHold } from './holds.ts';
export { type FoundStorage, findStorage, pendingFragments } from './storage.ts';
