/**
 * Exports the profile of the columns of a version: counts, bounds, distinct and frequent values and
 * histograms, exact or of a sample.
 */

export type { ColumnProfile } from './column-profile.ts';
export { type ColumnBounds, exactBounds, profileTable } from './profile.ts';
