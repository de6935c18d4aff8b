/** Exports the views of a table, one for each tab, and the chart that the SQL page draws. */
export { Chart, type ChartCell, type ChartKind, numberOf } from './chart.tsx';
export { ColumnsView } from './columns-view.tsx';
export { HistoryView } from './history-view.tsx';
export { RefsView } from './refs-view.tsx';
export { RowsView } from './rows-view.tsx';
export { SchemaView } from './schema-view.tsx';
export { VectorsView } from './vectors-view.tsx';
