/** Exports the operations that read rows: queries, SELECT statements and profiles. */

export { atMost, profileTable } from './profile.ts';
export {
  analyzeTableQueryPlan,
  countTableRows,
  explainTableQueryPlan,
  fetchTableBlobs,
  queryTable,
  takeTableRows,
} from './query.ts';
export { explainSql, runSql } from './sql.ts';
