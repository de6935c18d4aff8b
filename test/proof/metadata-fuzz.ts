/** T14: metadata files cut, flipped and forged: what was written, or a typed error, in time. */
import { isDeepStrictEqual } from 'node:util';
import { checksummedText, flipBit, rechecksummed } from '../helpers/damage.ts';
import { rewrittenDocuments } from '../helpers/forged-json.ts';
import { METADATA_SAMPLES, type MetadataSample } from '../helpers/metadata-samples.ts';
import { seeded } from '../helpers/seeded.ts';
import { tryForgedCatalogs } from './forged-catalogs.ts';
import { inRounds, refusal } from './rounds.ts';
import type { ProofContext, ProofRow } from './row.ts';

/** Milliseconds for each MB, and for what is smaller. */
const LIMIT = 500;
const RANDOM_CASES = { ci: 200, short: 4_000, nightly: 4_000 };

/** Every how many forged documents a catalog is used with. */
const USED_STEP = { ci: 1200, short: 70, nightly: 5 };

class Judge {
  cases = 0;
  slowest = 0;
  readonly #violated: (what: string) => void;

  constructor(violated: (what: string) => void) {
    this.#violated = violated;
  }

  /** A document with a wrong checksum is Corrupt, whatever else is wrong with it. */
  damaged(sample: MetadataSample, bytes: Uint8Array, what: () => string): void {
    const found = this.#read(sample, bytes, what);
    if (found.code === undefined && sample.checksummed) {
      this.#violated(`${sample.kind}, ${what()}: read as if it were whole`);
    } else if (found.code !== undefined && found.code !== 'Corrupt' && sample.checksummed) {
      this.#violated(`${sample.kind}, ${what()}: ${found.code} instead of Corrupt`);
    }
  }

  /** A document that somebody forged is refused by type, or is a value that can be written again. */
  forged(sample: MetadataSample, bytes: Uint8Array, what: () => string): void {
    const { code, value } = this.#read(sample, bytes, what);
    if (code !== undefined) return;
    try {
      const again = sample.decode(new Uint8Array(sample.encode(value)));
      if (!isDeepStrictEqual(stable(again), stable(value))) {
        this.#violated(`${sample.kind}, ${what()}: changes when it is written again`);
      }
    } catch (error) {
      this.#violated(`${sample.kind}, ${what()}: accepted, then unreadable: ${String(error)}`);
    }
  }

  #read(
    sample: MetadataSample,
    bytes: Uint8Array,
    what: () => string,
  ): { readonly code?: string; readonly value?: unknown } {
    this.cases++;
    const start = performance.now();
    try {
      return { value: sample.decode(bytes) };
    } catch (error) {
      const code = refusal(error);
      if (code !== 'Corrupt' && code !== 'UnsupportedFormat') {
        this.#violated(`${sample.kind}, ${what()}: threw ${String(error)}`);
      }
      return { code: code ?? 'untyped' };
    } finally {
      let ms = performance.now() - start;
      const limit = LIMIT * Math.max(1, bytes.length / 1e6);
      for (let tries = 0; ms > limit && tries < 3; tries++) ms = again(sample, bytes);
      this.slowest = Math.max(this.slowest, ms);
      if (ms > limit) this.#violated(`${sample.kind}, ${what()}: took ${ms.toFixed(0)} ms`);
      if (Object.keys(Object.prototype).length > 0 || 'polluted' in {}) {
        this.#violated(`${sample.kind}, ${what()}: changed Object.prototype`);
        for (const key of Object.keys(Object.prototype))
          Reflect.deleteProperty(Object.prototype, key);
      }
    }
  }
}

/** Milliseconds of this process's own time in another try: the machine may have been busy. */
function again(sample: MetadataSample, bytes: Uint8Array): number {
  const start = process.cpuUsage();
  try {
    sample.decode(bytes);
  } catch {
    // Judged the first time.
  }
  const { user, system } = process.cpuUsage(start);
  return (user + system) / 1_000;
}

/**
 * What must stay the same: not the checksum and size of the bytes, and of what is looked at only
 * when it is first used, no more than its JSON.
 */
function stable(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(stable);
  if (typeof value !== 'object' || value === null) return value;
  if ('manifest' in value) return stable(value.manifest);
  if ('statistics' in value) return { ...value, statistics: JSON.stringify(value.statistics) };
  if (!('schema' in value) || !('fragments' in value)) return value;
  const { schema, fragments } = value;
  return { ...value, schema: JSON.stringify(schema), fragments: stable(fragments) };
}

const forge = (sample: MetadataSample, bytes: Uint8Array): Uint8Array =>
  sample.checksummed ? rechecksummed(bytes) : bytes;

/** Where the document begins that the checksum stands before. */
const bodyOf = (sample: MetadataSample): number => (sample.checksummed ? 28 : 0);

function everyByte(judge: Judge, sample: MetadataSample): void {
  const { bytes } = sample;
  for (let length = 0; length < bytes.length; length++) {
    judge.damaged(sample, bytes.slice(0, length), () => `cut at ${length}`);
    judge.forged(sample, forge(sample, bytes.slice(0, length)), () => `cut at ${length}, forged`);
  }
  const copy = bytes.slice();
  for (let bit = 0; bit < bytes.length * 8; bit++) {
    flipBit(copy, bit);
    judge.damaged(sample, copy, () => `bit ${bit} flipped`);
    if (bit >> 3 >= bodyOf(sample)) {
      judge.forged(sample, forge(sample, copy.slice()), () => `bit ${bit} flipped, forged`);
    }
    flipBit(copy, bit);
  }
}

function everyMember(judge: Judge, sample: MetadataSample): void {
  const document = JSON.parse(Buffer.from(sample.bytes).toString()) as Record<string, unknown>;
  delete document.checksum;
  for (const [what, text] of rewrittenDocuments(JSON.stringify(document))) {
    judge.forged(sample, encoded(sample, text), () => what);
  }
  const deep = (open: string, close: string, levels: number): string =>
    `{"format":1,"a":${open.repeat(levels)}${close.repeat(levels)}}`;
  for (const levels of [100, 10_000, 200_000]) {
    for (const [open, close] of [
      ['[', ']'],
      ['{"a":', '}'],
      ['[', ''],
    ] as const) {
      const text = deep(open, close, levels).replace(':}', ':0}');
      judge.forged(sample, encoded(sample, text), () => `${levels} levels of ${open}`);
    }
  }
  const text = JSON.stringify(document);
  for (const bad of [[0xff], [0xc0, 0xaf], [0xed, 0xa0, 0x80], [0xf4, 0x90, 0x80, 0x80], [0]]) {
    for (let at = 1; at < text.length; at += Math.max(1, text.length >> 5)) {
      const bytes = Buffer.concat([
        Buffer.from(text.slice(0, at)),
        Uint8Array.from(bad),
        Buffer.from(text.slice(at)),
      ]);
      judge.forged(sample, encoded(sample, bytes), () => `bytes ${bad.join()} at ${at}`);
    }
  }
}

const encoded = (sample: MetadataSample, text: Uint8Array | string): Uint8Array =>
  sample.checksummed ? checksummedText(text) : new Uint8Array(Buffer.from(text as string));

/** Several things wrong at once, and pieces of other documents. */
function atRandom(judge: Judge, seed: number, cases: number): void {
  const random = seeded(seed);
  const whole = (below: number): number => Math.floor(random() * below);
  const alphabet = Buffer.from('{}[]",:0123456789-.eE\\untrfalse ');
  for (let at = 0; at < cases; at++) {
    const sample = METADATA_SAMPLES[whole(METADATA_SAMPLES.length)] as MetadataSample;
    const other = METADATA_SAMPLES[whole(METADATA_SAMPLES.length)] as MetadataSample;
    const from = bodyOf(sample);
    const bytes = sample.bytes.slice();
    for (let edits = 1 + whole(4); edits > 0; edits--) {
      const place = from + whole(bytes.length - from);
      if (random() < 0.2) {
        const start = whole(other.bytes.length);
        const piece = other.bytes.subarray(start, start + whole(40));
        bytes.set(piece.subarray(0, bytes.length - place), place);
      } else bytes[place] = alphabet[whole(alphabet.length)] as number;
    }
    judge.forged(sample, forge(sample, bytes), () => `seed ${seed}, random case ${at}`);
  }
}

async function run(context: ProofContext): Promise<{ cases: number; note: string }> {
  const judge = new Judge((what) => context.violated(what));
  if (context.size !== 'ci') for (const sample of METADATA_SAMPLES) everyByte(judge, sample);
  else for (const sample of METADATA_SAMPLES.slice(1)) everyByte(judge, sample);
  for (const sample of METADATA_SAMPLES) everyMember(judge, sample);
  await inRounds(context, (seed) => {
    atRandom(judge, seed, RANDOM_CASES[context.size]);
    return 0;
  });
  const step = USED_STEP[context.size];
  const used = await tryForgedCatalogs(step, (what) => context.violated(what));
  return {
    cases: judge.cases + used.cases,
    note: `slowest ${judge.slowest.toFixed(1)} ms; ${used.cases} under a catalog in use, slowest ${used.slowest.toFixed(0)} ms`,
  };
}

export const metadataFuzz: ProofRow = { row: 'T14 manifest fuzz', run };
