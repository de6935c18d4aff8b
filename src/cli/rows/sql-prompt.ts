/**
 * `runPrompt` reads SQL statements from standard input, each up to its semicolon, and prints their
 * answers. A line that begins with a backslash is a command, such as `\d` for the tables. On a
 * terminal it completes words, and after an error of a statement it goes on; `exit`, `quit` or `\q`
 * ends it. Without a terminal the error is thrown, and the last statement needs no semicolon.
 */
import { isDirspaceError } from '../../errors.ts';
import {
  type Answer,
  type Call,
  type LineCompletion,
  parseObject,
  type RowsAnswer,
  typeText,
  UsageError,
} from '../terminal/index.ts';
import { StatementCutter } from './statement-cutter.ts';

const HELP = `Statements end in a semicolon. Besides:
  \\d            the tables
  \\d NAME       the columns of a table
  \\explain SQL  the steps of a statement
  \\?            this help
  \\q            the end; so are exit and Ctrl-D`;

/** What a call has at a prompt, and where lines come from a file. */
export type Answering = (statement: string, isExplained?: boolean) => Promise<Answer | RowsAnswer>;

export async function runPrompt(call: Call, answered: Answering): Promise<void> {
  const { terminals } = call;
  const statements = new StatementCutter();
  const isAsking = terminals.input;
  if (isAsking) call.note('Statements end in a semicolon; \\? tells more.');
  const names = new Completion(call);
  const lines = call.lines(
    () => (statements.isEmpty ? 'sql> ' : '...> '),
    (line) => names.of(line),
  );
  for await (const line of lines) {
    if (isAsking && isEnd(line, statements.isEmpty)) return;
    if (statements.isEmpty && /^\s*\\/.test(line)) {
      if (!(await commanded(call, line.trim(), answered))) return;
      continue;
    }
    for (const statement of statements.add(line)) await told(call, () => answered(statement));
  }
  const { rest } = statements;
  if (rest.trim() !== '') await told(call, () => answered(rest));
}

/** Words that end other prompts too; no statement begins with them, and none has the command in it. */
const isEnd = (line: string, isFirst: boolean): boolean =>
  /^\s*\\q(uit)?\s*$/.test(line) || (isFirst && /^\s*(exit|quit)\s*;?\s*$/i.test(line));

/** Prints an answer. At a prompt its failure is told, and others are thrown. */
async function told(call: Call, work: () => Promise<Answer | RowsAnswer>): Promise<void> {
  try {
    await call.print(await work());
  } catch (error) {
    const isAnswer = isDirspaceError(error) || error instanceof UsageError;
    if (!call.terminals.input || !isAnswer || call.signal.aborted) throw error;
    call.note(error.message);
  }
}

/** Whether the prompt goes on. */
async function commanded(call: Call, line: string, answered: Answering): Promise<boolean> {
  const [word = '', ...rest] = line.split(/\s+/);
  const named = rest.join(' ').replace(/;$/, '').trim();
  switch (word) {
    case '\\q':
    case '\\quit':
      return false;
    case '\\?':
    case '\\h':
      call.note(HELP);
      return true;
    case '\\explain':
      await told(call, () => answered(named, true));
      return true;
    case '\\d':
    case '\\dt':
      await told(call, () => (named === '' ? tables(call) : columns(call, named)));
      return true;
    default:
      call.note(`There is no command ${word}; \\? lists those that there are.`);
      return true;
  }
}

async function tables({ connection, signal }: Call): Promise<Answer> {
  const { formatTable } = await grammar();
  const names: string[] = [];
  let pageToken: string | undefined;
  do {
    const page = await connection.listAllTables({
      signal,
      ...(pageToken === undefined ? {} : { pageToken }),
    });
    names.push(...page.tables.map((id) => formatTable(id.split('$'))));
    pageToken = page.pageToken;
  } while (pageToken !== undefined && names.length < MOST_NAMES);
  return { json: names, text: names.length === 0 ? 'There are no tables.' : names.join('\n') };
}

async function columns({ connection, signal }: Call, name: string): Promise<RowsAnswer> {
  const path = pathNamed(name);
  const described = await connection.describeTable(
    path.at(-1) ?? '',
    path.slice(0, -1),
    { load_detailed_metadata: true },
    { signal },
  );
  const rows = (described.schema?.fields ?? []).map((field) => ({
    column: field.name,
    type: typeText(field),
    nulls: field.nullable ? '' : 'not null',
  }));
  return { columns: ['column', 'type', 'nulls'], rows: once(rows) };
}

async function* once<Item>(item: Item): AsyncGenerator<Item> {
  yield item;
}

/** `prod.users`, with double quotes around names that need them; `prod/users` as elsewhere. */
function pathNamed(text: string): string[] {
  if (!text.includes('"') && /[/$]/.test(text)) {
    const { namespace, name } = parseObject(text);
    return [...namespace, name];
  }
  const names = [...text.matchAll(/"([^"]*(?:""[^"]*)*)"|([^".]+)/g)];
  return names.map(([, quoted, plain = '']) => quoted?.replaceAll('""', '"') ?? plain.trim());
}

/** How names are written in SQL; other commands start without it. */
const grammar = (): Promise<typeof import('../../sql/index.ts')> => import('../../sql/index.ts');

/** Names that one completion looks through. */
const MOST_NAMES = 10_000;

/** What the last word of a line may become: a word of SQL, a table, or a column of a table named. */
class Completion {
  readonly #call: Call;
  #tables: Promise<string[]> | undefined;
  readonly #columns = new Map<string, Promise<string[]>>();

  constructor(call: Call) {
    this.#call = call;
  }

  async of(line: string): Promise<LineCompletion> {
    const [word = ''] = /[\w".]*$/.exec(line) ?? [];
    this.#tables ??= tables(this.#call).then(({ json }) => json as string[]);
    const known = await this.#tables;
    const named = known.filter((name) => line.includes(name)).slice(0, 4);
    const ofTables = await Promise.all(named.map((name) => this.#columnsOf(name)));
    const isUpper = word !== word.toLowerCase();
    const { keywords, functions } = (await grammar()).SQL_WORDS;
    const words = [...keywords, ...functions].map((known) =>
      isUpper ? known.toUpperCase() : known.toLowerCase(),
    );
    const all = new Set([...ofTables.flat(), ...known, ...words]);
    const found = [...all].filter((candidate) =>
      candidate.toLowerCase().startsWith(word.toLowerCase()),
    );
    return [found, word];
  }

  #columnsOf(table: string): Promise<string[]> {
    let names = this.#columns.get(table);
    if (names === undefined) {
      const { connection, signal } = this.#call;
      const path = pathNamed(table);
      const described = connection.describeTable(
        path.at(-1) ?? '',
        path.slice(0, -1),
        {},
        { signal },
      );
      names = Promise.all([described, grammar()])
        .then(([{ schema }, { formatName }]) =>
          (schema?.fields ?? []).map(({ name }) => formatName(name)),
        )
        .catch(() => []);
      this.#columns.set(table, names);
    }
    return names;
  }
}
