/**
 * `handlerOf`: returns the function that carries out an operation on a directory catalog. The
 * operations that list names, and DescribeNamespace, are available at once (`LISTS`); the first
 * other one imports handlers.ts, which loads most of the engine. Also defines the types of that
 * table of handlers, which has every operation.
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

const engine = onDemand(() => import('./handlers.ts'));

export const handlerOf = (operation: AnyOperation): AnyHandler =>
  (LISTS as Partial<Record<AnyOperation, AnyHandler>>)[operation] ??
  ((catalog, ...given) =>
    engine(({ HANDLERS }) => (HANDLERS[operation] as AnyHandler)(catalog, ...given)));
