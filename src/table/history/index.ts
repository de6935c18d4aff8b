/** Deletes old versions, holds versions in use, and removes files that no version refers to. */

export {
  type CleanupOptions,
  type CleanupReport,
  cleanup,
  DEFAULT_ORPHAN_GRACE,
  fileSystemTime,
} from './cleanup.ts';
export { deleteVersions, planDeletion } from './delete-versions.ts';
export { withHold } from './holds.ts';
export { createVersionTag, deleteUntaggedBranch, updateVersionTag } from './reference-changes.ts';
export { type FoundStorage, findStorage, pendingFragments } from './storage.ts';
