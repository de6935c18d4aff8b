/**
 * Parses and writes the JSON documents of a catalog, which may be damaged or forged.
 * `encodeChecksummed` puts a crc32 at the beginning. `parseChecksummed` verifies it before it
 * parses, and `verifiedChecksum` does so without parsing. `parseJson` parses an object without a
 * checksum. Damage, and a document of more than 64 MiB, throw Corrupt with the file's name
 * (`corrupt`). `integerMember` and similar functions check the type of one member.
 * `encodeChecksummedInSteps` and `parseChecksummedInSteps` are generators that yield between the
 * parts of a long document.
 */
import { crc32 } from 'node:zlib';
import { DirspaceError } from './errors.ts';
import { parseJsonInSteps } from './json-steps.ts';

/** Largest metadata document read, in bytes. */
export const MAX_DOCUMENT_BYTES = 64 * 1024 * 1024;
const HEAD = '{"checksum":"crc32:';
const HEAD_BYTES = HEAD.length + 10;
/** Bytes of the member that a document with a checksum begins with, its brace and comma included. */
export const CHECKSUM_BYTES: number = HEAD_BYTES;

const decoder = new TextDecoder('utf-8', { fatal: true });

export type JsonObject = Readonly<Record<string, unknown>>;

export const corrupt = (file: string, what: string, cause?: unknown): DirspaceError =>
  new DirspaceError(
    'Corrupt',
    `The file ${file} is damaged: ${what}. Run verify on the catalog to see what else is affected.`,
    { details: { file }, cause },
  );

/** Parses one JSON object. @throws Corrupt naming `file` */
export function parseJson(
  bytes: Uint8Array,
  file: string,
  parse: (text: string) => unknown = JSON.parse,
): JsonObject {
  requireSize(bytes, file);
  let value: unknown;
  try {
    value = parse(decoder.decode(bytes));
  } catch (error) {
    throw corrupt(file, bytes.length === 0 ? 'it is empty' : 'it is not JSON', error);
  }
  return asObject(value, file, 'the document');
}

/** The value of a part of a document, between `before` and `after`. @throws Corrupt naming `file` */
export function parsedText(bytes: Uint8Array, file: string, before = '', after = ''): unknown {
  try {
    return JSON.parse(before + decoder.decode(bytes) + after);
  } catch (error) {
    throw corrupt(file, 'a part of it is not JSON', error);
  }
}

/** A crc32 as documents and stamps have it. */
export const hex8 = (value: number): string => (value >>> 0).toString(16).padStart(8, '0');

/** Serialises with the checksum in front. The parent link of the next version holds `checksum`. */
export function encodeChecksummed(document: JsonObject): { bytes: Uint8Array; checksum: string } {
  return encodeChecksummedText(JSON.stringify(document));
}

/** As encodeChecksummed, of an object that is JSON text already. */
export const encodeChecksummedText = (text: string): { bytes: Uint8Array; checksum: string } =>
  withChecksum(Buffer.from(`${HEAD}00000000",${text.slice(1)}\n`));

/** As encodeChecksummedText, of a long text in pieces, each of which is made in its own step. */
export function* encodeChecksummedInSteps(
  texts: Iterable<string | Uint8Array>,
): Generator<undefined, { bytes: Uint8Array; checksum: string }> {
  const pieces: Uint8Array[] = [Buffer.from(`${HEAD}00000000",`)];
  let isFirst = true;
  for (const text of texts) {
    if (typeof text === 'string') pieces.push(Buffer.from(isFirst ? text.slice(1) : text));
    else pieces.push(isFirst ? text.subarray(1) : text);
    isFirst = false;
    yield;
  }
  pieces.push(Buffer.from('\n'));
  return withChecksum(Buffer.concat(pieces));
}

function withChecksum(body: Buffer): { bytes: Uint8Array; checksum: string } {
  const checksum = hex8(crc32(body.subarray(HEAD_BYTES - 1)));
  body.write(checksum, HEAD.length);
  return { bytes: body, checksum };
}

/** Whether a document claims to begin with its checksum. */
export function hasChecksum(bytes: Uint8Array): boolean {
  const head = bytes.subarray(0, HEAD.length);
  return Buffer.from(head.buffer, head.byteOffset, head.length).toString('latin1') === HEAD;
}

/** Inverse of encodeChecksummed. @throws Corrupt when the bytes are not what was written */
export function parseChecksummed(
  bytes: Uint8Array,
  file: string,
  parse?: (text: string) => unknown,
): { document: JsonObject; checksum: string } {
  const checksum = verifiedChecksum(bytes, file);
  return { document: parseJson(bytes, file, parse), checksum };
}

/** Documents of so many bytes take milliseconds, and are parsed in steps where others may wait. */
const LONG_DOCUMENT_BYTES = 1 << 18;

/** As parseChecksummed, in steps if the document is long. */
export function* parseChecksummedInSteps(
  bytes: Uint8Array,
  file: string,
): Generator<undefined, { document: JsonObject; checksum: string }> {
  if (bytes.length < LONG_DOCUMENT_BYTES) return parseChecksummed(bytes, file);
  const checksum = verifiedChecksum(bytes, file);
  requireSize(bytes, file);
  let value: unknown;
  try {
    value = yield* parseJsonInSteps(decoder.decode(bytes));
  } catch (error) {
    throw corrupt(file, 'it is not JSON', error);
  }
  return { document: asObject(value, file, 'the document'), checksum };
}

/** The checksum that a document begins with. @throws Corrupt where its bytes are others */
export function verifiedChecksum(bytes: Uint8Array, file: string): string {
  const buffer = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length);
  if (buffer.length === 0) throw corrupt(file, 'it is empty');
  if (buffer.toString('latin1', 0, HEAD.length) !== HEAD) {
    throw corrupt(file, 'it does not start with a checksum');
  }
  const checksum = buffer.toString('latin1', HEAD.length, HEAD.length + 8);
  if (hex8(crc32(buffer.subarray(HEAD_BYTES - 1))) !== checksum) {
    throw corrupt(file, 'its bytes do not match its checksum');
  }
  return checksum;
}

function requireSize(bytes: Uint8Array, file: string): void {
  if (bytes.length > MAX_DOCUMENT_BYTES) {
    throw corrupt(file, `${bytes.length} bytes are more than a metadata file may have`);
  }
}

export function asObject(value: unknown, file: string, member: string): JsonObject {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    throw corrupt(file, `${member} is not an object`);
  }
  return value as JsonObject;
}

/** Own members only: a document may well have a column named `constructor`. */
export function member(object: JsonObject, name: string): unknown {
  return Object.hasOwn(object, name) ? object[name] : undefined;
}

/** A whole number from 0 to 2^53-1. */
export function integerMember(object: JsonObject, name: string, file: string): number {
  const value = member(object, name);
  if (!isWholeNumber(value)) {
    throw corrupt(file, `${name} is ${describe(value)}, not a whole number`);
  }
  return value;
}

/** From 0 to 2^53-1; -0 is none, since it would be written back as another text. */
export const isWholeNumber = (value: unknown): value is number =>
  Number.isSafeInteger(value) && (value as number) >= 0 && !Object.is(value, -0);

export function stringMember(object: JsonObject, name: string, file: string): string {
  const value = member(object, name);
  if (typeof value !== 'string') throw corrupt(file, `${name} is ${describe(value)}, not a string`);
  return value;
}

export function arrayMember(object: JsonObject, name: string, file: string): readonly unknown[] {
  const value = member(object, name);
  if (!Array.isArray(value)) throw corrupt(file, `${name} is ${describe(value)}, not an array`);
  return value;
}

export function objectMember(object: JsonObject, name: string, file: string): JsonObject {
  return asObject(member(object, name), file, name);
}

/** A map of strings; keys such as `__proto__` stay plain keys. */
export function stringMapMember(
  object: JsonObject,
  name: string,
  file: string,
): Record<string, string> {
  const entries = Object.entries(objectMember(object, name, file));
  for (const [key, value] of entries) {
    if (typeof value !== 'string') throw corrupt(file, `${name}.${key} is not a string`);
  }
  return Object.fromEntries(entries) as Record<string, string>;
}

const FILE_ID = /^[0-9a-f-]{8,64}$/;
/** The name of an object the engine wrote: never joined to a path before it passed this. */
export function fileIdMember(object: JsonObject, name: string, file: string): string {
  const value = stringMember(object, name, file);
  if (!FILE_ID.test(value)) throw corrupt(file, `${name} is not a file id`);
  return value;
}

function describe(value: unknown): string {
  if (value === undefined) return 'missing';
  return JSON.stringify(value).slice(0, 60);
}
