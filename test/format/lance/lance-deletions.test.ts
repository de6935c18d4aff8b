/**
 * Deletion files of Lance's writers, decoded: those that pylance 14 wrote, Roaring bitmaps of CRoaring, and
 * both damaged.
 */
import { createHash } from 'node:crypto';
import { inflateSync } from 'node:zlib';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { isDirspaceError } from '../../../src/errors.ts';
import { encodeDeletions } from '../../../src/format/catalog/deletions.ts';
import {
  decodeLanceDeletions,
  type LanceDeletionKind,
} from '../../../src/format/lance/lance-deletions.ts';

const bytesOf = (text: string): Uint8Array => inflateSync(Buffer.from(text, 'base64'));
const decoded = (bytes: Uint8Array, kind: LanceDeletionKind, rows: number): Promise<Uint32Array> =>
  decodeLanceDeletions(bytes, { kind, rows, file: 'f' });
const where = (rows: number, wanted: (row: number) => boolean): Uint32Array =>
  Uint32Array.from({ length: rows }, (_, row) => row).filter(wanted);

/** Of 20,000 rows: `id % 7 = 3 and id < 4000`, in no order; then `id % 3 = 0` with those. */
const ARROW =
  'eNpzDAryDzdkIBv8B4IKIC0A5nEx8AAxJwMLkISKMbIwcAAhAwMLlAQKAbEIWF4MrIYfLMoBZksAsQzEaCYJMMUGlGEBkgwMClA7Qeyi/PL4zBSI/TugdvEATRViEATbxAM1p4EVqomZBSgmA1THAzYPJB8DxDpQvdZMCD8xovFhAFlIEko7QGkFmD1g97KD3Qg1Ci/wgNIaW/X/Kni4Ah3z/z8jQzOTDpHh/4YDoT/hDXupBsOprhhhZYELa02ZQWHTf8wlnf993c+M/PzO/jp9SX/F3WBQvVyPUYtRn3GjybmUnbuP/fkhVJJ6SFjY/fQa2QKr5NK+KkuhZJ7zEysnPVjVoe+/rWvmqced05VtvE3n2H4SPTNNIH2nz8QN6idmCye3TOu44fws983bm8HFYcemaFUr2LAauh67KVw94U7vh2lHpkn5L9fZ+DHk7czCkBM35mw0Cc/7s3bn4pSsDnu76qVncqvztwn82PzMYOdc09Rzq3ZYPeacosvzjq1C+hF323aZZ5MiH6f2Nho6x5fs2Wnw9Og1Ef87QQrlwT5rN04/IctVXdv3bsbj5PeT1ju6Z//jOBtpeO3AxTmW0ssWrfZY9igi6IFPv3XaM7EZzUmvbyV/Ljk8f469RblHDecmloOChv4zbTYatP49u9Po6dqZ9s7hJ+90frqartW6NfEc14zbD+qfiVhuenq2e2X8Pq7avZWTk7Wn3l5T+PHoqbg5yvbnPCRnP3lxbsYc5ZB5HJZeyTznwpTzOXVS/bfOmbrhetq5KVtfZU1X57t3omJXQv6FqYzxu2ouxKhET+k5+LHshJCm9zSd2oIrb22Lv55M3PE6IXeism115TK5HUwpbzqWik9bYm1zbcf2/N52XZVpq2ZYJ/ucv6WZnbim8dOXY1e50jezng5cYCo578Q9E9cDc6Tjc89Nsbj8sK/dUHPdmoqoJ29ajdPrXryZsVy478+drRvUDsYIZvvoMH7+emZauUuGT8/lj9OOx8gWa9esrJy33yRad4+lkdgpUYl0lztHNy45eFUsXNrHctOXE3fUy5Njrn4UO31RRT81f5qh27uunYue9rYZJj2Lqqx+sG6iKsO8XxFaD3e92fjp5bpu8V2L7q2oME7z7N4Yd05LwkumtSjkuWebJfeyohleD3x+dX2edmgKv/+pPYWbyl94TrLWWVYQufrpOetLKVrNa/XObflR/HnbMVH56+tadnYlruxRttA7Mc8s9KSwVHXTM58K5QTdrp2632ZETk7h7t7vEOxps3OT+/F5c82F7hn96Ep62amseU7PsqlY9FC4dHyaj+ym1BOXGcNn+BwtCvv3JYb3U/nz0+fipaJta95uTDsurhJt/GeGqfK2AovZjz3OXeNIl/oju/HbsbvywX57Vn5iO/E9Jrdcoofz87ODk7i8rXROblI7dI3BX+nNwsrfqWv7t+v8e9Vzd2Z0El/T+aL0E7MYomVjdAvZT4eyxC+NiSy4fvienPe5mr+VQglnpnH/Ek4+1bpVelrRT6+Us1O1Nfp+1DDuYnq0vnGpfF9cZFRq9mRd9n18ssnre37ePJScN90y6p3ADKnUlZM1pd61zDj1yGuivb17S0/mJ9fnPb2rw5bZ7Jid0Ntqzb5OLGLW4wk2hgX+07QsnFNWdxqzvguyfP2E+2ycdP7UOZGfvP89y59qHX9vw8a809P1zbLD18QWfDs8kyv5dM3Zom8HJeavt2E32fYs+5bU45N9qrbP2CKtH66vln6a1W5oHixiM2O377msGcxJei3m8n08si1L9Y+dsfD67HYwhiHezSa2MOXvw5u/kjknmprs22Ibe27Tyvcnzt41DJnGZTFrJ8e3fz2in8R8Cz9ZFF+5w1fu+4ax6nCqzoV7POGMPpKbTQ9eM2ZYtmKGcYLu5M3669J6m/c6vd+seipYov6ZzoTlifu+5SzccO2M3Fxb/2dJO3Y/5WtfGz1vh0VSiqYAC+OLCEHNapdPM1rFz7RZaSsVrtD56Kz3mnXpMk8G8+KK3j0vJZWU5nM3ip86mVkR/DTpAjH1FwO0PmKA1yGIOiIHiDvg9Rtt6zKQWQeg4jAaXn9BwQogdgTX2QAQ86tI';
const BITMAP =
  'eNrtyKENhEAARNGlg/NnN6gTCBQdbAgF4DE0QgGQnMDTAF1gqQiwdAB5Lz8jpipCyMJl+H7OTf9822M7x3rq+vHXjEtaS+erz5gkSdLTCwAAAAAAcHMAz3lucQ==';
const first = (row: number): boolean => row % 7 === 3 && row < 4000;

test('the files of pylance', async () => {
  expect(await decoded(bytesOf(ARROW), 'arrow', 20_000)).toEqual(where(20_000, first));
  const second = where(20_000, (row) => first(row) || row % 3 === 0);
  expect(await decoded(bytesOf(BITMAP), 'bitmap', 20_000)).toEqual(second);
});

/** With the rows and the beginning of the SHA-256 of them as 32-bit numbers. */
const ROARING: readonly (readonly [string, number, string, string])[] = [
  ['lists', 5, '384bc109270b6b8c', 'eNqzMmBgYGYAAUYwBLEVgFgFiDXAoqwMBYKFgg68AB+bAjY='],
  [
    'a bitmap',
    10_001,
    'cb667558b26fc1a7',
    'eNrtxKENwCAARcFfOgAWiaut7h7sv0rBsgHJXfLe9yYlS32u+bbqyQAA4DgBAAAAAIDNnR83SD84',
  ],
  ['runs', 13_990, '77413624e2c8e873', 'eNqzNmBkYGZgqBVmZFBXZmTgArMYgGwAHgwCMQ=='],
  [
    'runs in many containers',
    2_974,
    '014e927f9922b8a3',
    'eNodyykSgDAABMFZjuQ7eIpCoFAoFIr/Q44fsET0uJmnwAqPxKuOpJ6sgaKRqgAsttluh5122W0itjP6/Ztac2tpre4H9d0OWg==',
  ],
];

test.each(ROARING)('a Roaring bitmap of %s', async (_, rows, hash, text) => {
  const found = await decoded(bytesOf(text), 'bitmap', 400_000);
  expect(found.length).toBe(rows);
  expect(createHash('sha256').update(found).digest('hex').slice(0, 16)).toBe(hash);
});

test.each(ROARING)('%s, cut off or longer', async (_, _rows, _hash, text) => {
  const bytes = bytesOf(text);
  for (const at of [0, 1, 4, 8, 9, bytes.length >> 1, bytes.length - 1]) {
    await expect(decoded(bytes.subarray(0, at), 'bitmap', 400_000)).rejects.toThrow('damaged');
  }
  const longer = Buffer.concat([bytes, Buffer.alloc(1)]);
  await expect(decoded(longer, 'bitmap', 400_000)).rejects.toThrow('1 bytes follow');
});

test.each(ROARING)('%s, of a fragment with too few rows', async (_, rows, _hash, text) => {
  await expect(decoded(bytesOf(text), 'bitmap', rows - 1)).rejects.toThrow('damaged');
  await expect(decoded(bytesOf(text), 'bitmap', rows)).rejects.toThrow('is deleted of a fragment');
});

const u16 = (...numbers: number[]): Uint8Array => new Uint8Array(Uint16Array.from(numbers).buffer);
const runs = (...numbers: number[]): Uint8Array =>
  Buffer.concat([u16(12_347, 0), Uint8Array.of(1), u16(...numbers)]);

test.each([
  ['another cookie', u16(1, 0, 1, 0), 'its cookie is 1'],
  ['too many containers', u16(12_346, 0, 1, 1), 'it has 65537 containers'],
  [
    'containers out of order',
    u16(12_346, 0, 2, 0, 1, 0, 1, 0, 0, 0, 0, 0, 5, 5),
    'container 1 follows container 1',
  ],
  ['a list out of order', u16(12_346, 0, 1, 0, 0, 1, 0, 0, 5, 5), 'row 5 follows row 5'],
  ['runs that overlap', runs(0, 3, 2, 5, 1, 6, 1), 'rows 6 to 7 are out of order'],
  ['more rows in runs than are counted', runs(0, 3, 1, 5, 4), 'other rows than the 4'],
  ['fewer rows in runs than are counted', runs(0, 3, 1, 5, 2), 'other rows than the 4'],
  ['a run that ends behind its container', runs(0, 3, 1, 65_534, 3), 'out of order'],
])('%s is refused', async (_, bytes, what) => {
  await expect(decoded(bytes, 'bitmap', 400_000)).rejects.toThrow(what);
});

test('bitmaps that hold other rows than are counted are refused', async () => {
  const bytes = Buffer.from(bytesOf(ROARING[1]?.[3] as string));
  bytes[bytes.length - 100] = 1;
  await expect(decoded(bytes, 'bitmap', 400_000)).rejects.toThrow(
    'a bitmap has 10001 rows, and 10000',
  );
});

test('Arrow files: repeated rows, rows behind the fragment, other columns', async () => {
  const bytes = encodeDeletions(Uint32Array.of(1, 2, 4000), 5000);
  expect(await decoded(bytes, 'arrow', 4001)).toEqual(Uint32Array.of(1, 2, 4000));
  await expect(decoded(bytes, 'arrow', 4000)).rejects.toThrow('row 4000 is deleted of a fragment');
  const repeated = Buffer.from(bytes);
  repeated.writeUInt32LE(1, repeated.indexOf(Buffer.from(Uint32Array.of(1, 2, 4000).buffer)) + 4);
  await expect(decoded(repeated, 'arrow', 5000)).rejects.toThrow('row 1 is deleted twice');
  const text = Buffer.from(bytes).toString('latin1').replaceAll('row_id', 'row_ix');
  const renamed = Buffer.from(text, 'latin1');
  await expect(decoded(renamed, 'arrow', 5000)).rejects.toThrow('is not one column row_id');
  await expect(decoded(Buffer.from('no Arrow'), 'arrow', 5000)).rejects.toThrow(
    'file f is damaged',
  );
});

test.each([
  ['arrow', ARROW],
  ['bitmap', BITMAP],
  ['bitmap', ROARING[3]?.[3] as string],
] as const)('a damaged %s gives an error that names it, or ascending rows', async (kind, text) => {
  const whole = bytesOf(text);
  await fc.assert(
    fc.asyncProperty(
      fc.array(fc.tuple(fc.nat(whole.length - 1), fc.nat(255)), { minLength: 1, maxLength: 3 }),
      async (changes) => {
        const bytes = Uint8Array.from(whole);
        for (const [at, value] of changes) bytes[at] = value;
        try {
          const found = await decoded(bytes, kind, 400_000);
          expect(found.every((row, at) => at === 0 || row > (found[at - 1] as number))).toBe(true);
        } catch (error) {
          expect(isDirspaceError(error, 'Corrupt')).toBe(true);
          expect(String(error)).toContain('file f is damaged');
        }
      },
    ),
    { numRuns: 150 },
  );
});
