/**
 * The oracle of the parser's tests: PostgreSQL's own grammar, its tree converted to ours, and the
 * comparison of two trees.
 */
import { loadModule, parseSync } from 'libpg-query';
import type { Expression } from '../../src/sql/parse/tree.ts';
import { lowerExpression } from './lower.ts';
import { list, type PgNode, record } from './pg-node.ts';

const BEFORE = 'SELECT (';
/** On its own line, so that a final comment does not swallow it. */
const AFTER = '\n)';

/** What PostgreSQL says of a text: it reads it and we could have it too, or not, or it does not. */
export type Answer =
  | { readonly kind: 'tree'; readonly tree: Expression }
  | { readonly kind: 'unsupported'; readonly message: string }
  | { readonly kind: 'refused'; readonly message: string };

export async function loadOracle(): Promise<(sql: string) => Answer> {
  await loadModule();
  return answerOf;
}

function answerOf(sql: string): Answer {
  let value: PgNode | undefined;
  try {
    value = onlyValue(parseSync(BEFORE + sql + AFTER));
    // In brackets too, so that `a) = (b` is not taken for one expression.
    if (!isQuery(value)) parseSync(`SELECT ARRAY[${sql}\n]`);
  } catch (error) {
    return { kind: 'refused', message: (error as Error).message };
  }
  if (value === undefined) return { kind: 'refused', message: 'not one expression' };
  try {
    const tree = lowerExpression(value, { text: sql, locate: byteLocator(sql) });
    return { kind: 'tree', tree };
  } catch (error) {
    return { kind: 'unsupported', message: (error as Error).message };
  }
}

function isQuery(value: PgNode | undefined): boolean {
  return value !== undefined && 'SubLink' in value;
}

/** Node locations count UTF-8 bytes of the whole statement. */
function byteLocator(text: string): (location: number) => number {
  const bytes = Buffer.from(text);
  return (location) => bytes.toString('utf8', 0, location - BEFORE.length).length;
}

const PLAIN_SELECT = new Set(['targetList', 'limitOption', 'op']);

function onlyValue(parsed: unknown): PgNode | undefined {
  const statements = list(record(parsed).stmts);
  const select = record(record(record(statements[0]).stmt).SelectStmt);
  const targets = list(select.targetList);
  const target = record(record(targets[0]).ResTarget);
  const plain =
    statements.length === 1 &&
    Object.keys(select).every((key) => PLAIN_SELECT.has(key)) &&
    targets.length === 1 &&
    target.name === undefined &&
    target.indirection === undefined;
  return plain && target.val !== undefined ? record(target.val) : undefined;
}

/** Where two trees differ, or null. Places are compared where the oracle has them. */
export function difference(ours: unknown, theirs: unknown, path = 'tree'): string | null {
  if (Array.isArray(ours) && Array.isArray(theirs)) {
    if (ours.length !== theirs.length) return `${path}.length: ${ours.length}, ${theirs.length}`;
    for (let i = 0; i < ours.length; i++) {
      const found = difference(ours[i], theirs[i], `${path}[${i}]`);
      if (found !== null) return found;
    }
    return null;
  }
  if (typeof ours === 'object' && typeof theirs === 'object' && ours !== null && theirs !== null) {
    const [a, b] = [record(ours), record(theirs)];
    for (const key of new Set([...Object.keys(a), ...Object.keys(b)])) {
      if (key === 'at' && b.at === undefined) continue;
      // PostgreSQL moves every constant to the place of the sign before it, also those without one.
      const moved = a.kind === 'negate' && key === 'arg' && !('arg' in record(b.arg));
      const other = moved ? { ...record(b.arg), at: undefined } : b[key];
      const found = difference(a[key], other, `${path}.${key}`);
      if (found !== null) return found;
    }
    return null;
  }
  const isName = /\.path\[\d+\]$|\.name$/.test(path);
  const same = isName ? isSameName(String(ours), String(theirs)) : ours === theirs;
  return same ? null : `${path}: ${JSON.stringify(ours)}, PostgreSQL ${JSON.stringify(theirs)}`;
}

/** PostgreSQL folds names without quotes to lower case and cuts all to 63 bytes. */
function isSameName(ours: string, theirs: string): boolean {
  const folded = ours.replace(/[A-Z]/g, (letter) => letter.toLowerCase());
  if (ours === theirs || folded === theirs) return true;
  const cut = Buffer.byteLength(theirs) >= 60;
  return cut && (ours.startsWith(theirs) || folded.startsWith(theirs));
}
