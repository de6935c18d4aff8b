/**
 * `READS` has the functions of the operations by which a program opens and queries tables, such as
 * DescribeTable and QueryTable (`ReadOperation`). They are loaded without the rest of the engine
 * (operation-table.ts), so that a program that only reads starts fast. For that, this file must use
 * nothing that changes tables or runs SELECT statements. `within` wraps a function so that errors
 * of tables that were dropped or moved meanwhile become the right ones; handlers.ts uses it too.
 */
import { type Catalog, failureWithin } from './catalog/index.ts';
import type { Handlers, ReadOperation } from './operation-table.ts';
import {
  describeTable,
  describeTableVersion,
  listTableVersions,
  reads,
  tableExists,
} from './operations/index.ts';

/** For operations on what is inside a table: see `failureWithin`. */
export const within =
  <Given extends readonly [object, ...unknown[]], Answer>(
    handler: (catalog: Catalog, ...given: Given) => Promise<Answer>,
  ): ((catalog: Catalog, ...given: Given) => Promise<Answer>) =>
  async (catalog, ...given) => {
    try {
      return await handler(catalog, ...given);
    } catch (error) {
      throw await failureWithin(catalog, given[0], error);
    }
  };

export const READS: Pick<Handlers, ReadOperation> = {
  DescribeTable: describeTable,
  TableExists: tableExists,
  QueryTable: reads.queryTable,
  TakeRows: reads.takeTableRows,
  FetchBlobs: reads.fetchTableBlobs,
  CountTableRows: reads.countTableRows,
  ExplainTableQueryPlan: reads.explainTableQueryPlan,
  AnalyzeTableQueryPlan: reads.analyzeTableQueryPlan,
  // A client of Lance asks for them before it reads.
  ListTableVersions: within(listTableVersions),
  DescribeTableVersion: within(describeTableVersion),
};
