/** The fragments of a manifest, written run by run, against the same fragments written one by one. */
import { expect, test } from 'vitest';
import type { FragmentEntry } from '../../../src/format/index.ts';
import {
  type LanceVersion,
  lanceManifest,
  readLanceManifest,
} from '../../../src/format/lance/index.ts';
import { seeded } from '../../helpers/arrow-samples.ts';
import { entry } from '../../helpers/engines.ts';

const version = (
  fragments: LanceVersion['fragments'],
  rest: Partial<LanceVersion> = {},
): LanceVersion => ({
  version: 3,
  timestamp: 1_700_000_000_000,
  fields: [],
  schemaMetadata: new Map(),
  tableMetadata: {},
  nextFragmentId: 5,
  transaction: 't',
  writable: false,
  fragments,
  ...rest,
});
const branch = { name: 'dev', tablePath: '/c/data/t.table' };

/** Each fragment is a list of its own, in order, so that nothing is known of the one before. */
const oneByOne = (fragments: readonly FragmentEntry[], rest: Partial<LanceVersion>): Uint8Array => {
  const sorted = [...fragments].sort((one, other) => one.id - other.id);
  return lanceManifest(
    version(
      sorted.map((fragment) => [{ ...fragment }]),
      rest,
    ),
  );
};

const hex = (bytes: Uint8Array): string => Buffer.from(bytes).toString('hex');

test('runs have the bytes of their fragments', () => {
  const random = seeded(3);
  const pick = <Item>(items: readonly Item[]): Item =>
    items[Math.floor(random() * items.length)] as Item;
  const columns = [[0, 1], [0, 2], Array.from({ length: 70 }, (_, at) => at * 3), [5]];
  for (let round = 0; round < 200; round++) {
    let id = pick([0, 120, 16_370, 2 ** 31 - 5]);
    const fragments = Array.from({ length: 1 + Math.floor(random() * 24) }, (_, at) => {
      id += random() < 0.8 ? 1 : 60;
      return entry(id, {
        file: random() < 0.9 ? `file-${String(at).padStart(4, '0')}` : 'another',
        rows: random() < 0.8 ? 1 : 300,
        lance: {
          fileSize: random() < 0.8 ? 90 : 20_000,
          fields: random() < 0.8 ? [0, 1] : pick(columns),
        },
        deletion:
          random() < 0.9
            ? undefined
            : { file: '00000000-0000-0000-0000-000000000001', rows: 1, bytes: 1, checksum: 0 },
      });
    });
    if (round % 5 === 0) fragments.reverse();
    const cut = Math.floor(random() * (fragments.length + 1));
    const runs = [fragments.slice(0, cut), fragments.slice(cut)];
    if (round % 7 === 0) runs.reverse();
    for (const rest of [{}, { branch }, { fileName: (file: string) => `${file}.lance` }]) {
      const expected = hex(oneByOne(fragments, rest));
      expect(hex(lanceManifest(version(runs, rest)))).toBe(expected);
      // From what was kept of the runs.
      expect(hex(lanceManifest(version(runs, rest)))).toBe(expected);
    }
  }
});

test('a run whose fields have other ids in Lance is not taken for the one without', () => {
  const run = [entry(0, { lance: { fileSize: 90, fields: [0, 3] } })];
  const fieldsOf = (rest: Partial<LanceVersion>): readonly number[] | undefined =>
    readLanceManifest(lanceManifest(version([run], rest)), 'm').fragments[0]?.files[0]?.fields;
  const ids = { fieldIds: [0, 3], lanceIds: new Map([[3, 1]]) };
  expect(fieldsOf({})).toEqual([0, 3]);
  expect(fieldsOf({ ids })).toEqual([0, 1]);
  expect(fieldsOf({})).toEqual([0, 3]);
});
