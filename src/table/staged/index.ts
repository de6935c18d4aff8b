/**
 * Reads, checks and publishes staged versions, whose manifests a caller wrote beside the published
 * ones.
 */

export { publishManaged } from './managed-commit.ts';
export { publishStaged } from './publish-staged.ts';
export { readOfferedVersion, type StagedRequest, type StagedVersion } from './read-staged.ts';
