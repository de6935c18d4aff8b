/** A long layout is decoded batch by batch, and as one that is parsed at once. */
import { expect, test } from 'vitest';
import { joined } from '../../src/bytes.ts';
import {
  decodeLayoutInSteps,
  encodeLayout,
  type FragmentLayout,
} from '../../src/format/fragment/fragment-layout.ts';
import { drained } from '../../src/steps.ts';
import { casesOf } from '../helpers/long.ts';
import { expectSame } from '../helpers/same.ts';
import { seeded } from '../helpers/seeded.ts';

const bytesOf = (text: string): Uint8Array => new TextEncoder().encode(text);
/** Spaces at the end of JSON change its value in nothing, and make it long. */
const LONG = ' '.repeat(1 << 17);

const WORDS = ['"', '\\', '\\"', ']]],[', '},{', ',', 'é', '𝄞', '\u2028', '[['];

/** A layout of `batches` batches of `columns` columns whose statistics look like JSON. */
function made(
  batches: number,
  columns: number,
  dictionaries = 1,
  wide: readonly number[] = [],
): { layout: FragmentLayout; end: number } {
  const random = seeded(batches * 31 + columns);
  let position = 640;
  const word = (): string => WORDS[Math.floor(random() * WORDS.length)] as string;
  const chunk = (_: unknown, column = -1) => {
    const isWide = wide.includes(column);
    const offset = position;
    position += 64;
    return {
      offset,
      bytes: 64,
      checksums: Math.floor(random() * 2 ** 32),
      nodes: [3, 0],
      buffers: [0, isWide ? 32 : 12],
      views: [],
      isWide,
      statistics: [word() + word(), { [word()]: [word(), 1] }],
    };
  };
  const message = () => {
    const offset = position;
    position += 128;
    return { offset, metadataBytes: 128, metadataChecksum: 7, rows: 3 };
  };
  const layout = {
    schema: [16, 64] as const,
    headBytes: position,
    headChecksum: 5,
    batches: Array.from({ length: batches }, () => ({
      ...message(),
      columns: Array.from({ length: columns }, chunk),
    })),
    dictionaries: Array.from({ length: dictionaries }, (_, id) => ({
      id,
      ...message(),
      values: chunk(id),
    })),
    wide,
  };
  return { layout: layout as unknown as FragmentLayout, end: position };
}

/** With all columns, which a long layout decodes when they are asked for. */
const whole = (layout: FragmentLayout): unknown => ({
  ...layout,
  batches: layout.batches.map(({ columns, ...batch }) => ({
    ...batch,
    columns: Array.from({ length: columns.length }, (_, at) => columns.at(at)),
  })),
});

/** Its layout, or what is wrong with it. */
function outcome(text: Uint8Array, end: number): unknown {
  try {
    return whole(drained(decodeLayoutInSteps(text, end, 'f')));
  } catch (error) {
    return (error as { code: string }).code;
  }
}

test.each([
  [0, 0],
  [1, 0],
  [1, 1],
  [3, 20],
])('a long layout of %i batches of %i columns is read as a short one', (batches, columns) => {
  const { layout, end } = made(batches, columns);
  const text = encodeLayout(layout);
  expect(outcome(bytesOf(text), end)).toEqual(layout);
  expect(outcome(bytesOf(text + LONG), end)).toEqual(layout);
});

test('columns with wide offsets are told in long and short layouts, with a part and without', () => {
  for (const part of [undefined, { offset: 0, bytes: 640, checksum: 9 }]) {
    const { layout: plain, end } = made(2, 4, 0, [1, 3]);
    const layout = { ...plain, part: part === undefined ? part : { ...part, offset: end } };
    const text = encodeLayout(layout);
    const bytes = end + (part?.bytes ?? 0);
    expect(outcome(bytesOf(text), bytes)).toEqual(layout);
    expect(outcome(bytesOf(text + LONG), bytes)).toEqual(layout);
    for (const wrong of ['[3,1]', '[1,1]', '[-1]', '[1.5]', '["1"]', '7', '[0]', '[1,3],[1]']) {
      const changed = text.replace(/\[1,3\]\]$/, `${wrong}]`);
      expect(changed).not.toBe(text);
      expect([wrong, outcome(bytesOf(changed), bytes)]).toEqual([wrong, 'Corrupt']);
    }
  }
});

test('each batch of a long layout has a step of its own', () => {
  const { layout, end } = made(400, 10);
  const steps = decodeLayoutInSteps(bytesOf(encodeLayout(layout)), end, 'f');
  let count = 0;
  for (;;) {
    const { done, value } = steps.next();
    if (done === true) {
      expect(whole(value)).toEqual(layout);
      break;
    }
    count += 1;
  }
  expect(count).toBeGreaterThanOrEqual(400);
});

test('a long layout is looked through in steps too', () => {
  const { layout, end } = made(1, 1);
  const text = bytesOf(encodeLayout(layout).replace('[[', `[[${' '.repeat(5 << 20)}`));
  let count = 0;
  for (const _ of decodeLayoutInSteps(text, end, 'f')) count += 1;
  // One of them for its batch.
  expect(count).toBeGreaterThanOrEqual(1 + 4);
});

test('damage of a long layout is found as in a short one', () => {
  const { layout, end } = made(3, 4);
  const text = bytesOf(encodeLayout(layout));
  const random = seeded(5);
  const kinds = new Map<string, number>();
  for (let round = 0; round < casesOf(250, 1_000); round++) {
    let damaged: Uint8Array = text.slice();
    const at = Math.floor(random() * text.length);
    const kind = Math.floor(random() * 4);
    const pieces = ['[', ']', ',', '"', '{', '}', ' ', '\\', '0', '\ufeff'];
    const piece = pieces[Math.floor(random() * pieces.length)] as string;
    if (kind === 0) damaged[at] = Math.floor(random() * 256);
    else if (kind === 1) damaged = text.slice(0, at);
    else {
      const rest = text.subarray(at + (kind === 2 ? 1 : 0));
      damaged = joined([text.subarray(0, at), bytesOf(piece), rest]);
    }
    const short = outcome(damaged, end);
    const long = outcome(joined([damaged, bytesOf(LONG)]), end);
    expectSame(long, short);
    const found = typeof short === 'string' ? short : 'read';
    kinds.set(found, (kinds.get(found) ?? 0) + 1);
  }
  expect([...kinds.keys()].sort()).toEqual(['Corrupt', 'read']);
});

test.each([
  ['short', ''],
  ['long', LONG],
])('a %s layout of a newer format is refused as such, whatever its parts are', (_, end) => {
  const { layout, end: bytes } = made(1, 1);
  const text = encodeLayout(layout);
  const newer = `[2${text.slice(2, -1)},"more",{}]${end}`;
  for (const changed of [newer, `[2]${end}`, `[2${text.slice(2)}${end}`]) {
    expect(() => drained(decodeLayoutInSteps(bytesOf(changed), bytes, 'x.arrow'))).toThrow(
      expect.objectContaining({
        code: 'UnsupportedFormat',
        message: expect.stringMatching(/x\.arrow.*layout 2.*reads layout 1.*newer release/),
      }),
    );
  }
  for (const strange of ['0', '-1', '1.5', '"2"', 'null', '[2]', '1e400']) {
    const changed = `[${strange}${text.slice(2)}${end}`;
    expect(outcome(bytesOf(changed), bytes), strange).toBe('Corrupt');
  }
});
