/**
 * Reads the datasets that make_datasets.py wrote: `read_datasets.ts OUT`. Puts what it read beside what
 * Lance did, as OUT/<rows>.ours, and as a dataset of its own, OUT/<rows>.copy.
 */
import { createWriteStream, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { openLanceDataset, writeLanceDataset } from '../../../src/datasets/index.ts';
import { encodeIpcStream } from '../../../src/ipc/index.ts';

const [out = ''] = process.argv.slice(2);
interface Entry {
  readonly dataset: string;
  readonly rows: string;
  readonly choice: { readonly version?: number; readonly tag?: string };
}
const entries = JSON.parse(readFileSync(join(out, 'datasets.json'), 'utf8')) as Entry[];
for (const { dataset, rows, choice } of entries) {
  try {
    const stream = await openLanceDataset(join(out, dataset), choice);
    await pipeline(encodeIpcStream(stream), createWriteStream(join(out, `${rows}.ours`)));
  } catch (error) {
    writeFileSync(join(out, `${rows}.error`), String(error));
    continue;
  }
  try {
    const again = await openLanceDataset(join(out, dataset), choice);
    const options = { maxFileRows: 1000 };
    await writeLanceDataset(join(out, `${rows}.copy`), again.schema, again, options);
  } catch (error) {
    writeFileSync(join(out, `${rows}.refused`), String(error));
  }
}
