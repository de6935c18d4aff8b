/**
 * Tables as Lance's readers see them: whether a version opens in Lance, and the files that it then needs.
 */

export { type LanceManifestFile, lanceManifestOf } from './lance-files.ts';
export { goneDeletions, goneManifests, type LanceLeftover } from './lance-leftovers.ts';
export { lanceProblem, lanceView } from './lance-view.ts';
