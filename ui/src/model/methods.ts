// The flat view: each method with its own weight and the weight of all stacks it is on.
import {nameOfKey, NO_FRAME} from './frame_types';
import type {Tree} from './tree';

export interface MethodRow {
  readonly name: number;
  readonly type: number; // of the heaviest of its nodes
  readonly self: number;
  readonly total: number; // recursion counts once
  readonly samples: number; // with the method innermost
}

export interface MethodTable {
  readonly rows: readonly MethodRow[];
  readonly count: number; // of all methods
}

export function hottestMethods(tree: Tree, names: number, by: 'self' | 'total', limit: number,
                               matches: Uint8Array | null = null): MethodTable {
  const self = new Float64Array(names);
  const total = new Float64Array(names);
  const samples = new Float64Array(names);
  const type = new Uint8Array(names).fill(NO_FRAME);
  const heaviest = new Float64Array(names).fill(-1);
  const openUntil = new Int32Array(names); // nodes before this one lie below the method's outermost call
  for (let i = 1; i < tree.count; i++) {
    if (tree.type[i] === NO_FRAME) continue;
    const name = nameOfKey(tree.key[i]!);
    self[name]! += tree.self[i]!;
    samples[name]! += tree.selfSamples[i]!;
    if (tree.total[i]! > heaviest[name]!) {
      heaviest[name] = tree.total[i]!;
      type[name] = tree.type[i]!;
    }
    if (i >= openUntil[name]!) {
      total[name]! += tree.total[i]!;
      openUntil[name] = tree.end[i]!;
    }
  }
  const used: number[] = [];
  for (let name = 0; name < names; name++) {
    if (type[name] !== NO_FRAME && (matches === null || matches[name] === 1)) used.push(name);
  }
  const [first, second] = by === 'self' ? [self, total] : [total, self];
  used.sort((a, b) => first[b]! - first[a]! || second[b]! - second[a]! || a - b);
  const rows = used.slice(0, limit).map((name) => (
    {name, type: type[name]!, self: self[name]!, total: total[name]!, samples: samples[name]!}));
  return {rows, count: used.length};
}
