/**
 * Exports materialized views: the columns that the query of a view gives, and the refresh of a view
 * from its source, by the rows that were added or by all of them.
 */

export {
  type RefreshMode,
  type RefreshOptions,
  refreshView,
  type ViewRefreshed,
} from './refresh-view.ts';
export { type ViewColumns, type ViewQuery, viewColumns } from './view-query.ts';
