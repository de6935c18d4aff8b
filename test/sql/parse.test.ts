/** The parser by itself: additions to PostgreSQL's grammar, literals, errors with their places, bounds. */
import { describe, expect, it, test, vi } from 'vitest';
import { isDirspaceError } from '../../src/errors.ts';
import { withMistake } from '../../src/sql/mistakes.ts';
import {
  formatExcerpt,
  formatExpression,
  parseExpression,
  parseStatement,
  parseTerm,
} from '../../src/sql/parse/index.ts';

const withoutPlaces = (sql: string): unknown =>
  JSON.parse(
    JSON.stringify(parseExpression(sql), (key, value: unknown) =>
      key === 'at' ? undefined : value,
    ),
  );

function refusal(sql: string): { message: string; position: unknown } {
  try {
    parseExpression(sql);
  } catch (error) {
    if (!isDirspaceError(error, 'InvalidInput')) throw error;
    return { message: error.message, position: error.details.position };
  }
  throw new Error(`nothing was refused in ${sql}`);
}

describe('what PostgreSQL does not have means what its spelling means', () => {
  test.each([
    ['`odd name` = 1', '"odd name" = 1'],
    ['`b``t` != 2 or `q"q` == 3', '"b`t" <> 2 or "q""q" = 3'],
    ['`a`.`b`.c', '"a"."b"."c"'],
    ["['a', 'b']", "ARRAY['a', 'b']"],
    ['x in (1) and [1, [2]] = y', 'x in (1) and array[1, array[2]] = y'],
    ['array_has([x], [])', 'array_has(array[x], array[])'],
    ['case when x then [1] else [] end', 'case when x then array[1] else array[] end'],
    ['x==1', 'x = 1'],
    ['x!=-1', 'x != -1'],
    ['x%-1 ||-2 ~-3', 'x % -1 || -2 ~ -3'],
    ['x !~*-1', 'x !~* -1'],
    ['x==-1', 'x = -1'],
    ['x<=-1 and y>+2', 'x <= -1 and y > 2'],
    ['x *-1 ||+-y', 'x * -1 || - y'],
    ['x\u00a0=\u00a05', 'x = 5'],
    ["x = 'a'\u00a0\n'b'", "x = 'ab'"],
    ['x */* times */2', 'x * 2'],
    ['x +-- plus\n2', 'x + 2'],
    ['a /* c /* d */ e */ + 1', 'a + 1'],
  ])('%s', (sql, spelt) => {
    expect(withoutPlaces(sql)).toEqual(withoutPlaces(spelt));
  });

  test('TRY_CAST is a cast that gives null; a column may be called so', () => {
    expect(parseExpression('1 + try_cast(s AS int)')).toMatchObject({
      right: { kind: 'cast', lenient: true, type: { name: 'int' }, at: 4 },
    });
    expect(parseExpression('cast(s AS int)')).toMatchObject({ lenient: false });
    expect(parseExpression('try_cast = 1')).toMatchObject({ left: { path: ['try_cast'] } });
  });
});

describe('names', () => {
  test.each([
    ['MixedCase', ['MixedCase']],
    ['Größe', ['Größe']],
    ['"A ""b"""', ['A "b"']],
    ['a . "B" /* c */ . select', ['a', 'B', 'select']],
    [`x${'y'.repeat(100)}`, [`x${'y'.repeat(100)}`]],
    ['user', ['user']],
    ['"user"', ['user']],
    ['Interval', ['Interval']],
    ['$', null],
    ['\u212aelvin', ['\u212aelvin']],
    ['li\u212ae', ['li\u212ae']],
    ['U&"d\\0061t\\+000061"', ['data']],
    ['U&"!!d!0061" uescape \'!\'', ['!da']],
  ])('%s', (sql, path) => {
    if (path === null) expect(refusal(sql).position).toBe(1);
    else expect(parseExpression(sql)).toEqual({ kind: 'column', path, at: 0 });
  });

  test('of members keep their letters as written', () => {
    expect(parseExpression('(st).Inner')).toMatchObject({ kind: 'field', name: 'Inner' });
  });
});

describe('strings', () => {
  test.each([
    ["'it''s'", "it's"],
    ["''", ''],
    ["'a\\n'", 'a\\n'],
    ["E'a\\n\\t\\b\\f\\r\\v\\\\\\'''\\q'", "a\n\t\b\f\r\v\\''q"],
    ["E'\\x41\\101\\u00e9\\U0001F600'", 'AAé😀'],
    ["E'\\uD83D\\uDE00'", '😀'],
    ["e'\\xc3\\xa9'", 'é'],
    ["E'\\1018'", 'A8'],
    ["E'a'\n'\\n'", 'a\n'],
    ["'a' \n\t 'b'\r'c'", 'abc'],
    ["$$a'b$$", "a'b"],
    ['$t$a$$b$T$c$t$', 'a$$b$T$c'],
    ['$é1$x$é1$', 'x'],
    ["U&'\\0041\\+00005A\\\\'", 'AZ\\'],
    ["U&'\\D83D\\DE00'", '😀'],
    ["U&'!0041!!' UESCAPE '!'", 'A!'],
    ["u&'a' -- c\n uescape /* d */ '^'", 'a'],
    ["'-- /* '", '-- /* '],
  ])('%s', (sql, value) => {
    expect(parseExpression(sql)).toEqual({ kind: 'string', value, at: 0 });
  });

  test.each([
    ["'abc", 1, /quote ' is never closed/],
    ["x = E'a\\'", 5, /quote ' is never closed/],
    ['x = "abc', 5, /quote " is never closed/],
    ['$t$ abc $T$', 1, /quote \$t\$ is never closed/],
    ['x = ""', 5, /quoted name is empty/],
    ['x = ``', 5, /quoted name is empty/],
    ['x = U&""', 5, /quoted name is empty/],
    ["x = E'\\u00'", 5, /four hexadecimal digits/],
    ["E'\\uD83D'", 1, /half of a surrogate/],
    ["E'\\uD83Dx\\uDE00'", 1, /half of a surrogate/],
    ["E'\\uD83D\\uD83D'", 1, /half of a surrogate/],
    ["E'\\uDE00'", 1, /half of a surrogate/],
    ["E'\\u0000'", 1, /names no character/],
    ["E'\\U00110000'", 1, /names no character/],
    ["E'\\xff'", 1, /no valid UTF-8/],
    ["E'\\000'", 1, /no valid UTF-8/],
    ["U&'\\00'", 1, /four hexadecimal digits/],
    ["U&'\\D83D'", 1, /half of a surrogate/],
    ["U&'\\DE00'", 1, /half of a surrogate/],
    ["U&'\\D83D0\\DE00'", 1, /half of a surrogate/],
    ["U&'a' UESCAPE 'f'", 7, /UESCAPE takes/],
    ["U&'a' UESCAPE '!!'", 7, /UESCAPE takes/],
    ["'a' /*\n*/ 'b'", 11, /syntax error/],
    ["'a' -- c\n'b'", 10, /syntax error/],
    ["'a' 'b'", 5, /syntax error/],
    ["x = '\ud83d'", 6, /half of a surrogate pair/],
    ["x \0= 'a'", 3, /syntax error/],
    ['\0', 1, /syntax error/],
    ["x = 'a\0", 5, /never closed/],
  ])('%s is refused', (sql, position, says) => {
    const found = refusal(sql);
    expect(found.message).toMatch(says);
    expect(found.position).toBe(position);
  });
});

describe('numbers', () => {
  test.each([
    ['007', '7'],
    ['0x1F', '31'],
    ['0o17', '15'],
    ['0B101', '5'],
    ['0xFFFF_FFFF_FF', '0xFFFFFFFFFF'],
    ['2147483648', '2147483648'],
    ['1_000.5_0e1_0', '1000.50e10'],
    ['1.', '1.'],
    ['.5E-7', '.5E-7'],
    ['-5', '-5'],
    ['- - 5', '5'],
    ['-0', '0'],
    ['-0.0', '-0.0'],
    ['-(2.5)', '-2.5'],
    ['+5', '5'],
  ])('%s', (sql, text) => {
    expect(withoutPlaces(sql)).toEqual({ kind: 'number', text });
  });

  test.each(['1a', '1_', '1__0', '0x', '0xg', '0b2', '1e', '1.5e+', '1.a', '.5x', '1é'])(
    '%s is refused',
    (sql) => {
      expect(refusal(sql).position).toBe(1);
    },
  );
});

describe('an error says where', () => {
  test.each([
    ['a AND', 6, 'syntax error at the end; a value is expected'],
    ['a AND OR b', 7, 'at or near "OR"; a column whose name is a reserved word needs quotes'],
    ['a b', 3, 'at or near "b"'],
    ['a = b = c', 7, 'Comparisons do not chain'],
    ['full / 7 = 3', 1, 'at or near "full"; a column whose name is a reserved word needs quotes'],
    ['a < b < c', 7, 'Comparisons do not chain'],
    ['a like b in (c)', 10, 'BETWEEN, IN and LIKE cannot follow BETWEEN or LIKE'],
    ['a is distinct from b is null', 22, 'IS does not chain'],
    ['(a + b', 1, "'(' is never closed"],
    ['f(a', 2, "'(' is never closed"],
    ['[a, b', 1, "'[' is never closed"],
    ['x[1', 2, "'[' is never closed"],
    ['x in (1, 2', 6, "'(' is never closed"],
    ['a)', 2, "')' closes nothing"],
    ['(a]', 3, "']' closes nothing"],
    ['CASE WHEN a THEN b', 1, 'CASE is never closed by END'],
    ['CASE a THEN b END', 8, 'WHEN is expected'],
    ['CAST(a int)', 8, 'AS is expected'],
    ['a BETWEEN 1 OR 2', 13, 'AND is expected'],
    ['a NOT b', 7, 'NOT takes BETWEEN, IN, LIKE or ILIKE here'],
    ['a IS 5', 6, 'IS takes NULL'],
    ['x IN ()', 7, "An expression is missing before ')'"],
    ['x IN (1,)', 9, "An expression is missing before ')'"],
    ["y = ')' OR (", 13, 'at the end'],
    ["')(' = x)", 9, "')' closes nothing"],
    ['array[1,] = x', 9, "An expression is missing before ']'"],
    ['x IN 5', 6, "'(' is expected"],
    ['a /* open', 3, 'A comment is never closed'],
    ['date + interval (3) x', 21, 'a unit such as DAY is expected'],
    ['a.5', 2, 'at or near ".5"'],
    ['a @- b', 3, 'The operator @- is not supported'],
    ['a -@ b', 3, 'The operator -@ is not supported'],
    ['a + ?', 5, 'Parameters are not supported'],
    ['a=?', 3, 'Parameters are not supported'],
    ['a = :b', 5, 'at or near ":"'],
    ['a \\ b', 3, 'at or near "\\"'],
    ['x::', 4, 'a type is expected'],
  ])('%s', (sql, position, says) => {
    const found = refusal(sql);
    expect(found.message).toContain(says);
    expect(found.position).toBe(position);
    expect(found.message).toMatch(new RegExp(`\\(at position ${position}\\)$`));
  });

  test('and shows it with a caret', () => {
    let error: unknown;
    try {
      parseExpression('a = 1 AND\n  größe\t= = 2 AND c\nOR d');
    } catch (thrown) {
      error = withMistake(thrown, 'a = 1 AND\n  größe\t= = 2 AND c\nOR d');
    }
    expect((error as Error).message.split('\n').slice(1)).toEqual([
      '    größe = = 2 AND c',
      '            ^',
    ]);
  });

  test('in a window of a long line, counting characters', () => {
    expect(formatExcerpt(`${'x'.repeat(500)}!${'y'.repeat(500)}`, 500)).toBe(
      `  ${'x'.repeat(36)}!${'y'.repeat(35)}\n  ${' '.repeat(36)}^`,
    );
    // A picture takes two columns of a terminal, as do the letters of Chinese; a mark takes none.
    expect(formatExcerpt("'😀' b", 5)).toBe("  '😀' b\n       ^");
    expect(formatExcerpt("'日本' = b", 7)).toBe(`  '日本' = b\n  ${' '.repeat(9)}^`);
    expect(formatExcerpt("'e\u0301' b", 5)).toBe(`  'e\u0301' b\n      ^`);
    const pictures = '😀'.repeat(50);
    expect(formatExcerpt(`'${pictures}' b`, 103)).toBe(
      `  ${'😀'.repeat(17)}' b\n  ${' '.repeat(36)}^`,
    );
    const cut = formatExcerpt(`b ${'x'.repeat(69)}😀`, 0).split('\n')[0] ?? '';
    expect(cut).toBe(`  b ${'x'.repeat(69)}😀`);
    expect(formatExcerpt('a', 1)).toBe('  a\n   ^');
    expect(formatExcerpt('', 0)).toBe('  \n  ^');
    expect(formatExcerpt('a\nb', 1)).toBe('  a\n   ^');
  });
});

describe('the size of a text is bounded', () => {
  it.each([
    ['members', (n: number) => `(st)${'.a'.repeat(n)}`],
    ['elements', (n: number) => `x${'[1]'.repeat(n)}`],
    ['concatenations', (n: number) => `x${" || 'a'".repeat(n)}`],
    ['tests', (n: number) => `x${' IS NULL'.repeat(n)}`],
    ['lists in IN', (n: number) => `${'x IN ('.repeat(n)}1${')'.repeat(n)}`],
    ['bounds', (n: number) => `${'x BETWEEN ('.repeat(n)}1${') AND 2'.repeat(n)}`],
    ['alternating AND and OR', (n: number) => `${'('.repeat(n)}a${' AND b) OR c'.repeat(n)}`],
  ])('%s nest 500 levels deep', (_, make) => {
    expect(() => parseExpression(make(150))).not.toThrow();
    expect(refusal(make(600)).message).toMatch(/nested deeper than 500 levels near/);
    expect(refusal(make(20_000)).message).toMatch(/nested deeper than 500 levels near/);
  });

  /** A sum of 300 levels stands in another part of a call each time: the call is above the highest. */
  it.each([
    ['OVERLAY', (inner: string) => `overlay(${inner} placing 'a' from 1)`],
    ['what OVERLAY places', (inner: string) => `overlay('a' placing ${inner} from 1)`],
    ['FROM of OVERLAY', (inner: string) => `overlay('a' placing 'b' from ${inner} for 1)`],
    ['FROM of SUBSTRING', (inner: string) => `substring('a' from ${inner} for 1)`],
    ['FILTER', (inner: string) => `sum(1) filter (where ${inner})`],
    ['PARTITION BY', (inner: string) => `sum(1) over (partition by ${inner}, 1 order by 1)`],
    ['ORDER BY of a window', (inner: string) => `sum(1) over (order by ${inner}, 1)`],
    ['ORDER BY of arguments', (inner: string) => `array_agg(1 order by ${inner}, 1)`],
    ['arguments before ORDER BY', (inner: string) => `array_agg(${inner} order by 1)`],
    ['a named window', (inner: string) => `sum(${inner}) filter (where true) over w`],
  ])('%s counts as a level', (_, make) => {
    const sum = ` + 1${' + 1'.repeat(298)}`;
    expect(() => parseTerm(make(`1${sum}`) + sum)).toThrow(/nested deeper than 500 levels near/);
    expect(() => parseTerm(make(`1${sum}`))).not.toThrow();
  });

  it.each(['', 'SELECT 1 WHERE EXISTS (SELECT 1 FROM '])(
    'tables in parentheses, behind "%s"',
    (before) => {
      const nested = (n: number): string =>
        `${before || 'SELECT 1 FROM '}${'('.repeat(n)}t JOIN u USING (a)${')'.repeat(n)}`;
      const end = before === '' ? '' : ')';
      expect(() => parseStatement(nested(400) + end)).not.toThrow();
      expect(() => parseStatement(nested(510) + end)).toThrow(
        /statement is nested deeper than 500 levels near/,
      );
      expect(() => parseStatement(nested(25_000) + end)).toThrow(
        /nested deeper than 500 levels near/,
      );
    },
  );

  it('tables in parentheses beside each other are no deeper than one', () => {
    const one = `${'('.repeat(100)}t${')'.repeat(100)}`;
    expect(() => parseStatement(`SELECT 1 FROM ${Array(30).fill(one).join()}`)).not.toThrow();
  });

  it('a bracket that closes nothing is named behind a long list too', () => {
    const list = Array.from({ length: 70_000 }, () => 1).join();
    expect(refusal(`(x IN (${list}) AND )`).message).toContain('An expression is missing before');
    expect(refusal(`x IN (${list}))`).message).toContain("')' closes nothing");
  });

  it('literals of IN are not counted as parts, other items are', () => {
    const list = (item: string, n: number) =>
      `x IN (${Array.from({ length: n }, () => item).join()})`;
    for (const item of ['1', '-1', "'a'", '1.5']) {
      expect(parseExpression(list(item, 100_000))).toMatchObject({ items: { length: 100_000 } });
    }
    expect(refusal(list('y', 31_000)).message).toMatch(/more than 60000 parts; use IN/);
    expect(parseExpression(list('1', 200_000))).toMatchObject({ kind: 'in' });
    expect(refusal(list('1', 200_001)).message).toMatch(/more than 200000 values/);
    const two = `${list('1', 100_000)} OR ${list("'a'", 100_001)}`;
    expect(refusal(two).message).toMatch(/more than 200000 values/);
    expect(refusal(`[${Array.from({ length: 31_000 }, () => 1).join()}]`).message).toMatch(/60000/);
  });

  it('and length counts bytes', () => {
    expect(() => parseExpression(`'${'é'.repeat((1 << 19) - 1)}'`)).not.toThrow();
    expect(refusal(`'${'é'.repeat(1 << 19)}'`).message).toMatch(/longer than 1048576 bytes/);
  });
});

/** Steps are counted, not time: doubling a text must not do more than double the work. */
test.each([
  ['doubled quotes in a string with escapes', () => `E'${"''".repeat(200_000)}'`],
  ['escapes', () => `E'${'\\n'.repeat(250_000)}'`],
  ['comments', () => `x ${'/**/'.repeat(200_000)}`],
  ['nested comments', () => `x ${'/*'.repeat(200_000)}${'*/'.repeat(200_000)}`],
  ['lines of comments', () => `x ${'-- a\n'.repeat(200_000)}`],
  ['strings before blanks', () => `x IN (${`'a'${' '.repeat(20)}\n,`.repeat(30_000)}1)`],
  ['parts of one string', () => `${"'a'\n".repeat(200_000)}`],
  ['a chain of conditions', () => `x${' AND y'.repeat(29_000)}`],
  ['operator characters', () => `x ${'<'.repeat(500_000)}`],
  ['signs', () => `x ${'+'.repeat(400)}1`],
  ['hexadecimal digits', () => `0x${'f'.repeat(500_000)}`],
  ['Unicode escapes', () => `U&'${'\\0041'.repeat(100_000)}'`],
  ['semicolons', () => `x ${';'.repeat(500_000)}y`],
])(
  '%s are read in one pass',
  (_, make) => {
    // A quadratic pass over half a megabyte takes minutes, and the test's own limit ends it.
    for (const parse of [parseExpression, parseStatement]) {
      try {
        parse(parse === parseStatement ? `SELECT ${make()}` : make());
      } catch (error) {
        expect(isDirspaceError(error, 'InvalidInput')).toBe(true);
      }
    }
  },
  20_000,
);

test.each([
  ['escapes of one string', (size: number) => `E'${'\\\\'.repeat(size / 2)}'`],
  ['strings with escapes', (size: number) => `x IN (${"E'a',".repeat(size / 5)}'b')`],
  ['doubled quotes of a string', (size: number) => `E'${"''".repeat(size / 2)}'`],
])('%s: what is searched through grows with the text, not with its square', (_, make) => {
  const searched = (size: number): number => {
    let units = 0;
    const plain = String.prototype.indexOf;
    const spy = vi.spyOn(String.prototype, 'indexOf').mockImplementation(function (
      this: string,
      part: string,
      from = 0,
    ): number {
      const found = plain.call(this, part, from);
      units += (found < 0 ? this.length : found) - from;
      return found;
    });
    try {
      parseExpression(make(size));
    } finally {
      spy.mockRestore();
    }
    return units;
  };
  expect(searched(40_000)).toBeLessThan(4 * 40_000);
});

test('escapes of strings mean the same wherever they stand', () => {
  const cases: readonly (readonly [string, string])[] = [
    [String.raw`E'a\\b\n\t\q\'c'''`, "a\\b\n\tq'c'"],
    [String.raw`E'\101\x41\u0041\U00000041\8\xg'`, 'AAAA8xg'],
    [String.raw`E'\ud83d\ude00\\'`, '😀\\'],
    [String.raw`E'\😀'`, '😀'],
    [String.raw`U&'\0041\+00005A\\\00e9'`, 'AZ\\é'],
    ["U&'!0041!!' UESCAPE '!'", 'A!'],
  ];
  for (const [sql, value] of cases) {
    expect(parseExpression(sql), sql).toMatchObject({ kind: 'string', value });
  }
  for (const sql of [
    String.raw`E'\ud83d\n'`,
    String.raw`E'\ud83da\ude00'`,
    String.raw`U&'\00g1'`,
    String.raw`U&'\+00004'`,
  ]) {
    expect(() => parseExpression(sql), sql).toThrow();
  }
});

test('semicolons at the end of a statement are left out, with blanks around them', () => {
  for (const end of [';', ' ; ;\n', ';;', '']) {
    expect(parseStatement(`SELECT 1${end}`)).toEqual(parseStatement('SELECT 1'));
  }
  expect(() => parseStatement("SELECT ';' ; 1")).toThrow(/';' is not part of a statement/);
  expect(() => parseStatement(' ;\n; ')).toThrow(/The statement is empty/);
});

test('names of the prototype of objects are written as any other', () => {
  for (const name of ['constructor', '__proto__', 'trim']) {
    const call = parseExpression(`"${name}"(x, 1)`);
    expect(call).toMatchObject({ kind: 'call', name });
    const text = formatExpression(call);
    expect(withoutPlaces(text)).toEqual(withoutPlaces(`"${name}"(x, 1)`));
  }
});
