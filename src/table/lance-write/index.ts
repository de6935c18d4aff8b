/**
 * Exports `createLanceVersion`, `createLanceBranch` and the rest of what turns versions staged by
 * Lance's writers into versions and branches of a table.
 */

export { createLanceBranch } from './create-branch.ts';
export { createLanceVersion } from './create-version.ts';
export { type LanceVersionRequest, stagedLancePath } from './staged-manifest.ts';
