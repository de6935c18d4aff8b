/** Files as data of a table, read as they are needed. Knows no table. */
import { createReadStream, readFileSync, statSync } from 'node:fs';
import { extname } from 'node:path';
import { createInterface } from 'node:readline';
import type { DataInput } from '../sdk/data.ts';
import { UsageError } from './command.ts';
import { parseExactJson } from './exact-json.ts';

const ARROW = ['.arrow', '.arrows', '.feather', '.ipc'];
const LINES = ['.ndjson', '.jsonl'];

/** Rows are read as they are pulled. Throws UsageError for a file that is missing or unknown. */
export function readRows(file: string): DataInput {
  const found = statSync(file, { throwIfNoEntry: false });
  if (found === undefined) throw new UsageError(`There is no file ${JSON.stringify(file)}.`);
  if (found.isDirectory()) throw new UsageError(`${JSON.stringify(file)} is a folder, not a file.`);
  if (found.isFile() && found.size === 0) {
    throw new UsageError(`${JSON.stringify(file)} is empty: it has no rows and no columns.`);
  }
  const kind = extname(file).toLowerCase();
  if (ARROW.includes(kind)) return createReadStream(file, { highWaterMark: 1 << 20 });
  if (LINES.includes(kind)) return jsonLines(file);
  if (kind === '.json') return jsonArray(file);
  throw new UsageError(
    `${JSON.stringify(file)} is of no known kind; files are ${[...ARROW, '.json', ...LINES].join(', ')}.`,
  );
}

async function* jsonLines(file: string): AsyncGenerator<object> {
  const input = createReadStream(file, 'utf8');
  let number = 0;
  try {
    for await (const line of createInterface({ input, crlfDelay: Infinity })) {
      number++;
      if (line.trim() !== '') yield rowOf(line, `${file}, line ${number}`);
    }
  } finally {
    input.destroy();
  }
}

function rowOf(text: string, where: string): object {
  const row = parse(text, where);
  if (typeof row === 'object' && row !== null && !Array.isArray(row)) return row;
  throw new UsageError(`${where} is no JSON object.`);
}

function* jsonArray(file: string): Generator<object> {
  const rows = parse(readFileSync(file, 'utf8'), file);
  if (!Array.isArray(rows)) throw new UsageError(`${file} is no JSON array of objects.`);
  yield* rows;
}

function parse(text: string, where: string): unknown {
  try {
    return parseExactJson(text);
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error;
    throw new UsageError(`${where} is no JSON: ${error.message}`);
  }
}
