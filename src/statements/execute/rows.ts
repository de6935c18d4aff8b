/**
 * Carries out the steps of a plan that need only one batch at a time: conditions (`filteredRows`),
 * computed columns (`projectedRows`), LIMIT and OFFSET (`limitedRows`), UNION ALL (`unitedRows`,
 * which also brings columns to the types of a schema), VALUES (`writtenRows`) and repeated rows
 * (`repeatedRows`). It also checks subqueries that stand for one value: if one gives several rows,
 * `singleRow` and `checkedRows` throw InvalidInput. If it gives none, `singleRow` yields a row of
 * nulls.
 */
import {
  columnsOf,
  type Data,
  DataType,
  gatherBatch,
  nullColumn,
  type RecordBatch,
  recordBatch,
  Schema,
  sliceBatch,
  typesEqual,
} from '../../arrow/index.ts';
import {
  type Column,
  type ColumnSource,
  columnOf,
  compileConditionTree,
  compileTree,
  type Expression,
  loadColumn,
  reader,
  refuse,
  shorten,
  toVector,
  type Value,
} from '../../sql/index.ts';
import type {
  CheckedStep,
  ProjectStep,
  RepeatStep,
  SingleStep,
  ValuesStep,
} from '../steps/index.ts';
import {
  BATCH_BYTES,
  BATCH_ROWS,
  columnReader,
  dataNamed,
  oneStep,
  type Relation,
  rowBytes,
  run,
  type Work,
} from './relation.ts';
import { SharedColumns } from './shared-columns.ts';

export function filteredRows(input: Relation, condition: Expression, work: Work): Relation {
  const compiled = compileConditionTree(condition, input.schema);
  return {
    schema: input.schema,
    async *batches(): AsyncGenerator<RecordBatch> {
      for await (const batch of input.batches()) {
        const rows = await run(work, compiled.selectInSteps(batch, { memory: work.memory }));
        if (rows.length === 0) continue;
        yield rows.length === batch.numRows ? batch : gatherBatch(batch, rows);
      }
    },
  };
}

export function projectedRows(
  input: Relation,
  { values, schema, shared: trees }: ProjectStep,
  work: Work,
): Relation {
  const shared = new SharedColumns(trees, input.schema, work);
  const columns = values.map((value) =>
    value.kind === 'column' && value.path.length === 1
      ? (value.path[0] as string)
      : compileTree(shared.rewrite(value), shared.schema),
  );
  const computedOf = async (part: RecordBatch): Promise<RecordBatch> => {
    const data: Data[] = [];
    const computed = await shared.of(part);
    for (const column of columns) {
      if (typeof column === 'string') data.push(dataNamed(part, column));
      else {
        const steps = column.evaluateInSteps(part, { memory: work.memory, computed });
        data.push((await run(work, steps)).data[0] as Data);
      }
    }
    return recordBatch(schema, data, part.numRows);
  };
  return {
    schema,
    async *batches(): AsyncGenerator<RecordBatch> {
      const held = work.memory.hold('Values that several columns are computed of');
      try {
        for await (const batch of input.batches()) {
          for (const part of shared.parts(batch)) {
            held.set(shared.bytesOf(part));
            const made = await computedOf(part);
            held.set(0);
            yield made;
          }
        }
      } finally {
        held.end();
      }
    },
  };
}

export function limitedRows(input: Relation, limit: number, offset: number): Relation {
  return {
    schema: input.schema,
    async *batches(): AsyncGenerator<RecordBatch> {
      let skip = offset;
      let wanted = limit;
      if (wanted <= 0) return;
      for await (const batch of input.batches()) {
        const from = Math.min(skip, batch.numRows);
        skip -= from;
        const rows = Math.min(batch.numRows - from, wanted);
        if (rows <= 0) continue;
        wanted -= rows;
        yield sliceBatch(batch, from, rows);
        if (wanted === 0) return;
      }
    },
  };
}

/** The rows of all, one relation after the other, in the types of the schema. */
export function unitedRows(inputs: readonly Relation[], schema: Schema, work: Work): Relation {
  return {
    schema,
    async *batches(): AsyncGenerator<RecordBatch> {
      for (const input of inputs) {
        for await (const batch of input.batches()) {
          const columns = columnsOf(batch).map((data, at) =>
            conformed(data, schema.fields[at]?.type as Data['type'], work),
          );
          yield recordBatch(schema, columns, batch.numRows);
        }
      }
    },
  };
}

/** A column in a type that holds the same values. */
function conformed(data: Data, type: Data['type'], work: Work): Data {
  if (typesEqual(data.type, type)) return data;
  if (DataType.isNull(data.type)) return nullColumn(type, data.length);
  return toVector(loadColumn(data), type, work.memory.batch()).data[0] as Data;
}

/** The one row of the input, or nulls. @throws InvalidInput for a second row */
export function singleRow(input: Relation, { schema, text, at }: SingleStep, work: Work): Relation {
  return {
    schema,
    async *batches(): AsyncGenerator<RecordBatch> {
      let found: RecordBatch | undefined;
      for await (const batch of input.batches()) {
        if (batch.numRows === 0) continue;
        if (found !== undefined || batch.numRows > 1) refuseRows(text, at);
        found = batch;
      }
      const columns = schema.fields.map(({ type }, place) => {
        const data = found === undefined ? undefined : columnsOf(found)[place];
        return data === undefined ? nullColumn(type, 1) : conformed(data, type, work);
      });
      yield recordBatch(schema, columns, 1);
    },
  };
}

const refuseRows = (text: string, at: number | undefined): never =>
  refuse(at, `The sub-select (${shorten(text)}) gives several rows in place of one value`);

/** The rows as they are. @throws InvalidInput where one of them counts several rows of a query */
export function checkedRows(input: Relation, { count, text, at }: CheckedStep): Relation {
  return {
    schema: input.schema,
    async *batches(): AsyncGenerator<RecordBatch> {
      for await (const batch of input.batches()) {
        if (countsSeveral(dataNamed(batch, count))) refuseRows(text, at);
        yield batch;
      }
    },
  };
}

function countsSeveral(counts: Data): boolean {
  const countOf = reader(loadColumn(counts));
  for (let row = 0; row < counts.length; row++) if (Number(countOf(row) ?? 0) > 1) return true;
  return false;
}

/** Each row as often as it says, in batches of a bounded size. */
export function repeatedRows(input: Relation, { times, schema }: RepeatStep, work: Work): Relation {
  const read = columnReader([times], input.schema, work);
  return {
    schema,
    async *batches(): AsyncGenerator<RecordBatch> {
      for await (const batch of input.batches()) {
        const timesOf = reader((await read(batch))[0] as Column);
        const shown = recordBatch(
          schema,
          schema.fields.map(({ name }) => dataNamed(batch, name)),
          batch.numRows,
        );
        const bytesOf = rowBytes(shown);
        let rows: number[] = [];
        let bytes = 0;
        for (let row = 0; row < batch.numRows; row++) {
          let left = Number(timesOf(row) ?? 0);
          const each = left > 0 ? 1 + bytesOf(row) : 0;
          while (left > 0) {
            const room = Math.ceil((BATCH_BYTES - bytes) / each);
            const more = Math.min(left, BATCH_ROWS - rows.length, room);
            for (let count = 0; count < more; count++) rows.push(row);
            left -= more;
            bytes += more * each;
            if (rows.length < BATCH_ROWS && bytes < BATCH_BYTES) continue;
            yield gatherBatch(shown, Uint32Array.from(rows));
            await run(work, oneStep());
            [rows, bytes] = [[], 0];
          }
        }
        if (rows.length > 0) yield gatherBatch(shown, Uint32Array.from(rows));
      }
    },
  };
}

/** The rows that a statement writes down. */
export function writtenRows({ rows, schema }: ValuesStep, work: Work): Relation {
  return {
    schema,
    async *batches(): AsyncGenerator<RecordBatch> {
      for (let from = 0; from < rows.length; from += BATCH_ROWS) {
        const part = rows.slice(from, from + BATCH_ROWS);
        const columns: Data[] = [];
        for (const [place, { type }] of schema.fields.entries()) {
          const values = await run(work, constantsOf(part.map((row) => row[place] as Expression)));
          columns.push(toVector(columnOf(type, values), type, work.memory.batch()).data[0] as Data);
        }
        yield recordBatch(schema, columns, part.length);
      }
    },
  };
}

function* constantsOf(trees: readonly Expression[]): Generator<void, Value[]> {
  const values: Value[] = [];
  const none = new Schema([]);
  for (const tree of trees) {
    const column = yield* compileTree(tree, none).columnInSteps(ONE_ROW);
    values.push(reader(column)(0) ?? null);
    yield;
  }
  return values;
}

const ONE_ROW: ColumnSource = { numRows: 1, getChild: () => null };
