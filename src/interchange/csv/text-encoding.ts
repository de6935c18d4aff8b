/**
 * `encodingOf` detects the encoding of a text file, and `asUtf8` converts its bytes to UTF-8. The
 * caller's choice comes first, then a byte order mark, then the bytes themselves: zeros show
 * UTF-16, and bytes that are not UTF-8 show Windows-1252, called latin1. Bytes that are not text of
 * the encoding throw InvalidInput; UTF-8 alone passes unchanged and unchecked, because
 * csv-reader.ts validates it. `checkEncoding` resolves the names that options take, and throws
 * InvalidInput for unknown ones.
 */
import { isUtf8 } from 'node:buffer';
import { DirspaceError } from '../../errors.ts';
import { fileProblem } from '../files/index.ts';

/** Encodings by the names that options take. */
const ENCODINGS = ['utf-8', 'utf-16le', 'utf-16be', 'latin1'] as const;
export type Encoding = (typeof ENCODINGS)[number];

const MARKS: readonly (readonly [Encoding, readonly number[]])[] = [
  ['utf-8', [0xef, 0xbb, 0xbf]],
  ['utf-16le', [0xff, 0xfe]],
  ['utf-16be', [0xfe, 0xff]],
];

/** Bytes that are looked at for zeros. */
const LOOKED_AT = 4096;

/** The encoding, and how many bytes its mark takes. */
export interface FoundEncoding {
  readonly encoding: Encoding;
  readonly mark: number;
}

/**
 * @param head the beginning of the file
 * @param isWhole whether that is all of it: else a character may be cut at its end
 * @param asked by the caller; a mark of the same encoding is passed over
 */
export function encodingOf(head: Uint8Array, isWhole: boolean, asked?: Encoding): FoundEncoding {
  for (const [encoding, mark] of MARKS) {
    const isMarked = mark.every((byte, at) => head[at] === byte);
    if (isMarked && (asked === undefined || asked === encoding)) {
      return { encoding, mark: mark.length };
    }
  }
  if (asked !== undefined) return { encoding: asked, mark: 0 };
  const looked = Math.min(head.length, LOOKED_AT) & ~1;
  let [even, odd] = [0, 0];
  for (let at = 0; at < looked; at += 2) {
    if (head[at] === 0) even++;
    if (head[at + 1] === 0) odd++;
  }
  // Of texts in Latin letters one byte of two is zero; other scripts have zeros beside their commas.
  // Of a short file more have to be: one zero may be a mistake.
  const [few, many] = [looked / 100, Math.max(looked / 20, Math.min(looked / 4, 10))];
  if (odd > many && even < few) return { encoding: 'utf-16le', mark: 0 };
  if (even > many && odd < few) return { encoding: 'utf-16be', mark: 0 };
  const whole = isWhole ? head : head.subarray(0, characterEnd(head));
  return { encoding: isUtf8(whole) ? 'utf-8' : 'latin1', mark: 0 };
}

/** Where the last whole character of UTF-8 ends. */
function characterEnd(bytes: Uint8Array): number {
  for (let back = 1; back <= 3 && back <= bytes.length; back++) {
    const byte = bytes[bytes.length - back] as number;
    if (byte < 0x80) break;
    if (byte >= 0xc0) return bytes.length - back;
  }
  return bytes.length;
}

/** The same text in UTF-8. @throws InvalidInput for what is no text of the encoding */
export async function* asUtf8(
  pieces: AsyncIterable<Uint8Array>,
  encoding: Encoding,
  file: string,
): AsyncGenerator<Uint8Array> {
  if (encoding === 'utf-8') {
    yield* pieces;
    return;
  }
  // The mark was taken off by whoever found the encoding.
  const decoder = new TextDecoder(encoding, { fatal: true, ignoreBOM: true });
  const encoder = new TextEncoder();
  let passed = 0;
  const decode = (piece?: Uint8Array): Uint8Array => {
    try {
      return encoder.encode(decoder.decode(piece, { stream: piece !== undefined }));
    } catch (cause) {
      const message = `${file} is not in ${encoding.toUpperCase()} near byte ${passed}.`;
      throw fileProblem(message, { file }, cause);
    }
  };
  for await (const piece of pieces) {
    const text = decode(piece);
    passed += piece.length;
    if (text.length > 0) yield text;
  }
  const last = decode();
  if (last.length > 0) yield last;
}

/** @throws InvalidInput for a name that is none of ENCODINGS */
export function checkEncoding(name: string): Encoding {
  const plain = String(name).toLowerCase();
  const known = Object.hasOwn(ALIASES, plain) ? ALIASES[plain] : plain;
  const found = ENCODINGS.find((encoding) => encoding === known);
  if (found !== undefined) return found;
  throw new DirspaceError(
    'InvalidInput',
    `The encoding is ${JSON.stringify(name)}; give one of ${ENCODINGS.join(', ')}.`,
  );
}

const ALIASES: Readonly<Record<string, Encoding>> = {
  utf8: 'utf-8',
  utf16: 'utf-16le',
  'utf-16': 'utf-16le',
  'iso-8859-1': 'latin1',
  'latin-1': 'latin1',
  'windows-1252': 'latin1',
};
