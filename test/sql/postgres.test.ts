/**
 * The parser against PostgreSQL's own: every text has the same tree in both, or is refused by both,
 * but for the lists below. `npm run differential:parser` does the same with 200,000 texts.
 */
import { beforeAll, describe, expect, it } from 'vitest';
import { isDirspaceError } from '../../src/errors.ts';
import { formatExpression } from '../../src/sql/parse/format.ts';
import { parseExpression } from '../../src/sql/parse/index.ts';
import type { Expression } from '../../src/sql/parse/tree.ts';
import { casesOf } from '../helpers/long.ts';
import { seededChoices } from '../helpers/random-expression.ts';
import { CORPUS, WORDS } from '../oracle/corpus.ts';
import { type Answer, difference, loadOracle } from '../oracle/postgres.ts';
import { mutated, randomSql } from '../oracle/random-sql.ts';

const seed = Number(process.env.PARSER_SEED ?? 20261122);
const cases = Number(process.env.PARSER_CASES ?? casesOf(1_500, 4_000));

/** What this engine refuses on purpose though PostgreSQL reads it, by the message. */
const REFUSED_ON_PURPOSE: readonly RegExp[] = [
  /^A subquery is not supported here/,
  /^A row of several values is not supported here/,
  /^A row of \d+ values is compared with /,
  /^The aggregate \w+ is not supported here/,
  /^A window function is not supported here/,
  /^This form of .*\(\.\.\) is not supported/s,
  /^.* takes no named arguments/s,
  /^The function .* is not supported/s,
  /^The operator \S+ is not supported/,
  /^\S+ (ANY|SOME|ALL) is not supported; only comparisons take a list/,
  /^I?LIKE (ANY|SOME|ALL) is not supported here/,
  /^SIMILAR TO takes a pattern in single quotes/,
  /^COLLATE is not supported here/,
  /^COLLATION FOR is not supported here/,
  /^AT TIME ZONE is not supported here/,
  /^IS (JSON|DOCUMENT|NORMALIZED) is not supported here/,
  /^ESCAPE takes a string of one character/,
  /^'\*' is not supported here; name the columns/,
  /^\w+ is not supported: an expression has no clock and no session/,
  /^(GROUPING|DEFAULT|UNIQUE|TREAT|SUBSTRING \.\. SIMILAR) is not supported here/,
  /^(xml\w*|json\w*|merge_action)\(\.\.\) is not supported here/,
  /^A binary literal is X'\.\.' with two hexadecimal digits a byte/,
  /^An interval is written INTERVAL '1 day' or INTERVAL '1' DAY/,
  /^A cast to a list type is not supported/,
  /^The type .* is not supported/s,
  /^SETOF is not supported/,
  /^(char|varchar|bit|bit varying)\(n\) is not supported/,
  /^The arguments of the type .* must be whole numbers/s,
  /^FLOAT\(n\) has 1 to 53 binary digits/,
  /^Parameters are not supported/,
  /^UESCAPE takes one character in quotes/,
  /^The expression is nested deeper/,
];

/** What this engine reads though PostgreSQL does not. Whatever has none of these must agree. */
const ADDITIONS: readonly RegExp[] = [
  /\[/, // ['a', 'b'] where a value may stand
  /\.\s*not\b/i, // a member called NOT before LIKE and its like
  /extract\s*\(/i, // any word as field; binding knows the fields
];

/** Operators of DuckDB, which PostgreSQL reads as any other. */
const OWN_OPERATORS = /\*\*|\/\//;

/** The other additions are kept out of random texts; test/sql/parse.test.ts has them. */
function withoutAdditions(sql: string): string {
  // No halves of surrogate pairs either: PostgreSQL's text is UTF-8.
  return Buffer.from(sql)
    .toString()
    .replaceAll('\u00a0', ' ')
    .replaceAll('`', '')
    .replace(/=(?==)/g, '= ')
    .replace(/([%|~!*=^&#])(?=[-+])/g, '$1 ');
}

function check(oracle: (sql: string) => Answer, sql: string, theirs = oracle(sql)): string | null {
  let ours: Expression;
  try {
    ours = parseExpression(sql);
  } catch (error) {
    if (!isDirspaceError(error, 'InvalidInput')) throw error;
    if (theirs.kind === 'refused') return null;
    const known = REFUSED_ON_PURPOSE.some((pattern) => pattern.test(error.message));
    return known ? null : `refused: ${error.message}`;
  }
  if (theirs.kind === 'tree') return difference(ours, theirs.tree);
  if (theirs.kind === 'unsupported' && OWN_OPERATORS.test(sql)) return null;
  if (theirs.kind === 'unsupported') return `read, but ${theirs.message}`;
  if (!ADDITIONS.some((pattern) => pattern.test(sql))) return `read, but ${theirs.message}`;
  // Spelt as PostgreSQL spells it, it has to be what PostgreSQL reads.
  const spelt = oracle(formatExpression(ours));
  return spelt.kind === 'refused' ? `its own spelling: ${spelt.message}` : null;
}

describe(`the parser agrees with PostgreSQL (PARSER_SEED=${seed}, PARSER_CASES=${cases})`, () => {
  let oracle: (sql: string) => Answer;

  beforeAll(async () => {
    oracle = await loadOracle();
  });

  it.each(CORPUS)('%s', (sql) => {
    expect(check(oracle, sql)).toBeNull();
  });

  it.each(WORDS)('on the word %s wherever a name may stand', (word) => {
    const texts = [
      word,
      `${word} = 1`,
      `x + ${word}`,
      `${word}(1)`,
      `${word}()`,
      `${word} 'a'`,
      `x.${word}`,
      `${word}.x`,
      `${word}[1]`,
      `s.${word}(1)`,
      `CAST(x AS ${word})`,
      `x::${word}(3)`,
      `CASE WHEN ${word} THEN 1 END`,
      `x ${word} y`,
      `NOT ${word}`,
      `x BETWEEN ${word} AND 2`,
      `"${word}"(1)`,
    ];
    for (const sql of texts) expect(check(oracle, sql), sql).toBeNull();
  });

  it('on random expressions', { timeout: 3_600_000 }, () => {
    const random = seededChoices(seed);
    const wrong: string[] = [];
    let trees = 0;
    for (let n = 0; n < cases && wrong.length < 20; n++) {
      const sql = withoutAdditions(randomSql(random, 1 + random.int(4)));
      const theirs = oracle(sql);
      const found = check(oracle, sql, theirs);
      if (found !== null) wrong.push(`${sql}\n  ${found}`);
      if (theirs.kind === 'tree') trees++;
    }
    expect(wrong.join('\n')).toBe('');
    // The test says something only if much is read.
    expect(trees).toBeGreaterThan(cases / 4);
  });

  it('on texts with mistakes', { timeout: 3_600_000 }, () => {
    const random = seededChoices(seed + 1);
    const wrong: string[] = [];
    let trees = 0;
    for (let n = 0; n < cases && wrong.length < 20; n++) {
      const sql = withoutAdditions(mutated(random, randomSql(random, 1 + random.int(3))));
      const theirs = oracle(sql);
      const found = check(oracle, sql, theirs);
      if (found !== null) wrong.push(`${sql}\n  ${found}`);
      if (theirs.kind === 'tree') trees++;
    }
    expect(wrong.join('\n')).toBe('');
    expect(trees).toBeGreaterThan(cases / 20);
  });
});
