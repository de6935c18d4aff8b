/**
 * Creates strftime (`writtenBy`), of dates and timestamps, and strptime and try_strptime
 * (`readBy`), each for a constant format. strftime writes a timestamp with a time zone in the local
 * time of that zone, and one without as it stands; a zone that the runtime does not know throws
 * InvalidInput. For a text that does not fit, strptime throws InvalidInput and try_strptime gives
 * null. values/time-formats.ts defines the letters of a format.
 */
import type { DataType } from '../../arrow/index.ts';
import { DirspaceError } from '../../errors.ts';
import {
  floorDivide,
  formattedTime,
  NANOS_PER_DAY,
  NANOS_PER_SECOND,
  parsedTime,
  type TimeFormat,
  toWallClock,
} from '../../values/index.ts';
import { TimeTexts } from '../texts/index.ts';
import { clockZoneOf, nanosPerUnit, type RowFunction, type Value } from '../typed/index.ts';
import { quicker, strict } from './rows.ts';

/** No letter writes more. */
const MOST_OF_PART = 40;

/** Longer texts are not shared by rows: what reads them goes through the bytes of each row. */
const MOST_SHARED = 1_000;

/** Nanoseconds of the spans in which a letter writes the same; a letter of days has a day. */
const SPANS: Readonly<Record<string, number>> = {
  H: 3600e9,
  I: 3600e9,
  p: 3600e9,
  M: 60e9,
  S: 1e9,
  f: 1,
  g: 1,
  n: 1,
};

function spanOf({ parts }: TimeFormat): number {
  let span = 86_400e9;
  for (const part of parts) if ('letter' in part) span = Math.min(span, SPANS[part.letter] ?? span);
  return span;
}

/** Whether a format writes the time of day alone; the zone of a column without one is nothing. */
const isOfClock = ({ parts }: TimeFormat): boolean =>
  parts.every((part) => 'text' in part || 'HIpMSzZ'.includes(part.letter));

/** @param type of the date or timestamp */
export function writtenBy(format: TimeFormat, type: DataType): RowFunction {
  const most = format.text.length + MOST_OF_PART * format.parts.length;
  const perUnit = nanosPerUnit(type);
  const zone = clockZoneOf(type);
  const span = spanOf(format);
  const textOf = (value: Value): string => {
    const instant = BigInt(value as number | bigint) * perUnit;
    const clock = zone === null ? instant : toWallClock(instant, zone);
    const days = floorDivide(clock, NANOS_PER_DAY);
    return formattedTime(format, {
      days: Number(days),
      nanos: clock - days * NANOS_PER_DAY,
      offset: Number((clock - instant) / NANOS_PER_SECOND),
      ...(zone !== null && { zone }),
    });
  };
  const byValue = strict('strftime', ([value], _type, memory) => {
    memory.text(most);
    return textOf(value);
  });
  if (span === 1 || most > MOST_SHARED) return byValue;
  const texts = new TimeTexts(type, span, isOfClock(format), textOf);
  return quicker(byValue, ([column], whole) =>
    texts.column(column, whole.type, () => whole.memory.text(most)),
  );
}

/** The range of int64, which timestamps are of. */
const MOST = 2n ** 63n;

/** @param lenient gives null for texts that do not fit; else they are errors */
export function readBy(format: TimeFormat, lenient: boolean): RowFunction {
  const name = lenient ? 'try_strptime' : 'strptime';
  return strict(
    name,
    ([value], type) => {
      const text = value as string;
      const time = parsedTime(format, text);
      if (time !== undefined) {
        const nanos = BigInt(time.days) * NANOS_PER_DAY + time.nanos;
        const unit = nanosPerUnit(type);
        const units = floorDivide(nanos - BigInt(time.offset ?? 0) * NANOS_PER_SECOND, unit);
        if (units >= -MOST && units < MOST) return units;
      }
      if (lenient) return null;
      const shown = JSON.stringify(text.length > 60 ? `${text.slice(0, 60)}…` : text);
      throw new DirspaceError(
        'InvalidInput',
        `strptime cannot read ${shown} as ${format.text}. try_strptime gives NULL for such texts.`,
      );
    },
    { fallible: !lenient },
  );
}
