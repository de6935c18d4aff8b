/**
 * `handlerOf` returns the function that carries out an operation on a directory catalog, and loads
 * its code on first use. Listing namespaces and tables, and DescribeNamespace, load nothing more
 * (`LISTS`). The operations by which a program opens and queries tables (`ReadOperation`) import
 * read-handlers.ts, with half of the engine; all others import handlers.ts, with the rest.
 */
import { onDemand } from '../on-demand.ts';
import type { AnyOperation, CatalogExtensions, NamespaceOperations } from '../protocol/index.ts';
import type { Catalog } from './catalog/index.ts';
import { listAllTables, listTables, namespaces } from './operations/index.ts';

/** Methods that are an operation each; watching is none, for it has no end. */
export type CatalogOperations = NamespaceOperations & Required<Omit<CatalogExtensions, 'watch'>>;

/** A method with the catalog as an additional first parameter. */
type Handler<Method> = Method extends (...given: infer Given) => infer Answer
  ? (catalog: Catalog, ...given: Given) => Answer
  : never;

export type Handlers = {
  readonly [Op in AnyOperation]: Handler<CatalogOperations[Uncapitalize<Op>]>;
};

/** Whatever the operation takes beside the catalog, and answers. */
type AnyHandler = (catalog: Catalog, ...given: never[]) => Promise<unknown>;

/** What a program asks to find its way, which needs nothing of what reads and writes tables. */
export const LISTS = {
  ListNamespaces: namespaces.listNamespaces,
  DescribeNamespace: namespaces.describeNamespace,
  ListTables: listTables,
  ListAllTables: listAllTables,
} satisfies Partial<Handlers>;

/** What a program asks of tables that it only reads: half of the engine does it. */
const READ_OPERATIONS = [
  'DescribeTable',
  'TableExists',
  'QueryTable',
  'TakeRows',
  'FetchBlobs',
  'CountTableRows',
  'ExplainTableQueryPlan',
  'AnalyzeTableQueryPlan',
  'ListTableVersions',
  'DescribeTableVersion',
] as const satisfies readonly AnyOperation[];

export type ReadOperation = (typeof READ_OPERATIONS)[number];

const isRead = (operation: AnyOperation): operation is ReadOperation =>
  (READ_OPERATIONS as readonly AnyOperation[]).includes(operation);

const reading = onDemand(() => import('./read-handlers.ts'));
const engine = onDemand(() => import('./handlers.ts'));

export function handlerOf(operation: AnyOperation): AnyHandler {
  const list = (LISTS as Partial<Record<AnyOperation, AnyHandler>>)[operation];
  if (list !== undefined) return list;
  if (isRead(operation)) {
    return (catalog, ...given) =>
      reading(({ READS }) => (READS[operation] as AnyHandler)(catalog, ...given));
  }
  return (catalog, ...given) =>
    engine(({ HANDLERS }) => (HANDLERS[operation] as AnyHandler)(catalog, ...given));
}
