/**
 * Exports the profile of the columns of a version: counts, bounds, distinct and frequent values and
 * histograms, exact or of a sample.
 */

export type { ColumnProfile } from './column-profile.ts';
export { profileTable } from './profile.ts';
