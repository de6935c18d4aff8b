/** Entries of fragments whose columns lie in several files: what is added, found again, and refused. */
import fc from 'fast-check';
import { expect, test } from 'vitest';
import {
  decodeFragment,
  type FragmentEntry,
  featuresOf,
  fragmentText,
  isReadByLance,
  REPLACED_FIELD,
} from '../../src/format/catalog/fragment-entry.ts';
import {
  columnFiles,
  fileIds,
  storedBytes,
  withOverlay,
} from '../../src/format/catalog/overlays.ts';
import { fragmentEntry } from '../helpers/metadata-samples.ts';

const base = fragmentEntry(3);

let made = 0;
const written = (fields: readonly number[], lance = true) => {
  made += 1;
  return {
    file: made.toString(16).padStart(8, '0'),
    rows: base.rows,
    bytes: 500 + made,
    footerBytes: 90,
    footerChecksum: made,
    fields,
    statistics: fields.map((id) => [made, id]),
    ...(lance ? { lance: { fileSize: 300, fields } } : {}),
  };
};

test('each field is found in the newest file that holds it, whatever was added before', () => {
  const steps = fc.array(fc.uniqueArray(fc.nat(5), { minLength: 1, maxLength: 3 }), {
    minLength: 1,
    maxLength: 7,
  });
  fc.assert(
    fc.property(steps, (all) => {
      let entry: FragmentEntry = base;
      const newest = new Map(base.fields.map((id) => [id, base.file]));
      for (const fields of all) {
        const overlay = written(fields);
        entry = withOverlay(entry, overlay);
        for (const id of fields) newest.set(id, overlay.file);
      }
      const files = columnFiles(entry);
      for (const [id, file] of newest) {
        const at = entry.fields.indexOf(id);
        expect(entry.fields.lastIndexOf(id)).toBe(at);
        const found = files.find(({ first, columns }) => at >= first && at < first + columns);
        expect(found?.file).toBe(file);
        if (file !== base.file) expect(entry.statistics[at]).toEqual([found?.footerChecksum, id]);
      }
      // Of each overlay some column is left, and its own file stays.
      const used = new Set(newest.values());
      expect(files[0]?.file).toBe(base.file);
      for (const { file } of entry.overlays ?? []) expect(used).toContain(file);
      expect(new Set(fileIds(entry))).toEqual(new Set([base.file, ...used]));
      expect(storedBytes(entry)).toBe(files.reduce((sum, { bytes }) => sum + bytes, 0));
      expect(decodeFragment(JSON.parse(fragmentText(entry)), 'm')).toEqual(entry);
      expect(featuresOf(entry)).toEqual(['overlays']);
    }),
    { numRuns: 60 },
  );
});

test('Lance reads a fragment whose files it can all read, and its own names are forgotten', () => {
  const origin = [{ path: 'data/a.lance', fileSize: 90, fields: [0, 1], columns: [0, 1] }];
  const lance = { fileSize: 900, fields: [0, 1], origin };
  const read = withOverlay({ ...base, lance }, written([1]));
  expect(isReadByLance(read)).toBe(true);
  expect(read.lance).toEqual({ fileSize: 900, fields: [0, 1] });
  const unread = withOverlay({ ...base, lance }, written([1], false));
  expect(isReadByLance(unread)).toBe(false);
  expect(decodeFragment(JSON.parse(fragmentText(unread)), 'm')).toEqual(unread);
  expect(isReadByLance(withOverlay(base, written([1])))).toBe(false);
});

test('whether a fragment is compressed is said by a truth value', () => {
  const entry = JSON.parse(fragmentText(base));
  expect(decodeFragment({ ...entry, compressed: true }, 'm')).toMatchObject({ compressed: true });
  expect(() => decodeFragment({ ...entry, compressed: 'zstd' }, 'm')).toThrow(
    /compressed of a fragment is neither true nor false/,
  );
});

test.each<[string, (entry: Record<string, unknown>) => void, RegExp]>([
  ['no overlay in the list', (e) => (e.overlays = []), /has 0 overlays, not 1 to 8/],
  [
    'nine overlays',
    (e) => (e.overlays = Array(9).fill((e.overlays as unknown[])[0])),
    /has 9 overlays/,
  ],
  ['a list that is none', (e) => (e.overlays = {}), /overlays/],
  ['an overlay that is none', (e) => (e.overlays = [7]), /an overlay/],
  ['no columns', (e) => ((e.overlays as [{ columns: number }])[0].columns = 0), /do not fit/],
  ['all the columns', (e) => ((e.overlays as [{ columns: number }])[0].columns = 3), /do not fit/],
  ['a field twice', (e) => (e.fields = [0, 1, 1]), /do not fit its fields/],
  ['statistics of fewer', (e) => (e.statistics = [[], []]), /do not fit its fields/],
  ['a field below', (e) => (e.fields = [0, -2, 1]), /something else than field ids/],
  ['another place', (e) => ((e.overlays as [{ file: string }])[0].file = '../x'), /not a file id/],
  [
    'a long footer',
    (e) => ((e.overlays as [{ bytes: number }])[0].bytes = 5),
    /longer than the frag/,
  ],
  ['a replaced field without overlays', (e) => delete e.overlays, /something else than field ids/],
])('an entry with %s is refused', (_, change, message) => {
  const entry = JSON.parse(fragmentText(withOverlay(base, written([1])))) as Record<
    string,
    unknown
  >;
  expect(entry.fields).toEqual([0, REPLACED_FIELD, 1]);
  change(entry);
  expect(() => decodeFragment(entry, 'm')).toThrow(message);
});
