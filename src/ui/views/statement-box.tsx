/**
 * `StatementBox` is a text field for a SELECT, with completions of tables, columns of the tables
 * that it names, keywords and functions (completion-list.tsx). Ctrl+Enter runs the statement. The
 * error of the server is shown below.
 */
import {
  allPages,
  ask,
  type Described,
  useAnswer,
  useEffect,
  useMemo,
  useRef,
  useState,
} from '../base/index.ts';
import { useCompletion } from './completion-list.tsx';
import {
  type Known,
  type SqlWords,
  statementCompletions,
  tablesNamed,
  wordBefore,
} from './completions.ts';

export interface StatementBoxProps {
  readonly text: string;
  readonly setText: (text: string) => void;
  readonly error: string | undefined;
  readonly onRun: () => void;
}

const EXAMPLE = 'SELECT city, count(*) AS n FROM prod.users GROUP BY city ORDER BY n DESC';
/** Pages of 10,000 names that completion knows. */
const MOST_PAGES = 2;

export function StatementBox({ text, setText, error, onRun }: StatementBoxProps) {
  const box = useRef<HTMLTextAreaElement>(null);
  const known = useKnown(text);
  const completion = useCompletion({
    name: 'statement',
    field: box,
    text,
    setText,
    offer: (typed, caret) => statementCompletions(typed, caret, known),
    from: (typed, caret) => wordBefore(typed, caret).from,
  });
  return (
    <div class="statement">
      <label for="statement">A SELECT over tables such as prod.users; Ctrl+Enter runs it</label>
      <div class="filter">
        <textarea
          id="statement"
          ref={box}
          class={error === undefined ? 'code' : 'code wrong'}
          rows={4}
          {...completion.attributes}
          aria-invalid={error !== undefined}
          aria-describedby={error === undefined ? undefined : 'statement-error'}
          autocomplete="off"
          spellcheck={false}
          placeholder={EXAMPLE}
          value={text}
          onInput={(event) => {
            setText(event.currentTarget.value);
            completion.open(true);
          }}
          onKeyDown={(event) => {
            if (completion.onKeyDown(event)) return;
            if (event.key !== 'Enter' || !(event.ctrlKey || event.metaKey)) return;
            event.preventDefault();
            completion.open(false);
            onRun();
          }}
          onBlur={() => completion.open(false)}
        />
        {completion.list}
      </div>
      {error === undefined ? null : (
        <pre id="statement-error" class="error" role="alert">
          {error}
        </pre>
      )}
    </div>
  );
}

const NO_WORDS: SqlWords = { keywords: [], functions: [], reserved: [] };

/** What can be completed; what the server does not tell is not offered. */
function useKnown(text: string): Known {
  const words = useAnswer<SqlWords>('words', {}).answer ?? NO_WORDS;
  const listed = useAnswer('ListAllTables', {}, (name, body, signal) =>
    allPages<{ readonly tables: readonly string[]; readonly page_token?: string }>(
      name,
      body,
      signal,
      MOST_PAGES,
    ),
  );
  const tables = useMemo(
    () => (listed.answer ?? []).flatMap((page) => page.tables.map((id) => id.split('$'))),
    [listed.answer],
  );
  const named = tablesNamed(text, tables, words.reserved);
  const [columns, setColumns] = useState<Readonly<Record<string, readonly string[]>>>({});
  const wanted = named.map(({ id }) => JSON.stringify(id)).filter((key) => !(key in columns));
  useEffect(() => {
    for (const key of new Set(wanted)) {
      const keep = (names: readonly string[]): void =>
        setColumns((kept) => ({ ...kept, [key]: names }));
      ask<Described>('DescribeTable', { id: JSON.parse(key), load_detailed_metadata: true }).then(
        ({ schema }) => keep((schema?.fields ?? []).map(({ name }) => name)),
        () => keep([]),
      );
    }
  }, [wanted.join()]);
  return {
    ...words,
    tables,
    columns: named.map((table) => ({ ...table, names: columns[JSON.stringify(table.id)] ?? [] })),
  };
}
