// The flat view: each method with its own weight and the weight of all stacks it is on.
import {afterOf, changeBetween} from './changes';
import {nameOfKey, NO_FRAME} from './frame_types';
import type {Tree} from './tree';

// By name. Threads and the root are no methods: their type is NO_FRAME.
export interface MethodColumns {
  readonly type: Uint8Array; // of the heaviest of its nodes
  readonly self: Float64Array;
  readonly total: Float64Array; // recursion counts once
  readonly samples: Float64Array; // with the method innermost
  readonly totalSamples: Float64Array;
  readonly before: Float64Array; // of comparisons: of itself
  readonly totalBefore: Float64Array;
}

// Of the nodes [first, end): all of the tree, or a subtree.
export function collectMethods(tree: Tree, names: number, first = 1, end = tree.count): MethodColumns {
  const columns = {
    type: new Uint8Array(names).fill(NO_FRAME), self: new Float64Array(names), total: new Float64Array(names),
    samples: new Float64Array(names), totalSamples: new Float64Array(names), before: new Float64Array(names),
    totalBefore: new Float64Array(names),
  };
  const heaviest = new Float64Array(names).fill(-1);
  const openUntil = new Int32Array(names); // nodes before this one lie below the method's outermost call
  for (let i = first; i < end; i++) {
    if (tree.type[i] === NO_FRAME) continue;
    const name = nameOfKey(tree.key[i]!);
    columns.self[name]! += tree.self[i]!;
    columns.samples[name]! += tree.selfSamples[i]!;
    columns.before[name]! += tree.selfBefore[i]!;
    if (tree.total[i]! > heaviest[name]!) {
      heaviest[name] = tree.total[i]!;
      columns.type[name] = tree.type[i]!;
    }
    if (i >= openUntil[name]!) {
      columns.total[name]! += tree.total[i]!;
      columns.totalSamples[name]! += tree.samples[i]!;
      columns.totalBefore[name]! += tree.before[i]!;
      openUntil[name] = tree.end[i]!;
    }
  }
  return columns;
}

const collected = new WeakMap<Tree, MethodColumns>();

// Of the whole tree; kept as long as the tree.
export function methodsOf(tree: Tree, names: number): MethodColumns {
  let known = collected.get(tree);
  if (known === undefined) collected.set(tree, (known = collectMethods(tree, names)));
  return known;
}

export type MethodOrder = 'self' | 'total' | 'samples' | 'name' | 'before' | 'after' | 'change';

const orders = new WeakMap<MethodColumns, Map<MethodOrder, Int32Array>>();

// The names of the methods (of those that match), in this order: falling, names rising. Sorted once, then kept.
export function orderMethods(methods: MethodColumns, names: readonly string[], by: MethodOrder, matches: Uint8Array | null): Int32Array {
  let ofMethods = orders.get(methods);
  if (ofMethods === undefined) orders.set(methods, (ofMethods = new Map()));
  let all = ofMethods.get(by);
  if (all === undefined) ofMethods.set(by, (all = sorted(methods, names, by)));
  return matches === null ? all : all.filter((name) => matches[name] === 1);
}

function sorted(methods: MethodColumns, names: readonly string[], by: MethodOrder): Int32Array {
  const used: number[] = [];
  for (let name = 0; name < methods.type.length; name++) if (methods.type[name] !== NO_FRAME) used.push(name);
  const {self, total, samples, before} = methods;
  const after = (name: number): number => afterOf(self[name]!, before[name]!);
  const ranks: Readonly<Record<Exclude<MethodOrder, 'name'>, (name: number) => number>> = {
    self: (name) => self[name]!, total: (name) => total[name]!, samples: (name) => samples[name]!,
    before: (name) => before[name]!, after,
    // What may be chance comes after what is not.
    change: (name) => {
      const size = Math.abs(after(name) - before[name]!);
      return changeBetween(before[name]!, after(name), samples[name]!) === 0 ? -1 / (1 + size) : size;
    },
  };
  const order = Int32Array.from(used);
  if (by === 'name') return order.sort((a, b) => (names[a]! < names[b]! ? -1 : names[a]! > names[b]! ? 1 : a - b));
  const rank = new Float64Array(methods.type.length);
  for (const name of used) rank[name] = ranks[by](name);
  const second = by === 'self' ? total : self;
  return order.sort((a, b) => rank[b]! - rank[a]! || second[b]! - second[a]! || a - b);
}

export interface MethodRow {
  readonly name: number;
  readonly type: number;
  readonly self: number;
  readonly total: number;
  readonly samples: number;
}

export interface MethodTable {
  readonly rows: readonly MethodRow[];
  readonly count: number; // of all methods
}

export function hottestMethods(tree: Tree, names: readonly string[], by: 'self' | 'total', limit: number,
                               matches: Uint8Array | null = null): MethodTable {
  const methods = methodsOf(tree, names.length);
  const order = orderMethods(methods, names, by, matches);
  const rows = Array.from(order.subarray(0, limit), (name) => (
    {name, type: methods.type[name]!, self: methods.self[name]!, total: methods.total[name]!, samples: methods.samples[name]!}));
  return {rows, count: order.length};
}
