/**
 * Exports what operations tell of tables that other programs write in Lance's format, and how these
 * publish versions of them; fragmentStatistics sums up the fragments of any table.
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
