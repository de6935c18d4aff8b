/**
 * Exports the maintenance of a catalog: background compaction, optimize, cleanup, verify, repair,
 * the check that its root still exists, and the synchronization of the files that Lance finds by
 * path.
 */

export { AutoCompaction, type AutoCompactOptions } from './auto-compact.ts';
export { type Changed, changesList, changing } from './follow-lance.ts';
export { repairCatalog } from './repair.ts';
export { RootPresence } from './root-presence.ts';
export { syncLance } from './sync-lance.ts';
export { cleanupTable, optimizeTable } from './upkeep.ts';
export { verifyCatalog } from './verify.ts';
