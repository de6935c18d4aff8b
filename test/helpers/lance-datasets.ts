/**
 * The Lance datasets of `fixtures/lance-datasets.json`, written by pylance 14 with
 * test/interop/lance/make_datasets.py, and the rows that pylance reads from some of their versions.
 */
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import type { LanceVersionChoice } from '../../src/datasets/index.ts';

interface Fixture {
  readonly entries: readonly {
    readonly dataset: string;
    readonly rows: string;
    readonly version: number;
    readonly choice: LanceVersionChoice;
  }[];
  readonly datasets: Readonly<Record<string, Readonly<Record<string, string>>>>;
}

const FILE = join(import.meta.dirname, '..', '..', 'fixtures', 'lance-datasets.json');
const fixture = JSON.parse(readFileSync(FILE, 'utf8')) as Fixture;

const bytesIn = (text: string): Uint8Array => new Uint8Array(Buffer.from(text, 'base64'));

/** Versions with the rows that they have, as an Arrow stream. */
export const lanceVersions = fixture.entries.map((entry) => ({
  ...entry,
  rows: bytesIn(entry.rows),
}));

/** Writes a dataset below `folder`. */
export function writeDataset(name: string, folder: string): string {
  const files = fixture.datasets[name];
  if (files === undefined) throw new Error(`There is no dataset ${name}.`);
  const home = join(folder, name);
  for (const [path, text] of Object.entries(files)) {
    mkdirSync(dirname(join(home, path)), { recursive: true });
    writeFileSync(join(home, path), bytesIn(text));
  }
  return home;
}

/** All data files. */
export const lanceDataFiles: readonly { readonly name: string; readonly bytes: Uint8Array }[] =
  Object.entries(fixture.datasets).flatMap(([dataset, files]) =>
    Object.entries(files)
      .filter(([path]) => path.endsWith('.lance'))
      .map(([path, text]) => ({ name: `${dataset}/${path}`, bytes: bytesIn(text) })),
  );
