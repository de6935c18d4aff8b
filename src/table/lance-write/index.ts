/** Takes the versions that writers of Lance stage, as versions of ours. */

export { createLanceVersion } from './create-version.ts';
export { type LanceVersionRequest, stagedLancePath } from './staged-manifest.ts';
