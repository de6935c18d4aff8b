/**
 * Parses which columns the commands `query` and `export` show (`selectedColumns`, of `-s`), and
 * which columns order the rows (`orderings`, of `--sort`). Each option may be given several times,
 * or as a list with commas. The table's column names decide where a text could be read in two ways.
 * An unknown column to order by throws TableColumnNotFound, a malformed list UsageError.
 */
import { DirspaceError } from '../../errors.ts';
import { suggestion } from '../../known-names.ts';
import type { ColumnOrdering } from '../../sdk/index.ts';
import { UsageError } from '../terminal/index.ts';

/** `-s name -s age` and `-s name,age`. The query checks whether the columns exist. */
export function selectedColumns(
  given: readonly string[],
  names: () => Promise<readonly string[]>,
): Promise<readonly string[]> {
  return inLists('-s', given, names, (text, known) => known.includes(text));
}

/** `--sort age:desc`, `"age desc"` and `-age`, and lists of these. Throws for a column there is not. */
export async function orderings(
  given: readonly string[],
  names: () => Promise<readonly string[]>,
): Promise<readonly ColumnOrdering[]> {
  if (given.length === 0) return [];
  const columns = await names();
  const known = [...columns, ...VIRTUAL];
  const texts = await inLists('--sort', given, async () => known, isOrdering);
  return texts.map((text) => {
    const readings = readingsOf(text);
    const found = readings.find(({ columnName }) => isColumn(columnName, known));
    if (found !== undefined) return found;
    const [, named, direction] = /^(.+):([^:]*)$/s.exec(text) ?? [];
    if (named !== undefined && isColumn(named, known)) {
      throw new UsageError(
        `--sort: ${JSON.stringify(direction)} is no direction; give ${named}:asc or ${named}:desc.`,
      );
    }
    const column = readings[0]?.columnName ?? text;
    throw new DirspaceError(
      'TableColumnNotFound',
      `--sort: there is no column ${JSON.stringify(column)}; the table has ${someOf(columns)}.${suggestion(column, known)}`,
      { details: { column } },
    );
  });
}

/** Queries have them, and schemas do not. */
const VIRTUAL = ['_rowid', '_rowoffset'];
const MOST_TOLD = 20;

async function inLists(
  flag: string,
  given: readonly string[],
  names: () => Promise<readonly string[]>,
  isOne: (text: string, known: readonly string[]) => boolean,
): Promise<string[]> {
  if (!given.some((text) => text.includes(','))) return [...given];
  const known = await names();
  return given.flatMap((text) => {
    if (!text.includes(',') || isOne(text, known)) return [text];
    const parts = text.split(',').map((part) => part.trim());
    if (!parts.includes('')) return parts;
    throw new UsageError(`${flag} is ${JSON.stringify(text)}; a name is missing beside a comma.`);
  });
}

const isOrdering = (text: string, known: readonly string[]): boolean =>
  readingsOf(text).some(({ columnName }) => isColumn(columnName, known));

/** What a text may mean, the likeliest first. */
function readingsOf(text: string): ColumnOrdering[] {
  const readings: ColumnOrdering[] = [];
  const add = (columnName: string | undefined, ascending: boolean): void => {
    if (columnName !== undefined) readings.push({ columnName, ascending });
  };
  const [, named, direction = ''] = /^(.+?)(?::|\s+)(asc|desc)$/is.exec(text) ?? [];
  add(named, direction.toLowerCase() !== 'desc');
  const [, sign, signed] = /^([+-])(.+)$/s.exec(text) ?? [];
  add(signed, sign === '+');
  add(text, true);
  return readings;
}

/** Names match as in SQL: their case does not count where it need not, and dots lead into structs. */
function isColumn(name: string, known: readonly string[]): boolean {
  const [first = ''] = name.split('.');
  return known.some((other) =>
    [name, first].some((wanted) => wanted.toLowerCase() === other.toLowerCase()),
  );
}

function someOf(names: readonly string[]): string {
  const told = names.slice(0, MOST_TOLD).join(', ');
  return names.length > MOST_TOLD ? `${told} and ${names.length - MOST_TOLD} more` : told;
}
