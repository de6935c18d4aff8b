/**
 * Exports what computes window functions for rows in order: `windowColumn` computes the column of
 * one call, `comparesPeers` tells whether calls need to know which rows are equal in order,
 * `boundedFrame` which frame they need the bounds of, and `frameBounds` finds these. execute/ puts
 * the rows in order and marks partitions.
 */
export { type FrameBounds, frameBounds } from './frame-bounds.ts';
export { boundedFrame, comparesPeers, windowColumn } from './window-functions.ts';
export type { Partitions } from './window-ranks.ts';
