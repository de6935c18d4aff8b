/**
 * Exports materialized views: `viewColumns`, which computes the columns of a view's query, and the
 * refresh of a view from its source, by the added rows or by all rows.
 */

export {
  type RefreshMode,
  type RefreshOptions,
  refreshView,
  type ViewRefreshed,
} from './refresh-view.ts';
export { type ViewColumns, type ViewQuery, viewColumns } from './view-query.ts';
