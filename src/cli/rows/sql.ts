/**
 * `dirspace sql`: runs a SELECT over the tables of a catalog, or shows its plan with `--explain`.
 * Without a statement it reads statements from standard input, with a prompt on a terminal
 * (sql-prompt.ts).
 */
import { isDirspaceError } from '../../errors.ts';
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
  ],
  examples: [
    'dirspace sql "SELECT city, avg(age) AS age FROM prod.users GROUP BY city ORDER BY age DESC"',
    'dirspace sql --in prod "SELECT count(*) FROM users FOR VERSION AS OF 3"',
    'dirspace sql < report.sql',
  ],
  ofTooMany: 'A statement is one argument; put it into quotes.',
  refusedIsUsage: true,
  reads: true,
  async run(call: Call): Promise<Answer | RowsAnswer | undefined> {
    const [statement] = call.arguments;
    if (statement !== undefined) return answered(call, statement);
    if (call.options.flag('json') && call.terminals.input) {
      throw new UsageError('At a prompt there is no --json; give the statement as an argument.');
    }
    await runPrompt(call, (text, isExplained) => answered(call, text, isExplained));
    return undefined;
  },
};

/** A statement that reads no table would not tell that its namespace is missing. */
async function requireNamespace({ connection, signal }: Call, path: string[]): Promise<void> {
  try {
    await connection.describeNamespace(path, { signal });
  } catch (error) {
    // Who may read tables of it need not have the right to look at it.
    if (isDirspaceError(error, 'NamespaceNotFound')) throw error;
  }
}

/** The rows of a statement, or its plan. */
async function answered(
  call: Call,
  statement: string,
  isExplained: boolean = call.options.flag('explain'),
): Promise<Answer | RowsAnswer> {
  const { options, signal } = call;
  const namespace = options.text('in');
  const namespacePath = namespace === undefined ? [] : parsePath(namespace);
  if (namespace !== undefined) await requireNamespace(call, namespacePath);
  const query = call.connection.sql(statement, { namespacePath });
  if (isExplained) {
    const plan = await query.explainPlan({ signal });
    return { json: { plan }, text: plan };
  }
  return readAnswer(query, call);
}
