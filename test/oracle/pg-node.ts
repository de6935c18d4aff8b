/** PostgreSQL's parse tree as it comes, and what all that lower it share. */
import type { Expression } from '../../src/sql/parse/tree.ts';

export type PgNode = Readonly<Record<string, unknown>>;

export interface LowerContext {
  /** The text the grammar was given, without the wrapping. */
  readonly text: string;
  /** Node location -> offset in `text`. */
  readonly locate: (location: number) => number;
}

export function record(value: unknown): PgNode {
  return typeof value === 'object' && value !== null ? (value as PgNode) : {};
}

export function list(value: unknown): readonly PgNode[] {
  return Array.isArray(value) ? value.map(record) : [];
}

/** Names in a list of strings, such as those of an operator or a function. */
export function wordsOf(value: unknown): readonly string[] {
  return list(value).map((part) => String(record(part.String).sval));
}

/** What the lowering of one kind of node may ask for. */
export interface Lowering {
  readonly context: LowerContext;
  /** Where the node stands in the user's text, if that is known. */
  at(node: PgNode): { at: number } | Record<never, never>;
  /** @throws InvalidInput naming the unsupported thing and where it stands */
  refuse(node: PgNode, what: string): never;
  expression(wrapped: PgNode): Expression;
  /** As `expression`, for a member of a node. */
  child(value: unknown): Expression;
}
