/**
 * Exports the operations on the versions of tables, their tags and branches, and what is read of
 * tables that other programs write in Lance's format: their details, statistics and versions.
 * `fragmentStatistics` summarizes the fragments of any table. `offeredVersion` and `versionRecord`
 * serve commits of several tables.
 */

export { fragmentStatistics } from './fragment-statistics.ts';
export { lanceDetails, lanceStats } from './lance-details.ts';
export * as references from './references.ts';
export * as versions from './versions.ts';
export {
  describeTableVersion,
  listTableVersions,
  offeredVersion,
  versionRecord,
} from './versions.ts';
