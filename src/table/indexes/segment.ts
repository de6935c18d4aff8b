/**
 * `OpenSegment` opens a file of an index segment and reads its columns batch by batch, until
 * `close`. It throws Corrupt if the version is there and the file is missing or damaged, or has
 * another number of columns. Files of indexes are read like fragments (`entryOf`), with the same
 * checksums and the same cache. The columns are shared and must not be changed. `openFiles` only
 * looks whether the files of a segment can be opened. `placedRuns` tells at which position each run
 * begins, and `entryFile` the path of a file, for errors.
 */
import type { Data } from '../../arrow/index.ts';
import {
  type FragmentEntry,
  type IndexFile,
  type IndexSegment,
  indexFile,
} from '../../format/index.ts';
import type { PlacedRun } from '../../indexes/index.ts';
import { corrupt } from '../../json.ts';
import type { Awaitable } from '../../store/index.ts';
import { type FragmentReader, openFragment } from '../fragments/index.ts';
import type { Engine, Snapshot } from '../versions/index.ts';
import { andThen } from '../work/index.ts';

const entries = new WeakMap<IndexFile, FragmentEntry>();

/** A file of an index as a fragment is described. */
export function entryOf(file: IndexFile): FragmentEntry {
  let entry = entries.get(file);
  if (entry === undefined) {
    const known = { ...file, id: 0, fields: [], statistics: [], deletion: undefined };
    entry = { ...known, isOfIndex: true };
    entries.set(file, entry);
  }
  return entry;
}

/** Looks whether each file is there and its end can be read. @throws Corrupt */
export async function openFiles(
  engine: Engine,
  snapshot: Snapshot,
  { files }: IndexSegment,
): Promise<void> {
  for (const file of files) {
    const opened = openFragment(engine, snapshot, entryOf(file), { keep: true });
    (opened instanceof Promise ? await opened : opened).close();
  }
}

/** The path of a file of a segment, for errors. */
export const entryFile = ({ branch }: Snapshot, { files }: IndexSegment, at = 0): string =>
  indexFile(branch.tableFolder, files[at]?.file ?? '');

const placed = new WeakMap<IndexSegment, readonly PlacedRun[]>();

export function placedRuns(segment: IndexSegment): readonly PlacedRun[] {
  let runs = placed.get(segment);
  if (runs === undefined) {
    let start = 0;
    runs = segment.runs.map(({ fragment, rows }) => {
      const run = { fragment, rows, start };
      start += rows;
      return run;
    });
    placed.set(segment, runs);
  }
  return runs;
}

const starts = new WeakMap<FragmentReader['footer'], readonly number[]>();

/** Where batches begin, and the number of all rows; a footer is kept, and so is this. */
function startsOf(footer: FragmentReader['footer']): readonly number[] {
  let found = starts.get(footer);
  if (found === undefined) {
    const made = [0];
    for (const { rows } of footer.batches) made.push((made.at(-1) as number) + rows);
    found = made;
    starts.set(footer, found);
  }
  return found;
}

export class OpenSegment {
  readonly segment: IndexSegment;
  /** The row at which each batch begins, followed by the number of all rows. */
  readonly starts: readonly number[];
  /** The file, for errors. */
  readonly name: string;
  readonly #reader: FragmentReader;

  private constructor(segment: IndexSegment, name: string, reader: FragmentReader) {
    this.segment = segment;
    this.name = name;
    this.#reader = reader;
    this.starts = startsOf(reader.footer);
  }

  /**
   * @param columns that the file has
   * @param at which file of the segment
   * @throws Corrupt
   */
  static open(
    engine: Engine,
    snapshot: Snapshot,
    segment: IndexSegment,
    columns: number,
    at = 0,
  ): Awaitable<OpenSegment> {
    const file = segment.files[at] as IndexFile;
    const name = indexFile(snapshot.branch.tableFolder, file.file);
    const opened = openFragment(engine, snapshot, entryOf(file), { keep: true });
    return andThen(opened, (reader) => {
      const found = reader.footer.schema.fields.length;
      if (found === columns) return new OpenSegment(segment, name, reader);
      reader.close();
      throw corrupt(name, `it has ${found} columns, not ${columns}`);
    });
  }

  get rows(): number {
    return this.starts.at(-1) as number;
  }

  get batches(): number {
    return this.starts.length - 1;
  }

  /** The name of a column in the file. */
  fieldName(column: number): string | undefined {
    return this.#reader.footer.schema.fields[column]?.name;
  }

  /** The type of a column. */
  typeOf(column: number): Data['type'] {
    return this.#reader.footer.schema.fields[column]?.type as Data['type'];
  }

  /** One column of one batch, which is kept in memory and must not be changed. */
  column(batch: number, column: number): Awaitable<Data> {
    const read = this.#reader.columns(batch, [column]);
    return read instanceof Promise ? read.then(([data]) => data as Data) : (read[0] as Data);
  }

  /** Some rows of one column of one batch. */
  cells(batch: number, column: number, rows: Uint32Array): Awaitable<Data> {
    return andThen(this.#reader.rows(batch, [column], rows), ([data]) => data as Data);
  }

  close(): void {
    this.#reader.close();
  }
}
