/**
 * The ISO 8601 text of a time, always with milliseconds and Z. It does not use the runtime's Date,
 * because clocks are ports. Days become dates by counting in periods of 400 years that begin in
 * March.
 */
const DAY_MS = 86_400_000;
const ERA_DAYS = 146_097;
/** Days from 0000-03-01 to 1970-01-01. */
const EPOCH_DAYS = 719_468;

const digits = (value: number, count: number): string => String(value).padStart(count, '0');

/** `ms` since 1970-01-01 UTC, not negative, before the year 10000. */
export function isoDate(ms: number): string {
  const days = Math.floor(ms / DAY_MS) + EPOCH_DAYS;
  const era = Math.floor(days / ERA_DAYS);
  const day = days - era * ERA_DAYS;
  const year = Math.floor(
    (day - Math.floor(day / 1460) + Math.floor(day / 36_524) - Math.floor(day / 146_096)) / 365,
  );
  const dayOfYear = day - (365 * year + Math.floor(year / 4) - Math.floor(year / 100));
  const march = Math.floor((5 * dayOfYear + 2) / 153);
  const dayOfMonth = dayOfYear - Math.floor((153 * march + 2) / 5) + 1;
  const month = march < 10 ? march + 3 : march - 9;
  const date = [digits(year + era * 400 + (month <= 2 ? 1 : 0), 4), digits(month, 2)];
  return `${date.join('-')}-${digits(dayOfMonth, 2)}T${timeOfDay(ms % DAY_MS)}Z`;
}

function timeOfDay(ms: number): string {
  const seconds = Math.floor(ms / 1000);
  const parts = [Math.floor(seconds / 3600), Math.floor(seconds / 60) % 60, seconds % 60];
  return `${parts.map((part) => digits(part, 2)).join(':')}.${digits(ms % 1000, 3)}`;
}
