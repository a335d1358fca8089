// Choosing a range of time by keys, the same in every drawing over time.
import {momentCount} from '../charts/time';
import type {Head} from '../data/head';
import type {TimeRange} from '../shell/state';

// Arrows move the range, with Shift its end; the first one makes a range at the begin. Undefined: no such key.
export function rangeByKey(head: Head, range: TimeRange | null, event: KeyboardEvent): TimeRange | null | undefined {
  if (event.ctrlKey || event.metaKey || event.altKey) return undefined;
  const all = momentCount(head);
  if (event.key === 'Escape') return range === null ? undefined : null;
  const step = Math.max(1, Math.round(all / 100));
  const by = event.key === 'ArrowLeft' ? -step : event.key === 'ArrowRight' ? step : 0;
  if (by === 0) return undefined;
  if (range === null) return {first: 0, end: Math.min(Math.max(step * 10, 1), all)};
  if (event.shiftKey) return {first: range.first, end: Math.min(Math.max(range.end + by, range.first + 1), all)};
  const length = range.end - range.first;
  const first = Math.min(Math.max(range.first + by, 0), all - length);
  return {first, end: first + length};
}
