// The rows of the timeline: amounts by moment, in layers that add up.
import {Spreader} from '../charts/time';
import type {ChartColors} from '../charts/colors';
import {waitColor} from '../charts/colors';
import type {Columns} from '../data/columns';
import type {Head} from '../data/head';
import type {Profile} from '../data/profile';
import {THREAD_KINDS, type Threads} from '../data/recording';
import type {Waits} from '../lanes/waits';
import {isLock, type Contentions} from '../locks/contentions';

export interface Layer {
  readonly label: string;
  readonly color: (colors: ChartColors) => string;
  readonly values: Float64Array; // by moment: ns or bytes
  readonly isBehind?: boolean; // drawn behind the others, not on top of them
}

export interface Series {
  readonly id: string;
  readonly label: string;
  readonly unit: 'cpus' | 'threads' | 'bytes' | 'share';
  readonly layers: readonly Layer[]; // from the bottom
  readonly limit: number; // of what there can be: CPUs; 0: no such thing
  readonly source: string; // how it is known
}

const kindColor = (kind: string) => (colors: ChartColors): string => colors.kinds[kind] ?? colors.kinds['other']!;

// In the order of the stack. What is not the program's comes last.
const KIND_LAYERS: readonly {readonly label: string; readonly kinds: readonly string[]; readonly columns: readonly string[]}[] = [
  {label: 'app', kinds: ['app'], columns: ['app']},
  {label: 'jit', kinds: ['jit'], columns: ['jit']},
  {label: 'gc', kinds: ['gc'], columns: ['gc']},
  {label: 'vm', kinds: ['vm'], columns: ['vm']},
  {label: 'other', kinds: ['other', 'jfr', 'tarsier'], columns: ['jvm_other', 'tarsier']},
];

const notEmpty = (layer: Layer): boolean => layer.values.some((value) => value > 0);

export function cpuSeries(head: Head, timeline: Columns | null, profile: Profile | null, threads: Threads): Series | null {
  const at = timeline?.numbers('at');
  if (timeline !== null && at !== undefined && at.length > 0) {
    const length = timeline.numbers('length');
    const spread = (columns: readonly string[]): Float64Array => {
      const spreader = new Spreader(head.moments, head.moment_ns);
      for (const column of columns) {
        timeline.numbers(column).forEach((ns, i) => {
          if (ns > 0 && i < at.length) spreader.add(at[i]!, length[i] ?? 0, ns);
        });
      }
      return spreader.take();
    };
    const layers: Layer[] = [
      ...KIND_LAYERS.map(({label, columns}) => ({label, color: kindColor(label), values: spread(columns)})),
      {label: 'other processes', color: kindColor('processes'), values: spread(['processes'])},
      {label: 'stolen', color: kindColor('stolen'), values: spread(['stolen'])},
    ].filter(notEmpty);
    if (layers.length > 0) return {id: 'cpu', label: 'CPU', unit: 'cpus', layers, limit: head.cpus, source: "kernel's account"};
  }
  if (profile === null || profile.moments === null) return null;
  const {moments} = profile;
  const layerOf = new Int8Array(profile.nodes.count);
  for (const {row, first, end} of profile.threads) {
    const kind = THREAD_KINDS[threads.kind[row]!] ?? 'other';
    layerOf.fill(Math.max(KIND_LAYERS.findIndex(({kinds}) => kinds.includes(kind)), 0), first, end);
  }
  const sums = KIND_LAYERS.map(() => new Float64Array(head.moments));
  for (let m = 0; m < Math.min(moments.count, head.moments); m++) {
    for (let i = moments.first[m]!; i < moments.first[m + 1]!; i++) sums[layerOf[moments.node[i]!]!]![m]! += moments.self[i]!;
  }
  const layers = KIND_LAYERS.map(({label}, i): Layer => ({label, color: kindColor(label), values: sums[i]!})).filter(notEmpty);
  return layers.length === 0 ? null : {id: 'cpu', label: 'CPU', unit: 'cpus', layers, limit: head.cpus, source: 'by samples'};
}

const MOST_KINDS = 7;

export function waitSeries(head: Head, waits: Waits | null, isChosen: ((thread: number) => boolean) | null): Series | null {
  if (waits === null || waits.count === 0) return null;
  const spreaders = waits.kinds.map(() => new Spreader(head.moments, head.moment_ns));
  const sums = new Float64Array(waits.kinds.length);
  for (let i = 0; i < waits.count; i++) {
    if (isChosen !== null && !isChosen(waits.thread[i]!)) continue;
    spreaders[waits.kind[i]!]!.add(waits.begin[i]!, waits.span[i]!, waits.length[i]!);
    sums[waits.kind[i]!]! += waits.length[i]!;
  }
  const order = waits.kinds.map((_, i) => i).filter((i) => sums[i]! > 0).sort((a, b) => sums[b]! - sums[a]!);
  const layers = order.slice(0, MOST_KINDS).map((kind): Layer => (
    {label: waits.kinds[kind]!, color: (colors) => waitColor(colors, waits.kinds, kind), values: spreaders[kind]!.take()}));
  const rest = order.slice(MOST_KINDS).map((kind) => spreaders[kind]!.take());
  if (rest.length > 0) {
    layers.push({label: 'others', color: kindColor('other'), values: rest[0]!.map((_, m) => rest.reduce((sum, values) => sum + values[m]!, 0))});
  }
  return layers.length === 0 ? null : {id: 'waiting', label: 'Waiting', unit: 'threads', layers, limit: 0, source: 'waiting threads'};
}

export function lockSeries(head: Head, data: Contentions | null, isChosen: ((thread: number) => boolean) | null): Series | null {
  if (data === null) return null;
  const spreaders = [0, 1].map(() => new Spreader(head.moments, head.moment_ns));
  for (let i = 0; i < data.count; i++) {
    if (!isLock(data.group[i]!) || (isChosen !== null && !isChosen(data.thread[i]!))) continue;
    spreaders[data.group[i]!]!.add(data.begin[i]!, data.span[i]!, data.length[i]!);
  }
  const layers: Layer[] = [
    {label: 'monitors', color: (colors: ChartColors) => colors.blocked, values: spreaders[0]!.take()},
    {label: 'java.util.concurrent', color: (colors: ChartColors) => colors.handOff, values: spreaders[1]!.take()},
  ].filter(notEmpty);
  return layers.length === 0 ? null
    : {id: 'locks', label: 'Lock contention', unit: 'threads', layers, limit: 0, source: 'blocked threads'};
}

export const allocSeries = (values: Float64Array): Series | null => (values.every((value) => value === 0) ? null : {
  id: 'alloc', label: 'Allocation', unit: 'bytes', limit: 0, source: 'by samples',
  layers: [{label: 'allocated', color: (colors) => colors.alloc, values}],
});

// Safepoints one by one (recordings of JFR) or as many as there were in about a second (our own): then it is not known
// where in that time they lay, and what the collector's pauses do not account for is spread over all of it.
export function pauseSeries(head: Head, timeline: Columns | null): Series | null {
  if (timeline === null) return null;
  const begin = timeline.numbers('pause_begin');
  const length = timeline.numbers('pause_length');
  const kind = timeline.numbers('pause_kind');
  const intervals = timeline.numbers('safepoint_at');
  if (begin.length === 0 && intervals.length === 0) return null;
  const spreaders = [0, 1, 2].map(() => new Spreader(head.moments, head.moment_ns));
  for (let i = 0; i < begin.length; i++) spreaders[kind[i] ?? 2]?.add(begin[i]!, length[i] ?? 0, length[i] ?? 0);
  const capped = (values: Float64Array): Float64Array => values.map((ns) => Math.min(ns, head.moment_ns));
  // Collectors pause threads by safepoints: what is both is shown once.
  const paused = capped(spreaders[1]!.take());
  const others = capped(spreaders[2]!.take()).map((ns, i) => Math.max(0, ns - paused[i]!));
  const spread = otherSafepoints(head, timeline, {begin, length, kind});
  const layers: Layer[] = [
    {label: 'collection running', color: (colors: ChartColors) => colors.collection, values: capped(spreaders[0]!.take()), isBehind: true},
    {label: 'paused by the collector', color: (colors: ChartColors) => colors.pause, values: paused},
    {label: 'other safepoints', color: (colors: ChartColors) => colors.safepoint, values: capped(others.map((ns, i) => ns + spread[i]!))},
  ].filter(notEmpty);
  const source = intervals.length > 0 ? 'counters of the JVM' : 'events of the JVM';
  return layers.length === 0 ? null : {id: 'pauses', label: 'GC and safepoints', unit: 'share', layers, limit: 1, source};
}

interface PauseColumns {
  readonly begin: ArrayLike<number>;
  readonly length: ArrayLike<number>;
  readonly kind: ArrayLike<number>;
}

function otherSafepoints(head: Head, timeline: Columns, {begin, length, kind}: PauseColumns): Float64Array {
  const intervals = timeline.numbers('safepoint_at');
  const lengths = timeline.numbers('safepoint_length');
  const times = timeline.numbers('safepoint_time');
  const spreader = new Spreader(head.moments, head.moment_ns);
  let next = 0; // of the pauses, which are in the order of their begin, as the intervals are
  for (let i = 0; i < intervals.length; i++) {
    const end = intervals[i]! + (lengths[i] ?? 0);
    // The JVM counts the time of a safepoint at its end.
    let paused = 0;
    for (; next < begin.length; next++) {
      const over = begin[next]! + (length[next] ?? 0);
      if (over > end && i + 1 < intervals.length) break;
      if (kind[next] === 1) paused += length[next] ?? 0;
    }
    const rest = (times[i] ?? 0) - paused;
    // Longer than the interval: it has begun before.
    const from = Math.max(0, Math.min(intervals[i]!, end - rest));
    if (rest > 0) spreader.add(from, end - from, rest);
  }
  return spreader.take();
}

// Neighbouring moments as one bucket: as many as can be told apart.
export interface Buckets {
  readonly moments: number; // of each
  readonly count: number;
}

export function bucketsFor(head: Head, width: number): Buckets {
  const steps = [1, 2, 5].flatMap((n) => [1, 10, 100, 1000].map((ten) => n * ten)).sort((a, b) => a - b);
  const least = head.moments / Math.max(width / 2, 1);
  const moments = steps.find((step) => step >= least) ?? Math.ceil(least);
  return {moments, count: Math.ceil(Math.max(head.moments, 1) / moments)};
}

export function inBuckets(values: Float64Array, buckets: Buckets): Float64Array {
  const sums = new Float64Array(buckets.count);
  for (let m = 0; m < values.length; m++) sums[Math.min(Math.floor(m / buckets.moments), buckets.count - 1)]! += values[m]!;
  return sums;
}
