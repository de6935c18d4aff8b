/** Exports the views of a table, one for each tab, and the parts of the SQL page. */
export { partOf, partText } from './answer-part.ts';
export { Chart, type ChartCell, type ChartKind, numberOf } from './chart.tsx';
export { ColumnsView } from './columns-view.tsx';
export { Downloads } from './downloads.tsx';
export { HistoryView } from './history-view.tsx';
export { RefsView } from './refs-view.tsx';
export { RowsView } from './rows-view.tsx';
export { SchemaView } from './schema-view.tsx';
export { StatementBox } from './statement-box.tsx';
export { VectorsView } from './vectors-view.tsx';
