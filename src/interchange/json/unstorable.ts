/**
 * `refuseUnstorable` throws InvalidInput for a JSON row with values that would be stored as
 * something else. These are numbers beyond the range of a double, which become Infinity, and lone
 * surrogates, which UTF-8 cannot encode.
 */
import { type FilePlace, fileProblem } from '../files/index.ts';

/** Text that may hold one of them: most rows need no second look. */
const SUSPECT = /\\u[dD][89a-fA-F]|\d[eE]\+?\d{2}|\d{300}/;
const LONE_SURROGATE = /\p{Surrogate}/u;

/** Throws InvalidInput. */
export function refuseUnstorable(text: string, row: object, place: FilePlace): void {
  if (!SUSPECT.test(text)) return;
  const where = `${place.file}: Row ${place.row} on line ${place.line}`;
  const rest: [column: string, value: unknown][] = Object.entries(row);
  for (const [column] of rest) refuseHalf(column, `${where}: the name of a column`, place);
  for (let item = rest.pop(); item !== undefined; item = rest.pop()) {
    const [column, value] = item;
    const inColumn = `${where}, column ${JSON.stringify(column)}`;
    if (typeof value === 'string') refuseHalf(value, `${inColumn}: the text`, place);
    else if (typeof value === 'number' && !Number.isFinite(value)) {
      throw fileProblem(
        `${inColumn}: a number is beyond what float64 holds (about 1.8e308), and would become Infinity.`,
        place,
      );
    } else if (typeof value === 'object' && value !== null) {
      for (const [key, inner] of Object.entries(value)) {
        refuseHalf(key, `${inColumn}: the name of a member`, place);
        rest.push([column, inner]);
      }
    }
  }
}

function refuseHalf(text: string, what: string, place: FilePlace): void {
  const [half] = LONE_SURROGATE.exec(text) ?? [];
  if (half === undefined) return;
  throw fileProblem(
    `${what} has the escape \\u${half.charCodeAt(0).toString(16)} alone, which is half of a character; UTF-8 cannot hold it. Write both halves, or remove it.`,
    place,
  );
}
