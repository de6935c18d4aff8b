/**
 * T15: fragments and deletion files damaged under a table, read through the engine: Corrupt, or
 * the same rows where nothing that was read changed. Never other rows.
 */
import { isDeepStrictEqual } from 'node:util';
import { type RecordBatchStream, recordBatchStream, Schema } from '../../src/arrow/apache.ts';
import {
  type DirectoryNamespace,
  openDirectoryNamespace,
} from '../../src/directory/directory-namespace.ts';
import { type FragmentEntry, REPLACED_FIELD } from '../../src/format/catalog/fragment-entry.ts';
import { decodeVersion, type Manifest } from '../../src/format/catalog/manifest.ts';
import { columnFiles } from '../../src/format/catalog/overlays.ts';
import {
  type ByteRange,
  columnRanges,
  dictionaryIds,
  dictionaryRanges,
} from '../../src/format/fragment/fragment-decoder.ts';
import { decodeFooter } from '../../src/format/fragment/fragment-footer.ts';
import { deletionFile, fragmentFile, versionFile, versionsFolder } from '../../src/paths.ts';
import { everyType, exactValues, randomBatch } from '../helpers/arrow-samples.ts';
import { collectBatches } from '../helpers/batches.ts';
import { damagedAtRandom, flipBit, STAMPS, stamped } from '../helpers/damage.ts';
import { memoryFs, type TestFs } from '../helpers/memory-fs.ts';
import { seeded } from '../helpers/seeded.ts';
import { breathe, inRounds, refusal, Slowest } from './rounds.ts';
import type { ProofContext, ProofRow } from './row.ts';

const ROOT = '/c';
const LIMIT = 500;
/** Every how many cases the catalog is verified too: verify reads every byte there is. */
const VERIFIED = 40;
const CASES = { ci: 600, short: 22_000, nightly: 22_000 };
const ID = ['t'];
/** Columns of the tables: as many as make files of a few KiB. */
const SMALL = ['int64', 'utf8', 'dictionary', 'list'];

interface Target {
  readonly path: string;
  readonly bytes: Uint8Array;
  /** What a scan of all columns reads of the file: every change in here must be noticed. */
  readonly read: readonly ByteRange[];
  /** Whether a file of that length lacks some of it; if absent, readers know the length. */
  readonly isCut?: (length: number) => boolean;
}

interface Subject {
  readonly fs: TestFs;
  /** Without caches: everything is read again every time. */
  readonly namespace: DirectoryNamespace;
  readonly targets: readonly Target[];
  readonly rows: unknown[][];
  readonly scattered: unknown[][];
  readonly filtered: unknown[][];
}

async function valuesOf(stream: Promise<RecordBatchStream>): Promise<unknown[][]> {
  return exactValues(await collectBatches(await stream));
}

const scan = (namespace: DirectoryNamespace): Promise<unknown[][]> =>
  valuesOf(namespace.queryTable({ id: ID, k: 1_000_000 }));
const take = (namespace: DirectoryNamespace): Promise<unknown[][]> =>
  valuesOf(namespace.takeRows({ id: ID, offsets: [0n, 3n, 7n, 13n] }));
const filter = (namespace: DirectoryNamespace): Promise<unknown[][]> =>
  valuesOf(namespace.queryTable({ id: ID, k: 1_000_000, filter: "utf8 >= 'a'" }));

/** Two fragments of all the columns named, with deleted rows in a file that they share and a column in overlays. */
async function makeSubject(
  seed: number,
  columns: readonly string[] | undefined,
  rows: readonly number[],
): Promise<Subject> {
  const fs = memoryFs();
  const random = seeded(seed);
  const wide = everyType();
  const schema = new Schema(
    wide.fields.filter(({ name }) => columns === undefined || columns.includes(name)),
  );
  const batches = (): RecordBatchStream =>
    recordBatchStream(
      schema,
      rows.map((count) => randomBatch(schema, count, random)),
    );
  const limits = { overlayBytes: 0 };
  const writer = await openDirectoryNamespace({ root: ROOT, fs, durability: 'relaxed', limits });
  await writer.createTable({ id: ID }, batches());
  await writer.insertIntoTable({ id: ID }, batches());
  await writer.deleteRows({ id: ID, row_ids: [1n, 4n, (1n << 32n) + 2n] });
  await writer.updateTable({ id: ID, updates: [['utf8', "concat(utf8, '+')"]] });
  const { manifest, folder } = newest(fs);
  await writer.close();
  const namespace = await openDirectoryNamespace({
    root: ROOT,
    fs,
    readOnly: true,
    cacheBytes: 0,
    bufferBytes: 0,
  });
  return {
    fs,
    namespace,
    targets: targetsOf(fs, manifest, folder),
    rows: await scan(namespace),
    scattered: await take(namespace),
    filtered: await filter(namespace),
  };
}

function newest(fs: TestFs): { manifest: Manifest; folder: string } {
  const folder = 'data/t.table';
  const incarnation = String(
    fs.readdirSync(`${ROOT}/${folder}`).find((name) => String(name).startsWith('versions-')),
  ).slice('versions-'.length);
  const file = versionFile(versionsFolder(folder, incarnation, 'main'), 4);
  const found = decodeVersion(new Uint8Array(fs.readFileSync(`${ROOT}/${file}`)), file);
  if (!('manifest' in found)) throw new Error('version 4 is a tombstone');
  return { manifest: found.manifest, folder };
}

function targetsOf(fs: TestFs, manifest: Manifest, folder: string): Target[] {
  return manifest.fragments.flatMap((entry): Target[] => {
    const files = columnFiles(entry).map((file): Target => {
      const path = `${ROOT}/${fragmentFile(folder, file.file)}`;
      const bytes = new Uint8Array(fs.readFileSync(path));
      const start = bytes.length - file.footerBytes;
      const footer = decodeFooter(bytes.slice(start), { ...file, rows: entry.rows }, path);
      const columns = [...Array(file.columns).keys()].filter(
        (at) => entry.fields[file.first + at] !== REPLACED_FIELD,
      );
      const read = [
        { offset: start, length: file.footerBytes },
        ...footer.batches.flatMap((_, batch) => columnRanges(footer, batch, columns)),
        ...dictionaryRanges(footer, dictionaryIds(footer, columns)),
      ];
      return { path, bytes, read };
    });
    return [...files, ...deletionsOf(fs, folder, manifest, entry)];
  });
}

/** A file that fragments share comes with the first of them. */
function deletionsOf(
  fs: TestFs,
  folder: string,
  { fragments }: Manifest,
  { id, deletion }: FragmentEntry,
): Target[] {
  if (deletion === undefined) return [];
  const sharers = fragments.filter((each) => each.deletion?.file === deletion.file);
  if (sharers[0]?.id !== id) return [];
  const path = `${ROOT}/${deletionFile(folder, deletion.file)}`;
  const bytes = new Uint8Array(fs.readFileSync(path));
  const read = sharers.map(({ deletion: slice }) => ({
    offset: slice?.offset ?? 0,
    length: slice?.bytes ?? 0,
  }));
  return [
    { path, bytes, read, isCut: (length) => read.some((one) => one.offset + one.length > length) },
  ];
}

type Change = 'none' | 'unread' | 'read';

/** Whether a scan reads anything that changed. */
function changeOf({ bytes, read, isCut }: Target, damaged: Uint8Array): Change {
  const isResized = damaged.length !== bytes.length;
  if (isResized && isCut?.(damaged.length) !== false) return 'read';
  let change: Change = isResized ? 'unread' : 'none';
  for (let at = 0; at < Math.min(bytes.length, damaged.length); at++) {
    if (bytes[at] === damaged[at]) continue;
    if (read.some(({ offset, length }) => at >= offset && at < offset + length)) return 'read';
    change = 'unread';
  }
  return change;
}

class Judge {
  cases = 0;
  unread = 0;
  verified = 0;
  readonly slowest: Slowest;
  readonly #violated: (what: string) => void;

  constructor(violated: (what: string) => void) {
    this.#violated = violated;
    this.slowest = new Slowest(LIMIT, violated);
  }

  async damaged(
    subject: Subject,
    target: Target,
    bytes: Uint8Array,
    what: () => string,
  ): Promise<void> {
    const { fs, namespace } = subject;
    const at = this.cases++;
    const named = (): string => `${what()} in ${target.path.split('/').slice(-2).join('/')}`;
    fs.writeFileSync(target.path, bytes);
    const change = changeOf(target, bytes);
    const scanned = await this.#attempt(named, () => scan(namespace), subject.rows);
    if (scanned !== 'Corrupt' && change === 'read') {
      this.#violated(`${named()}: the scan did not notice`);
    }
    if (scanned === 'Corrupt' && change === 'none') {
      this.#violated(`${named()}: nothing changed, and the scan is Corrupt`);
    }
    if (change === 'unread') this.unread++;
    if (at % 4 === 0) await this.#attempt(named, () => take(namespace), subject.scattered);
    else if (at % 4 === 2) await this.#attempt(named, () => filter(namespace), subject.filtered);
    if (at % VERIFIED === 0) {
      const { ok } = await namespace.verify({});
      this.verified++;
      if (ok !== (change === 'none')) this.#violated(`${named()}: verify says ok is ${ok}`);
    }
    fs.writeFileSync(target.path, target.bytes);
    if (at % 500 === 0) await breathe();
  }

  async #attempt(
    what: () => string,
    read: () => Promise<unknown[][]>,
    expected: unknown[][],
  ): Promise<'Corrupt' | 'same'> {
    return this.slowest.time(what, LIMIT, async () => {
      let found: unknown[][];
      try {
        found = await read();
      } catch (error) {
        if (refusal(error) !== 'Corrupt') this.#violated(`${what()}: threw ${String(error)}`);
        return 'Corrupt';
      }
      if (!isDeepStrictEqual(found, expected)) this.#violated(`${what()}: other rows`);
      return 'same';
    });
  }
}

/** One damaged copy after another, of all kinds in turn; `target` is not changed. */
function damage(
  target: Target,
  others: readonly Target[],
  random: () => number,
  at: number,
): readonly [what: string, bytes: Uint8Array] {
  const { bytes } = target;
  const whole = (below: number): number => Math.floor(random() * below);
  switch (at % 16) {
    case 0: {
      const length = whole(bytes.length);
      return [`cut at ${length}`, bytes.slice(0, length)];
    }
    case 1: {
      const longer = new Uint8Array(bytes.length + 1 + whole(100));
      longer.set(bytes);
      return [`${longer.length - bytes.length} bytes added`, longer];
    }
    case 2: {
      const place = whole(bytes.length);
      const copy = bytes.slice();
      copy.fill(0, place, place + 1 + whole(512));
      return [`zeroes at ${place}`, copy];
    }
    case 3: {
      const { bytes: other } = others[whole(others.length)] as Target;
      const copy = bytes.slice();
      copy.set(other.subarray(0, bytes.length));
      return ['the bytes of another file', copy];
    }
    case 4:
    case 5: {
      const place = whole(bytes.length - 4);
      const word = STAMPS[whole(STAMPS.length)] as number;
      return [`${word} at ${place}`, stamped(bytes, place, word)];
    }
    case 6:
    case 7:
      return ['random damage', damagedAtRandom(bytes, random)];
    default: {
      const bit = whole(bytes.length * 8);
      const copy = bytes.slice();
      flipBit(copy, bit);
      return [`bit ${bit} flipped`, copy];
    }
  }
}

async function run(context: ProofContext): Promise<{ cases: number; note: string }> {
  const judge = new Judge((what) => context.violated(what));
  const sizes: string[] = [];
  await inRounds(context, async (seed) => {
    const random = seeded(seed);
    const small = await makeSubject(seed, SMALL, [9]);
    // Beyond what is read whole at once: here ranges are read.
    const large = await makeSubject(seed + 1, undefined, [20, 5]);
    sizes.push(...[small, large].map(({ targets }) => `${targets[0]?.bytes.length}`));
    // Every byte of the small files once.
    let made = 0;
    for (const target of small.targets) {
      for (let byte = 0; byte < target.bytes.length; byte += context.size === 'ci' ? 48 : 1) {
        const bit = byte * 8 + Math.floor(random() * 8);
        const copy = target.bytes.slice();
        flipBit(copy, bit);
        await judge.damaged(small, target, copy, () => `seed ${seed}: bit ${bit} flipped`);
        made++;
      }
    }
    for (; made < CASES[context.size]; made++) {
      const subject = made % 32 === 31 ? large : small;
      const target = subject.targets[made % subject.targets.length] as Target;
      const [what, bytes] = damage(target, subject.targets, random, Math.floor(random() * 16));
      await judge.damaged(subject, target, bytes, () => `seed ${seed}, case ${made}: ${what}`);
    }
    for (const { namespace } of [small, large]) await namespace.close();
    return made;
  });
  const { cases, unread, verified, slowest } = judge;
  return {
    cases,
    note: `files of ${sizes.slice(0, 2).join(' and ')} bytes; ${unread} changes where a scan does not read; ${verified} verified; slowest ${slowest.ms.toFixed(0)} ms`,
  };
}

export const fragmentFuzz: ProofRow = { row: 'T15 fragment fuzz', run };
