/**
 * `download` answers a link of the page with rows as a file: all rows of a table, the rows that a
 * filter or search finds, or the result of a SELECT. The parameter `ask` of the address says which,
 * as the JSON that the page's views send; `db` is the database. Rows are read only as fast as the
 * browser takes them; Parquet takes 64 MiB of the request's memory. An unknown format, and an `ask`
 * that is no JSON object, throw InvalidInput.
 */
import { DirspaceError } from '../../errors.ts';
import { formatNamed } from '../../interchange/index.ts';
import { type HttpAnswer, type HttpRequest, rowsAnswer } from '../http/index.ts';
import type { PageFacts } from './facts.ts';
import { type Body, bodyOf, enterPage, type Linked } from './page-caller.ts';
import { everyRow } from './rows.ts';
import { statementAnswer } from './statement.ts';

/** Media types by the name of the format. */
const TYPES: Readonly<Record<string, string>> = {
  csv: 'text/csv; charset=utf-8',
  tsv: 'text/tab-separated-values; charset=utf-8',
  json: 'application/json',
  ndjson: 'application/x-ndjson; charset=utf-8',
  parquet: 'application/vnd.apache.parquet',
  arrow: 'application/vnd.apache.arrow.file',
  'arrow-stream': 'application/vnd.apache.arrow.stream',
};
/** Parquet keeps the pages of a row group of 32 MiB, and one that is being compressed. */
const PARQUET_BYTES = 64 * 1024 * 1024;
const MOST_NAME = 80;

export async function download(facts: PageFacts, http: HttpRequest): Promise<HttpAnswer> {
  const { state, query, parameters } = http;
  const { caller, body } = await enterPage(facts, http, false, () => linkOf(query));
  const format = formatNamed(parameters.format ?? '');
  const held = facts.memory().hold('The row group of a Parquet file');
  state.onEnd(() => held.end());
  if (format.name === 'parquet') held.set(PARQUET_BYTES);
  const rows = await (body.sql === undefined
    ? everyRow(caller, body)
    : statementAnswer(caller, body));
  const type = TYPES[format.name] ?? 'application/octet-stream';
  const answer = await rowsAnswer(rows, type, (started) => format.encode(started, {}));
  const name = `${stemOf(body)}${format.endings[0]}`;
  return {
    ...answer,
    headers: { ...answer.headers, 'content-disposition': `attachment; filename="${name}"` },
  };
}

function linkOf({ ask, db }: HttpRequest['query']): Linked {
  return { body: askedOf(ask), database: typeof db === 'string' ? db : undefined };
}

function askedOf(text: unknown): Body {
  try {
    return bodyOf(JSON.parse(String(text)));
  } catch {
    throw new DirspaceError(
      'InvalidInput',
      'The parameter "ask" is no JSON object; a link of the page says there which rows it is for.',
    );
  }
}

/** `user-v3` of a table, `rows` of a statement; letters that headers and file systems take. */
function stemOf({ id, version, sql }: Body): string {
  if (sql !== undefined) return 'rows';
  const name = String((id as readonly unknown[]).at(-1)).slice(0, MOST_NAME);
  const plain = name.replace(/[^\w.-]/g, '_').replace(/^\.+/, '');
  return version === undefined ? plain : `${plain}-v${version}`;
}
