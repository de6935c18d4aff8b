/**
 * `dirspace sql` runs a SELECT over the tables of a catalog, or shows its plan with `--explain`.
 * With `-o` it writes the rows to a file, and with `--format` alone to standard output in that
 * format. Without a statement it reads statements from standard input, with a prompt on a terminal
 * (sql-prompt.ts).
 */
import { isDirspaceError } from '../../errors.ts';
import type { Connection } from '../../sdk/index.ts';
import {
  type Answer,
  type Call,
  type Command,
  parsePath,
  type RowsAnswer,
  UsageError,
} from '../terminal/index.ts';
import { readAnswer } from './read-rows.ts';
import { runPrompt } from './sql-prompt.ts';
import { OUTPUT_CHOICES, OUTPUT_OPTIONS, outputOf, writeRows } from './write-rows.ts';

type StatementQuery = ReturnType<Connection['sql']>;

export const sql: Command = {
  name: 'sql',
  summary: 'Answer a SELECT over the tables of a catalog',
  otherNames: ['select', 'psql'],
  arguments: [
    [
      '[statement]',
      'such as "SELECT city, count(*) FROM prod.users GROUP BY city"; read from standard input if absent',
    ],
  ],
  options: [
    {
      flags: '--in <namespace>',
      summary: 'the namespace that names of tables are looked up in; the root if absent',
    },
    { flags: '--explain', summary: 'tell the steps of the statement, and read no rows' },
    ...OUTPUT_OPTIONS.file,
    ...OUTPUT_OPTIONS.csv,
  ],
  choices: OUTPUT_CHOICES,
  examples: [
    'dirspace sql "SELECT city, avg(age) AS age FROM prod.users GROUP BY city ORDER BY age DESC"',
    'dirspace sql --in prod "SELECT count(*) FROM users FOR VERSION AS OF 3"',
    'dirspace sql "SELECT * FROM prod.users WHERE age > 40" -o older.parquet',
    'dirspace sql < report.sql',
  ],
  ofTooMany: 'A statement is one argument; put it into quotes.',
  refusedIsUsage: true,
  namesAreSql: true,
  reads: true,
  takesBack: true,
  async run(call: Call): Promise<Answer | RowsAnswer | undefined> {
    const [statement] = call.arguments;
    if (writesFile(call)) return written(call, statement);
    if (statement !== undefined) return answered(call, statement);
    if (call.options.flag('json') && call.terminals.input) {
      throw new UsageError('At a prompt there is no --json; give the statement as an argument.');
    }
    await runPrompt(call, (text, isExplained) => answered(call, text, isExplained));
    return undefined;
  },
};

const OF_FILES = ['output', 'format', 'compression', 'delimiter', 'header', 'null'];

const writesFile = ({ options }: Call): boolean =>
  OF_FILES.some((name) => options.text(name) !== undefined);

async function written(call: Call, statement: string | undefined): Promise<Answer> {
  if (call.options.flag('explain')) {
    throw new UsageError('--explain reads no rows; leave out what says how to write them.');
  }
  if (statement === undefined) {
    throw new UsageError('One statement is written to a file; give it as an argument.');
  }
  const output = await outputOf(call);
  const query = await queryOf(call, statement);
  return writeRows(call, query, output, { what: 'the answer', json: {} });
}

/** A statement that reads no table would not tell that its namespace is missing. */
async function requireNamespace({ connection, signal }: Call, path: string[]): Promise<void> {
  try {
    await connection.describeNamespace(path, { signal });
  } catch (error) {
    // Who may read tables of it need not have the right to look at it.
    if (isDirspaceError(error, 'NamespaceNotFound')) throw error;
  }
}

async function queryOf(call: Call, statement: string): Promise<StatementQuery> {
  const namespace = call.options.text('in');
  const namespacePath = namespace === undefined ? [] : parsePath(namespace);
  if (namespace !== undefined) await requireNamespace(call, namespacePath);
  return call.connection.sql(statement, { namespacePath });
}

/** The rows of a statement, or its plan. */
async function answered(
  call: Call,
  statement: string,
  isExplained: boolean = call.options.flag('explain'),
): Promise<Answer | RowsAnswer> {
  const query = await queryOf(call, statement);
  if (isExplained) {
    const plan = await query.explainPlan({ signal: call.signal });
    return { json: { plan }, text: plan };
  }
  return readAnswer(query, call);
}
