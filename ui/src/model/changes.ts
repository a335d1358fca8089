// How a frame has changed from one recording to another.
import {nameOfKey, NO_FRAME} from './frame_types';
import type {Tree} from './tree';

export interface Kind {
  readonly name: string;
  readonly meaning: string;
}

export const CHANGES: readonly Kind[] = [
  {name: 'same', meaning: 'changed by less than a tenth, or by no more than counting samples varies by chance'},
  {name: 'less', meaning: 'less than before'},
  {name: 'much less', meaning: 'less than half of what it was'},
  {name: 'gone', meaning: 'only in the earlier recording'},
  {name: 'more', meaning: 'more than before'},
  {name: 'much more', meaning: 'more than twice what it was'},
  {name: 'new', meaning: 'only in the later recording'},
];
const kind = (name: string): number => CHANGES.findIndex((change) => change.name === name);
const [SAME, LESS, MUCH_LESS, GONE, MORE, MUCH_MORE, NEW] =
  ['same', 'less', 'much less', 'gone', 'more', 'much more', 'new'].map(kind) as
  [number, number, number, number, number, number, number];

const SURE = 2.58; // standard deviations: 99 %

// `samples`: of both recordings together; 0 if it was measured, not sampled.
export function changeBetween(before: number, after: number, samples: number): number {
  const difference = after - before;
  const noise = samples > 0 ? (SURE * (before + after)) / Math.sqrt(samples) : 0;
  if (Math.abs(difference) <= noise || Math.abs(difference) < 0.1 * Math.max(before, after) || difference === 0) return SAME;
  if (before === 0) return NEW;
  if (after === 0) return GONE;
  return after > 2 * before ? MUCH_MORE : after > before ? MORE : after < before / 2 ? MUCH_LESS : LESS;
}

// Weights of a comparison are the means of both.
export const afterOf = (mean: number, before: number): number => Math.max(2 * mean - before, 0);

export const changeOf = (tree: Tree, node: number): number =>
  changeBetween(tree.before[node]!, afterOf(tree.total[node]!, tree.before[node]!), tree.samples[node]!);

export interface ChangedMethod {
  readonly name: number;
  readonly before: number; // of itself
  readonly after: number;
  readonly change: number; // of CHANGES
}

// The methods whose own weight changed most, in either direction.
export function mostChanged(tree: Tree, names: number, limit: number, matches: Uint8Array | null = null):
  {rows: readonly ChangedMethod[]; count: number} {
  const mean = new Float64Array(names);
  const before = new Float64Array(names);
  const samples = new Float64Array(names);
  for (let i = 1; i < tree.count; i++) {
    if (tree.type[i] === NO_FRAME) continue;
    const name = nameOfKey(tree.key[i]!);
    mean[name]! += tree.self[i]!;
    before[name]! += tree.selfBefore[i]!;
    samples[name]! += tree.selfSamples[i]!;
  }
  const rows: ChangedMethod[] = [];
  for (let name = 0; name < names; name++) {
    if (mean[name] === 0 || (matches !== null && matches[name] === 0)) continue;
    const after = afterOf(mean[name]!, before[name]!);
    rows.push({name, before: before[name]!, after, change: changeBetween(before[name]!, after, samples[name]!)});
  }
  const size = (row: ChangedMethod): number => Math.abs(row.after - row.before);
  // What may be chance comes after what is not.
  rows.sort((a, b) => Number(a.change === SAME) - Number(b.change === SAME) || size(b) - size(a) || a.name - b.name);
  return {rows: rows.slice(0, limit), count: rows.length};
}
