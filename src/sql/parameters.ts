/**
 * `withParameters` writes values into a statement in place of its placeholders, as literals. A
 * value is never read as SQL, whatever characters it has. Placeholders are `?` by order, `$1` by
 * number, or `$name`; in quotes and comments they are text. A placeholder without a value, a value
 * without a placeholder, a value that has no literal, `?` mixed with the others, and a statement of
 * more than 1 MiB throw InvalidInput. The parser checks the length of the result again.
 */
import { DirspaceError } from '../errors.ts';
import { quotedText } from '../sql-quotes.ts';
import { checkLength, END, PLACEHOLDER, refuse, Tokens } from './parse/index.ts';

/** Values by order, or by name. */
export type Parameters = readonly unknown[] | Readonly<Record<string, unknown>>;

export function withParameters(sql: string, parameters: Parameters): string {
  const values = new Map<string, unknown>(
    Array.isArray(parameters)
      ? parameters.map((value, at) => [String(at + 1), value])
      : Object.entries(parameters),
  );
  checkLength(sql.length);
  const literals = new Map<string, string>();
  const tokens = new Tokens(sql, 'statement', true);
  let [text, from, marks] = ['', 0, 0];
  let numbered = false;
  for (; tokens.kind !== END; tokens.next()) {
    if (tokens.kind !== PLACEHOLDER) continue;
    const isMark = tokens.text === '?';
    if (isMark) marks++;
    else numbered = true;
    if (marks > 0 && numbered)
      refuse(tokens.start, `? and ${isMark ? '$1' : tokens.text} are not mixed in one statement`);
    const name = isMark ? String(marks) : tokens.text.slice(1);
    if (!values.has(name))
      refuse(
        tokens.start,
        `There is no parameter ${isMark ? `number ${marks}` : tokens.text}; ${given(values)}`,
      );
    let literal = literals.get(name);
    if (literal === undefined) {
      literal = literalOf(values.get(name), name);
      literals.set(name, literal);
    }
    // Blanks keep a text from joining what stands before it, such as the E of E'..'.
    text += `${sql.slice(from, tokens.start)} ${literal} `;
    // A long value may have many places.
    checkLength(text.length, 'statement with its parameters');
    from = tokens.end;
  }
  const unused = [...values.keys()].find((name) => !literals.has(name));
  if (unused !== undefined) {
    throw new DirspaceError(
      'InvalidInput',
      `The statement has no place for the parameter ${unused}; ${given(values)}.`,
    );
  }
  return text + sql.slice(from);
}

const given = (values: ReadonlyMap<string, unknown>): string =>
  values.size === 0
    ? 'none is given'
    : `${[...values.keys()].slice(0, 20).join(', ')} ${values.size === 1 ? 'is' : 'are'} given`;

/** Arrays within arrays. */
const MOST_DEPTH = 20;

/** The literal of a value. @throws InvalidInput where it has none */
function literalOf(value: unknown, name: string, depth = 0): string {
  switch (typeof value) {
    case 'string':
      return quotedText(value);
    case 'number':
      return numberLiteral(value);
    case 'bigint':
      return value < 0n ? `(${value})` : String(value);
    case 'boolean':
      return value ? 'TRUE' : 'FALSE';
  }
  if (value === null) return 'NULL';
  if (value instanceof Uint8Array) return `X'${Buffer.from(value).toString('hex')}'`;
  if (Array.isArray(value)) {
    if (depth === MOST_DEPTH) {
      throw new DirspaceError(
        'InvalidInput',
        `The arrays of the parameter ${name} are more than ${MOST_DEPTH} deep.`,
      );
    }
    return `[${value.map((item) => literalOf(item, name, depth + 1)).join(', ')}]`;
  }
  if (value instanceof Date && !Number.isNaN(value.getTime())) {
    return `TIMESTAMP '${value.toISOString()}'`;
  }
  throw new DirspaceError(
    'InvalidInput',
    `The parameter ${name} is ${value === undefined ? 'undefined' : 'no value of SQL'}; give a text, a number, a bigint, a boolean, a Date, bytes, null, or an array of these.`,
  );
}

/** Whole numbers as they are, which fit every type of number, and others as doubles. */
function numberLiteral(value: number): string {
  if (!Number.isFinite(value)) return `CAST('${value}' AS double)`;
  if (Object.is(value, -0)) return "CAST('-0' AS double)";
  const text = Number.isSafeInteger(value) ? String(value) : value.toExponential();
  return value < 0 ? `(${text})` : text;
}
