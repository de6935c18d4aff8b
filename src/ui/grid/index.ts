/** Exports the grid of rows, which fetches and draws only the rows in sight. */
export { Grid, type GridProps } from './grid.tsx';
export type { Cell, FetchedRows, FetchRows } from './row-windows.ts';
