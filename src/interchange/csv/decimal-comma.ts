/**
 * Reads numbers that are written with a decimal comma, as in `1.234,5`. `pointed` rewrites such a
 * field with a decimal point and without the points between thousands, so that the parsers of
 * csv-numbers.ts read it. It returns undefined if a point stands elsewhere, as in `1.5`, and for
 * more than 400 bytes. `isOfNumbers` tells for which types fields are rewritten.
 */
import { type DataType, type Dictionary, Type } from '../../arrow/index.ts';

const [SPACE, COMMA, POINT, MINUS, PLUS, ZERO] = [32, 44, 46, 45, 43, 48] as const;
/** Longer fields are no numbers. */
const MOST_BYTES = 400;

/**
 * The number with a point before its fraction; undefined where points before it stand elsewhere than
 * between groups of three digits, as in `1.5`. Other text comes back for the parsers to refuse.
 */
export function pointed(bytes: Uint8Array, start: number, end: number): Uint8Array | undefined {
  let [from, to] = [start, end];
  while (from < to && bytes[from] === SPACE) from++;
  while (to > from && bytes[to - 1] === SPACE) to--;
  if (to - from > MOST_BYTES) return undefined;
  const field = bytes.subarray(from, to);
  const comma = field.indexOf(COMMA);
  const whole = comma < 0 ? field.length : comma;
  const first = field.indexOf(POINT);
  if (comma < 0 && first < 0) return field;
  const out = new Uint8Array(field.length);
  let length = 0;
  // Digits since the last point, or of the first group.
  let group = 0;
  for (let at = 0; at < field.length; at++) {
    const byte = field[at] as number;
    const isSign = at === 0 && (byte === MINUS || byte === PLUS);
    if (at < whole && first >= 0 && !isSign) {
      if (byte === POINT) {
        if (at === first ? group === 0 || group > 3 : group !== 3) return undefined;
        group = 0;
        continue;
      }
      if (byte < ZERO || byte > ZERO + 9) return undefined;
      group++;
    }
    out[length++] = byte === COMMA ? POINT : byte;
  }
  return first >= 0 && group !== 3 ? undefined : out.subarray(0, length);
}

const OF_NUMBERS: readonly Type[] = [Type.Int, Type.Float, Type.Decimal];

export const isOfNumbers = (type: DataType): boolean =>
  type.typeId === Type.Dictionary
    ? isOfNumbers((type as Dictionary).dictionary)
    : OF_NUMBERS.includes(type.typeId);
