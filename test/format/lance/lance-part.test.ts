/**
 * The Lance part of a fragment and Lance's manifest, byte by byte as in `fixtures/lance`, which pylance was
 * seen to read (`npm run interop:lance`).
 */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import {
  Bool,
  type DataType,
  Field,
  FixedSizeList,
  Int32,
  List,
  Schema,
  Struct,
  Utf8,
} from '../../../src/arrow/apache.ts';
import { decodeVersion, type Manifest } from '../../../src/format/catalog/index.ts';
import { decodeFragment, encodeFragment } from '../../../src/format/fragment/index.ts';
import {
  BatchPages,
  type PageParts,
  type PendingPage,
} from '../../../src/format/lance/column-pages.ts';
import { LancePartWriter, lanceFields } from '../../../src/format/lance/index.ts';
import { withFieldIds } from '../../../src/ipc/index.ts';
import { randomBatch, seeded } from '../../helpers/arrow-samples.ts';

const FIXTURE = join(import.meta.dirname, '..', '..', '..', 'fixtures', 'lance', 'data');

function manifests(table: string): Manifest[] {
  const folder = join(FIXTURE, table);
  const versions = readdirSync(folder).find((name) => name.startsWith('versions-')) as string;
  return readdirSync(join(folder, versions))
    .filter((name) => /^\d+\.json$/.test(name))
    .sort()
    .map((name) => {
      const found = decodeVersion(readFileSync(join(folder, versions, name)), name);
      return (found as { manifest: Manifest }).manifest;
    });
}

describe.each(['types.table', 'changed.table'])('the fragments of %s', (table) => {
  const entries = new Map(
    manifests(table).flatMap(({ fragments }) =>
      fragments.map((fragment) => [fragment.file, fragment] as const),
    ),
  );
  test.each([...entries.values()])('$file', (entry) => {
    const bytes = readFileSync(join(FIXTURE, table, 'data', `${entry.file}.arrow`));
    const { footer, batches } = decodeFragment(bytes, entry, entry.file);
    const schema = withFieldIds(footer.schema, footer.fieldIds as number[]);
    let part: LancePartWriter | undefined;
    const again = encodeFragment(schema, batches, (fields) => {
      part = new LancePartWriter(fields);
      return part;
    });
    expect(Buffer.compare(again.bytes, bytes)).toBe(0);
    expect(part?.entry).toEqual(entry.lance);
  });
});

test('pages hold where buffers lie, and none of the values', () => {
  const fields = [
    new Field('number', new Int32(), true),
    new Field('text', new Utf8(), true),
    new Field('list', new List(new Field('item', new Int32(), true)), true),
  ];
  const schema = withFieldIds(new Schema(fields), [0, 1, 2, 3]);
  const pages: PendingPage[][] = [[], [], [], []];
  encodeFragment(schema, [randomBatch(schema, 20, seeded(3), 0.3)], (given) => ({
    batch(columns, offsets, rows) {
      const into = new BatchPages(pages, 0, () => {});
      for (const [at, column] of columns.entries())
        into.column(given[at] as Field, column, offsets[at] as number);
      expect(rows).toBe(20);
    },
    dictionary() {},
    finish: () => undefined,
  }));
  const parts = pages.flat().map((page) => page.parts as PageParts);
  expect(parts.length).toBeGreaterThan(3);
  const places = parts.flatMap(({ buffers }) =>
    buffers.filter((buffer) => !(buffer instanceof Uint8Array)),
  );
  expect(places.length).toBeGreaterThan(3);
  for (const place of places) expect(Object.keys(place)).toEqual(['at', 'bytes']);
});

function written(
  fields: readonly Field[],
  nulls: number,
): {
  bytes: Uint8Array;
  part: LancePartWriter;
  summary: ReturnType<typeof encodeFragment>['summary'];
} {
  const schema = new Schema([...fields]);
  let next = 0;
  const count = (field: Field): number =>
    1 + ((field.type.children ?? []) as Field[]).reduce((sum, child) => sum + count(child), 0);
  const ids = fields.flatMap((field) => Array.from({ length: count(field) }, () => next++));
  const marked = withFieldIds(schema, ids);
  let part: LancePartWriter | undefined;
  const made = encodeFragment(marked, [randomBatch(marked, 20, seeded(3), nulls)], (given) => {
    part = new LancePartWriter(given);
    return part;
  });
  return { ...made, part: part as LancePartWriter };
}

const nullable = (name: string, type: DataType): Field => new Field(name, type, true);

test('every byte of a fragment with a Lance part is covered by a checksum', () => {
  const { bytes, summary } = written([nullable('a', new Int32()), nullable('b', new Utf8())], 0.3);
  for (let at = 0; at < bytes.length; at++) {
    const damaged = Uint8Array.from(bytes);
    damaged[at] = (damaged[at] as number) ^ 0x10;
    expect(() => decodeFragment(damaged, summary, 'f')).toThrow(/f/);
  }
});

test('a part takes little: a few hundred bytes of one column and batch', () => {
  const column = [nullable('a', new Int32())];
  const { bytes, part } = written(column, 0);
  const entry = part.entry as { fileSize: number };
  expect(entry.fileSize).toBeLessThan(bytes.length);
  const plain = encodeFragment(withFieldIds(new Schema(column), [0]), [
    randomBatch(withFieldIds(new Schema(column), [0]), 20, seeded(3), 0),
  ]);
  expect(bytes.length - plain.bytes.length).toBeLessThan(420);
});

describe('what has no form in Lance 2.0', () => {
  const pair = new Struct([nullable('a', new Int32()), nullable('b', new Int32())]);
  test.each<[string, DataType, string]>([
    [
      'vectors of texts',
      new FixedSizeList(2, nullable('item', new Utf8())),
      'column "c" holds vectors of Utf8',
    ],
    [
      'vectors of bits',
      new FixedSizeList(2, nullable('item', new Bool())),
      'column "c" holds vectors of Bool',
    ],
    [
      'vectors in a list',
      new List(nullable('item', new FixedSizeList(2, nullable('item', new Utf8())))),
      'column "c.item" holds vectors of Utf8',
    ],
    ['a struct of nothing', new Struct([]), 'column "c" holds structs without members'],
  ])('%s', (_, type, problem) => {
    expect(lanceFields([nullable('c', type)], [0, 1, 2])).toEqual({ problem });
  });
  test('null structs, which only the rows tell', () => {
    expect(written([nullable('c', pair)], 0).part.entry).toMatchObject({ fields: [0, 1, 2] });
    expect(written([nullable('c', pair)], 0.5).part.entry).toEqual({
      problem: 'column "c" holds null structs',
      inValues: true,
    });
    const { bytes, summary } = written([nullable('c', pair)], 0.5);
    expect(decodeFragment(bytes, summary, 'f').footer.part).toBeUndefined();
  });
});
