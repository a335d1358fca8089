// Time on the page: ranges in moments, intervals spread over moments, labels of axes.
import type {Head} from '../data/head';
import type {TimeRange} from '../shell/state';
import type {Cut} from '../locks/contentions';

// The selected range as times, with the chosen threads.
export function cutOf(head: Head, range: TimeRange | null, isChosen: Cut['isChosen'], rows: Uint8Array | null = null): Cut {
  if (range === null) return {from: -Infinity, to: Infinity, whole: true, isChosen, rows};
  return {
    from: range.first <= 0 ? -Infinity : range.first * head.moment_ns,
    to: range.end >= head.moments ? Infinity : range.end * head.moment_ns,
    whole: range.first <= 0 && range.end >= head.moments, isChosen, rows,
  };
}

export const momentCount = (head: Head): number => Math.max(head.moments, 1);

export const spanOf = (head: Head): number => Math.max(head.moments * head.moment_ns, head.duration_ns, 1);

// From any two places to a range that holds both; null if that is everything.
export function rangeBetween(head: Head, a: number, b: number): TimeRange | null {
  const all = momentCount(head);
  const first = Math.min(Math.max(Math.floor(Math.min(a, b)), 0), all - 1);
  const end = Math.min(Math.max(Math.ceil(Math.max(a, b)), first + 1), all);
  return first === 0 && end === all ? null : {first, end};
}

// Amounts over intervals, as amounts by moment: each moment gets its part. Any number of intervals in linear time.
export class Spreader {
  private readonly edge: Float64Array; // differences: of what whole moments get
  private readonly part: Float64Array;

  constructor(private readonly moments: number, private readonly momentNs: number) {
    this.edge = new Float64Array(moments + 1);
    this.part = new Float64Array(moments);
  }

  add(begin: number, length: number, amount: number): void {
    const last = this.moments - 1;
    const from = Math.max(begin, 0) / this.momentNs;
    const to = Math.max(Math.min((begin + length) / this.momentNs, this.moments), 0);
    const first = Math.floor(from);
    if (first > last) return;
    if (length <= 0) {
      this.part[first]! += amount;
      return;
    }
    const each = (amount * this.momentNs) / length; // of a whole moment
    const end = Math.min(Math.floor(to), this.moments);
    if (first === end) {
      this.part[first]! += each * (to - from);
      return;
    }
    this.part[first]! += each * (first + 1 - from);
    if (end <= last) this.part[end]! += each * (to - end);
    if (end > first + 1) {
      this.edge[first + 1]! += each;
      this.edge[end]! -= each;
    }
  }

  take(): Float64Array {
    let level = 0;
    return this.part.map((part, i) => {
      level += this.edge[i]!;
      const sum = part + level;
      return sum > 1e-6 ? sum : 0; // differences leave dust
    });
  }
}

const STEPS = [1, 2, 5, 10, 20, 50, 100, 200, 500].flatMap((n) => [n, n * 1e3, n * 1e6]).sort((a, b) => a - b)
  .concat([1, 2, 5, 10, 15, 30, 60, 120, 300, 600, 900, 1800, 3600, 7200, 14400, 43200, 86400].map((s) => s * 1e9));

// The shortest step that people count in and that is at least so long.
export const niceStep = (ns: number): number => STEPS.find((step) => step >= ns) ?? Math.ceil(ns / 86400e9) * 86400e9;

export interface Tick {
  readonly at: number; // ns
  readonly label: string;
}

// A time since the start: as exact as the step between ticks needs.
export function timeLabel(ns: number, step = 1e6): string {
  const sign = ns < 0 ? '-' : '';
  const abs = Math.abs(ns);
  const digits = step >= 1e9 ? 0 : step >= 1e8 ? 1 : step >= 1e7 ? 2 : step >= 1e6 ? 3 : step >= 1e3 ? 6 : 9;
  if (abs < 60e9) return `${sign}${(abs / 1e9).toFixed(digits)}\u202fs`;
  const seconds = Math.floor(abs / 1e9);
  const rest = digits > 0 ? (abs / 1e9 - seconds).toFixed(digits).slice(1) : '';
  const two = (n: number): string => String(n).padStart(2, '0');
  const minutes = Math.floor(seconds / 60);
  return minutes < 60 ? `${sign}${minutes}:${two(seconds % 60)}${rest}`
    : `${sign}${Math.floor(minutes / 60)}:${two(minutes % 60)}:${two(seconds % 60)}${rest}`;
}

export function ticks(from: number, to: number, most: number): Tick[] {
  const step = niceStep((to - from) / Math.max(most, 1));
  const list: Tick[] = [];
  for (let at = Math.ceil(from / step) * step; at <= to + step * 1e-9; at += step) list.push({at, label: timeLabel(at, step)});
  return list;
}
