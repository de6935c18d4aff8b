/**
 * `decodeZstdPieces` decodes Zstandard frames that come in pieces, such as those of a compressed
 * file. It yields their content in pieces, and verifies the checksums that the frames have. Its
 * memory grows with the window that a frame asks for. Windows of more than 128 MiB (`MAX_WINDOW`),
 * and other faults, go to the caller's `refuse`.
 */
import { plainPause } from '../../steps.ts';
import type { Refuse } from './flatbuffer.ts';
import { Xxh64 } from './xxh64.ts';
import { BlockDecoder } from './zstd-blocks.ts';
import { type FrameHeader, frameHeader, MAX_WINDOW, numberIn } from './zstd-header.ts';
import { BLOCK_BYTES } from './zstd-literals.ts';

const MAGIC = 0xfd2fb528;
/** Content that is given as one piece, or a little more. */
const PIECE_BYTES = 1 << 18;
const CUT_SHORT = 'its Zstandard frame is cut short';

/** The content of all frames. `refuse` gets what is wrong, and must throw. */
export async function* decodeZstdPieces(
  pieces: AsyncIterable<Uint8Array>,
  refuse: Refuse,
): AsyncGenerator<Uint8Array> {
  const input = new Input(pieces, refuse);
  try {
    while (await input.hasMore()) {
      const magic = numberIn(await input.take(4));
      if (magic >>> 4 === 0x184d2a5) await input.skip(numberIn(await input.take(4)));
      else if (magic === MAGIC) yield* frame(input, refuse);
      else refuse('it is no Zstandard frame');
    }
  } finally {
    await input.close();
  }
}

async function* frame(input: Input, refuse: Refuse): AsyncGenerator<Uint8Array> {
  const { window, size, hasChecksum } = await readHeader(input, refuse);
  const hash = new Xxh64();
  // What is given lies before what may still be referred to.
  const output = new Uint8Array(window + PIECE_BYTES + BLOCK_BYTES);
  const decoder = new BlockDecoder(output, output, 0, refuse);
  const pause = plainPause();
  let given = 0;
  let total = 0;
  for (let isLast = false; !isLast; ) {
    const head = numberIn(await input.take(3));
    isLast = (head & 1) === 1;
    const [kind, bytes] = [(head >> 1) & 3, head >> 3];
    if (bytes > BLOCK_BYTES || kind === 3) refuse('its Zstandard frame has an unknown block');
    const stored = kind === 1 ? 1 : bytes;
    const before = decoder.end;
    decoder.decode({ kind, bytes, from: 0, to: stored }, await input.take(stored));
    total += decoder.end - before;
    if (size !== undefined && total > size) {
      refuse(`its Zstandard frame holds more than the ${size} bytes that it says`);
    }
    if (hasChecksum) hash.add(output, before, decoder.end);
    if (!isLast && decoder.end - given < PIECE_BYTES) continue;
    await pause();
    if (decoder.end > given) yield output.slice(given, decoder.end);
    const kept = Math.min(window, decoder.end);
    output.copyWithin(0, decoder.end - kept, decoder.end);
    decoder.end = kept;
    given = kept;
  }
  if (size !== undefined && total !== size) {
    refuse(`its Zstandard frame does not hold the ${size} bytes that it says`);
  }
  if (hasChecksum && numberIn(await input.take(4)) !== hash.low()) {
    refuse('the content of its Zstandard frame does not match its checksum');
  }
}

async function readHeader(input: Input, refuse: Refuse): Promise<FrameHeader> {
  const asked = frameHeader(refuse);
  let step = asked.next();
  while (step.done !== true) step = asked.next(numberIn(await input.take(step.value)));
  const { window } = step.value;
  if (window > MAX_WINDOW) {
    refuse(
      `its Zstandard frame needs ${window} bytes to be held, more than the ${MAX_WINDOW} allowed`,
    );
  }
  return step.value;
}

/** Takes exact numbers of bytes out of pieces. */
class Input {
  readonly #pieces: AsyncIterator<Uint8Array>;
  readonly #refuse: Refuse;
  #piece: Uint8Array = new Uint8Array(0);

  constructor(pieces: AsyncIterable<Uint8Array>, refuse: Refuse) {
    this.#pieces = pieces[Symbol.asyncIterator]();
    this.#refuse = refuse;
  }

  async hasMore(): Promise<boolean> {
    while (this.#piece.length === 0) {
      const { done, value } = await this.#pieces.next();
      if (done === true) return false;
      this.#piece = value;
    }
    return true;
  }

  /** At most a block: a view where one piece has them all. */
  async take(count: number): Promise<Uint8Array> {
    if (this.#piece.length >= count) return this.#cut(count);
    const taken = new Uint8Array(count);
    for (let length = 0; length < count; ) {
      if (!(await this.hasMore())) this.#refuse(CUT_SHORT);
      const part = this.#cut(count - length);
      taken.set(part, length);
      length += part.length;
    }
    return taken;
  }

  async skip(count: number): Promise<void> {
    for (let left = count; left > 0; ) {
      if (!(await this.hasMore())) this.#refuse(CUT_SHORT);
      left -= this.#cut(left).length;
    }
  }

  #cut(count: number): Uint8Array {
    const part = this.#piece.subarray(0, count);
    this.#piece = this.#piece.subarray(part.length);
    return part;
  }

  async close(): Promise<void> {
    await this.#pieces.return?.();
  }
}
