/** Odd files whose fields were compared with DuckDB's reading of them, by test/interop/duckdb/csv.mjs. */
import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { Utf8 } from '../../../src/arrow/index.ts';
import { openCsv } from '../../../src/interchange/csv/csv-reader.ts';
import { memorySource } from '../../../src/interchange/files/byte-source.ts';

interface OddFile {
  readonly text: string;
  readonly delimiter: string;
  readonly hasHeader: boolean;
  readonly refused?: true;
  readonly names?: readonly string[];
  readonly texts?: readonly (readonly (string | null)[])[];
  readonly types?: readonly string[];
}

const files: readonly OddFile[] = JSON.parse(
  readFileSync(new URL('./corpus.json', import.meta.url), 'utf8'),
);

async function read({ text, delimiter, hasHeader }: OddFile, names: readonly string[]) {
  const source = memorySource(new TextEncoder().encode(text), 'x.csv');
  const types = new Map(names.map((name) => [name, new Utf8()]));
  const stream = await openCsv(source, { delimiter, header: hasHeader, types });
  const rows: unknown[][] = [];
  for await (const batch of stream) {
    for (let row = 0; row < batch.numRows; row++) {
      rows.push(stream.schema.fields.map((_, at) => batch.getChildAt(at)?.get(row)));
    }
  }
  return { rows, fields: stream.schema.fields };
}

test('there are such files', () => {
  expect(files.length).toBeGreaterThan(25);
  expect(files.some(({ refused }) => refused)).toBe(true);
});

test.each(files.map((file, at) => [at, file] as const))('file %i', async (_, file) => {
  if (file.refused === true) {
    await expect(read(file, [])).rejects.toMatchObject({ code: 'InvalidInput' });
    return;
  }
  const names = file.names ?? [];
  expect((await read(file, names)).rows).toEqual(file.texts);
  const guessed = await read(file, []);
  expect(guessed.fields.map(({ name }) => name)).toEqual(names);
  expect(guessed.fields.map(({ type }) => String(type))).toEqual(file.types);
});
