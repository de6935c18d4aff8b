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
  SECONDS_PER_DAY,
} from './calendar.ts';
export {
  DATE_FORMS,
  NANOS_OF_DAY,
  parseDateTime,
  parseTimeOfDay,
  TIME_FORMS,
  TIMESTAMP_FORMS,
} from './date-time-text.ts';
export {
  fromWallClock,
  type Instant,
  instantNanosOf,
  instantOf,
  instantOfWallClock,
  isKnownZone,
  toWallClock,
  ZONE_FORMS,
  zoneOffset,
} from './zones.ts';
