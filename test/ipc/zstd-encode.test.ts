/** What is compressed here: every decoder gives the same content back, and it gets smaller. */
import { expect, test } from 'vitest';
import { nodeZstd } from '../../src/ipc/codecs/node-zstd.ts';
import { encodeZstd, FRAME_OVERHEAD } from '../../src/ipc/codecs/zstd-encode.ts';
import { zstdKernels } from '../../src/ipc/codecs/zstd-kernels.ts';
import { decodeZstd } from '../helpers/codecs.ts';
import { casesOf } from '../helpers/long.ts';
import { seeded } from '../helpers/seeded.ts';

const refuse = (problem: string): never => {
  throw new SyntaxError(problem);
};

type Decode = (frame: Uint8Array, size: number) => Uint8Array;

const DECODERS: readonly (readonly [string, Decode])[] = [
  ['the decoder here', (frame, size) => decodeZstd(frame, size, refuse, null)],
  ['WebAssembly', (frame, size) => decodeZstd(frame, size, refuse, null, 0, zstdKernels)],
  ...(nodeZstd === null
    ? []
    : [
        [
          'Node',
          (frame: Uint8Array, size: number) => decodeZstd(frame, size, refuse, nodeZstd, 0),
        ] as const,
      ]),
];

/** Content of one kind: bytes by their number. */
const KINDS: Readonly<Record<string, (random: () => number) => (at: number) => number>> = {
  'one byte': () => () => 7,
  'two bytes': (random) => () => (random() < 0.01 ? 1 : 2),
  noise: (random) => () => Math.floor(random() * 256),
  digits: (random) => () => 48 + Math.floor(random() * 10),
  letters: (random) => () => 65 + Math.floor(random() * 36),
  'skewed bytes': (random) => () => Math.floor(random() ** 9 * 256),
  'high bytes': (random) => () => 255 - Math.floor(random() ** 4 * 200),
  'rare bytes': (random) => (at) => (random() < 0.002 ? at & 255 : 65),
  words: (random) => {
    const words = Array.from({ length: 40 }, () =>
      Array.from({ length: 3 + random() * 9 }, () => random() * 26 + 97),
    );
    let word: number[] = [];
    return () => {
      if (word.length === 0) word = [32, ...(words[Math.floor(random() ** 2 * 40)] as number[])];
      return word.shift() as number;
    };
  },
  'ascending numbers': (random) => {
    const bytes = new Uint8Array(8);
    let value = 1_700_000_000_000n;
    return (at) => {
      if (at % 8 === 0) {
        value += BigInt(Math.floor(random() * 40));
        new DataView(bytes.buffer).setBigInt64(0, value, true);
      }
      return bytes[at % 8] as number;
    };
  },
  'short periods': (random) => {
    let period = [1];
    return (at) => {
      if (random() < 0.01) period = Array.from({ length: 1 + random() * 20 }, () => random() * 256);
      return period[at % period.length] as number;
    };
  },
};

function content(kind: string, size: number, seed: number): Uint8Array {
  const make = (KINDS[kind] as (typeof KINDS)[string])(seeded(seed));
  return Uint8Array.from({ length: size }, (_, at) => make(at));
}

const SIZES = [
  ...[0, 1, 2, 5, 31, 32, 33, 63, 64, 255, 256, 257, 1_023, 4_095, 4_096, 4_097, 4_098],
  ...[5_003, 6_002, 7_001, 8_000, 65_535, 65_536],
];

test.each(Object.keys(KINDS))('every decoder gives back %s', (kind) => {
  const random = seeded(11);
  const more = Array.from({ length: casesOf(6, 400) }, () => Math.floor(random() ** 3 * 65_537));
  for (const [seed, size] of [...SIZES, ...more].entries()) {
    const bytes = content(kind, size, seed);
    const frame = encodeZstd(bytes).slice();
    expect(frame.length, `${size} bytes`).toBeLessThanOrEqual(size + FRAME_OVERHEAD);
    for (const [name, decode] of DECODERS) {
      const same = Buffer.compare(decode(frame, size), bytes) === 0;
      expect(same, `${name}: ${size} bytes, seed ${seed}`).toBe(true);
    }
  }
});

test('what repeats, or has few bytes, gets as small as it should', () => {
  const share = (kind: string): number => encodeZstd(content(kind, 65_536, 3)).length / 65_536;
  expect(share('one byte')).toBeLessThan(0.001);
  expect(share('digits')).toBeLessThan(0.46);
  expect(share('words')).toBeLessThan(0.3);
  expect(share('ascending numbers')).toBeLessThan(0.25);
  expect(share('noise')).toBeLessThan(1.001);
});

test('more than 64 KiB are refused', () => {
  expect(() => encodeZstd(new Uint8Array(65_537))).toThrow(RangeError);
});

/** What a decoder makes of a frame: its content, or that it is refused. */
const madeBy = (decode: Decode, frame: Uint8Array, size: number): string => {
  try {
    return Buffer.from(decode(frame, size)).toString('latin1');
  } catch (error) {
    if (error instanceof SyntaxError) return 'refused';
    throw error;
  }
};

test.each([
  { kind: 'digits', sizes: [90, 403, 1_026] },
  { kind: 'letters', sizes: [4_900] },
])('both decoders here make the same of damaged $kind without a checksum', ({ kind, sizes }) => {
  const [[, here], [, kernels]] = DECODERS as [
    readonly [string, Decode],
    readonly [string, Decode],
  ];
  const random = seeded(11);
  let refused = 0;
  let others = 0;
  for (const size of sizes) {
    const content = Uint8Array.from({ length: size }, KINDS[kind]?.(random) as () => number);
    const frame = encodeZstd(content).slice();
    const zeroed = (at: number): number => frame[at] as number;
    const kinds = [() => 1, () => 0x40, zeroed];
    for (let at = FRAME_OVERHEAD - 3; at < frame.length; at += casesOf(1 + (size >> 9), 1)) {
      for (const kind of kinds) {
        const copy = frame.slice();
        copy[at] = zeroed(at) ^ kind(at);
        const expected = madeBy(here, copy, size);
        expect(madeBy(kernels, copy, size), `${size} bytes, byte ${at}`).toBe(expected);
        if (expected === 'refused') refused += 1;
        else others += 1;
      }
    }
  }
  expect(Math.min(refused, others)).toBeGreaterThan(50);
});
