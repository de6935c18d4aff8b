/**
 * Exports the parsing, formatting and arithmetic of dates, times, time zones, decimals,
 * half-precision numbers and intervals, and the order of texts, all as plain JavaScript values.
 * Nothing here imports Arrow; sql/ and the readers of rows map Arrow's types to these values.
 */

export {
  addMonths,
  civilFromDays,
  daysFromCivil,
  daysInMonth,
  floorDivide,
  formatDate,
  formatTimeOfDay,
  isoWeek,
  isoWeekday,
  MILLIS_PER_DAY,
  monthNumber,
  NANOS_PER_CLOCK_UNIT,
  NANOS_PER_DAY,
  NANOS_PER_SECOND,
  SECONDS_PER_DAY,
} from './calendar.ts';
export { compareText } from './compare-text.ts';
export {
  DATE_FORMS,
  NANOS_OF_DAY,
  parseDateTime,
  parseTimeOfDay,
  TIME_FORMS,
  TIMESTAMP_FORMS,
} from './date-time-text.ts';
export {
  decimalText,
  decimalWords,
  digitsOf,
  doubleToExact,
  type ExactNumber,
  exactToDouble,
  integerFrom,
  meanOf,
  parseExact,
  powerOfTen,
  unscaledDecimal,
} from './decimals.ts';
export {
  HALF_LIMIT,
  halfValue,
  halfValues,
  halvesToFloats,
  nearestHalf,
  storeHalf,
} from './half.ts';
export { type IntervalValue, parseInterval } from './intervals.ts';
export { shortestHalf, shortestSingle } from './short-floats.ts';
export { formattedTime, parsedTime, type TimeFormat, timeFormat } from './time-formats.ts';
export { convertUnit, inUnit, TIME_UNITS, unitsPerSecond } from './time-units.ts';
export {
  fromWallClock,
  instantNanosOf,
  instantOf,
  instantOfWallClock,
  isKnownZone,
  toWallClock,
  ZONE_FORMS,
  zoneOffset,
} from './zones.ts';
