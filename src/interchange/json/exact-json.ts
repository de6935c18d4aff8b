/**
 * `parseExactJson`: parses JSON so that integers keep every digit. Integers beyond the safe range
 * of a double become bigints; fractions become doubles, as with JSON.parse. Bad text throws
 * SyntaxError, as there.
 */

const LONG_DIGITS = /\d{16}/;
/** Strings are matched so that digits in them are passed over. */
const TOKENS = /"(?:[^"\\]|\\.)*"|-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?/g;
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
  const marked = text.replace(TOKENS, (token, offset: number) => {
    if (INTEGER.test(token) && !Number.isSafeInteger(Number(token))) {
      found = true;
      return `${MARK_TEXT}${token}"`;
    }
    // A string that starts with the mark gets a second one, but for keys, which stay unread.
    if (!token.startsWith(MARK_TEXT)) return token;
    KEY_END.lastIndex = offset + token.length;
    return KEY_END.test(text) ? token : `${MARK_TEXT}\\u0001${token.slice(MARK_TEXT.length)}`;
  });
  return found ? JSON.parse(marked, (_, item: unknown) => unmark(item)) : value;
}

function unmark(item: unknown): unknown {
  if (typeof item !== 'string' || !item.startsWith(MARK)) return item;
  return item[1] === MARK ? item.slice(1) : BigInt(item.slice(1));
}
