/**
 * Exports the reader and the writer of Lance datasets in folders of their own, outside any
 * catalog, and the staging by which new files and folders appear under their names complete.
 */

export type { LanceVersionChoice } from './dataset-versions.ts';
export { type LanceRows, openLanceDataFile, openLanceDataset } from './read-dataset.ts';
export { lostOr, refuseInCatalog, removeAbandoned, stagingPath, syncFolder } from './staging.ts';
export { type LanceCopy, writeLanceDataset } from './write-dataset.ts';
