/**
 * `printAnswer` prints the answer of a command as JSON or as text: the answer to standard output,
 * and its note to standard error. Then it throws the failure that the answer carries, if any. Rows
 * of a table are printed in groups as they are read. Text stands in aligned columns, so the first
 * 1,000 lines are held back to find the widths, and values of rows are cut at 60 columns.
 */
import {
  type Answer,
  alignedLine,
  cell,
  OutputClosed,
  type RowsAnswer,
  type Surroundings,
  shortCell,
  toJson,
  visibleLines,
  widthsOf,
} from './terminal/index.ts';

/** Columns of a terminal that a value is shown in. */
const MAX_CELL = 60;
/** Lines that are held back to set the widths of columns; later lines take them as they are. */
const LINES_FOR_WIDTHS = 1000;

export async function printAnswer(
  answer: Answer | RowsAnswer,
  asJson: boolean,
  around: Surroundings,
): Promise<void> {
  const failure = 'failure' in answer ? answer.failure : undefined;
  try {
    await printData(answer, asJson, around);
  } catch (error) {
    // A reader that has gone hides no failure.
    if (!(error instanceof OutputClosed) || failure === undefined) throw error;
  }
  const note = typeof answer.note === 'function' ? await answer.note() : answer.note;
  if (note !== undefined) around.error(`${visibleLines(note)}\n`);
  if (failure !== undefined) throw failure;
}

async function printData(
  answer: Answer | RowsAnswer,
  asJson: boolean,
  around: Surroundings,
): Promise<void> {
  if ('rows' in answer) {
    await (asJson ? printJsonRows(answer, around) : printColumns(answer, around));
  } else if (answer.json === undefined) return;
  else if (asJson) await around.out(`${toJson(answer.json)}\n`);
  else if (answer.text !== undefined && answer.text !== '') {
    await around.out(`${visibleLines(answer.text)}\n`);
  }
}

/** One array, with a row to a line. */
async function printJsonRows({ rows }: RowsAnswer, around: Surroundings): Promise<void> {
  let isFirst = true;
  for await (const group of rows) {
    if (group.length === 0) continue;
    const text = group.map((row) => toJson(row, 0)).join(',\n');
    await around.out(isFirst ? `[\n${text}` : `,\n${text}`);
    isFirst = false;
  }
  await around.out(isFirst ? '[]\n' : '\n]\n');
}

async function printColumns({ columns, rows }: RowsAnswer, around: Surroundings): Promise<void> {
  if (columns.length === 0) return;
  let held: string[][] = [columns.map((name) => cell(name))];
  let widths: readonly number[] | undefined;
  const flush = async (): Promise<void> => {
    widths ??= widthsOf(held);
    const known = widths;
    const text = held.map((line) => `${alignedLine(line, known)}\n`).join('');
    held = [];
    if (text !== '') await around.out(text);
  };
  for await (const group of rows) {
    for (const row of group) {
      held.push(columns.map((name) => shortCell(row[name], MAX_CELL)));
      if (widths === undefined && held.length > LINES_FOR_WIDTHS) widths = widthsOf(held);
    }
    if (widths !== undefined) await flush();
  }
  await flush();
}
