// Numbers for people.

// Made once: toLocaleString makes one each time.
const GROUPS = new Intl.NumberFormat('en', {maximumFractionDigits: 0});
const grouped = (value: number): string => GROUPS.format(Math.round(value));

export const count = grouped;

const UNITS: readonly (readonly [number, string])[] = [[1e9, 's'], [1e6, 'ms'], [1e3, '\u00b5s'], [1, 'ns']];

const threeDigits = (value: number): string =>
  value >= 1000 ? grouped(value) : value >= 100 ? value.toFixed(0) : value >= 10 ? value.toFixed(1) : value.toFixed(2);

export function duration(ns: number): string {
  if (ns <= 0) return '0 s';
  const [size, unit] = UNITS.find(([least]) => ns >= least) ?? [1, 'ns'];
  return `${unit === 'ns' ? grouped(ns) : threeDigits(ns / size)}\u202f${unit}`;
}

const BYTE_UNITS = ['kB', 'MB', 'GB', 'TB', 'PB', 'EB'];

// 1024 each, as the report counts them.
export function bytes(amount: number): string {
  if (amount < 1024) return `${grouped(amount)}\u202fbytes`;
  let unit = 0;
  for (amount /= 1024; amount >= 1023.5 && unit + 1 < BYTE_UNITS.length; unit++) amount /= 1024;
  return `${threeDigits(amount)}\u202f${BYTE_UNITS[unit]!}`;
}

// A setting, not a measurement: 1 ms, not 1.00 ms.
export function interval(ns: number): string {
  const [size, unit] = UNITS.find(([least]) => ns >= least) ?? [1, 'ns'];
  return `${Number((ns / size).toPrecision(3))}\u202f${unit}`;
}

export function share(part: number, whole: number): string {
  if (!(whole > 0) || part <= 0) return '0\u202f%';
  const percent = (100 * part) / whole;
  if (percent > 0 && percent < 0.01) return '<\u202f0.01\u202f%';
  return `${percent >= 99.95 ? percent.toFixed(0) : percent >= 1 ? percent.toFixed(1) : percent.toFixed(2)}\u202f%`;
}
