// What the kinds of threads came to, in the selected time.
import {THREAD_KINDS, type Threads} from '../data/recording';
import {sumsOf, type LaneData} from '../lanes/lane_data';

export interface KindRow {
  readonly kind: string;
  readonly threads: number;
  readonly cpu: number;
  readonly steal: number; // -1: not known of a part of the time
  readonly blocked: number;
  readonly waiting: number;
}

const column = (threads: Threads, name: string): Float64Array | null => {
  const values = threads.columns.numbers(name);
  return values.length === threads.count && values.some((value) => value > 0) ? values : null;
};

// The kernel's account is of the whole recording: of a part of it samples tell.
export function kindRows(data: LaneData, range: {readonly from: number; readonly to: number} | null, momentNs: number): KindRow[] {
  const {threads} = data;
  const sums = sumsOf(data, range?.from ?? -Infinity, range?.to ?? Infinity, momentNs);
  const account = range === null ? column(threads, 'cpu') : null;
  const steal = column(threads, 'steal');
  const rows = THREAD_KINDS.map((kind) => ({kind, threads: 0, cpu: 0, steal: range !== null && steal !== null ? -1 : 0, blocked: 0, waiting: 0}));
  for (let t = 0; t < threads.count; t++) {
    const row = rows[threads.kind[t]!]!;
    // What stands for threads that nobody samples is no thread.
    if (threads.osId[t]! > 0 || threads.virtual[t] === 1 || threads.javaId[t]! > 0) row.threads += Math.max(threads.merged[t]!, 1);
    row.cpu += account === null ? sums.cpu[t]! : account[t]!;
    if (range === null && steal !== null) row.steal += steal[t]!;
    row.blocked += sums.blocked[t]!;
    row.waiting += sums.waiting[t]!;
  }
  return rows.filter((row) => row.threads > 0 || row.cpu > 0).sort((a, b) => b.cpu - a.cpu);
}
