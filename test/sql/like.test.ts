/** LIKE, and looking for text in text: what is found, and that the time is linear in the text. */
import { describe, expect, test } from 'vitest';
import { Field, Schema, Utf8, vectorFromArray } from '../../src/arrow/apache.ts';
import { recordBatch } from '../../src/arrow/arrow-data.ts';
import { compileExpression, compilePredicate } from '../../src/sql/expression.ts';
import { finderOf, LongNeedle } from '../../src/sql/texts/find-text.ts';
import { foldedInSteps, lowerText } from '../../src/sql/texts/fold-text.ts';
import { drained } from '../../src/steps.ts';
import { casesOf } from '../helpers/long.ts';
import { seeded } from '../helpers/seeded.ts';

const schema = new Schema(['s', 'p'].map((name) => new Field(name, new Utf8(), true)));

function batchOf(texts: readonly string[], patterns: readonly string[] = texts) {
  const columns = [texts, patterns].map(
    (values) => vectorFromArray(values, new Utf8()).data[0] as never,
  );
  return recordBatch(schema, columns, texts.length);
}

const quoted = (text: string): string => `'${text.replaceAll("'", "''")}'`;

/** By the definition: every way to part the text. */
function isLike(text: readonly string[], pattern: readonly string[]): boolean {
  const ends = new Set<number>([0]);
  for (const token of pattern) {
    const next = new Set<number>();
    for (const at of ends) {
      if (token === '%') for (let k = at; k <= text.length; k++) next.add(k);
      else if (at < text.length && (token === '_' || token === text[at])) next.add(at + 1);
    }
    ends.clear();
    for (const at of next) ends.add(at);
  }
  return ends.has(text.length);
}

test('patterns at random, of constants and of rows, in either case', async () => {
  const random = seeded(5);
  const some = (from: string, most: number): string[] =>
    Array.from(
      { length: Math.floor(random() * most) },
      () => [...from][Math.floor(random() * [...from].length)] as string,
    );
  for (let round = 0; round < casesOf(60, 400); round++) {
    const pattern = some('aab%%_é😀A', 9);
    const texts = Array.from({ length: 20 }, () => some('aaabbé😀AB', 9));
    const folded = (points: readonly string[]): string[] => points.map((one) => one.toLowerCase());
    const batch = batchOf(
      texts.map((text) => text.join('')),
      texts.map(() => pattern.join('')),
    );
    for (const [sql, expected] of [
      [`s LIKE ${quoted(pattern.join(''))}`, texts.map((text) => isLike(text, pattern))],
      ['s LIKE p', texts.map((text) => isLike(text, pattern))],
      [
        `s ILIKE ${quoted(pattern.join(''))}`,
        texts.map((text) => isLike(folded(text), folded(pattern))),
      ],
    ] as const) {
      const predicate = await compilePredicate(sql, schema);
      const rows = expected.flatMap((hit, row) => (hit ? [row] : []));
      expect([...predicate.select(batch)], `${sql} ${pattern.join('')}`).toEqual(rows);
    }
  }
});

test('a long sequence is found where the runtime finds it', () => {
  const random = seeded(9);
  for (let round = 0; round < casesOf(350, 2000); round++) {
    const letters = (size: number): string =>
      Array.from({ length: size }, () => (random() < 0.7 ? 'a' : 'b')).join('');
    const [text, needle] = [letters(40), letters(1 + Math.floor(random() * 6))];
    const from = Math.floor(random() * 40);
    const expected = text.indexOf(needle, from);
    const found = new LongNeedle(Buffer.from(needle)).find(Buffer.from(text), from, 40);
    if (found !== expected) expect(found, `${needle} in ${text} from ${from}`).toBe(expected);
  }
  const long = `${'ab'.repeat(50)}c`;
  const text = `é${'ab'.repeat(60)}c${long}`;
  for (const from of [0, 22, 30, 122, 123]) {
    expect(finderOf(long).find(text, from)).toBe(text.indexOf(long, from));
    expect(finderOf(long).find(long, 0)).toBe(0);
  }
});

/** A million characters; compared anew at each place, the longest of these take minutes. */
const TEXT = 'a'.repeat(1 << 20);
const LONG = 'a'.repeat(50_000);

describe('a long text is searched once', () => {
  test.each([
    [`s LIKE '%${LONG}b%'`, false],
    [`s LIKE '%b${LONG}%'`, false],
    [`s LIKE 'a%${LONG}%${LONG}%a'`, true],
    [`s LIKE '%${LONG}b%${LONG}%'`, false],
    [`s ILIKE '%${LONG}B%'`, false],
    [`s LIKE '%${'a%'.repeat(5000)}b'`, false],
    [`s LIKE '%${'a%'.repeat(5000)}b%'`, false],
    // A part with _ is compared anew at each place, and has a thousand bytes at most for that reason.
    [`s LIKE '%${'_a'.repeat(casesOf(20, 200))}b%'`, false],
    [`contains(s, '${LONG}b')`, false],
    [`contains(s, lower('b${LONG}'))`, false],
    [`strpos(s, 'b${LONG}') > 0`, false],
    [`strpos(s, '${LONG}') = 1`, true],
    [`replace(s, 'b${LONG}', '') = s`, true],
    [`length(replace(s, '${LONG}', '')) = ${TEXT.length % LONG.length}`, true],
    [`split_part(s, 'b${LONG}', 1) = s`, true],
    [`length(split_part(s, '${LONG}', -1)) = ${TEXT.length % LONG.length}`, true],
    [`s ~ '${'a'.repeat(999)}b'`, false],
    ['s LIKE p', true],
  ])('%.40s', async (sql, expected) => {
    const predicate = await compilePredicate(sql, schema);
    expect(predicate.count(batchOf([TEXT], [`%${LONG}%`]))).toBe(expected ? 1 : 0);
    expect(predicate.count(batchOf([TEXT, TEXT.slice(1)], [`%${LONG}b`, `%${LONG}b%`]))).toBe(
      sql === 's LIKE p' ? 0 : sql.startsWith('length') ? 1 : expected ? 2 : 0,
    );
  });
});

test('a part with _ between two % has at most 1000 bytes', async () => {
  const part = (size: number): string => `${'_a'.repeat(size / 2)}`;
  const predicate = await compilePredicate(`s LIKE '%${part(1000)}%'`, schema);
  expect(predicate.count(batchOf(['xa'.repeat(500)]))).toBe(1);
  await expect(compilePredicate(`s LIKE '%${part(1002)}%'`, schema)).rejects.toMatchObject({
    code: 'InvalidInput',
    message: expect.stringContaining('has 1002 bytes with _ between two %; 1000 is the most'),
  });
  const ends = await compilePredicate(`s LIKE '${part(1002)}%${part(1002)}'`, schema);
  expect(ends.count(batchOf(['xa'.repeat(1002), 'xa'.repeat(1001)]))).toBe(1);
});

test('replace and split_part take what they look for as it is', async () => {
  const long = 'ab'.repeat(40);
  for (const [sql, value] of [
    [`replace('x${long}y${long}', '${long}', '$&')`, 'x$&y$&'],
    [`split_part('x${long}y${long}z', '${long}', 2)`, 'y'],
    [`strpos('é${long}', '${long}')`, 2n],
    ["strpos('abc', '')", 1n],
    ["contains('abc', lower(''))", true],
    ["split_part('abc', '', 0)", 'abc'],
    ["split_part('abc', '', -1)", 'abc'],
    ["split_part('abc', '', -2)", ''],
  ] as const) {
    const expression = await compileExpression(sql, schema);
    expect(expression.evaluate(batchOf(['x'])).get(0), sql).toBe(value);
  }
});

test('of texts beyond a megabyte the same is found in steps as at once', async () => {
  const size = (1 << 20) + (1 << 19);
  const random = seeded(21);
  const texts = Array.from({ length: 6 }, (_, row) => {
    const bytes = Buffer.alloc(row < 4 ? size : row, 'ab');
    const places = Array.from({ length: 3 }, () => Math.floor(random() * (size - 300)));
    if (row < 4)
      for (const [at, piece] of places.sort((a, b) => a - b).entries()) {
        bytes.write(['Qzz', 'éK', 'b'.repeat(100)][(at + row) % 3] as string, piece);
      }
    // About where one step ends and the next one begins.
    if (row < 4 && row % 2 === 0) bytes.write('QzzQ', (1 << 20) + row / 2 - 3);
    if (row < 4 && row % 2 === 1) bytes.write('QzzQ', (1 << 20) - 2 + (row - 1) / 2);
    return bytes.toString();
  });
  const batch = batchOf(
    texts,
    texts.map(() => 'x'),
  );
  const long = 'b'.repeat(99);
  const patterns = [
    '%Qzz%',
    '%QzzQ%',
    '%q%K%',
    '%Qzz%é%',
    `%${long}%`,
    `%${long}%Q%`,
    `a%${long}_%`,
    '%z_é%',
    '%_Q%b',
    '%Q%_%b',
    '%Q%ab%z%K%',
    'a%',
    '%a',
    'ab',
    '%_____Q____%',
  ];
  for (const [at, pattern] of patterns.entries()) {
    // Folding the texts takes most of the time: every third pattern in either case, all in a long run.
    for (const word of at % casesOf(3, 1) === 0 ? ['LIKE', 'ILIKE'] : ['LIKE']) {
      const predicate = await compilePredicate(`s ${word} ${quoted(pattern)}`, schema);
      const found = drained(predicate.selectInSteps(batch, { scale: 1 << 14 }));
      expect([...found], `${word} ${pattern}`).toEqual([...predicate.select(batch)]);
    }
  }
});

test.each([
  ['QzzQ', 1 << 20],
  ['c'.repeat(100), 1 << 22],
])('%.10s is found on either side of the place where a step ends', async (piece, border) => {
  const predicate = await compilePredicate(`s LIKE '%${piece}%'`, schema);
  for (const at of [border - 1, border]) {
    const bytes = Buffer.alloc(border + 1_000, 'a');
    bytes.write(piece, at);
    const text = batchOf([bytes.toString()]);
    expect(drained(predicate.countInSteps(text, { scale: 1 << 14 })), `${at}`).toBe(1);
  }
});

test('a pattern of a row is read as the same constant is, whatever escapes in it', async () => {
  const random = seeded(31);
  const pick = (from: string, most: number): string => {
    const all = [...from];
    const size = Math.floor(random() * most);
    return Array.from({ length: size }, () => all[Math.floor(random() * all.length)]).join('');
  };
  const texts = Array.from({ length: 40 }, () => pick('aAbé😀%_!\\', 6));
  for (let round = 0; round < casesOf(40, 300); round++) {
    const pattern = pick('aAb%_é😀!é\\', 7);
    const batch = batchOf(
      texts,
      texts.map(() => pattern),
    );
    for (const [word, escaping] of [
      ['LIKE', '!'],
      ['ILIKE', '!'],
      ['LIKE', 'é'],
      ['ILIKE', 'É'],
      ['LIKE', '\\'],
    ]) {
      const rows = async (of: string): Promise<number[] | string> => {
        try {
          const sql = `s ${word} ${of} ESCAPE '${escaping}'`;
          return [...(await compilePredicate(sql, schema)).select(batch)];
        } catch (error) {
          return (error as Error).message.replace(/ \(.*/s, '');
        }
      };
      const [ofRow, constant] = [await rows('p'), await rows(quoted(pattern))];
      expect(ofRow, `${word} ${pattern} ${escaping}`).toEqual(constant);
    }
  }
});

test('long patterns of rows say the same in steps as at once, and in either case', async () => {
  const body = 'xyé'.repeat(60_000);
  const texts = [body, body, body, body.slice(1), `${body}😀`, body];
  const patterns = [
    body,
    `%${body.slice(3)}`,
    `%${body.slice(6, -6)}%`,
    `_${body}`,
    `${body}_`,
    `${body.slice(0, -1)}q`,
  ];
  const batch = batchOf(texts, patterns);
  for (const [sql, expected] of [
    ['s LIKE p', [0, 1, 2, 4]],
    ['upper(s) ILIKE p', [0, 1, 2, 4]],
    ['upper(s) LIKE p', []],
  ] as const) {
    const predicate = await compilePredicate(sql, schema);
    expect([...drained(predicate.selectInSteps(batch, { scale: 1 << 12 }))], sql).toEqual(expected);
    expect([...predicate.select(batch)], sql).toEqual(expected);
  }
  const wild = await compilePredicate('s LIKE p', schema);
  expect(() => wild.select(batchOf(['a'], [`%${'_a'.repeat(501)}%`]))).toThrow(
    'has 1002 bytes with _ between two %',
  );
  expect(() => wild.select(batchOf(['a'], [`${'ab'.repeat(600_000)}\\`]))).toThrow(
    'ends in its escape character',
  );
});

test('the escape letter of ILIKE is the letter alone, in its case, as in PostgreSQL', async () => {
  // Answers of PostgreSQL 17. Its manual says of ESCAPE only that another character may be chosen.
  const cases: readonly (readonly [
    text: string,
    pattern: string,
    escaping: string,
    is: boolean,
  ])[] = [
    ['ax', 'AXX', 'x', false],
    ['axx', 'AXX', 'x', true],
    ['axx', 'AXx', 'X', false],
    ['ax', 'AXx', 'X', true],
    ['ax', 'aX', 'x', true],
    ['ax', 'ax', 'X', true],
    ['a%', 'aX%', 'x', false],
    ['axb', 'aX%', 'x', true],
    ['a%', 'ax%', 'x', true],
    ['a\\', 'A\\', 'x', true],
    ['b', 'xB', 'x', true],
    ['xb', 'Xb', 'x', true],
    ['éa', 'Éa', 'É', false],
    ['éa', 'Éa', 'é', true],
    ['a', 'éA', 'é', true],
  ];
  for (const [text, pattern, escaping, expected] of cases) {
    const batch = batchOf([text], [pattern]);
    for (const of of [quoted(pattern), 'p']) {
      const sql = `s ILIKE ${of} ESCAPE '${escaping}'`;
      const predicate = await compilePredicate(sql, schema);
      expect([...predicate.select(batch)], `${text}: ${sql}`).toEqual(expected ? [0] : []);
      expect([...drained(predicate.selectInSteps(batch, { scale: 1 }))], sql).toEqual(
        expected ? [0] : [],
      );
    }
    // Long ones, which have steps of their own.
    const [long, longPattern] = [`${'q'.repeat(80_000)}${text}`, `${'Q'.repeat(80_000)}${pattern}`];
    const row = await compilePredicate(`s ILIKE p ESCAPE '${escaping}'`, schema);
    expect([...row.select(batchOf([long], [longPattern]))], pattern).toEqual(expected ? [0] : []);
  }
  await expect(compilePredicate("s ILIKE 'AX' ESCAPE 'X'", schema)).rejects.toThrow(
    'ends in its escape character',
  );
});

test('long texts of other letters are folded in pieces as they are whole', () => {
  const random = seeded(77);
  const words = ['É', 'ß', 'Σ', 'ΑΣ', "Σ'", 'İ', 'ǅ', '😀', ' ', 'Α̂', 'x.Σ', 'ΟΔΟΣ ', 'A'];
  for (let round = 0; round < casesOf(2, 4); round++) {
    let text = '';
    while (text.length < 1_300_000) text += words[Math.floor(random() * words.length)];
    const bytes = Buffer.from(text);
    const steps = foldedInSteps(bytes);
    let count = 0;
    for (;;) {
      const { done, value } = steps.next();
      if (done === true) {
        expect(Buffer.compare(Buffer.from(value), Buffer.from(lowerText(text)))).toBe(0);
        break;
      }
      count += 1;
    }
    expect(count).toBeGreaterThan(0);
  }
  const sigmas = Buffer.from('Σ'.repeat(600_000));
  const folded = drained(foldedInSteps(sigmas));
  expect(Buffer.from(folded).toString()).toBe('σ'.repeat(600_000));
});

test('ILIKE compares letter by letter, as PostgreSQL and DuckDB do', async () => {
  const texts = ['ΟΔΟΣ', 'οδος', 'οδοσ', 'ΟΔΟΣ ΑΣ', 'İ', 'i', 'K', 'x', ''];
  const cases: readonly (readonly [string, readonly string[]])[] = [
    ['ΟΔΟΣ', ['ΟΔΟΣ', 'οδοσ']],
    ['οδοσ', ['ΟΔΟΣ', 'οδοσ']],
    ['οδος', ['οδος']],
    ['οδο_', ['ΟΔΟΣ', 'οδος', 'οδοσ']],
    ['%Σ', ['ΟΔΟΣ', 'οδοσ', 'ΟΔΟΣ ΑΣ']],
    ['%ς', ['οδος']],
    ['%οσ%', ['ΟΔΟΣ', 'οδοσ', 'ΟΔΟΣ ΑΣ']],
    ['_', ['İ', 'i', 'K', 'x']],
    ['i', ['İ', 'i']],
    ['İ', ['İ', 'i']],
    ['%k%', ['K']],
  ];
  // Alone and among many, whose letters are converted together, or only where they are not ASCII.
  for (const more of [0, 400, 40_000]) {
    const all = [...texts, ...Array<string>(more).fill(more > 400 ? 'plain' : 'é')];
    // Of many rows the patterns that begin and end with letters of several forms, and one of any letter.
    const some = more > 400 ? cases.filter(([pattern]) => /^(%Σ|_|İ)$/.test(pattern)) : cases;
    for (const [pattern, expected] of some) {
      const batch = batchOf(all, Array<string>(all.length).fill(pattern));
      for (const sql of ['s', 'concat(s, lower(left(s, 0)))', "regexp_replace(s, 'q', 'q')"]) {
        for (const of of [quoted(pattern), 'p']) {
          const predicate = await compilePredicate(`${sql} ILIKE ${of}`, schema);
          const ours = (rows: Iterable<number>): string[] =>
            [...rows].filter((row) => row < texts.length).map((row) => texts[row] as string);
          expect(ours(predicate.select(batch)), `${sql} ILIKE ${pattern}`).toEqual(expected);
          const steps = predicate.selectInSteps(batch, { scale: 1 });
          expect(ours(drained(steps)), `${sql} ILIKE ${pattern} in steps`).toEqual(expected);
        }
      }
    }
  }
});

test('LIKE over a long text that is computed has steps, and says the same', async () => {
  const batch = batchOf(['ab', 'É', 'xq'], ['%', '%', '%']);
  for (const [sql, expected] of [
    ["repeat(s, 1000000) LIKE '%q_q%'", [2]],
    ["repeat(s, 1000000) ILIKE '%Q_Q%'", [2]],
    ["repeat(s, 1000000) ILIKE '%é_é%'", [1]],
    ["repeat(s, 1000000) LIKE 'a%'", [0]],
  ] as const) {
    const predicate = await compilePredicate(sql, schema);
    const steps = predicate.selectInSteps(batch, { scale: 1 });
    let count = 0;
    for (;;) {
      const { done, value } = steps.next();
      if (done === true) {
        expect([...value], sql).toEqual([...expected]);
        break;
      }
      count += 1;
    }
    expect(count, sql).toBeGreaterThan(2);
  }
});

test('a pattern of a row that is refused is met by the rows alone that a guard lets through', async () => {
  const rows = batchOf(['a', 'b', 'c', 'd'], ['a', 'b\\', '%', 'x']);
  const guarded = await compilePredicate("right(p, 1) <> '\\' AND s LIKE p", schema);
  expect([...guarded.select(rows)]).toEqual([0, 2]);
  const bare = await compilePredicate('s LIKE p', schema);
  expect(() => bare.select(rows)).toThrow(/ends in its escape character/);
});
