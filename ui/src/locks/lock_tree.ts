// Contentions broken down by any sequence of aspects. What nodes, counts and durations mean is defined by
// src/analysis/lock_profile.cpp: a contention counts once in each node in which it has pieces, with their sum.
import type {Threads} from '../data/recording';
import {isOfOwner, keysOf, labelOf, MORE, type Aspect} from './aspects';
import type {Contentions, Cut} from './contentions';
import {keptOf, type Kept} from './kept';
import {percentiles} from './spread';

const MOST_NODES = 1_000_000;

const keyCache = new WeakMap<Contentions, Map<Aspect, Int32Array>>();
const boundsCache = new WeakMap<Int32Array, {readonly least: number; readonly most: number}>();

function boundsOf(keys: Int32Array): {readonly least: number; readonly most: number} {
  let known = boundsCache.get(keys);
  if (known === undefined) {
    let least = 0;
    let most = 0;
    for (let i = 0; i < keys.length; i++) {
      const key = keys[i]!;
      if (key < least) least = key;
      if (key > most) most = key;
    }
    boundsCache.set(keys, (known = {least, most}));
  }
  return known;
}

export function aspectKeys(data: Contentions, aspect: Aspect): Int32Array {
  let known = keyCache.get(data);
  if (known === undefined) keyCache.set(data, (known = new Map()));
  let keys = known.get(aspect);
  if (keys === undefined) known.set(aspect, (keys = keysOf(data, aspect)));
  return keys;
}

export interface Spread {
  readonly p50: number;
  readonly p95: number;
}

export interface LockTree {
  readonly data: Contentions;
  readonly by: readonly Aspect[];
  readonly count: number; // of nodes; 0 is the root, every other one comes after its parent
  readonly parent: Int32Array;
  readonly key: Int32Array;
  readonly level: Uint8Array; // the root has 0, the first aspect 1
  readonly blocked: Float64Array; // ns
  readonly times: Float64Array; // contentions
  readonly longest: Float64Array; // ns
  readonly byOwner: Float64Array; // by OwnerKind: ns
  readonly byGroup: Float64Array; // of all groups, shown or not: ns
  children(node: number): Int32Array; // most time first
  spread(node: number): Spread;
}

// Nodes level by level: those of a level lie in a row.
class Nodes {
  parent = new Int32Array(256);
  key = new Int32Array(256);
  count = 1;

  add(parent: number, key: number): number {
    const node = this.count++;
    if (node === this.parent.length) {
      const larger = (old: Int32Array): Int32Array<ArrayBuffer> => {
        const into = new Int32Array(old.length * 2);
        into.set(old);
        return into;
      };
      this.parent = larger(this.parent);
      this.key = larger(this.key);
    }
    this.parent[node] = parent;
    this.key[node] = key;
    return node;
  }
}

const DENSE = 1 << 21; // cells of a table by parent and key

// The node of each entry one level deeper.
function deeper(nodes: Nodes, above: Int32Array, aboveFirst: number, keys: Int32Array, index: Int32Array): Int32Array {
  const into = new Int32Array(index.length);
  const parents = nodes.count - aboveFirst;
  const {least, most} = boundsOf(keys);
  const width = most - least + 1;
  const make = (parent: number, key: number, find: (key: number) => number | undefined, keep: (key: number, node: number) => void): number => {
    const known = nodes.count < MOST_NODES ? undefined : find(MORE);
    if (known !== undefined) return known;
    const own = nodes.count < MOST_NODES ? key : MORE;
    const node = nodes.add(parent, own);
    keep(own, node);
    return node;
  };
  if (parents * width <= DENSE && least >= MORE) {
    const from = Math.min(least, MORE);
    const wide = most - from + 1;
    const table = new Int32Array(parents * wide);
    for (let i = 0; i < index.length; i++) {
      const parent = above[i]!;
      const key = keys[index[i]!]!;
      const base = (parent - aboveFirst) * wide - from;
      let node = table[base + key]!;
      if (node === 0) {
        node = make(parent, key, (k) => table[base + k] || undefined, (k, made) => {
          table[base + k] = made;
        });
      }
      into[i] = node;
    }
    return into;
  }
  const table = new Map<number, number>();
  for (let i = 0; i < index.length; i++) {
    const parent = above[i]!;
    const key = keys[index[i]!]!;
    const base = parent * 2 ** 22;
    let node = table.get(base + key - MORE);
    if (node === undefined) {
      node = make(parent, key, (k) => table.get(base + k - MORE), (k, made) => {
        table.set(base + k - MORE, made);
      });
    }
    into[i] = node;
  }
  return into;
}

// One entry for each contention and for each of its owners that the aspects tell apart.
interface OwnerEntries {
  readonly from: Int32Array; // which of the kept contentions
  readonly row: Int32Array; // the contention itself
  readonly owner: Int32Array; // one that stands for all that are alike
  readonly ns: Float64Array;
  readonly longest: Float64Array | null;
}

// Owners are alike if all aspects of owners that are asked for have the same keys: `standFor` has one of them for each.
function alikeOwners(data: Contentions, aspects: readonly Aspect[]): Int32Array {
  const keys = aspects.map((aspect) => aspectKeys(data, aspect));
  const first = new Map<string, number>();
  return Int32Array.from({length: data.owners.count}, (_, owner) => {
    const name = keys.map((each) => each[owner]).join();
    if (!first.has(name)) first.set(name, owner);
    return first.get(name)!;
  });
}

// Another order of the same aspects has the same entries: of millions of pieces they are made once.
const MOST_ENTRIES = 4;
const entriesCache = new WeakMap<Kept, Map<string, OwnerEntries>>();

function ownerEntries(data: Contentions, kept: Kept, aspects: readonly Aspect[]): OwnerEntries {
  let known = entriesCache.get(kept);
  if (known === undefined) entriesCache.set(kept, (known = new Map()));
  const name = aspects.slice().sort().join();
  const entries = known.get(name) ?? makeOwnerEntries(data, kept, aspects);
  known.delete(name);
  known.set(name, entries); // the last ones are the newest
  if (known.size > MOST_ENTRIES) known.delete(known.keys().next().value!);
  return entries;
}

// Adds up the pieces of each contention whose owners are alike: there are many pieces, and few of these.
function makeOwnerEntries(data: Contentions, kept: Kept, aspects: readonly Aspect[]): OwnerEntries {
  const standFor = alikeOwners(data, aspects);
  const size = kept.pieceNs.length;
  const from = new Int32Array(size);
  const owner = new Int32Array(size);
  const ns = new Float64Array(size);
  const longest = kept.pieceLongest === null ? null : new Float64Array(size);
  const lastRow = new Int32Array(data.owners.count).fill(-1);
  const lastEntry = new Int32Array(data.owners.count);
  const {firstPiece, pieceOwner, pieceNs, pieceLongest} = kept;
  let count = 0;
  for (let k = 0; k < kept.row.length; k++) {
    for (let p = firstPiece[k]!; p < firstPiece[k + 1]!; p++) {
      const who = standFor[pieceOwner[p]!]!;
      let entry = lastEntry[who]!;
      if (lastRow[who] !== k) {
        lastRow[who] = k;
        lastEntry[who] = entry = count++;
        from[entry] = k;
        owner[entry] = who;
      }
      ns[entry]! += pieceNs[p]!;
      if (longest !== null) longest[entry]! += pieceLongest![p]!;
    }
  }
  // Copies, since they are kept: there may be far fewer than pieces.
  return {from: from.slice(0, count), owner: owner.slice(0, count), ns: ns.slice(0, count), longest: longest?.slice(0, count) ?? null,
          row: gatheredIndices(kept.row, from.subarray(0, count))};
}

// Entries of a contention that are in the same node count once: the first has the sum, the others -1.
function joined(entries: OwnerEntries, nodeOf: Int32Array, firstNode: number, nodes: number): {ns: Float64Array; longest: Float64Array | null} {
  const ns = entries.ns.slice();
  const longest = entries.longest?.slice() ?? null;
  const {from} = entries;
  const lastFrom = new Int32Array(nodes).fill(-1);
  const lastEntry = new Int32Array(nodes);
  for (let i = 0; i < ns.length; i++) {
    const node = nodeOf[i]! - firstNode;
    if (lastFrom[node] === from[i]) {
      ns[lastEntry[node]!]! += ns[i]!;
      if (longest !== null) longest[lastEntry[node]!]! += longest[i]!;
      ns[i] = -1;
    } else {
      lastFrom[node] = from[i]!;
      lastEntry[node] = i;
    }
  }
  return {ns, longest};
}

interface Level {
  readonly first: number; // node
  readonly nodeOf: Int32Array; // by entry
  readonly row: Int32Array; // by entry
  readonly ns: Float64Array; // by entry; negative: counted elsewhere
  readonly longest: Float64Array | null; // by entry, of rows that stand for several; null: as the row says
}

// Of locks only, unless the group is among the aspects: then of everything that threads were parked for.
export function lockTree(data: Contentions, threads: Threads, cut: Cut, by: readonly Aspect[]): LockTree {
  const ownerLevel = by.findIndex(isOfOwner) < 0 ? by.length : by.findIndex(isOfOwner);
  const nodes = new Nodes();
  const kept = keptOf(data, cut, by.includes('group'));
  const levels: Level[] = [{first: 0, nodeOf: new Int32Array(kept.row.length), row: kept.row, ns: kept.ns, longest: null}];
  let entries: OwnerEntries | null = null;
  const ofOwner = by.filter(isOfOwner);
  let applied = 0; // aspects of owners, by now
  by.forEach((aspect, level) => {
    const {first: aboveFirst, nodeOf: above} = levels[level]!;
    const keys = aspectKeys(data, aspect);
    const first = nodes.count;
    if (level < ownerLevel) {
      levels.push({first, nodeOf: deeper(nodes, above, aboveFirst, keys, kept.row), row: kept.row, ns: kept.ns, longest: null});
      return;
    }
    let aboveEntries = above;
    if (entries === null) {
      entries = ownerEntries(data, kept, ofOwner);
      aboveEntries = gatheredIndices(above, entries.from);
    }
    const nodeOf = deeper(nodes, aboveEntries, aboveFirst, keys, isOfOwner(aspect) ? entries.owner : entries.row);
    if (isOfOwner(aspect)) applied++;
    // Once all aspects of owners are told apart, each entry of a contention is in a node of its own.
    const apartByNow = applied === ofOwner.length && nodes.count < MOST_NODES;
    const {ns, longest} = apartByNow ? entries : joined(entries, nodeOf, first, nodes.count - first);
    levels.push({first, nodeOf, row: entries.row, ns, longest});
  });
  return finish(data, threads, by, nodes, levels, byOwnerKind(data, kept), kept.byGroup);
}

const kindsCache = new WeakMap<Kept, Float64Array>();

function byOwnerKind(data: Contentions, kept: Kept): Float64Array {
  let known = kindsCache.get(kept);
  if (known === undefined) {
    kindsCache.set(kept, (known = new Float64Array(4)));
    const ofOwner = new Float64Array(data.owners.count);
    const {pieceOwner, pieceNs} = kept;
    for (let p = 0; p < pieceNs.length; p++) ofOwner[pieceOwner[p]!]! += pieceNs[p]!;
    for (let owner = 0; owner < ofOwner.length; owner++) known[data.owners.kind[owner]!]! += ofOwner[owner]!;
  }
  return known;
}

function gatheredIndices(values: Int32Array, at: Int32Array): Int32Array<ArrayBuffer> {
  const into = new Int32Array(at.length);
  for (let i = 0; i < at.length; i++) into[i] = values[at[i]!]!;
  return into;
}

function finish(data: Contentions, threads: Threads, by: readonly Aspect[], nodes: Nodes, levels: readonly Level[],
                byOwner: Float64Array, byGroup: Float64Array): LockTree {
  const {count, parent, key} = nodes;
  const level = new Uint8Array(count);
  const blocked = new Float64Array(count);
  const times = new Float64Array(count);
  const longest = new Float64Array(count);
  const hasMore = data.more.some((n) => n > 0);
  levels.forEach(({first, nodeOf, row, ns, longest: most}, depth) => {
    level.fill(depth, first, levels[depth + 1]?.first ?? count);
    if (!hasMore) {
      for (let i = 0; i < nodeOf.length; i++) {
        const length = ns[i]!;
        if (length < 0) continue;
        const node = nodeOf[i]!;
        blocked[node]! += length;
        times[node]!++;
        if (length > longest[node]!) longest[node] = length;
      }
      return;
    }
    for (let i = 0; i < nodeOf.length; i++) {
      const length = ns[i]!;
      if (length < 0) continue;
      const node = nodeOf[i]!;
      const more = data.more[row[i]!]!;
      blocked[node]! += length;
      times[node]! += 1 + more;
      const one = more === 0 ? length : Math.min(length, most === null ? data.longest[row[i]!]! : most[i]!);
      if (one > longest[node]!) longest[node] = one;
    }
  });

  // Children of each node, in a row; sorted when they are asked for.
  const first = new Int32Array(count + 1);
  for (let i = 1; i < count; i++) first[parent[i]! + 1]!++;
  for (let i = 0; i < count; i++) first[i + 1]! += first[i]!;
  const inOrder = new Int32Array(Math.max(count - 1, 0));
  const next = first.slice();
  for (let i = 1; i < count; i++) inOrder[next[parent[i]!]!++] = i;
  const sorted = new Uint8Array(count);
  const children = (node: number): Int32Array => {
    const range = inOrder.subarray(first[node]!, first[node + 1]!);
    if (sorted[node] === 0 && range.length > 1) {
      const aspect = by[level[node]!]!;
      const labels = new Map<number, string>();
      const label = (child: number): string => {
        let text = labels.get(child);
        if (text === undefined) labels.set(child, (text = labelOf(data, threads, aspect, key[child]!)));
        return text;
      };
      range.sort((a, b) => blocked[b]! - blocked[a]! || (label(a) < label(b) ? -1 : 1));
    }
    sorted[node] = 1;
    return range;
  };

  // The entries of each node of a level, in a row; made when a percentile of that level is asked for.
  const orders: ({readonly start: Int32Array; readonly order: Int32Array} | undefined)[] = [];
  const orderOf = (depth: number): {readonly start: Int32Array; readonly order: Int32Array} => {
    const {first: firstNode, nodeOf, ns} = levels[depth]!;
    const start = new Int32Array((levels[depth + 1]?.first ?? count) - firstNode + 1);
    for (let i = 0; i < nodeOf.length; i++) if (ns[i]! >= 0) start[nodeOf[i]! - firstNode + 1]!++;
    for (let i = 1; i < start.length; i++) start[i]! += start[i - 1]!;
    const at = start.slice();
    const order = new Int32Array(start[start.length - 1]!);
    for (let i = 0; i < nodeOf.length; i++) if (ns[i]! >= 0) order[at[nodeOf[i]! - firstNode]!++] = i;
    return {start, order};
  };
  const spreads = new Map<number, Spread>();
  const spread = (node: number): Spread => {
    let known = spreads.get(node);
    if (known !== undefined) return known;
    const depth = level[node]!;
    const {start, order} = (orders[depth] ??= orderOf(depth));
    const {first: firstNode, row, ns, longest: most} = levels[depth]!;
    const own = order.subarray(start[node - firstNode]!, start[node - firstNode + 1]!);
    const [p50, p95] = times[node] === own.length ? percentiles(gathered(ns, own), null, [0.5, 0.95])
      : percentiles(...apart(data, own, row, ns, most), [0.5, 0.95]);
    spreads.set(node, (known = {p50: p50!, p95: p95!}));
    return known;
  };
  return {data, by, count, parent, key, level, blocked, times, longest, byOwner, byGroup, children, spread};
}

function gathered(ns: Float64Array, own: Int32Array): Float64Array {
  const into = new Float64Array(own.length);
  for (let i = 0; i < own.length; i++) into[i] = ns[own[i]!]!;
  return into;
}

// A row that stands for several: the longest of them is known, of the others the mean.
function apart(data: Contentions, own: Int32Array, row: Int32Array, ns: Float64Array, most: Float64Array | null): [Float64Array, Float64Array] {
  const durations: number[] = [];
  const times: number[] = [];
  for (const i of own) {
    const more = data.more[row[i]!]!;
    const longest = Math.min(ns[i]!, most === null ? data.longest[row[i]!]! : most[i]!);
    durations.push(more === 0 ? ns[i]! : longest);
    times.push(1);
    if (more === 0) continue;
    durations.push(Math.round((ns[i]! - longest) / more));
    times.push(more);
  }
  return [Float64Array.from(durations), Float64Array.from(times)];
}

// From the first aspect's key to the node's.
export function pathOf(tree: LockTree, node: number): number[] {
  const path: number[] = [];
  for (let at = node; at > 0; at = tree.parent[at]!) path.push(tree.key[at]!);
  return path.reverse();
}

// The node that the path leads to; -1 if there is none.
export function nodeAt(tree: LockTree, path: readonly number[]): number {
  let node = 0;
  for (const key of path) {
    const child = tree.level[node]! < tree.by.length ? tree.children(node).find((each) => tree.key[each] === key) : undefined;
    if (child === undefined) return -1;
    node = child;
  }
  return node;
}
