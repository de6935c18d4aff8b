/**
 * Staged versions: a caller writes a manifest beside the published ones; it is checked and then
 * published.
 */

export { publishManaged } from './managed-commit.ts';
export { publishStaged } from './publish-staged.ts';
export { readOfferedVersion, type StagedRequest, type StagedVersion } from './read-staged.ts';
