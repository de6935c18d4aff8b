/** Exports the grid of rows: any number of them, fetched and drawn where they are in sight. */
export { Grid, type GridProps } from './grid.tsx';
export type { Cell, FetchedRows, FetchRows } from './row-windows.ts';
