/**
 * Exports the functions for tables that other programs write in Lance's format: their details,
 * statistics and versions, and how such versions are published and deleted. `fragmentStatistics`
 * summarizes the fragments of any table.
 */

export { fragmentStatistics } from './fragment-statistics.ts';
export { lanceDetails, lanceStats } from './lance-details.ts';
export {
  createLanceVersion,
  deleteLanceVersions,
  isOfLance,
  lanceRecord,
  listedLanceVersions,
  stagedForLance,
} from './lance-versions.ts';
