/**
 * SQL text -> expression tree, by PostgreSQL's own grammar but for the simplest forms. The only
 * importer of libpg-query, which is loaded on first use, once per process. It knows no schema.
 */
import { lowerExpression } from './lower.ts';
import { parseSimple } from './parse-simple.ts';
import { type PgNode, record } from './pg-node.ts';
import { type ScannedSql, scanSql } from './scan.ts';
import { refuse } from './sql-error.ts';
import type { Expression } from './tree.ts';

type Grammar = (sql: string) => unknown;

let grammar: Promise<Grammar> | undefined;

async function loadGrammar(): Promise<Grammar> {
  const module = await import('libpg-query');
  await module.loadModule();
  return module.parseSync;
}

/** The closing parenthesis stands on its own line, so that a final comment does not swallow it. */
const BEFORE = 'SELECT (';
const AFTER = '\n)';

/**
 * Parses one expression. Throws InvalidInput, with the position in the user's text, for what is no
 * expression and for what the grammar knows but this engine does not (subqueries, aggregates, ...).
 */
export async function parseExpression(sql: string): Promise<Expression> {
  const scanned = scanSql(sql);
  return parseSimple(scanned.tokens) ?? parseByGrammar(scanned);
}

/** The grammar reads an expression in one go, while nothing else goes on. */
const MAX_GRAMMAR_PARTS = 10_000;

/** Any expression; `parseExpression` comes here with what is not simple. */
export async function parseByGrammar(scanned: ScannedSql): Promise<Expression> {
  if (scanned.parts > MAX_GRAMMAR_PARTS) {
    refuse(
      undefined,
      `The expression has ${scanned.parts} parts and more than plain comparisons; ${MAX_GRAMMAR_PARTS} parts are the most. Use IN for long lists`,
    );
  }
  grammar ??= loadGrammar().catch((error: unknown) => {
    grammar = undefined;
    throw error;
  });
  const parse = await grammar;
  let parsed: unknown;
  try {
    parsed = parse(BEFORE + scanned.text + AFTER);
  } catch (error) {
    refuseSyntax(error, scanned);
  }
  return lowerExpression(onlyValue(parsed), {
    lists: scanned.lists,
    lenientCasts: scanned.lenientCasts,
    text: scanned.text,
    locate: byteLocator(scanned.text),
    origin: scanned.origin,
  });
}

/** The grammar counts the characters of its errors, not bytes. */
function refuseSyntax(error: unknown, scanned: ScannedSql): never {
  const found = error as { message?: unknown; sqlDetails?: { cursorPosition?: unknown } };
  const message = typeof found.message === 'string' ? found.message : 'syntax error';
  const cursor = found.sqlDetails?.cursorPosition;
  let at: number | undefined;
  if (typeof cursor === 'number') {
    const points = Math.max(0, cursor - BEFORE.length);
    at = 0;
    for (let i = 0; i < points && at < scanned.text.length; i++) {
      at += (scanned.text.codePointAt(at) ?? 0) > 0xffff ? 2 : 1;
    }
    at = scanned.origin(at);
  }
  const hint = /at or near "\w+"/.test(message)
    ? '; a column whose name is a reserved word needs quotes: "name"'
    : '';
  const said = message.replace('at or near ")"', 'at the end or before ")"');
  refuse(at, `Cannot read the expression: ${said}${hint}`, { cause: error });
}

/** Node locations count UTF-8 bytes of the whole statement. */
function byteLocator(text: string): (location: number) => number {
  const skip = BEFORE.length;
  // biome-ignore lint/suspicious/noControlCharactersInRegex: this asks for ASCII
  if (/^[\x00-\x7f]*$/.test(text)) return (location) => location - skip;
  const bytes = Buffer.from(text);
  let lastByte = 0;
  let lastUnit = 0;
  return (location) => {
    const target = location - skip;
    if (target < lastByte) {
      lastByte = 0;
      lastUnit = 0;
    }
    lastUnit += bytes.toString('utf8', lastByte, target).length;
    lastByte = target;
    return lastUnit;
  };
}

const PLAIN_SELECT = new Set(['targetList', 'limitOption', 'op']);

function onlyValue(parsed: unknown): PgNode {
  const statements = record(parsed).stmts;
  const list = Array.isArray(statements) ? statements : [];
  const select = record(record(record(list[0]).stmt).SelectStmt);
  const targets = select.targetList;
  const target = Array.isArray(targets) ? record(record(targets[0]).ResTarget) : {};
  const plain =
    list.length === 1 &&
    Object.keys(select).every((key) => PLAIN_SELECT.has(key)) &&
    Array.isArray(targets) &&
    targets.length === 1 &&
    target.name === undefined;
  if (!plain || target.val === undefined) refuse(undefined, 'The text is not one expression');
  return record(target.val);
}
