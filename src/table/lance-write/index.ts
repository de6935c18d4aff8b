/**
 * Exports `createLanceVersion` and the rest of what turns versions staged by Lance's writers into
 * versions of a table.
 */

export { createLanceVersion } from './create-version.ts';
export { type LanceVersionRequest, stagedLancePath } from './staged-manifest.ts';
