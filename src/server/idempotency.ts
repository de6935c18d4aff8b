/**
 * `AnswerCache` keeps the response to a write under its idempotency key and returns it to repeated
 * requests (`once`). Calls that throw, and responses with status 429 or 5xx, are not kept. Another
 * request under a used key throws IdempotencyKeyReused. The cache is in memory: 10,000 responses
 * and 64 MiB at most. The catalog itself recognises repeats that are older, by a stamp that it
 * keeps with the write (`stampOf`, directory/catalog/kept-answers.ts). `SummedData` computes a
 * checksum of Arrow data as it is read, and `checkSameData` throws IdempotencyKeyReused if the data
 * of a repeat does not begin with the data read before. `checkKey` validates a key, and `digest`
 * hashes several texts to one.
 */

import { createHash } from 'node:crypto';
import { crc32 } from 'node:zlib';
import { DirspaceError } from '../errors.ts';
import { hex8 } from '../json.ts';
import type { IdempotencyStamp } from '../protocol/index.ts';

export interface KeptAnswer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
  /** The checksum of the request's Arrow data; absent without data. */
  readonly data?: DataSum;
  /** The grants of the caller who got an answer with storage credentials; absent for other answers. */
  readonly vendedTo?: string;
}

/** What was read of Arrow data: so many bytes, and their checksum. */
export interface DataSum {
  readonly bytes: number;
  readonly crc: number;
}

interface Entry {
  /** What was asked under the key, so that it cannot stand for two things. */
  readonly fingerprint: string;
  answer: Promise<KeptAnswer>;
  bytes: number;
}

const MAX_KEY = 255;
const MAX_ENTRIES = 10_000;
const MAX_BYTES = 64 * 1024 ** 2;

/** Answers that would come out otherwise another time are not kept. */
const isFinal = (status: number): boolean => status < 500 && status !== 429;

export class AnswerCache {
  readonly #entries = new Map<string, Entry>();
  #bytes = 0;

  /**
   * The answer kept for `key`, or that of `work`, which is done once however many ask. When it
   * fails in a way that may pass, those that waited do it themselves. Throws IdempotencyKeyReused
   * where the key was used for something else.
   */
  async once(
    key: string,
    fingerprint: string,
    work: () => Promise<KeptAnswer>,
  ): Promise<{ readonly answer: KeptAnswer; readonly repeated: boolean }> {
    while (true) {
      const found = this.#entries.get(key);
      if (found === undefined) {
        return { answer: await this.#first(key, fingerprint, work), repeated: false };
      }
      if (found.fingerprint !== fingerprint) {
        throw usedBefore(shown(found.fingerprint), shown(fingerprint));
      }
      const answer = await found.answer.catch(() => undefined);
      if (answer !== undefined && isFinal(answer.status)) {
        this.#touch(key, found);
        return { answer, repeated: true };
      }
    }
  }

  async #first(
    key: string,
    fingerprint: string,
    work: () => Promise<KeptAnswer>,
  ): Promise<KeptAnswer> {
    const entry: Entry = { fingerprint, answer: work(), bytes: 0 };
    this.#entries.set(key, entry);
    try {
      const answer = await entry.answer;
      if (isFinal(answer.status)) this.#keep(entry, key, answer);
      else this.#entries.delete(key);
      return answer;
    } catch (error) {
      this.#entries.delete(key);
      throw error;
    }
  }

  #keep(entry: Entry, key: string, answer: KeptAnswer): void {
    entry.bytes = key.length + entry.fingerprint.length + answer.body.length + 200;
    this.#bytes += entry.bytes;
    for (const [oldest, { bytes }] of this.#entries) {
      if (this.#entries.size <= MAX_ENTRIES && this.#bytes <= MAX_BYTES) break;
      // What is still under way has no size yet and stays.
      if (bytes === 0) continue;
      this.#entries.delete(oldest);
      this.#bytes -= bytes;
    }
  }

  #touch(key: string, entry: Entry): void {
    if (this.#entries.get(key) !== entry) return;
    this.#entries.delete(key);
    this.#entries.set(key, entry);
  }
}

const usedBefore = (first: string, now: string): DirspaceError =>
  new DirspaceError(
    'IdempotencyKeyReused',
    `The idempotency key was used for another request: its fingerprint was ${first}, and that of this one is ${now}. Use a new key for a new request; nothing was changed.`,
    { details: { first, now } },
  );

/** Digits of a digest that messages show, enough to tell requests apart. */
const SHOWN = 12;
const shown = (fingerprint: string): string => fingerprint.slice(0, SHOWN);

const stampText = (request: string, data: DataSum | undefined): string =>
  data === undefined ? request : `${request}${hex8(data.crc)}${data.bytes.toString(36)}`;

/** The stamp of a request with that fingerprint, for catalogs to keep; `data` is read on the way. */
export function stampOf(
  scope: string,
  fingerprint: string,
  data: SummedData | undefined,
): IdempotencyStamp {
  const request = shown(fingerprint);
  return {
    scope,
    request,
    checkRequest: (first) => {
      if (first !== request) throw usedBefore(first, request);
    },
    made: () => stampText(request, data?.sum),
    check: async (stamp) => {
      const first = { crc: stamp.slice(SHOWN, SHOWN + 8), bytes: stamp.slice(SHOWN + 8) };
      const bytes = Number.parseInt(first.bytes || '0', 36);
      const crc = data === undefined ? 0 : await leadingCrc(data, bytes);
      const isSame = stamp.startsWith(request) && (data === undefined || hex8(crc) === first.crc);
      if (!isSame) throw usedBefore(stamp, stampText(request, data?.sum));
    },
  };
}

/** The checksum of so many bytes of what is read to its end; -1 where it is shorter. */
async function leadingCrc(pieces: AsyncIterable<Uint8Array>, bytes: number): Promise<number> {
  let left = bytes;
  let found = 0;
  for await (const piece of pieces) {
    const part = piece.subarray(0, left);
    found = crc32(part, found);
    left -= part.byteLength;
  }
  return left > 0 ? -1 : found;
}

/** Arrow data that is summed as it is read. */
export class SummedData implements AsyncIterable<Uint8Array> {
  readonly #pieces: AsyncIterable<Uint8Array>;
  #bytes = 0;
  #crc = 0;

  constructor(pieces: AsyncIterable<Uint8Array>) {
    this.#pieces = pieces;
  }

  get sum(): DataSum {
    return { bytes: this.#bytes, crc: this.#crc };
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<Uint8Array> {
    for await (const piece of this.#pieces) {
      this.#bytes += piece.byteLength;
      this.#crc = crc32(piece, this.#crc);
      yield piece;
    }
  }
}

/** Throws IdempotencyKeyReused where data that came under a used key does not begin with what was read. */
export async function checkSameData(
  pieces: AsyncIterable<Uint8Array>,
  first: DataSum,
): Promise<void> {
  const data = new SummedData(pieces);
  const crc = await leadingCrc(data, first.bytes);
  if (crc !== first.crc) throw usedBefore(stampText('', first), stampText('', data.sum));
}

/** Checks the header's value. */
export function checkKey(key: string): string {
  if (key !== '' && key.length <= MAX_KEY && /^[\x20-\x7e]+$/.test(key)) return key;
  throw new DirspaceError(
    'InvalidInput',
    `An idempotency key has 1 to ${MAX_KEY} printable ASCII characters.`,
  );
}

/** One short text for several, which no other list of texts gives. */
export function digest(...parts: readonly string[]): string {
  const hash = createHash('sha256');
  for (const part of parts) hash.update(`${part.length}:${part}`);
  return hash.digest('hex');
}
