/** Lines of a text become the statements that a semicolon ends, wherever the lines break. */
import { expect, test } from 'vitest';
import { StatementCutter } from '../../src/cli/rows/statement-cutter.ts';

const cut = (text: string): { found: string[]; rest: string } => {
  const cutter = new StatementCutter();
  const found = text.split('\n').flatMap((line) => cutter.add(line));
  return { found, rest: cutter.rest };
};

test.each([
  ['a;b;c', ['a', 'b'], 'c'],
  ['a\nb;', ['a\nb'], ''],
  ["'it''s; one';", ["'it''s; one'"], ''],
  ["'begun\n; and ended';x", ["'begun\n; and ended'"], 'x'],
  ['"a;""b";', ['"a;""b"'], ''],
  ['"--";1;', ['"--"', '1'], ''],
  ["/* ' ; */ 1;", ["/* ' ; */ 1"], ''],
  ['-- ; no\n1;', ['1'], ''],
  ['1 -- ; no\n;', ['1 -- ; no\n'], ''],
  ['/* a\n; b */\n', [], ''],
  ['/* a', [], '/* a'],
  [';; ;', [], ''],
  ["a'b", [], "a'b"],
  ["1 /* '\n*/ + 2;3", ["1 /* '\n*/ + 2"], '3'],
  ['1 - 2 / 3;', ['1 - 2 / 3'], ''],
  ['/* a /* b */ ; */ 1;2', ['/* a /* b */ ; */ 1'], '2'],
  ['/* a /*\n*/\n; */ 1;2', ['/* a /*\n*/\n; */ 1'], '2'],
  ['/*/ ; */ 1;', ['/*/ ; */ 1'], ''],
  ['/* no */;1;', ['1'], ''],
  ['`a;``b`;1', ['`a;``b`'], '1'],
  ["E'it\\'s; one';1", ["E'it\\'s; one'"], '1'],
  ["e'it''s\\'; one';1", ["e'it''s\\'; one'"], '1'],
  ["E'a\\\n';1", ["E'a\\\n'"], '1'],
  ["E'a\\\\';1", ["E'a\\\\'"], '1'],
  ["E'a'\n 'b\\'; c';1", ["E'a'\n 'b\\'; c'"], '1'],
  ["E'a', 'b\\';1", ["E'a', 'b\\'"], '1'],
  ["date'\\';1", ["date'\\'"], '1'],
  ['$$a;$b$;$$;1', ['$$a;$b$;$$'], '1'],
  ["$b$a;'$$\n;$b$;1", ["$b$a;'$$\n;$b$"], '1'],
  ['a$$;1', ['a$$'], '1'],
  ['$1 + 2;1', ['$1 + 2'], '1'],
])('%j', (text, found, rest) => {
  expect(cut(text)).toEqual({ found, rest });
});
