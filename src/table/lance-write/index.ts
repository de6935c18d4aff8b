/**
 * Exports the publishing of what Lance's writers stage: versions (`createLanceVersion`) and
 * branches (`createLanceBranch`), and `stagedLancePath`, which checks where a staged manifest lies.
 */

export { createLanceBranch } from './create-branch.ts';
export { createLanceVersion } from './create-version.ts';
export { type LanceVersionRequest, stagedLancePath } from './staged-manifest.ts';
