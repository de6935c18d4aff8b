/**
 * Exports the handling of old versions: deleting and holding them, cleanup of files that no version
 * refers to, digests of versions for lists, the search for the version of a transaction, and
 * changes of tags and branches that are safe beside deletions.
 */

export { adoptTags, followTags } from './adopt-tags.ts';
export {
  type CleanupOptions,
  type CleanupReport,
  cleanup,
  DEFAULT_ORPHAN_GRACE,
  fileSystemTime,
} from './cleanup.ts';
export { deleteVersions, planDeletion } from './delete-versions.ts';
export { findKeyed, findTransaction, keyedTransaction } from './find-commit.ts';
export { withHold } from './holds.ts';
export { createVersionTag, deleteUnneededBranch, updateVersionTag } from './reference-changes.ts';
export { type FoundStorage, findStorage, pendingFragments } from './storage.ts';
export { digestsOf, noteDigest, versionNumbers } from './version-digests.ts';
