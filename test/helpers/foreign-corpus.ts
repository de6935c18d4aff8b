/** Arrow IPC of many writers, with what pyarrow reads from it: see fixtures/ipc/corpus.py. */
import type { RecordBatch, Schema } from '../../src/arrow/apache.ts';
import { exactValues } from './arrow-samples.ts';
import { ipcFixture } from './foreign-samples.ts';
import { plain } from './golden.ts';

export interface CorpusFile {
  /** The writer, and the name of the file. */
  readonly name: string;
  readonly bytes: Uint8Array;
  readonly expected: Expected;
}

/** What pyarrow reads, or why it does not. */
export type Expected =
  | {
      readonly rows: number;
      /** Name, whether it may be null, and the type as pyarrow names it. */
      readonly fields: readonly (readonly [string, boolean, string])[];
      readonly metadata: Readonly<Record<string, string>>;
      /** The values of each column; null where pyarrow cannot show them. */
      readonly columns: readonly (readonly unknown[] | null)[];
    }
  | { readonly refused: string };

const known = JSON.parse(Buffer.from(ipcFixture('corpus.json')).toString()) as Record<
  string,
  Expected
>;

export const corpus: readonly CorpusFile[] = Object.entries(known).map(([name, expected]) => ({
  name,
  bytes: ipcFixture(`corpus/${name}`),
  expected,
}));

/** Files that pyarrow reads and we refuse, since rows could be lost or multiplied in silence. */
export const REFUSED_HERE: ReadonlyMap<string, RegExp> = new Map([
  ['by-hand/batch-twice.arrow', /its blocks overlap at byte 128/],
  ['by-hand/unlisted-batch.arrow', /it does not list the rows or dictionary at byte 368/],
  ['by-hand/unlisted-first-batch.arrow', /it does not list the rows or dictionary at byte 128/],
  ['by-hand/no-marker.arrows', /stops without its end-of-stream marker/],
  ['by-hand/stream-after.arrows', /bytes follow the end of the stream/],
]);

/** Types that tables do not hold, though they are read, by the end of the name of a file. */
export const NOT_HELD: readonly (readonly [RegExp, RegExp])[] = [
  [/\/wide-indices/, /Column wide cannot be written: dictionary indices of 64 bits/],
];

export type Readable = Extract<Expected, { readonly rows: number }>;

/** Those that are read, with what they hold. */
export const readable = corpus.flatMap(({ name, bytes, expected }) =>
  'rows' in expected && !REFUSED_HERE.has(name) ? [{ name, bytes, expected }] : [],
);

/** What was read, in the form of what is expected; columns that pyarrow cannot show are null. */
export function found(
  schema: Schema,
  batches: readonly RecordBatch[],
  { columns }: Readable,
): Omit<Readable, 'fields'> & { readonly fields: readonly (readonly [string, boolean])[] } {
  const values = exactValues(batches);
  return {
    rows: batches.reduce((sum, { numRows }) => sum + numRows, 0),
    fields: schema.fields.map(({ name, nullable }) => [name, nullable] as const),
    metadata: Object.fromEntries(schema.metadata),
    columns: columns.map((column, at) =>
      column === null ? null : (plain(values[at] ?? []) as unknown[]),
    ),
  };
}

/**
 * The expected, without the names of types. Columns of the null type may be null here, whatever
 * their field says.
 */
export const wanted = ({
  rows,
  fields,
  metadata,
  columns,
}: Readable): ReturnType<typeof found> => ({
  rows,
  fields: fields.map(([name, nullable, type]) => [name, nullable || type === 'null']),
  metadata,
  columns,
});
