/**
 * `parseExactJson` parses JSON so that integers keep every digit. Integers beyond the safe range of
 * a double become bigints. All other numbers, also long ones with a fraction or an exponent, become
 * doubles, as with JSON.parse. Bad text throws SyntaxError, as there. `stringEnd` finds where a
 * string of valid JSON ends.
 */

const LONG_DIGITS = /\d{16}/;
/** Numbers, and where strings begin: digits in these are passed over. */
const TOKENS = /"|-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?/g;
const INTEGER = /^-?\d+$/;
const KEY_END = /\s*:/y;
/** Starts a string that stands for an integer; JSON text holds this character as an escape only. */
const MARK = '\u0001';
const MARK_TEXT = '"\\u0001';

/** Throws SyntaxError as JSON.parse does. */
export function parseExactJson(text: string): unknown {
  const value: unknown = JSON.parse(text);
  if (!LONG_DIGITS.test(text)) return value;
  let found = false;
  let marked = '';
  let from = 0;
  TOKENS.lastIndex = 0;
  for (let match = TOKENS.exec(text); match !== null; match = TOKENS.exec(text)) {
    const [token] = match;
    if (token === '"') {
      const end = stringEnd(text, match.index);
      // A string that starts with the mark gets a second one, but for keys, which stay unread.
      KEY_END.lastIndex = end;
      if (text.startsWith(MARK_TEXT, match.index) && !KEY_END.test(text)) {
        marked += `${text.slice(from, match.index)}${MARK_TEXT}`;
        from = match.index + 1;
      }
      TOKENS.lastIndex = end;
    } else if (INTEGER.test(token) && !Number.isSafeInteger(Number(token))) {
      found = true;
      marked += `${text.slice(from, match.index)}${MARK_TEXT}${token}"`;
      from = TOKENS.lastIndex;
    }
  }
  return found ? unmarked(JSON.parse(marked + text.slice(from))) : value;
}

const IN_STRING = /["\\]/g;

/** The place after the closing quote of a string of valid JSON that begins at `start`. */
export function stringEnd(text: string, start: number): number {
  IN_STRING.lastIndex = start + 1;
  for (let match = IN_STRING.exec(text); match !== null; match = IN_STRING.exec(text)) {
    if (match[0] === '"') return match.index + 1;
    IN_STRING.lastIndex = match.index + 2;
  }
  return text.length;
}

/** The value with integers in place of marked texts. Any depth of it takes no stack. */
function unmarked(value: unknown): unknown {
  const top = [value];
  const rest: object[] = [top];
  for (let item = rest.pop(); item !== undefined; item = rest.pop()) {
    for (const key in item) {
      const member: unknown = Reflect.get(item, key);
      if (typeof member === 'object' && member !== null) rest.push(member);
      else if (typeof member === 'string' && member.startsWith(MARK)) {
        // A key may be __proto__, which is a member like any other.
        Object.defineProperty(item, key, {
          value: member[1] === MARK ? member.slice(1) : BigInt(member.slice(1)),
        });
      }
    }
  }
  return top[0];
}
