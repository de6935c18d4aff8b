/**
 * Exports the publishing of staged versions: manifests that were written beside the published ones
 * and are checked before they become versions.
 */

export { publishManaged } from './managed-commit.ts';
export { publishStaged } from './publish-staged.ts';
export { readOfferedVersion, type StagedRequest, type StagedVersion } from './read-staged.ts';
