/**
 * Exports the publishing of versions (`createLanceVersion`) and branches (`createLanceBranch`) that
 * Lance's writers stage, and `stagedLancePath`, which returns the path of a staged manifest if it
 * lies where Lance stages them.
 */

export { createLanceBranch } from './create-branch.ts';
export { createLanceVersion } from './create-version.ts';
export { type LanceVersionRequest, stagedLancePath } from './staged-manifest.ts';
