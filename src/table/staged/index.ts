/** Versions that callers stage: a manifest is written beside the published ones, checked, and published. */

export { publishManaged } from './managed-commit.ts';
export { publishStaged } from './publish-staged.ts';
export { readOfferedVersion, type StagedRequest, type StagedVersion } from './read-staged.ts';
