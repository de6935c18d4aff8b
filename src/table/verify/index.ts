/**
 * Exports the verification of a table's files against its manifests, and the acceptance of an older
 * version for repair.
 */

export { type Acceptance, acceptVersion, planAcceptance } from './accept-version.ts';
export { verifyTable, WITHOUT_MANIFEST } from './verify.ts';
export { problemIn } from './verify-files.ts';
export { countBytes, type Findings } from './verify-folder.ts';
export type { VerifiedBranch } from './verify-manifest.ts';
