/** Functions of texts over the bytes of a column: as the strings of JavaScript have them. */
import { expect, test } from 'vitest';
import {
  DataType,
  Field,
  LargeUtf8,
  Schema,
  Utf8,
  vectorFromArray,
} from '../../src/arrow/apache.ts';
import { recordBatch, sliceData } from '../../src/arrow/arrow-data.ts';
import { compileExpression, compilePredicate } from '../../src/sql/expression.ts';
import { textBytes, textKernels } from '../../src/sql/texts/index.ts';
import { drained } from '../../src/steps.ts';
import { casesOf } from '../helpers/long.ts';
import { seeded } from '../helpers/seeded.ts';

const schema = new Schema([new Field('s', new Utf8(), true)]);

type Texts = readonly (string | null)[];

/** A batch of texts from the middle of a longer column, so that its bytes begin elsewhere. */
function batchOf(texts: Texts) {
  const { data } = vectorFromArray(['é before', ...texts, 'after ß'], new Utf8());
  return recordBatch(schema, [sliceData(data[0] as never, 1, texts.length)], texts.length);
}

const quoted = (text: string): string => `'${text.replaceAll("'", "''")}'`;
const points = (text: string): string[] => [...text];

/** Each letter by itself, and as one letter, as PostgreSQL and DuckDB have it. */
const lower = (text: string): string =>
  points(text)
    .map((letter) => points(letter.toLowerCase())[0])
    .join('');

function slice(text: string, from: number, to?: number): string {
  return points(text).slice(from, to).join('');
}

function trimmed(text: string, set: string, atStart: boolean, atEnd: boolean): string {
  let all = points(text);
  while (atStart && all.length > 0 && set.includes(all[0] as string)) all = all.slice(1);
  while (atEnd && all.length > 0 && set.includes(all.at(-1) as string)) all = all.slice(0, -1);
  return all.join('');
}

const padded = (text: string, size: number, fill: string, atStart: boolean): string => {
  const all = points(text);
  if (all.length >= size) return all.slice(0, size).join('');
  const more = points(fill.repeat(size))
    .slice(0, size - all.length)
    .join('');
  return atStart ? more + text : text + more;
};

const FUNCTIONS: Readonly<Record<string, (text: string) => unknown>> = {
  'lower(s)': (text) => lower(text),
  'upper(s)': (text) => text.toUpperCase(),
  'length(s)': (text) => BigInt(points(text).length),
  'substr(s, 2, 3)': (text) => slice(text, 1, 4),
  'substr(s, -1, 4)': (text) => slice(text, 0, 2),
  'substr(s, 4)': (text) => slice(text, 3),
  'left(s, 3)': (text) => slice(text, 0, 3),
  'left(s, -2)': (text) => slice(text, 0, -2),
  'right(s, 3)': (text) => slice(text, -3),
  'right(s, -2)': (text) => slice(text, 2),
  'right(s, 0)': () => '',
  'trim(s)': (text) => trimmed(text, ' ', true, true),
  "ltrim(s, ' a')": (text) => trimmed(text, ' a', true, false),
  "rtrim(s, 'bA ')": (text) => trimmed(text, 'bA ', false, true),
  "btrim(s, 'aé')": (text) => trimmed(text, 'aé', true, true),
  'reverse(s)': (text) => points(text).reverse().join(''),
  "replace(s, 'a', 'xyz')": (text) => text.replaceAll('a', 'xyz'),
  "replace(s, 'aé', '')": (text) => text.replaceAll('aé', ''),
  "strpos(s, 'ba')": (text) => {
    const at = text.indexOf('ba');
    return BigInt(at < 0 ? 0 : points(text.slice(0, at)).length + 1);
  },
  "split_part(s, 'a', 2)": (text) => text.split('a')[1] ?? '',
  "split_part(s, ' é', 1)": (text) => text.split(' é')[0] ?? '',
  "split_part(s, 'b', -1)": (text) => text.split('b').at(-1) ?? '',
  "replace(s, 'aabaa', '-')": (text) => text.replaceAll('aabaa', '-'),
  "strpos(s, 'ababbab')": (text) =>
    BigInt(points(text.split('ababbab')[0] ?? '').length + 1) *
    (text.includes('ababbab') ? 1n : 0n),
  "split_part(s, 'abaab', 2)": (text) => text.split('abaab')[1] ?? '',
  "lpad(s, 6, 'xy')": (text) => padded(text, 6, 'xy', true),
  'rpad(s, 5)': (text) => padded(text, 5, ' ', false),
  "s || '-é-' || upper(s)": (text) => `${text}-é-${text.toUpperCase()}`,
  // Of texts that no longer follow each other.
  'length(trim(lower(s)))': (text) => BigInt(points(trimmed(lower(text), ' ', true, true)).length),
  'upper(substr(s, 2, 4))': (text) => slice(text, 1, 5).toUpperCase(),
  "replace(lower(right(s, 4)), 'a', 'A')": (text) => lower(slice(text, -4)).replaceAll('a', 'A'),
};

const ASCII = 'aabbcAB  zZ@[`{';
/** Letters whose other case has more bytes, fewer, as many, none, or depends on the neighbours. */
const OTHERS = `${ASCII}éÉßÿŸİıΣσÅKſꭰᎠ東😀𐐀𐐨ŉǰ`;

const random = seeded(14);
const textOf = (letters: string, most: number): string => {
  const all = points(letters);
  const size = Math.floor(random() * most);
  return Array.from({ length: size }, () => all[Math.floor(random() * all.length)]).join('');
};

function textsOf(rows: number, letters: string, most: number, nulls: number): Texts {
  return Array.from({ length: rows }, () => (random() < nulls ? null : textOf(letters, most)));
}

const COLUMNS: readonly (readonly [string, () => Texts])[] = [
  ['of ASCII', () => textsOf(130, ASCII, 12, 0)],
  ['of ASCII with nulls', () => textsOf(70, ASCII, 9, 0.3)],
  ['of other letters', () => textsOf(150, OTHERS, 12, 0.1)],
  ['of a few other letters', () => textsOf(90, `${ASCII.repeat(9)}é`, 40, 0)],
  // Where a part begins again before it ends.
  ['of two letters', () => textsOf(40, 'aab', 60, 0)],
  ['of none', () => []],
];

test.each(COLUMNS)('functions of texts %s', async (_, make) => {
  for (let round = 0; round < casesOf(4, 40); round++) {
    const texts = make();
    const batch = batchOf(texts);
    for (const [sql, of] of Object.entries(FUNCTIONS)) {
      const expression = await compileExpression(sql, schema);
      const found = [...expression.evaluate(batch)];
      const expected = texts.map((text) => (text === null ? null : of(text)));
      expect(found, `${sql} of ${JSON.stringify(texts)}`).toEqual(expected);
    }
  }
});

test.each(COLUMNS)('LIKE and ILIKE of texts %s', async (_, make) => {
  for (let round = 0; round < casesOf(4, 40); round++) {
    const texts = make();
    const batch = batchOf(texts);
    for (const part of ['a', 'ab', 'é', 'ba ', 'σ', 'ss', 'a'.repeat(20)]) {
      const has = (text: string | null): boolean => text?.includes(part) === true;
      const cases: readonly (readonly [string, (text: string | null) => boolean])[] = [
        [`s LIKE ${quoted(`%${part}%`)}`, has],
        [`lower(s) LIKE ${quoted(`%${part}%`)}`, (text) => has(text === null ? null : lower(text))],
        [
          `s ILIKE ${quoted(`%${part.toUpperCase()}%`)}`,
          (text) => text !== null && lower(text).includes(lower(part.toUpperCase())),
        ],
        [`s ILIKE ${quoted(`${part}%`)}`, (text) => text !== null && lower(text).startsWith(part)],
        [
          `upper(s) LIKE ${quoted(`%${part}`)}`,
          (text) => text?.toUpperCase().endsWith(part) === true,
        ],
      ];
      for (const [sql, of] of cases) {
        const predicate = await compilePredicate(sql, schema);
        const expected = texts.flatMap((text, row) => (of(text) ? [row] : []));
        expect([...predicate.select(batch)], `${sql} of ${JSON.stringify(texts)}`).toEqual(
          expected,
        );
      }
    }
  }
});

test('a few texts of other letters among many of ASCII, in any case', async () => {
  const texts = Array.from({ length: 400 }, (_, row) => (row % 50 === 0 ? `XK${row}` : `xy${row}`));
  // The sign of Kelvin is a k in lower case, and a sigma has two.
  [texts[3], texts[251], texts[399]] = ['x\u212ay', 'É-ΑΣ', 'e-ασ'];
  for (const part of ['xk', 'é', 'ασ']) {
    const predicate = await compilePredicate(`s ILIKE '%${part.toUpperCase()}%'`, schema);
    const sought = lower(part.toUpperCase());
    const expected = texts.flatMap((text, row) => (lower(text).includes(sought) ? [row] : []));
    expect([...predicate.select(batchOf(texts))], part).toEqual(expected);
    expect(expected.length).toBeGreaterThan(0);
  }
});

test('many texts that are converted one by one', async () => {
  const texts = Array.from({ length: 2_000 }, (_, row) => `${'İ'.repeat(150)}A${row}`);
  const expression = await compileExpression('lower(s)', schema);
  const found = [...expression.evaluate(batchOf(texts))];
  expect(found.every((text, row) => text === lower(texts[row] ?? ''))).toBe(true);
});

test('bytes are gone through in steps of a quarter of a megabyte', async () => {
  const texts = Array.from({ length: 16_384 }, (_, row) => `${row}${'é b,'.repeat(11)}a`);
  const batch = batchOf(texts);
  const megabytes = Buffer.byteLength(texts.join('')) / 2 ** 20;
  const cases: Readonly<Record<string, (text: string) => unknown>> = {
    'reverse(s)': (text: string) => points(text).reverse().join(''),
    "replace(s, 'é', 'e')": (text: string) => text.replaceAll('é', 'e'),
    "replace(s, 'b,é b,é', '')": (text: string) => text.replaceAll('b,é b,é', ''),
    "strpos(s, 'a')": (text: string) => BigInt(points(text).length),
    "split_part(s, ',', 12)": () => 'a',
    "s || '-'": (text: string) => `${text}-`,
  };
  for (const [sql, of] of Object.entries(cases)) {
    const steps = (await compileExpression(sql, schema)).evaluateInSteps(batch, { scale: 1 });
    let count = 0;
    let step = steps.next();
    for (; !step.done; step = steps.next()) count++;
    expect(count, sql).toBeGreaterThanOrEqual(Math.floor(4 * megabytes));
    expect([...step.value], sql).toEqual(texts.map((text) => of(text)));
  }
  const ascii = batchOf(Array.from({ length: 4_096 }, (_, row) => `${row}`));
  const steps = (await compileExpression("lpad(s, 512, 'xy')", schema)).evaluateInSteps(ascii);
  for (let count = 0; count < 8; count++) expect(steps.next().done).toBe(false);
  steps.return(undefined as never);
});

test('a long text is left to the function of strings, which has steps within it', async () => {
  const text = `${'éb'.repeat(2 ** 17)}x`;
  const batch = batchOf([text]);
  const found = async (sql: string): Promise<[number, unknown]> => {
    const steps = (await compileExpression(sql, schema)).evaluateInSteps(batch, { scale: 1 });
    let count = 0;
    let step = steps.next();
    for (; !step.done; step = steps.next()) count++;
    return [count, [...step.value][0]];
  };
  const [replacing, replaced] = await found("replace(s, 'é', 'e')");
  expect(replaced).toBe(text.replaceAll('é', 'e'));
  expect(replacing).toBeGreaterThan(2);
});

test('a part that runs over the end of a text is not found, at any place of a vector', () => {
  const kernels = textKernels();
  expect(kernels).not.toBeNull();
  for (const size of [1, 2, 15, 16, 17, 33, 64]) {
    const part = Buffer.from('xy'.repeat(32).slice(0, size));
    for (let shift = 0; shift < 34; shift++) {
      // The part, then the part cut in two by the end of a text, then the part again.
      const cut = size >> 1;
      const parts = ['-'.repeat(shift), part, part.subarray(0, cut), part.subarray(cut), part, ''];
      const data = Buffer.concat(parts.map((one) => Buffer.from(one)));
      const offsets = new Int32Array(parts.length + 1);
      parts.forEach((one, row) => {
        offsets[row + 1] = (offsets[row] as number) + one.length;
      });
      const texts = { data, starts: offsets.subarray(0, -1), ends: offsets.subarray(1) };
      const truth = new Uint8Array(parts.length);
      expect(kernels?.contains(texts, part, truth)).toBe(true);
      const expected = parts.map((one) => (Buffer.from(one).includes(part) ? 2 : 0));
      expect([...truth], `${size} bytes behind ${shift}`).toEqual(expected);
    }
  }
});

test('texts are compared by their bytes, whatever lies behind them', () => {
  const kernels = textKernels();
  const random = seeded(6_021);
  const letters = ['a', 'b', 'é', '\u0000', '😀', '~'];
  const draw = (size: number): string =>
    Array.from({ length: size }, () => letters[Math.floor(random() ** 2 * 6)]).join('');
  const near = (part: string): string => {
    const at = Math.floor(random() * (part.length + 1));
    const choice = Math.floor(random() * 4);
    if (choice === 0) return part;
    return choice === 1 ? part.slice(0, at) : part.slice(0, at) + draw(choice) + part.slice(at);
  };
  for (let round = 0; round < casesOf(60, 1_000); round++) {
    const parts = Array.from({ length: 1 + (round % 8) }, () => draw(Math.floor(random() * 17)));
    const [part = ''] = parts;
    const texts = Array.from({ length: 1 + ((round * 733) % 900) }, (_, row) =>
      near(parts[row % parts.length] as string),
    );
    const bytes = texts.map((text) => Buffer.from(text));
    const offsets = Int32Array.from([0, ...bytes.map(({ length }) => length)]);
    for (let row = 0; row < texts.length; row++) offsets[row + 1]! += offsets[row] as number;
    // The column begins in the middle of its bytes.
    const before = Buffer.from('a'.repeat(round % 19));
    const moved = offsets.map((offset) => offset + before.length);
    const data = Buffer.concat([before, ...bytes, Buffer.from('ab')]);
    const column = { data, starts: moved.subarray(0, -1), ends: moved.subarray(1) };
    const truth = new Uint8Array(texts.length).fill(9);
    expect(kernels?.order(column, Buffer.from(part), [0, 1, 2], truth)).toBe(true);
    expect([...truth]).toEqual(bytes.map((one) => 1 + Buffer.compare(one, Buffer.from(part))));
    expect(
      kernels?.among(
        column,
        parts.map((one) => Buffer.from(one)),
        truth,
      ),
    ).toBe(true);
    expect([...truth]).toEqual(texts.map((text) => (parts.includes(text) ? 2 : 0)));
  }
});

test('texts beyond the memory of the kernels are gone through in blocks, or left to others', () => {
  const kernels = textKernels();
  const rows = 40_000;
  const long = 'é'.repeat(40);
  const texts = Array.from({ length: rows }, (_, row) => (row % 3 === 0 ? `${long}b` : 'abc'));
  const data = Buffer.from(texts.join(''));
  const offsets = new Int32Array(rows + 1);
  texts.forEach((text, row) => {
    offsets[row + 1] = (offsets[row] as number) + Buffer.byteLength(text);
  });
  const column = { data, starts: offsets.subarray(0, rows), ends: offsets.subarray(1) };
  const counts = new Float64Array(rows);
  expect(kernels?.points(column, counts)).toBe(true);
  expect(counts.every((count, row) => count === (row % 3 === 0 ? 41 : 3))).toBe(true);
  const highs = new Uint8Array(rows);
  expect(kernels?.highs(column, highs)).toBe(true);
  expect(highs.every((high, row) => high === (row % 3 === 0 ? 1 : 0))).toBe(true);
  const truth = new Uint8Array(rows);
  expect(kernels?.contains(column, Buffer.from('éb'), truth)).toBe(true);
  expect(truth.every((found, row) => found === (row % 3 === 0 ? 2 : 0))).toBe(true);
  expect(kernels?.order(column, Buffer.from('abc'), [0, 2, 0], truth.fill(0))).toBe(true);
  expect(truth.every((found, row) => found === (row % 3 === 0 ? 0 : 2))).toBe(true);
  const one = {
    data: Buffer.alloc(1 << 21),
    starts: Int32Array.of(0),
    ends: Int32Array.of(1 << 21),
  };
  expect(kernels?.points(one, new Float64Array(1))).toBe(false);
  expect(kernels?.order(one, Buffer.from('a'), [2, 0, 0], new Uint8Array(1))).toBe(false);
});

test('texts of every length up to those that are copied as a block, with nulls among them', async () => {
  const text = (at: number): string => String.fromCodePoint(97 + (at % 26)).repeat(at) + (at % 10);
  const texts = Array.from({ length: 340 }, (_, at) => text(at % 170));
  const withNulls = texts.map((each, at) => (at % 7 === 3 ? null : each));
  for (const some of [texts, withNulls, texts.slice(0, 1)]) {
    for (const [sql, expected] of [
      ["concat(s, '-', s)", (each: string) => `${each}-${each}`],
      ['upper(s)', (each: string) => each.toUpperCase()],
      ['substr(s, 2)', (each: string) => each.slice(1)],
      // The column itself, whose bytes lie behind others.
      ['coalesce(s, NULL)', (each: string) => each],
      ["nullif(s, 'none of them')", (each: string) => each],
    ] as const) {
      const found = [...(await compileExpression(sql, schema)).evaluate(batchOf(some))];
      expect(found, sql).toEqual(
        some.map((each) =>
          each === null ? (sql.startsWith('concat') ? '-' : null) : expected(each),
        ),
      );
    }
  }
});

test('the answers of a column with 64-bit offsets have such offsets', async () => {
  const large = new Schema([new Field('s', new LargeUtf8(), true)]);
  const { data } = vectorFromArray(['before', 'aé', '', 'x'.repeat(200)], new LargeUtf8());
  const batch = recordBatch(large, [sliceData(data[0] as never, 1, 3)], 3);
  for (const sql of ['upper(s)', 'coalesce(s, NULL)', "concat(s, '!')"]) {
    const found = (await compileExpression(sql, large)).evaluate(batch);
    const offsets = found.data[0]?.valueOffsets as unknown;
    expect(offsets instanceof BigInt64Array, sql).toBe(DataType.isLargeUtf8(found.type));
    expect(
      [...found].map((text) => String(text).toLowerCase().replace('!', '')),
      sql,
    ).toEqual(['aé', '', 'x'.repeat(200)]);
  }
});

test('computed texts of more bytes than a column holds are refused before they are written', () => {
  const text = 'x'.repeat(1 << 20);
  const values = new Array<string>(2_060).fill(text);
  let taken = 0;
  const memory = {
    take(bytes: number): void {
      taken += bytes;
      if (taken > 2 ** 31) throw new Error('One more was looked at.');
    },
  };
  const column = { form: 'values' as const, type: new Utf8(), length: values.length, values };
  expect(() => drained(textBytes(column, memory as never))).toThrow('holds 2147483647 at most');
});
