/**
 * Exports the publishing of versions (`createLanceVersion`) and branches (`createLanceBranch`) that
 * Lance's writers stage, and `stagedLancePath`, which checks where a staged manifest lies.
 */

export { createLanceBranch } from './create-branch.ts';
export { createLanceVersion } from './create-version.ts';
export { type LanceVersionRequest, stagedLancePath } from './staged-manifest.ts';
