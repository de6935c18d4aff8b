/**
 * Runs SELECT statements over tables. `openStatement` parses one and lists the tables that it
 * reads. Once the caller has opened these, `run` plans the statement and carries it out, and
 * `explain` describes its plan. Names and types are checked before any row is read. `tableRequest`
 * turns a table of a statement into the request that opens it. `statementText` writes the
 * parameters of a request into its statement. `pathsIn` lists only the paths of the tables.
 */
import {
  columnsOf,
  type RecordBatch,
  type RecordBatchStream,
  recordBatch,
} from '../arrow/index.ts';
import { DirspaceError } from '../errors.ts';
import type { RunSqlRequest } from '../protocol/index.ts';
import {
  parseStatement,
  type TableReference,
  withMistakeIn,
  withParameters,
} from '../sql/index.ts';
import { relationOf, type Work } from './execute/index.ts';
import { planStatement, tablesOf } from './plan/index.ts';
import { planInWords } from './plan-in-words.ts';
import type { TableSource } from './steps/index.ts';

export type { TableSource } from './steps/index.ts';

/** One version of a table that a statement reads. */
export type StatementTable = Pick<
  Extract<TableReference, { kind: 'table' }>,
  'path' | 'travel' | 'at'
>;

/** A table of a catalog and a version of it, as requests name them. */
export interface TableRequest {
  readonly id: string[];
  readonly version?: number;
  readonly tag?: string;
  readonly branch?: string;
}

/** @param namespace that names of tables are looked up in */
export function tableRequest(
  namespace: readonly string[],
  { path, travel }: StatementTable,
): TableRequest {
  const id = [...namespace, ...path];
  if (travel === undefined) return { id };
  if (!('version' in travel)) return { id, ...travel };
  const { version, ...rest } = travel;
  return { id, ...rest, version: Number(version) };
}

/**
 * The statement of a request, its parameters written into it as literals.
 * @throws InvalidInput for parameters that do not fit the statement, and for whole numbers that JSON
 * does not hold exactly
 */
export function statementText({
  sql,
  parameters,
}: Pick<RunSqlRequest, 'sql' | 'parameters'>): string {
  if (parameters === undefined) return sql;
  const values: readonly unknown[] = Object.values(parameters).flat();
  const inexact = values.find(
    (value) =>
      Number.isInteger(value) && !Number.isSafeInteger(value) && Math.abs(Number(value)) < 2 ** 64,
  );
  if (inexact !== undefined) {
    throw new DirspaceError(
      'InvalidInput',
      `The parameter ${inexact} is beyond 2^53, which JSON numbers do not hold exactly. Send its digits as a text, and write CAST($1 AS bigint).`,
    );
  }
  return located(sql, () => withParameters(sql, parameters));
}

/** Paths of the tables that a statement reads. @throws InvalidInput with the place in the text */
export const pathsIn = (sql: string): readonly (readonly string[])[] =>
  openStatement(sql, 0).tables.map(({ path }) => path);

export interface OpenedStatement {
  /** Each version once. */
  readonly tables: readonly StatementTable[];
  /**
   * @param sources one for each of `tables`
   * @throws InvalidInput, TableColumnNotFound with the place in the text
   */
  run(sources: readonly TableSource[], work: Work): RecordBatchStream;
  /** How it is carried out, in words. */
  explain(sources: readonly TableSource[]): string;
}

/**
 * @param now milliseconds since 1970, which now() and current_date mean throughout the statement
 * @throws InvalidInput with the place in the text
 */
export function openStatement(sql: string, now: number): OpenedStatement {
  const statement = located(sql, () => parseStatement(sql, now));
  const tables = tablesOf(statement);
  const planned = (sources: readonly TableSource[]): ReturnType<typeof planStatement> =>
    planStatement(
      statement,
      new Map([...tables.keys()].map((key, at) => [key, sources[at] as TableSource])),
    );
  return {
    tables: [...tables.values()],
    run: (sources, work) => located(sql, () => answerOf(planned(sources), work)),
    explain: (sources) => located(sql, () => planInWords(planned(sources))),
  };
}

function answerOf(
  { plan, schema }: ReturnType<typeof planStatement>,
  work: Work,
): RecordBatchStream {
  const relation = relationOf(plan, work);
  return {
    schema,
    async *[Symbol.asyncIterator](): AsyncGenerator<RecordBatch> {
      for await (const batch of relation.batches()) {
        if (batch.numRows > 0) yield recordBatch(schema, [...columnsOf(batch)], batch.numRows);
      }
    },
  };
}

function located<Result>(sql: string, work: () => Result): Result {
  try {
    return work();
  } catch (error) {
    throw withMistakeIn(error, sql);
  }
}
