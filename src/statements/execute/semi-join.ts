/**
 * `matchedRows` returns the rows of the left side of a join that have a partner on the right side
 * (`semi`), or those that have none (`anti`). A partner is a row with equal keys; for NOT IN
 * (`nullsMatch`), a null is also equal to every key of the other side. As the caller asks, it keeps
 * in memory the keys of the right side, or the rows of the left side. join.ts makes joins with
 * further conditions and those without keys; it shares `leftRows`.
 */
import {
  type Field,
  gatherBatch,
  plainType,
  type RecordBatch,
  recordBatch,
  Schema,
} from '../../arrow/index.ts';
import type { HeldMemory } from '../../request-memory.ts';
import { type Column, compileTree, reader } from '../../sql/index.ts';
import { KeyNumbers } from '../keys/index.ts';
import { comparableKeys, type JoinStep } from '../steps/index.ts';
import {
  collected,
  dataNamed,
  keyReaders,
  oneStep,
  type Relation,
  run,
  type Work,
} from './relation.ts';

type Keys = (batch: RecordBatch) => Promise<Column[]>;

/** What is known of the right side once its rows were read. */
interface Found {
  hasRows: boolean;
  /** Whether a key is null. */
  hasNull: boolean;
}

export interface Matched {
  readonly left: Relation;
  readonly right: Relation;
  readonly step: JoinStep;
  /** Whether rows of the left side are kept, and those of the right one pass by. */
  readonly keepsLeft: boolean;
}

export function matchedRows({ left, right, step, keepsLeft }: Matched, work: Work): Relation {
  const keys = comparableKeys(step);
  const [ofLeft, ofRight] = keyReaders(keys, left, right, work);
  const numbersOf = (side: 'left' | 'right', { schema }: Relation): KeyNumbers =>
    new KeyNumbers(keys.map((key) => plainType(compileTree(key[side], schema).type)));
  return {
    schema: step.schema,
    async *batches(): AsyncGenerator<RecordBatch> {
      const held = work.memory.hold('The keys of a join that are kept in memory');
      try {
        const sides = { left, right, ofLeft, ofRight, step, held, work };
        yield* keepsLeft
          ? keptRows(sides, numbersOf('left', left))
          : passingRows(sides, numbersOf('right', right));
      } finally {
        held.end();
      }
    },
  };
}

interface Sides {
  readonly left: Relation;
  readonly right: Relation;
  readonly ofLeft: Keys;
  readonly ofRight: Keys;
  readonly step: JoinStep;
  readonly held: HeldMemory;
  readonly work: Work;
}

/** Rows of the left side as they come, by the keys of the right one. */
async function* passingRows(sides: Sides, numbers: KeyNumbers): AsyncGenerator<RecordBatch> {
  const { left, right, ofLeft, ofRight, step, held, work } = sides;
  const found: Found = { hasRows: false, hasNull: false };
  for await (const batch of right.batches()) {
    if (batch.numRows === 0) continue;
    found.hasRows = true;
    const columns = await ofRight(batch);
    await run(work, numbers.reserve(batch.numRows));
    const own = numbers.add(columns);
    held.set(numbers.bytes);
    await run(work, oneStep());
    if (step.nullsMatch === true) found.hasNull ||= own.includes(0);
    if (found.hasNull) return;
  }
  for await (const batch of left.batches()) {
    if (batch.numRows === 0) continue;
    const columns = await ofLeft(batch);
    const known = numbers.find(columns);
    const wanted = wantedRows(known, columns, step, found);
    await run(work, oneStep());
    if (wanted.length > 0) yield leftRows(batch, wanted, step);
  }
}

/** Rows of the left side once all keys of the right one have passed by. */
async function* keptRows(sides: Sides, numbers: KeyNumbers): AsyncGenerator<RecordBatch> {
  const { left, right, ofLeft, ofRight, step, held, work } = sides;
  const batches = await collected(left, held);
  if (batches.length === 0) return;
  const rows = batches.reduce((sum, { numRows }) => sum + numRows, 0);
  numbers.expect(rows);
  const keys: { readonly columns: Column[]; readonly numbers: Int32Array }[] = [];
  for (const batch of batches) {
    const columns = await ofLeft(batch);
    await run(work, numbers.reserve(batch.numRows));
    keys.push({ columns, numbers: numbers.add(columns) });
    await run(work, oneStep());
  }
  const marks = new Uint8Array(numbers.size);
  held.set(held.bytes + numbers.bytes + marks.byteLength + 4 * rows);
  const found: Found = { hasRows: false, hasNull: false };
  for await (const batch of right.batches()) {
    if (batch.numRows === 0) continue;
    found.hasRows = true;
    const columns = await ofRight(batch);
    const known = numbers.find(columns);
    for (let row = 0; row < known.length; row++) marks[known[row] as number] = 1;
    if (step.nullsMatch === true) found.hasNull ||= hasNull(columns, batch.numRows);
    if (found.hasNull) return;
    await run(work, oneStep());
  }
  // The number of null, and of keys that are not there.
  marks[0] = 0;
  for (const [at, batch] of batches.entries()) {
    const { columns, numbers: own } = keys[at] as (typeof keys)[number];
    const known = own.map((number) => marks[number] as number);
    const wanted = wantedRows(known, columns, step, found);
    if (wanted.length > 0) yield leftRows(batch, wanted, step);
    await run(work, oneStep());
  }
}

/** Numbers of the rows that are wanted, of which `known` says whether they have a match. */
function wantedRows(
  known: Int32Array,
  columns: readonly Column[],
  { join, nullsMatch }: JoinStep,
  { hasRows }: Found,
): Uint32Array {
  const rows = new Uint32Array(known.length);
  let count = 0;
  if (join === 'semi') {
    for (let row = 0; row < known.length; row++) if (known[row] !== 0) rows[count++] = row;
    return rows.subarray(0, count);
  }
  const isNull = nullsMatch === true && hasRows ? nullTest(columns) : () => false;
  for (let row = 0; row < known.length; row++) {
    if (known[row] === 0 && !isNull(row)) rows[count++] = row;
  }
  return rows.subarray(0, count);
}

/** Whether a key of a row is null. */
function nullTest(columns: readonly Column[]): (row: number) => boolean {
  const readers = columns.map((column) => reader(column));
  return (row) => readers.some((read) => (read(row) ?? null) === null);
}

function hasNull(columns: readonly Column[], rows: number): boolean {
  const isNull = nullTest(columns);
  for (let row = 0; row < rows; row++) if (isNull(row)) return true;
  return false;
}

/** Some rows of the left side of a join, in their order and each once. */
export function leftRows(batch: RecordBatch, rows: Uint32Array, { schema }: JoinStep): RecordBatch {
  const fields = schema.fields.map(
    ({ name }) => batch.schema.fields.find((field) => field.name === name) as Field,
  );
  const data = fields.map(({ name }) => dataNamed(batch, name));
  const shown = recordBatch(new Schema(fields), data, batch.numRows);
  return rows.length === batch.numRows ? shown : gatherBatch(shown, rows);
}
