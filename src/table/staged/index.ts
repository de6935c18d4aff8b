/**
 * Exports the publishing of staged versions, whose manifests were written beside the published ones
 * and are checked before they are published.
 */

export { publishManaged } from './managed-commit.ts';
export { deleteQuietly, publishStaged } from './publish-staged.ts';
export { readOfferedVersion, type StagedRequest, type StagedVersion } from './read-staged.ts';
