/**
 * Writes dates, times of day and timestamps as ISO 8601 texts (`dateText`, `timeText`,
 * `timestampText`), exact to the nanosecond. A timestamp with a time zone is written in UTC, with a
 * Z. A date in milliseconds that is not a whole day is written with its time. A time outside a day,
 * or a timestamp more than 2^53 seconds from 1970, is written as the stored number.
 */
import { type Data, type Date_, DateUnit, type Time, type Timestamp } from '../../arrow/index.ts';
import { floorDivide, formatDate, MILLIS_PER_DAY, SECONDS_PER_DAY } from '../../values/index.ts';
import { countsOf, type WriteText } from './number-texts.ts';
import type { TextOut } from './text-out.ts';

const COLON = 58;
const POINT = 46;
const LETTER_T = 84;
const LETTER_Z = 90;
/** Units of a second, by the number of the unit. */
const PER_SECOND = [1, 1e3, 1e6, 1e9] as const;

/** Writes dates; those of the last one are copied, as days repeat from row to row. */
class Dates {
  #days = Number.NaN;
  #text = '';

  write(out: TextOut, days: number): void {
    if (days !== this.#days) {
      this.#days = days;
      this.#text = formatDate(days);
    }
    out.ascii(this.#text);
  }
}

/** @param fraction of the second, in units of which so many make a second */
function writeClock(out: TextOut, seconds: number, fraction: number, perSecond: number): void {
  out.padded(Math.floor(seconds / 3600), 2);
  out.byte(COLON);
  out.padded(Math.floor(seconds / 60) % 60, 2);
  out.byte(COLON);
  out.padded(seconds % 60, 2);
  if (fraction === 0) return;
  out.byte(POINT);
  let [rest, digits] = [fraction, perSecond === 1e3 ? 3 : perSecond === 1e6 ? 6 : 9];
  while (digits > 3 && rest % 1000 === 0) {
    rest /= 1000;
    digits -= 3;
  }
  out.padded(rest, digits);
}

export function dateText(data: Data): WriteText {
  const dates = new Dates();
  if ((data.type as Date_).unit === DateUnit.DAY) {
    const days = data.values as Int32Array;
    return (out, row) => dates.write(out, days[row] as number);
  }
  const moment = momentText(dates, data.values as BigInt64Array, 1e3, false);
  const count = countsOf(data.values as BigInt64Array);
  return (out, row) => {
    const millis = count(row);
    // Milliseconds that are no whole day are kept, though Arrow's specification rules them out.
    if (typeof millis === 'number' && millis % MILLIS_PER_DAY === 0) {
      dates.write(out, millis / MILLIS_PER_DAY);
    } else moment(out, row);
  };
}

export function timeText(data: Data): WriteText {
  const { unit } = data.type as Time;
  const perSecond = PER_SECOND[unit] as number;
  const { values } = data;
  const count =
    values instanceof BigInt64Array
      ? countsOf(values)
      : (row: number) => (values as Int32Array)[row] as number;
  return (out, row) => {
    const value = Number(count(row));
    const seconds = Math.floor(value / perSecond);
    if (!(seconds >= 0 && seconds < SECONDS_PER_DAY)) {
      out.ascii(String(count(row)));
      return;
    }
    writeClock(out, seconds, value - seconds * perSecond, perSecond);
  };
}

export function timestampText(data: Data): WriteText {
  const { unit, timezone } = data.type as Timestamp;
  const hasZone = timezone !== null && timezone !== undefined && timezone !== '';
  const perSecond = PER_SECOND[unit] as number;
  return momentText(new Dates(), data.values as BigInt64Array, perSecond, hasZone);
}

function momentText(
  dates: Dates,
  values: BigInt64Array,
  perSecond: number,
  hasZone: boolean,
): WriteText {
  const count = countsOf(values);
  return (out, row) => {
    const value = count(row);
    let seconds: number;
    let fraction: number;
    if (typeof value === 'number') {
      seconds = Math.floor(value / perSecond);
      fraction = value - seconds * perSecond;
    } else {
      const whole = floorDivide(value, BigInt(perSecond));
      seconds = Number(whole);
      fraction = Number(value - whole * BigInt(perSecond));
    }
    if (!Number.isSafeInteger(seconds)) {
      out.ascii(String(value));
      return;
    }
    const days = Math.floor(seconds / SECONDS_PER_DAY);
    dates.write(out, days);
    out.byte(LETTER_T);
    writeClock(out, seconds - days * SECONDS_PER_DAY, fraction, perSecond);
    if (hasZone) out.byte(LETTER_Z);
  };
}
