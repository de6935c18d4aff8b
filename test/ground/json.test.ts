/** Reading metadata member by member: what passes, and what every complaint says. */
import { crc32 } from 'node:zlib';
import { describe, expect, test } from 'vitest';
import { isDirspaceError } from '../../src/errors.ts';
import {
  arrayMember,
  asObject,
  corrupt,
  encodeChecksummed,
  encodeChecksummedInSteps,
  encodeChecksummedText,
  fileIdMember,
  integerMember,
  isWholeNumber,
  member,
  objectMember,
  parseChecksummed,
  parseJson,
  stringMapMember,
  stringMember,
} from '../../src/json.ts';
import { drained } from '../../src/steps.ts';

const FILE = 'a/b.json';
const bytesOf = (text: string): Uint8Array => Buffer.from(text);

/** What of the file is wrong, as the error says it. */
function complaint(run: () => unknown): string {
  try {
    run();
  } catch (error) {
    if (!isDirspaceError(error, 'Corrupt')) throw error;
    expect(error.details).toEqual({ file: FILE });
    const found =
      /^The file a\/b\.json is damaged: (.*)\. Run verify on the catalog to see what else is affected\.$/s.exec(
        error.message,
      );
    return found?.[1] ?? error.message;
  }
  return 'nothing';
}

test('an error names the file, and its cause where there is one', () => {
  const cause = new Error('underneath');
  expect(corrupt(FILE, 'it is odd', cause)).toMatchObject({ code: 'Corrupt', cause });
  expect('cause' in corrupt(FILE, 'it is odd')).toBe(false);
  expect(
    complaint(() => {
      throw corrupt(FILE, 'it is odd');
    }),
  ).toBe('it is odd');
});

describe('a document', () => {
  test.each([
    ['', 'it is empty'],
    ['{', 'it is not JSON'],
    ['{}x', 'it is not JSON'],
    ['null', 'the document is not an object'],
    ['[]', 'the document is not an object'],
    ['7', 'the document is not an object'],
    ['"x"', 'the document is not an object'],
  ])('%j: %s', (text, message) => {
    expect(complaint(() => parseJson(bytesOf(text), FILE))).toBe(message);
  });

  test('bytes that are no UTF-8 are not replaced', () => {
    const damaged = Uint8Array.of(0x7b, 0x22, 0xff, 0x22, 0x3a, 0x31, 0x7d);
    expect(complaint(() => parseJson(damaged, FILE))).toBe('it is not JSON');
    try {
      parseJson(damaged, FILE);
    } catch (error) {
      expect((error as Error).cause).toBeInstanceOf(TypeError);
    }
    expect(parseJson(bytesOf('{"é":"ü"}'), FILE)).toEqual({ é: 'ü' });
  });

  test('64 MiB are read, a byte more is not', () => {
    const most = 64 * 1024 * 1024;
    const bytes = Buffer.alloc(most + 1, ' ');
    bytes.write('{"a":1}');
    expect(parseJson(bytes.subarray(0, most), FILE)).toEqual({ a: 1 });
    expect(complaint(() => parseJson(bytes, FILE))).toBe(
      '67108865 bytes are more than a metadata file may have',
    );
  });
});

describe('a checksum', () => {
  const text = '{"format":1,"name":"é"}';
  const tail = `,${text.slice(1)}\n`;

  test('comes first, and is the crc32 of all that follows it', () => {
    const { bytes, checksum } = encodeChecksummedText(text);
    const sum = crc32(Buffer.from(tail)).toString(16).padStart(8, '0');
    expect(checksum).toBe(sum);
    expect(Buffer.from(bytes).toString()).toBe(`{"checksum":"crc32:${sum}"${tail}`);
    expect(encodeChecksummed({ format: 1, name: 'é' })).toEqual({ bytes, checksum });
    const document = { checksum: `crc32:${sum}`, format: 1, name: 'é' };
    expect(parseChecksummed(bytes, FILE)).toEqual({ document, checksum });
    // Also where the bytes are in the middle of others.
    const within = Buffer.concat([Buffer.from('xy'), bytes, Buffer.from('z')]);
    expect(parseChecksummed(within.subarray(2, -1), FILE).document).toEqual(document);
  });

  test('is the same of a text in pieces, of which some are bytes', () => {
    const document = { a: 'ä', b: [1, 2] };
    const text = JSON.stringify(document);
    const whole = encodeChecksummed(document);
    for (const bytesAt of [0, 1, 2]) {
      const pieces = [text.slice(0, 1), text.slice(1, 6), text.slice(6)].map((piece, at) =>
        at === bytesAt ? Buffer.from(piece) : piece,
      );
      expect(drained(encodeChecksummedInSteps(pieces))).toEqual(whole);
    }
  });

  test('has eight digits, whatever its value', () => {
    const sums = new Set<string>();
    for (let at = 0; at < 400; at++) {
      const { bytes, checksum } = encodeChecksummed({ at });
      expect(checksum).toMatch(/^[0-9a-f]{8}$/);
      expect(parseChecksummed(bytes, FILE).checksum).toBe(checksum);
      sums.add(checksum.slice(0, 1));
    }
    expect(sums.size).toBe(16);
  });

  test('that is missing, cut, or of something else is told apart', () => {
    const { bytes } = encodeChecksummedText(text);
    const { length } = '{"checksum":"crc32:';
    expect(complaint(() => parseChecksummed(new Uint8Array(0), FILE))).toBe('it is empty');
    for (const start of [text, 'x', '{"checksum":"crc31:00000000"}', bytes.subarray(1)]) {
      expect(complaint(() => parseChecksummed(Buffer.from(start as string), FILE))).toBe(
        'it does not start with a checksum',
      );
    }
    for (let cut = 1; cut < bytes.length; cut++) {
      expect(complaint(() => parseChecksummed(bytes.subarray(0, cut), FILE))).toBe(
        cut < length ? 'it does not start with a checksum' : 'its bytes do not match its checksum',
      );
    }
    const upper = Buffer.from(bytes);
    upper.write(upper.toString('latin1', length, length + 8).toUpperCase(), length, 'latin1');
    if (!upper.equals(bytes)) {
      expect(complaint(() => parseChecksummed(upper, FILE))).toBe(
        'its bytes do not match its checksum',
      );
    }
  });

  test('that is right does not make JSON of what is none', () => {
    const { bytes } = encodeChecksummedText('{"a":}');
    expect(complaint(() => parseChecksummed(bytes, FILE))).toBe('it is not JSON');
  });
});

describe('a member', () => {
  const odd = JSON.parse('{"__proto__":"p","constructor":7,"a":null}') as Record<string, unknown>;

  test('is one of its own', () => {
    expect(member(odd, '__proto__')).toBe('p');
    expect(member(odd, 'constructor')).toBe(7);
    expect(member(odd, 'a')).toBeNull();
    expect(member({}, 'constructor')).toBeUndefined();
    expect(complaint(() => integerMember({}, 'constructor', FILE))).toBe(
      'constructor is missing, not a whole number',
    );
  });

  test.each([0, 1, 2 ** 31, 2 ** 32, Number.MAX_SAFE_INTEGER])('%d is a whole number', (value) => {
    expect(integerMember({ n: value }, 'n', FILE)).toBe(value);
    expect(isWholeNumber(value)).toBe(true);
  });

  test.each([
    [undefined, 'missing'],
    [null, 'null'],
    ['1', '"1"'],
    [[1], '[1]'],
    [true, 'true'],
    [-1, '-1'],
    [-0, '0'],
    [1.5, '1.5'],
    [2 ** 53, '9007199254740992'],
    [Number.NaN, 'null'],
    [1n, 'too odd for JSON'],
  ])('%s is none', (value, shown) => {
    expect(isWholeNumber(value)).toBe(false);
    if (typeof value === 'bigint') return;
    expect(complaint(() => integerMember({ n: value }, 'n', FILE))).toBe(
      `n is ${shown}, not a whole number`,
    );
  });

  test('is a string, an array, an object, or told what it is instead', () => {
    expect(stringMember({ s: '' }, 's', FILE)).toBe('');
    expect(complaint(() => stringMember({ s: 7 }, 's', FILE))).toBe('s is 7, not a string');
    expect(complaint(() => stringMember({}, 's', FILE))).toBe('s is missing, not a string');
    expect(arrayMember({ a: [] }, 'a', FILE)).toEqual([]);
    expect(complaint(() => arrayMember({ a: { length: 0 } }, 'a', FILE))).toBe(
      'a is {"length":0}, not an array',
    );
    expect(objectMember({ o: { a: 1 } }, 'o', FILE)).toEqual({ a: 1 });
    for (const value of [undefined, null, 7, 'x', [], true]) {
      expect(complaint(() => objectMember({ o: value }, 'o', FILE))).toBe('o is not an object');
      expect(complaint(() => asObject(value, FILE, 'it'))).toBe('it is not an object');
    }
  });

  test('is shown in 60 letters at most', () => {
    const shown = `"${'x'.repeat(59)}`;
    expect(complaint(() => integerMember({ n: 'x'.repeat(900) }, 'n', FILE))).toBe(
      `n is ${shown}, not a whole number`,
    );
  });

  test('is a map of strings, whatever its keys', () => {
    const map = JSON.parse('{"m":{"__proto__":"p","constructor":"c","":""}}');
    const found = stringMapMember(map, 'm', FILE);
    expect(Object.entries(found)).toEqual([
      ['__proto__', 'p'],
      ['constructor', 'c'],
      ['', ''],
    ]);
    expect(Object.getPrototypeOf(found)).toBe(Object.prototype);
    expect(complaint(() => stringMapMember({ m: { a: 'b', c: 7 } }, 'm', FILE))).toBe(
      'm.c is not a string',
    );
    expect(complaint(() => stringMapMember({ m: [] }, 'm', FILE))).toBe('m is not an object');
  });

  test.each(['01234567', 'abcdef-0', '-'.repeat(64)])('%s is a file id', (id) => {
    expect(fileIdMember({ f: id }, 'f', FILE)).toBe(id);
  });

  test.each([
    '',
    '0123456',
    'a'.repeat(65),
    '0123456A',
    '../01234567',
    '01234567/..',
    '01234567\n',
  ])('%j is no file id', (id) => {
    expect(complaint(() => fileIdMember({ f: id }, 'f', FILE))).toBe('f is not a file id');
  });

  test('no file id is no string', () => {
    expect(complaint(() => fileIdMember({ f: 7 }, 'f', FILE))).toBe('f is 7, not a string');
  });
});
