/**
 * Throws UsageError for a JSON row with values that would be stored as something else
 * (`refuseUnstorable`). These are numbers beyond the range of a double, which become Infinity, and
 * lone surrogates, which UTF-8 cannot encode.
 */
import { UsageError } from '../terminal/index.ts';

/** Text that may hold one of them: most rows need no second look. */
const SUSPECT = /\\u[dD][89a-fA-F]|\d[eE]\+?\d{2}|\d{300}/;
const LONE_SURROGATE = /\p{Surrogate}/u;

/** `where` names the row in the message. Throws UsageError. */
export function refuseUnstorable(text: string, row: object, where: string): void {
  if (!SUSPECT.test(text)) return;
  const rest: [column: string, value: unknown][] = Object.entries(row);
  for (const [column] of rest) refuseHalf(column, `${where}: the name of a column`);
  for (let item = rest.pop(); item !== undefined; item = rest.pop()) {
    const [column, value] = item;
    const place = `${where}, column ${JSON.stringify(column)}`;
    if (typeof value === 'string') refuseHalf(value, `${place}: the text`);
    else if (typeof value === 'number' && !Number.isFinite(value)) {
      throw new UsageError(
        `${place}: a number is beyond what float64 holds (about 1.8e308), and would become Infinity.`,
      );
    } else if (typeof value === 'object' && value !== null) {
      for (const [key, inner] of Object.entries(value)) {
        refuseHalf(key, `${place}: the name of a member`);
        rest.push([column, inner]);
      }
    }
  }
}

function refuseHalf(text: string, what: string): void {
  const [half] = LONE_SURROGATE.exec(text) ?? [];
  if (half === undefined) return;
  throw new UsageError(
    `${what} has the escape \\u${half.charCodeAt(0).toString(16)} alone, which is half of a character; UTF-8 cannot hold it. Write both halves, or remove it.`,
  );
}
