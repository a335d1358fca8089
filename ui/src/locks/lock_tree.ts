// Contentions broken down by any sequence of aspects. What nodes, counts and durations mean is defined by
// src/analysis/lock_profile.cpp: a contention counts once in each node in which it has pieces, with their sum.
import type {Threads} from '../data/recording';
import {isOfOwner, keysOf, labelOf, MORE, type Aspect} from './aspects';
import {clippedLength, isInCut, isLock, type Contentions, type Cut} from './contentions';
import {percentiles} from './spread';

const MOST_NODES = 1_000_000;

const keyCache = new WeakMap<Contentions, Map<Aspect, Int32Array>>();

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

// What is left of the contentions: one entry for each of them, or for each of their pieces.
interface Entries {
  readonly row: Int32Array; // contention
  readonly piece: Int32Array; // empty: these are whole contentions
  readonly ns: Float64Array;
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
  let least = 0;
  let most = 0;
  for (let i = 0; i < index.length; i++) {
    const key = keys[index[i]!]!;
    if (key < least) least = key;
    if (key > most) most = key;
  }
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

// Of locks only, unless the group is among the aspects: then of everything that threads were parked for.
function keptRows(data: Contentions, cut: Cut, allGroups: boolean, byGroup: Float64Array): Entries {
  const row = new Int32Array(data.count);
  const ns = new Float64Array(data.count);
  let kept = 0;
  for (let i = 0; i < data.count; i++) {
    if (!isInCut(data, cut, i)) continue;
    let length = data.length[i]!;
    if (!cut.whole) {
      const begin = data.begin[i]!;
      const span = data.longest[i]!; // what stands for several is where the first of them was
      const left = clippedLength(cut, begin, begin + span);
      if (left < 0) continue;
      length = data.more[i]! > 0 && span > 0 ? Math.round(length * (left / span)) : left;
    }
    byGroup[data.group[i]!]! += length;
    if (!allGroups && !isLock(data.group[i]!)) continue;
    row[kept] = i;
    ns[kept++] = length;
  }
  return {row: row.subarray(0, kept), piece: new Int32Array(0), ns: ns.subarray(0, kept)};
}

// `from` says for each piece of which of the entries it is.
function keptPieces(data: Contentions, cut: Cut, whole: Entries, byOwner: Float64Array): Entries & {from: Int32Array} {
  const row: Int32Array = new Int32Array(data.pieceLength.length);
  const piece = new Int32Array(row.length);
  const from = new Int32Array(row.length);
  const ns = new Float64Array(row.length);
  let kept = 0;
  for (let k = 0; k < whole.row.length; k++) {
    const i = whole.row[k]!;
    let at = data.begin[i]!;
    for (let p = data.firstPiece[i]!; p < data.firstPiece[i + 1]!; p++) {
      let length = data.pieceLength[p]!;
      if (!cut.whole) {
        if (data.more[i]! > 0) {
          length = Math.round(length * (whole.ns[k]! / Math.max(data.length[i]!, 1)));
        } else {
          const end = at + length;
          length = clippedLength(cut, at, end);
          at = end;
          if (length < 0) continue;
        }
      }
      byOwner[data.ownerKind[p]!]! += length;
      row[kept] = i;
      piece[kept] = p;
      from[kept] = k;
      ns[kept++] = length;
    }
  }
  return {row: row.subarray(0, kept), piece: piece.subarray(0, kept), from: from.subarray(0, kept), ns: ns.subarray(0, kept)};
}

// Pieces of a contention that are in the same node count once: the first has the sum, the others -1.
// Likewise the longest of those that a row stands for: at most the sum of what its pieces had at most.
function joined(data: Contentions, pieces: Entries, nodeOf: Int32Array, firstNode: number,
                nodes: number): {ns: Float64Array; longest: Float64Array | null} {
  const ns = pieces.ns.slice();
  const longest = data.pieceLongest === null ? null : new Float64Array(ns.length);
  if (longest !== null) for (let i = 0; i < ns.length; i++) longest[i] = data.pieceLongest![pieces.piece[i]!]!;
  const lastRow = new Int32Array(nodes).fill(-1);
  const lastEntry = new Int32Array(nodes);
  for (let i = 0; i < ns.length; i++) {
    const node = nodeOf[i]! - firstNode;
    if (lastRow[node] === pieces.row[i]) {
      ns[lastEntry[node]!]! += ns[i]!;
      if (longest !== null) longest[lastEntry[node]!]! += longest[i]!;
      ns[i] = -1;
    } else {
      lastRow[node] = pieces.row[i]!;
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

export function lockTree(data: Contentions, threads: Threads, cut: Cut, by: readonly Aspect[]): LockTree {
  const byOwner = new Float64Array(4);
  const byGroup = new Float64Array(4);
  const ownerLevel = by.findIndex(isOfOwner) < 0 ? by.length : by.findIndex(isOfOwner);
  const nodes = new Nodes();
  const whole = keptRows(data, cut, by.includes('group'), byGroup);
  const pieces = keptPieces(data, cut, whole, byOwner);
  const levels: Level[] = [{first: 0, nodeOf: new Int32Array(whole.row.length), row: whole.row, ns: whole.ns, longest: null}];
  by.forEach((aspect, level) => {
    const {first: aboveFirst, nodeOf: above} = levels[level]!;
    const keys = aspectKeys(data, aspect);
    const first = nodes.count;
    if (level < ownerLevel) {
      levels.push({first, nodeOf: deeper(nodes, above, aboveFirst, keys, whole.row), row: whole.row, ns: whole.ns, longest: null});
      return;
    }
    const abovePieces = level === ownerLevel ? pieces.from.map((k) => above[k]!) : above;
    const nodeOf = deeper(nodes, abovePieces, aboveFirst, keys, isOfOwner(aspect) ? pieces.piece : pieces.row);
    levels.push({first, nodeOf, row: pieces.row, ...joined(data, pieces, nodeOf, first, nodes.count - first)});
  });
  return finish(data, threads, by, nodes, levels, byOwner, byGroup);
}

function finish(data: Contentions, threads: Threads, by: readonly Aspect[], nodes: Nodes, levels: readonly Level[],
                byOwner: Float64Array, byGroup: Float64Array): LockTree {
  const {count, parent, key} = nodes;
  const level = new Uint8Array(count);
  const blocked = new Float64Array(count);
  const times = new Float64Array(count);
  const longest = new Float64Array(count);
  levels.forEach(({first, nodeOf, row, ns, longest: most}, depth) => {
    level.fill(depth, first, levels[depth + 1]?.first ?? count);
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
