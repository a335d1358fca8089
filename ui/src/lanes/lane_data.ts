// What each thread did when: CPU by moment, contentions and waits, each by thread and in order of time.
import type {Profile} from '../data/profile';
import {THREAD_KINDS, type Threads} from '../data/recording';
import {isLock, type Contentions} from '../locks/contentions';
import {count, duration} from '../model/format';
import {parksAsWaits, type Waits} from './waits';

// Rows of something by thread: those of thread t are rows[start[t]] .. rows[start[t + 1] - 1].
export interface ByThread {
  readonly start: Int32Array;
  readonly rows: Int32Array;
}

export function byThread(threads: number, threadOf: Int32Array, isWanted: (row: number) => boolean = () => true): ByThread {
  const start = new Int32Array(threads + 1);
  for (let i = 0; i < threadOf.length; i++) if (isWanted(i)) start[threadOf[i]! + 1]!++;
  for (let t = 0; t < threads; t++) start[t + 1]! += start[t]!;
  const next = start.slice();
  const rows = new Int32Array(start[threads]!);
  for (let i = 0; i < threadOf.length; i++) if (isWanted(i)) rows[next[threadOf[i]!]!++] = i;
  return {start, rows};
}

// CPU time of each thread in each moment that has any.
export interface CpuByThread {
  readonly start: Int32Array;
  readonly moment: Int32Array;
  readonly ns: Float64Array;
  readonly samples: Float64Array;
}

export function cpuByThread(threads: number, profile: Profile | null): CpuByThread {
  const empty: CpuByThread = {start: new Int32Array(threads + 1), moment: new Int32Array(0), ns: new Float64Array(0), samples: new Float64Array(0)};
  if (profile === null || profile.moments === null) return empty;
  const {moments} = profile;
  const threadOf = new Int32Array(profile.nodes.count);
  for (const {row, first, end} of profile.threads) threadOf.fill(row, first, end);
  // Twice over all rows: how many moments a thread has, then what is in them.
  const walk = (tell: (thread: number, moment: number, row: number) => void): void => {
    for (let m = 0; m < moments.count; m++) {
      for (let i = moments.first[m]!; i < moments.first[m + 1]!; i++) tell(threadOf[moments.node[i]!]!, m, i);
    }
  };
  const start = new Int32Array(threads + 1);
  const last = new Int32Array(threads).fill(-1);
  walk((thread, moment) => {
    if (last[thread] === moment) return;
    last[thread] = moment;
    start[thread + 1]!++;
  });
  for (let t = 0; t < threads; t++) start[t + 1]! += start[t]!;
  const cells = start[threads]!;
  const made = {start, moment: new Int32Array(cells), ns: new Float64Array(cells), samples: new Float64Array(cells)};
  const at = new Int32Array(threads).map((_, t) => start[t]! - 1);
  last.fill(-1);
  walk((thread, moment, row) => {
    if (last[thread] !== moment) {
      last[thread] = moment;
      made.moment[++at[thread]!] = moment;
    }
    made.ns[at[thread]!]! += moments.self[row]!;
    made.samples[at[thread]!]! += moments.samples[row]!;
  });
  return made;
}

// Of each thread, in the selected time: ns, and how often.
export interface Sums {
  readonly cpu: Float64Array;
  readonly blocked: Float64Array;
  readonly blockedTimes: Float64Array;
  readonly waiting: Float64Array;
  readonly waits: Float64Array;
}

export interface LaneData {
  readonly threads: Threads;
  readonly cpu: CpuByThread;
  readonly contentions: Contentions | null;
  readonly blocks: ByThread; // of locks, rows of contentions
  readonly waits: Waits | null;
  readonly waitRows: ByThread;
}

export function laneData(threads: Threads, profile: Profile | null, contentions: Contentions | null, recorded: Waits | null): LaneData {
  const waits = recorded ?? (contentions === null ? null : parksAsWaits(contentions));
  const none: ByThread = {start: new Int32Array(threads.count + 1), rows: new Int32Array(0)};
  return {
    threads, contentions, waits, cpu: cpuByThread(threads.count, profile),
    blocks: contentions === null ? none
      : byThread(threads.count, contentions.thread, (row) => isLock(contentions.group[row]!)),
    waitRows: waits === null ? none : byThread(threads.count, waits.thread),
  };
}

const overlap = (begin: number, length: number, from: number, to: number): number =>
  Math.max(0, Math.min(begin + length, to) - Math.max(begin, from));

export function sumsOf(data: LaneData, from: number, to: number, momentNs: number): Sums {
  const threads = data.threads.count;
  const sums: Sums = {cpu: new Float64Array(threads), blocked: new Float64Array(threads), blockedTimes: new Float64Array(threads),
                      waiting: new Float64Array(threads), waits: new Float64Array(threads)};
  for (let t = 0; t < threads; t++) {
    for (let i = data.cpu.start[t]!; i < data.cpu.start[t + 1]!; i++) {
      const at = data.cpu.moment[i]! * momentNs;
      if (at >= from && at < to) sums.cpu[t]! += data.cpu.ns[i]!;
    }
  }
  const {contentions, waits} = data;
  if (contentions !== null) {
    for (const row of data.blocks.rows) {
      const span = contentions.span[row]!;
      const inside = overlap(contentions.begin[row]!, span, from, to);
      if (inside <= 0) continue;
      const thread = contentions.thread[row]!;
      sums.blocked[thread]! += contentions.more[row]! > 0 ? contentions.length[row]! * (inside / span) : inside;
      sums.blockedTimes[thread]! += 1 + contentions.more[row]!;
    }
  }
  if (waits !== null) {
    for (let row = 0; row < waits.count; row++) {
      const inside = overlap(waits.begin[row]!, waits.span[row]!, from, to);
      if (inside <= 0) continue;
      sums.waiting[waits.thread[row]!]! += waits.length[row]! * (inside / waits.span[row]!);
      sums.waits[waits.thread[row]!]!++;
    }
  }
  return sums;
}

// Lanes from top to bottom: groups (pools, else kinds) with their threads.
export interface Lane {
  readonly kind: 'group' | 'thread';
  readonly label: string;
  readonly thread: number; // row, -1 for groups
  readonly members: number; // of groups: how many threads
  readonly id: string; // of groups
  readonly facts: string; // of groups: what its threads came to
}

const KIND_WORDS: Readonly<Record<string, string>> = {
  app: 'application', gc: 'GC', jit: 'JIT', vm: 'JVM', tarsier: 'tarsier', other: 'other', jfr: 'JFR',
};
const KIND_ORDER = ['app', 'jit', 'gc', 'vm', 'jfr', 'other', 'tarsier'];
export const kindWord = (kind: string): string => KIND_WORDS[kind] ?? kind;

export interface LaneOrder {
  readonly lanes: readonly Lane[];
  readonly hidden: number; // threads that nothing is known of
}

// Threads with the most CPU time first, then those that waited for locks; groups likewise. `closed` groups show no threads.
export function orderLanes(data: LaneData, sums: Sums, isWanted: (thread: number) => boolean, closed: ReadonlySet<string>): LaneOrder {
  const {threads} = data;
  const weight = (t: number): number => sums.cpu[t]! + sums.blocked[t]!;
  const groups = new Map<string, {label: string; kind: string; members: number[]; weight: number}>();
  let hidden = 0;
  for (let t = 0; t < threads.count; t++) {
    if (!isWanted(t)) continue;
    if (data.cpu.start[t] === data.cpu.start[t + 1] && data.blocks.start[t] === data.blocks.start[t + 1] &&
        data.waitRows.start[t] === data.waitRows.start[t + 1]) {
      hidden++;
      continue;
    }
    const kind = THREAD_KINDS[threads.kind[t]!] ?? 'other';
    const pool = threads.pool[t]!;
    const id = pool !== '' ? `p${kind}.${pool}` : `k${kind}`;
    let group = groups.get(id);
    if (group === undefined) groups.set(id, (group = {label: pool !== '' ? pool : kindWord(kind), kind, members: [], weight: 0}));
    group.members.push(t);
    group.weight += weight(t);
  }
  const sorted = [...groups].sort(([, a], [, b]) =>
    KIND_ORDER.indexOf(a.kind) - KIND_ORDER.indexOf(b.kind) || b.weight - a.weight || (a.label < b.label ? -1 : 1));
  const lanes: Lane[] = [];
  for (const [id, group] of sorted) {
    lanes.push({kind: 'group', label: group.label, thread: -1, members: group.members.length, id, facts: factsOf(group.members, sums)});
    if (closed.has(id)) continue;
    group.members.sort((a, b) => weight(b) - weight(a) || sums.waiting[b]! - sums.waiting[a]! || a - b);
    for (const thread of group.members) lanes.push({kind: 'thread', label: threads.name[thread]!, thread, members: 1, id, facts: ''});
  }
  return {lanes, hidden};
}

function factsOf(members: readonly number[], sums: Sums): string {
  const sum = (column: Float64Array): number => members.reduce((all, thread) => all + column[thread]!, 0);
  const times = ([['CPU', sum(sums.cpu)], ['blocked', sum(sums.blocked)], ['waiting', sum(sums.waiting)]] as const)
    .filter(([, ns]) => ns > 0).map(([word, ns]) => `${duration(ns)} ${word}`);
  return [`${count(members.length)} ${members.length === 1 ? 'thread' : 'threads'}`, ...times].join(', ');
}

// The first of a thread's rows that may reach into a time: intervals of one thread don't overlap, but a lane may stand
// for several virtual threads, whose do.
export function firstAt(threads: Threads, thread: number, by: ByThread, begins: Float64Array, at: number): number {
  const {rows} = by;
  const start = by.start[thread]!;
  const end = by.start[thread + 1]!;
  if (threads.merged[thread]! > 1) return start;
  let low = start;
  let high = end;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (begins[rows[middle]!]! < at) low = middle + 1;
    else high = middle;
  }
  return Math.max(low - 1, start);
}

export type Hit = {readonly kind: 'blocked' | 'waiting'; readonly row: number}
  | {readonly kind: 'running'; readonly cell: number} | {readonly kind: 'idle'};

// What a thread did at a time; `reach`: so near counts as well (half a pixel).
export function hitAt(data: LaneData, thread: number, at: number, reach: number, momentNs: number): Hit {
  // One that is known exactly before one that stands for several.
  const inRows = (by: ByThread, begins: Float64Array, spans: Float64Array, lengths: Float64Array): number => {
    const end = by.start[thread + 1]!;
    let best = -1;
    for (let i = firstAt(data.threads, thread, by, begins, at - reach); i < end; i++) {
      const row = by.rows[i]!;
      if (begins[row]! > at + reach) break;
      if (begins[row]! + spans[row]! < at - reach) continue;
      const isExact = spans[row] === lengths[row];
      if (best < 0 || (isExact && spans[best] !== lengths[best]) || (isExact === (spans[best] === lengths[best]) && lengths[row]! > lengths[best]!)) best = row;
    }
    return best;
  };
  const {contentions, waits, cpu} = data;
  const blocked = contentions === null ? -1 : inRows(data.blocks, contentions.begin, contentions.span, contentions.length);
  if (blocked >= 0) return {kind: 'blocked', row: blocked};
  const waiting = waits === null ? -1 : inRows(data.waitRows, waits.begin, waits.span, waits.length);
  if (waiting >= 0) return {kind: 'waiting', row: waiting};
  const moment = Math.floor(at / momentNs);
  let low = cpu.start[thread]!;
  let high = cpu.start[thread + 1]!;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (cpu.moment[middle]! < moment) low = middle + 1;
    else high = middle;
  }
  if (low < cpu.start[thread + 1]! && cpu.moment[low] === moment) return {kind: 'running', cell: low};
  return {kind: 'idle'};
}
