// What is left of a profile in a range of time, of some threads, with or without some frames: columns as the profile
// has them, with other weights. Everything that the stack views show is made of these.
import type {Profile, SourceNodes} from '../data/profile';
import {zeros} from './tree';

export interface Filter {
  readonly range: {readonly first: number; readonly end: number} | null; // of moments; null: all
  readonly threads: Uint8Array | null; // by index of the profile's threads; null: all
  readonly include: readonly Uint8Array[]; // by name: only stacks with such a frame, of each of these
  readonly exclude: Uint8Array | null; // by name: no stacks with such a frame
}

export type Weights = Pick<SourceNodes, 'self' | 'samples' | 'imprecise' | 'before'>;

export const NO_FILTER: Filter = {range: null, threads: null, include: [], exclude: null};

// The sum of the moments in the range. Which of the samples were imprecise is known of the whole only.
function inRange(profile: Profile, first: number, end: number): Weights {
  const {count} = profile.nodes;
  const self = new Float64Array(count);
  const samples = new Float64Array(count);
  const {moments} = profile;
  if (moments !== null) {
    const last = moments.first[Math.min(Math.max(end, 0), moments.count)]!;
    for (let i = moments.first[Math.min(Math.max(first, 0), moments.count)]!; i < last; i++) {
      const node = moments.node[i]!;
      self[node]! += moments.self[i]!;
      samples[node]! += moments.samples[i]!;
    }
  }
  return {self, samples, imprecise: zeros(count), before: null};
}

// 1: this node or one of its callers has such a name.
function onStack(nodes: SourceNodes, names: Uint8Array): Uint8Array {
  const found = new Uint8Array(nodes.count);
  for (let i = 0; i < found.length; i++) {
    const caller = nodes.parent[i]!;
    if (names[nodes.name[i]!] === 1 || (caller >= 0 && found[caller] === 1)) found[i] = 1;
  }
  return found;
}

function keptNodes(profile: Profile, filter: Filter): Uint8Array | null {
  const {nodes, threads} = profile;
  if (filter.threads === null && filter.include.length === 0 && filter.exclude === null) return null;
  const kept = new Uint8Array(nodes.count).fill(1);
  if (filter.threads !== null) {
    threads.forEach((thread, i) => filter.threads![i] === 0 && kept.fill(0, thread.first, thread.end));
  }
  for (const names of filter.include) {
    const found = onStack(nodes, names);
    for (let i = 0; i < kept.length; i++) kept[i]! &= found[i]!;
  }
  if (filter.exclude !== null) {
    const found = onStack(nodes, filter.exclude);
    for (let i = 0; i < kept.length; i++) if (found[i] === 1) kept[i] = 0;
  }
  return kept;
}

export function filterWeights(profile: Profile, filter: Filter): Weights {
  const all: Weights = filter.range === null ? profile.nodes : inRange(profile, filter.range.first, filter.range.end);
  const kept = keptNodes(profile, filter);
  if (kept === null) return all;
  const only = (column: Float64Array): Float64Array => {
    const left = new Float64Array(column.length);
    for (let i = 0; i < left.length; i++) if (kept[i] === 1) left[i] = column[i]!;
    return left;
  };
  return {self: only(all.self), samples: only(all.samples), imprecise: only(all.imprecise),
          before: all.before === null ? null : only(all.before)};
}

// The weight of each moment, of all or of some threads; for the strip of time. Empty if no times are known.
export function weightByMoment(profile: Profile, threads: Uint8Array | null): Float64Array {
  const {moments, nodes} = profile;
  if (moments === null) return new Float64Array(0);
  const isKept = threads === null ? null : keptNodes(profile, {...NO_FILTER, threads});
  const sums = new Float64Array(moments.count);
  for (let m = 0; m < sums.length; m++) {
    for (let i = moments.first[m]!; i < moments.first[m + 1]!; i++) {
      if (isKept === null || isKept[moments.node[i]!] === 1) sums[m]! += moments.self[i]!;
    }
  }
  return nodes.count > 0 ? sums : new Float64Array(0);
}
