/** Regular expressions: what matches, what is refused, and that the time is linear in the text. */
import { describe, expect, test } from 'vitest';
import { Field, Schema, Utf8, vectorFromArray } from '../../src/arrow/apache.ts';
import { recordBatch } from '../../src/arrow/arrow-data.ts';
import { compileExpression, compilePredicate } from '../../src/sql/expression.ts';
import { compileRegexp } from '../../src/sql/regexp/index.ts';
import { casesOf } from '../helpers/long.ts';
import { type Finder, finderFor } from '../helpers/regexp.ts';
import { seeded } from '../helpers/seeded.ts';

const schema = new Schema([new Field('s', new Utf8(), true)]);

function batchOf(texts: readonly (string | null)[]) {
  const { data } = vectorFromArray(texts, new Utf8());
  return recordBatch(schema, [data[0] as never], texts.length);
}

/** The first match, as UTF-8 and as a string have it. */
const found = (pattern: string, text: string, flags = ''): string | null =>
  foundBy(finderFor(pattern, flags), text);

function foundBy(compiled: Finder, text: string): string | null {
  const bytes = Buffer.from(`x${text}y`);
  const span = compiled.find(text, false);
  expect(compiled.matches(bytes, 1, bytes.length - 1)).toBe(span !== null);
  return span && text.slice(span[0], span[1]);
}

const value = async (sql: string, text: string): Promise<unknown> => {
  const expression = await compileExpression(sql, schema);
  const [first] = expression.evaluate(batchOf([text, null])).toArray() as unknown[];
  return first;
};

describe('a pattern finds what the engine of DataFusion finds', () => {
  test.each<[pattern: string, flags: string, text: string, found: string | null]>([
    ['a|ab', '', 'xab', 'a'],
    ['ab|a', '', 'xab', 'ab'],
    ['a+?', '', 'aaa', 'a'],
    ['a+', 'U', 'aaa', 'a'],
    ['a+?', 'U', 'aaa', 'aaa'],
    ['(a|ab)(c|bcd)', '', 'abcd', 'abcd'],
    ['(a*)*', '', 'b', ''],
    ['(a|b)*?c', '', 'abac', 'abac'],
    ['x*', '', 'axx', ''],
    ['a{2,3}', '', 'aaaa', 'aaa'],
    ['a{2,3}?', '', 'aaaa', 'aa'],
    ['a{ 2 , 3 }', '', 'aaaa', 'aaa'],
    ['^b', '', 'a\nb', null],
    ['^b', 'm', 'a\nb', 'b'],
    ['a$', '', 'a\nb', null],
    ['(?m)a$', '', 'a\nb', 'a'],
    ['a$', '', 'a\n', null],
    ['.+', '', 'a\r\u2028b\nc', 'a\r\u2028b'],
    ['.+', 's', 'a\nc', 'a\nc'],
    ['(?i)K', '', '\u212a', '\u212a'],
    ['s', 'i', 'ſ', 'ſ'],
    ['ß', 'i', 'ẞ', 'ẞ'],
    ['i', 'i', 'ıİ', null],
    ['Σ', 'i', 'ς', 'ς'],
    ['[^k]', 'i', 'K\u212akK', null],
    ['\\d+', '', 'a٣4', '٣4'],
    ['\\w+', '', '-éa_\u0301٣-', 'éa_\u0301٣'],
    ['\\s', '', 'a\u00a0', '\u00a0'],
    ['\\bé', '', 'aé é', 'é'],
    ['a\\b', '', 'aé', null],
    ['\\Bb', '', 'ab', 'b'],
    ['\\<b|a\\>', '', 'ab', null],
    ['\\b{start}b', '', 'ab b', 'b'],
    ['a\\b{end-half}', '', 'ab a', 'a'],
    ['a\\b{end}', '', 'ab a', 'a'],
    ['\\b{start-half}b', '', 'ab-b', 'b'],
    ['\\Ab', '', 'ab', null],
    ['b\\z', '', 'bb', 'b'],
    ['\\p{Greek}+', '', 'aαβb', 'αβ'],
    ['\\p{greek}', '', 'α', 'α'],
    ['\\p{sc=Greek}', '', 'α', 'α'],
    ['\\p{Script_Extensions=Greek}', '', 'α', 'α'],
    ['\\p{gc:Uppercase_Letter}', '', 'aB', 'B'],
    ['\\p{lowercase letter}', '', 'Ab', 'b'],
    ['\\pL\\PL', '', 'a1', 'a1'],
    ['\\p{Any}\\p{Assigned}', '', '\u{40000}a', '\u{40000}a'],
    ['\\P{Assigned}', '', 'a\u{40000}', '\u{40000}'],
    ['\\p{Co}', '', '\u{f0000}', '\u{f0000}'],
    ['\\p{Lu}', 'i', 'a', 'a'],
    ['[[:alpha:]]+', '', 'éab', 'ab'],
    ['[[:^alpha:]]', '', 'a1', '1'],
    ['[[:foo:]]', '', 'f', 'f'],
    ['[a-z&&[^b]]+', '', 'bac', 'ac'],
    ['[a-c--b]+', '', 'bca', 'ca'],
    ['[a-c~~b-d]+', '', 'bda', 'da'],
    ['[]a]+', '', ']a', ']a'],
    ['[^]a]+', '', ']ab', 'b'],
    ['[a-]+', '', '-a', '-a'],
    ['[-a]+', '', '-a', '-a'],
    ['[\\]\\-\\\\]+', '', ']-\\', ']-\\'],
    ['[\\d_]+', '', 'a1_', '1_'],
    ['\\x41\\x{e9}\\u00e9\\U0001F600', '', 'Aéé😀', 'Aéé😀'],
    ['\\t\\n\\r\\f\\v\\a', '', '\t\n\r\f\v\u0007', '\t\n\r\f\v\u0007'],
    ['[😀-😂]', '', '😁', '😁'],
    ['.😀.', '', 'a😀b', 'a😀b'],
    ['(?x) a b # comment\n c', '', 'abc', 'abc'],
    ['(?x)a\\ b[ c ]', '', 'a bc', 'a bc'],
    ['(?i:a)b', '', 'AbAB', 'Ab'],
    ['(?i)a(?-i)b', '', 'AB Ab', 'Ab'],
    ['a(?i)b|c', '', 'C', 'C'],
    ['(?:a(?i)b)c', '', 'aBC aBc', 'aBc'],
    ['}]', '', '}]', '}]'],
    ['', '', '', ''],
    ['a||b', '', 'b', ''],
    ['(?:)', '', 'a', ''],
    ['^*a', '', 'ba', 'a'],
    ['a**', '', 'aa', 'aa'],
    ['(?P<year>\\d{4})-(?<month>\\d\\d)', '', 'on 2024-05', '2024-05'],
  ])('%s (%s) in %j: %j', (pattern, flags, text, expected) => {
    expect(found(pattern, text, flags)).toBe(expected);
  });

  test.each<[sql: string, text: string, value: unknown]>([
    ["regexp_replace(s, 'a*', '-', 'g')", 'baac', '-b-c-'],
    ["regexp_replace(s, '', '-', 'g')", 'a😀', '-a-😀-'],
    ["regexp_replace(s, 'b', '-')", 'abb', 'a-b'],
    // biome-ignore lint/suspicious/noTemplateCurlyInString: it is the template of the function
    ["regexp_replace(s, '(a)(x)?', '[$1$2${1}\\1$0$$]', 'g')", 'aba', '[aaaa$]b[aaaa$]'],
    // biome-ignore lint/suspicious/noTemplateCurlyInString: it is the template of the function
    ["regexp_replace(s, '(?<n>a)', '${n}$n$n2$9', 'g')", 'ab', 'aab'],
    ["regexp_replace(s, '^|$', '|', 'gm')", 'a\nb', '|a|\n|b|'],
    ["regexp_replace(s, '\\b', '|', 'g')", 'ab é', '|ab| |é|'],
    ["regexp_replace(s, 'z', '-', 'g')", 'abc', 'abc'],
    ["array_element(regexp_match(s, '(\\w+)@(\\w+)'), 2)", 'to me@home', 'home'],
    ["array_element(regexp_match(s, '((a)|b)*'), 2)", 'ab', 'a'],
    ["array_element(regexp_match(s, 'b+'), 1)", 'abbc', 'bb'],
  ])('%s of %j: %j', async (sql, text, expected) => {
    expect(await value(sql, text)).toBe(expected);
  });

  test('plain text between edges is LIKE, with the same outcome', async () => {
    const texts = ['a%b', 'xa%by', 'aab', null, 'a%b\n', 'A%B'];
    for (const [pattern, rows] of [
      ['a%b', [0, 1, 4]],
      ['^a%b', [0, 4]],
      ['a%b$', [0]],
      ['\\Aa%b\\z', [0]],
      ['(?i)a%b', [0, 1, 4, 5]],
    ] as const) {
      const predicate = await compilePredicate(`regexp_like(s, '${pattern}')`, schema);
      expect([...predicate.select(batchOf(texts))]).toEqual(rows);
      const negated = await compilePredicate(`s !~ '${pattern}'`, schema);
      expect(negated.count(batchOf(texts))).toBe(5 - rows.length);
    }
    const folded = await compilePredicate("s ~* 'A%b'", schema);
    expect([...folded.select(batchOf(texts))]).toEqual([0, 1, 4, 5]);
  });

  test('patterns and flags of rows, nulls among them', async () => {
    const both = new Schema(['s', 'p', 'f'].map((name) => new Field(name, new Utf8(), true)));
    const columns = [
      ['ab', 'ab', 'ab', null, 'AB'],
      ['^a', 'c', null, 'a', 'a'],
      ['', '', '', '', 'i'],
    ].map((values) => vectorFromArray(values, new Utf8()).data[0] as never);
    const predicate = await compilePredicate('regexp_like(s, p, f)', both);
    expect([...predicate.select(recordBatch(both, columns, 5))]).toEqual([0, 4]);
  });

  test('bytes that are no UTF-8 are characters of their own', () => {
    const bytes = Uint8Array.of(0x61, 0xff, 0xc3, 0x62, 0xe2, 0x82);
    const matches = (pattern: string): boolean =>
      finderFor(pattern, '').matches(bytes, 0, bytes.length);
    expect(matches('^a..b..$')).toBe(true);
    expect(matches('^a.b')).toBe(false);
    expect(matches('\\x{fffd}b')).toBe(true);
  });
});

test.each<[pattern: string, required: string | null, flags?: string]>([
  ['ver.*9$', 'ver'],
  ['(?:ab|cd)efg+h', 'ef'],
  ['a(bc)d', 'abcd'],
  ['^abc\\b', 'abc'],
  ['(?:abc)*d', 'd'],
  ['(?:abc)+x', 'abc'],
  ['x{2,}yz', 'yz'],
  ['abc|abd', null],
  ['[ab]', null],
  ['a?', null],
  ['', null],
  ['über', null, 'i'],
  ['é{3}', 'é'],
])('what every match of %s has is %j', (pattern, required, flags = '') => {
  expect(compileRegexp(pattern, flags).required()).toBe(required);
});

test('texts without what every match has do not match, and the others are looked at', async () => {
  const random = seeded(1905);
  const parts = ['ab', 'abc', 'bc', 'é', 'x', 'abé', '9', ' '];
  const texts = Array.from({ length: 700 }, (_, at) =>
    at % 13 === 0
      ? null
      : Array.from({ length: at % 9 }, () => parts[Math.floor(random() * parts.length)]).join(''),
  );
  for (const pattern of ['abc.*9', 'x(?:abé)+', 'bc$', '^ab.abc', 'éx?abc9{0,2}', 'abcabcabc']) {
    const predicate = await compileExpression(`regexp_like(s, '${pattern}')`, schema);
    expect(predicate.evaluate(batchOf(texts)).toArray(), pattern).toEqual(
      texts.map((text) => (text === null ? null : new RegExp(pattern, 'u').test(text))),
    );
  }
});

describe('what is no pattern, or too large, is refused with its reason', () => {
  test.each<[pattern: string, why: RegExp]>([
    ['(', /never closed/],
    ['(?:a', /never closed/],
    ['a)', /closes nothing/],
    ['[a', /ends within/],
    ['[z-a]', /upside down/],
    ['[a-\\d]', /ends in a class/],
    ['*a', /\* repeats nothing/],
    ['a|+', /\+ repeats nothing/],
    ['(?i)*', /repeats nothing/],
    ['a{2', /no count/],
    ['a{x}', /no count/],
    ['a{,3}', /no count/],
    ['a{3,2}', /from 3 to 2/],
    ['a{1001}', /more than 1000 times/],
    ['a{99999999999}', /more than 1000 times/],
    ['(?=a)', /look-around/],
    ['(?<!a)', /look-around/],
    ['(a)\\1', /back-references/],
    ['\\k<a>', /back-references/],
    ['\\y', /escape \\y is not known/],
    ['\\0', /escape \\0 is not known/],
    ['\\p{Foo}', /no property Foo/],
    ['\\p{^L}', /no property/],
    ['\\p{xx=L}', /no property/],
    ['\\x{110000}', /no code/],
    ['\\x{d800}', /no code/],
    ['\\xg0', /no code/],
    ['(?<1>a)', /no name/],
    ['(?<a>a)(?P<a>b)', /two groups/],
    ['(?R)', /flag R is not supported/],
    ['(?-u)a', /flag u is not supported/],
    ['(?)', /has none/],
    ['(?i-)', /has none/],
    ['(?--i)', /not supported/],
    ['\\', /ends within/],
    ['a'.repeat(1001), /longer than 1000 characters/],
    ['((a{100}){100}){100}', /automaton has more than 4096 states/],
    ['('.repeat(101) + ')'.repeat(101), /nest more than 100/],
    [`a${'{1}'.repeat(150)}`, /nest more than 100/],
    ['['.repeat(101) + ']'.repeat(101), /nest more than 100/],
    ['()'.repeat(101), /more than 100 groups/],
    [
      Array.from({ length: 11 }, (_, at) => `\\p{L${' '.repeat(at)}}`).join(''),
      /more than 10 properties/,
    ],
  ])('%.40s', (pattern, why) => {
    expect(() => compileRegexp(pattern, '')).toThrow(/^The regular expression '.*' is refused: /s);
    expect(() => compileRegexp(pattern, '')).toThrow(why);
  });

  test('an unknown flag', () => {
    expect(() => compileRegexp('a', 'iq')).toThrow(/flag q is not known; i, m, s, x, U and g are/);
  });

  test('classes without number that are told apart', () => {
    const points = Array.from({ length: 990 }, (_, at) => String.fromCodePoint(0x4e00 + 2 * at));
    expect(finderFor(points.join(''), '').find(points.join(''), false)).toEqual([0, 990]);
  });
});

const RUNAWAY = [
  '(.*)(.*)(.*)(.*)(.*)c',
  '(a+)+$',
  '(a*)*b',
  '(a|a)*b',
  '(a|ab)*c$',
  '(a?){50}a{50}b',
  '(\\w+\\s?)*!',
  '^(([a-z])+.)+[A-Z]([a-z])+$',
  '(x+x+)+y',
  '(.*a){20}b',
  '(a|b)*a(a|b){12}c',
];

describe('the time is linear in the text', () => {
  test.each(RUNAWAY)('of %s: 200,000 characters', (pattern) => {
    const compiled = finderFor(pattern, '');
    const text = 'a'.repeat(200_000);
    const bytes = Buffer.from(text);
    const matched = compiled.matches(bytes, 0, bytes.length);
    expect(compiled.find(text, false) !== null).toBe(matched);
  });

  test('groups are found without trying a path twice', () => {
    const text = 'a'.repeat(2000);
    expect(finderFor('(a|aa)+(a*)*$', '').find(text, true)).toEqual([
      0, 2000, 1999, 2000, 2000, 2000,
    ]);
    expect(finderFor('(.*)(.*)(.*)(.*)(.*)c', '').find(`${text}c`, true)?.slice(0, 4)).toEqual([
      0, 2001, 0, 2000,
    ]);
  });

  test('a match whose groups would take too much to find is refused by its size', () => {
    const long = 'a'.repeat(100_000);
    expect(finderFor('(?:a|b){1,900}?(.*)', '').find(long, false)).toEqual([0, 100_000]);
    expect(() => finderFor('(?:a|b){1,900}?(.*)', '').find(long, true)).toThrow(
      /match of 100000 characters is too long for the groups of an automaton of \d+ states/,
    );
  });

  test('a text that needs too many states is refused, and shorter ones are not', () => {
    const random = seeded(1);
    const text = Array.from({ length: 100_000 }, () => (random() < 0.5 ? 'x' : 'o')).join('');
    const bytes = Buffer.from(text);
    const hostile = finderFor('[xo]*x[xo]{900}$', '');
    const refused = /a text of 100000 characters takes too many states of its automaton/;
    expect(() => hostile.matches(bytes, 0, bytes.length)).toThrow(refused);
    expect(() => hostile.find(text, false)).toThrow(refused);
    expect(hostile.matches(bytes, 0, 1000)).toBe(text[99] === 'x');
    expect(hostile.find(text.slice(0, 1000), false) !== null).toBe(text[99] === 'x');
  });

  test('a step looks at a bounded number of instructions, and searches may alternate', () => {
    const compiled = finderFor('(?:(a)|b){0,500}?(a*)$', '');
    const texts = ['a'.repeat(6000), 'ab'.repeat(100) + 'a'.repeat(5000)];
    const whole = texts.map((text) => compiled.find(text, true));
    const found = texts.map((): readonly number[] => []);
    let open = texts.map((text, at) => {
      const each = (match: readonly number[]): void => {
        found[at] = match;
      };
      return compiled.compiled.takeSearcher().inSteps(text, { groups: true, all: false, each });
    });
    let rounds = 0;
    for (; open.length > 0; rounds++) open = open.filter((run) => run.next().done !== true);
    expect(found).toEqual(whole);
    expect(rounds).toBeGreaterThan(2);
  });

  test('replacing all matches reads a text a bounded number of times', async () => {
    const replace = "regexp_replace(s, 'a+b|a', '-', 'g')";
    expect(await value(replace, 'a'.repeat(1000))).toBe('-'.repeat(1000));
    const expression = await compileExpression(replace, schema);
    expect(() => expression.evaluate(batchOf(['a'.repeat(100_000)]))).toThrow(
      /search a text of 100000 characters anew for each match/,
    );
  });

  test('states are kept within bounds, and begun anew', () => {
    const random = seeded(7);
    const compiled = finderFor('(a|b)*a(a|b){12}c$', '');
    for (let round = 0; round < casesOf(8, 20); round++) {
      const text = Array.from({ length: 3000 }, () => (random() < 0.5 ? 'a' : 'b')).join('');
      const [hit, miss] = [`${text}a${'ab'.repeat(6)}c`, `${text}b${'ab'.repeat(6)}c`];
      expect(compiled.matches(Buffer.from(hit), 0, hit.length)).toBe(true);
      expect(compiled.matches(Buffer.from(miss), 0, miss.length)).toBe(false);
      expect(compiled.find(hit, false)).toEqual([0, hit.length]);
    }
  });
});

describe('patterns at random', () => {
  test('find what the runtime finds, where both mean the same', () => {
    const random = seeded(11);
    const pick = <T>(from: readonly T[]): T => from[Math.floor(random() * from.length)] as T;
    const some = (depth: number): string => {
      const kind = random();
      if (depth <= 0 || kind < 0.35) {
        return pick(['a', 'b', 'c', '[ab]', '[^a]', '.', '\\n', 'é', '😀', '[b-é]']);
      }
      if (kind < 0.55) return `(${any(depth - 1)}${some(depth - 1)})`;
      if (kind < 0.65) return `(?:${some(depth - 1)}|${some(depth - 1)})`;
      if (kind < 0.8) {
        return `(?:${some(depth - 1)})${pick(['+', '+?', '{2}', '{1,2}', '{1,}?'])}`;
      }
      return some(depth - 1) + any(depth - 1);
    };
    const any = (depth: number): string => {
      const kind = random();
      if (depth <= 0 || kind < 0.2) return pick(['', 'a', 'b', '^', '$', '\\b', '\\B', '.']);
      if (kind < 0.4) return any(depth - 1) + any(depth - 1);
      if (kind < 0.55) return `(?:${any(depth - 1)}|${any(depth - 1)})`;
      if (kind < 0.65) return `(${any(depth - 1)})`;
      if (kind < 0.85) {
        // What the runtime does with repeats of nothing is its own.
        return `(?:${some(depth - 1)})${pick(['*', '*?', '?', '??', '{0,2}', '{0,}', '{2,}'])}`;
      }
      return some(depth - 1);
    };
    const rounds = casesOf(500, 3000);
    let compared = 0;
    for (let round = 0; round < rounds; round++) {
      const pattern = any(4);
      const flags = pick(['', 'i', 'm', 's']);
      const native = new RegExp(pattern, `${flags}gu`);
      const compiled = finderFor(pattern, flags);
      for (let k = 0; k < 4; k++) {
        const text = Array.from({ length: Math.floor(random() * 9) }, () =>
          pick(['a', 'b', 'c', 'a', '\n', 'é', '😀', 'A', ' ']),
        ).join('');
        // Boundaries are those of ASCII there, and lie within pairs.
        if (/\\[bB]/.test(pattern) && /[é😀]/u.test(text)) continue;
        native.lastIndex = 0;
        const expected = native.exec(text)?.[0] ?? null;
        const first = foundBy(compiled, text);
        if (first !== expected) {
          expect(first, `${pattern} ${flags} ${JSON.stringify(text)}`).toBe(expected);
        }
        compared++;
      }
    }
    expect(compared).toBeGreaterThan((5 * rounds) / 3);
  });

  test('of any characters are read, or refused, and nothing else', () => {
    const random = seeded(3);
    const alphabet = [...'ab()[]{}|*+?^$\\.-&~!<>=:Pidwsx,01#😀é \n'];
    for (let round = 0; round < casesOf(800, 5000); round++) {
      const pattern = Array.from(
        { length: Math.floor(random() * 12) },
        () => alphabet[Math.floor(random() * alphabet.length)],
      ).join('');
      try {
        const compiled = finderFor(pattern, '');
        compiled.find('ab 1é😀', true);
        compiled.findAll('ab 1é😀', true, () => {});
      } catch (error) {
        expect(error).toMatchObject({ code: 'InvalidInput' });
      }
    }
  });
});

test('characters alike in case are those of the runtime', () => {
  for (const text of [
    'k\u212aK',
    'sſS',
    'ßẞ',
    'åÅ\u212b',
    'µμΜ',
    'σςΣ',
    'ιͅΙι',
    'ǆǅǄ',
    'ᾳᾼ',
    'ꭰᎠ',
  ]) {
    const points = [...text];
    for (const one of points) {
      for (const other of points) expect(found(one, other, 'i'), `${one} ${other}`).toBe(other);
    }
  }
  for (const [one, other] of ['ıi', 'ıI', 'İi', 'İı', 'aá'].map((pair) => [...pair])) {
    expect(found(one as string, other as string, 'i')).toBe(null);
  }
});

test('what matches nothing is repeated as often as is asked for in no time', () => {
  for (const body of ['(?:)', '(?:(?:))', 'a{0}', '(?:(?:)(?:))', '(?:^{0})']) {
    const compiled = compileRegexp(`${body}{1000}{1000}{1000}{1000}{1000,}x`, '');
    expect(compiled.states).toBeLessThan(20);
    expect(foundBy(finderFor(`${body}{1000}{1000}{1000}x`, ''), 'yx')).toBe('x');
  }
  expect(foundBy(finderFor('(){1000}x', ''), 'yx')).toBe('x');
});

test('flags are no part of a pattern that is kept', () => {
  compileRegexp('x/y', 'i');
  expect(() => compileRegexp('y', 'i/x')).toThrow(/the flag \/ is not known/);
});

test('a template with many references that are never closed is read in one pass', async () => {
  const many = '${'.repeat(250_000);
  expect(await value(`regexp_replace(s, 'a', '${many}')`, 'a')).toBe(many);
  const open = ['$', '{'].join('');
  const template = `${open}1}${open}b{}$1${open}`;
  expect(await value(`regexp_replace(s, '(a)', '${template}')`, 'a')).toBe(`aa${open}`);
});
