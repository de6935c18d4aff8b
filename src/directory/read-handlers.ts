/**
 * `READS`: the functions of the operations that open and read tables. They are loaded without the
 * rest of the engine (operation-table.ts), so what they import must not import what changes tables
 * or runs SELECT statements: a program that only reads would parse it all.
 */
import type { Handlers, ReadOperation } from './operation-table.ts';
import { describeTable, reads, tableExists } from './operations/index.ts';

export const READS: Pick<Handlers, ReadOperation> = {
  DescribeTable: describeTable,
  TableExists: tableExists,
  QueryTable: reads.queryTable,
  TakeRows: reads.takeTableRows,
  FetchBlobs: reads.fetchTableBlobs,
  CountTableRows: reads.countTableRows,
  ExplainTableQueryPlan: reads.explainTableQueryPlan,
  AnalyzeTableQueryPlan: reads.analyzeTableQueryPlan,
};
