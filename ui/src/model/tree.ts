// The tree that is drawn: flat columns in depth-first order, siblings by falling weight, so that drawing skips whole
// subtrees by an index and "everything further right is smaller" is always true.

export interface Tree {
  readonly count: number;
  readonly parent: Int32Array; // -1 for the root, which is node 0
  readonly end: Int32Array; // a node's subtree is [node, end)
  readonly depth: Int32Array;
  readonly key: Int32Array; // name and family, see frame_types.ts
  readonly type: Uint8Array; // of a mixed node the heaviest
  readonly start: Float64Array; // ns from the left edge
  readonly total: Float64Array; // ns
  readonly self: Float64Array;
  readonly samples: Float64Array; // in the subtree
  readonly selfSamples: Float64Array;
  readonly imprecise: Float64Array; // in the subtree
  readonly selfImprecise: Float64Array;
  // Of a comparison: what the earlier recording has, in the subtree and of the node itself; else 0. Since the weights
  // are means of both, the later one has twice them less this.
  readonly before: Float64Array;
  readonly selfBefore: Float64Array;
  readonly maxDepth: number;
}

// A tree under construction: callers before callees, only self values known.
export interface LooseTree {
  readonly count: number;
  readonly parent: Int32Array;
  readonly key: Int32Array;
  readonly type: Uint8Array;
  readonly self: Float64Array;
  readonly selfSamples: Float64Array;
  readonly selfImprecise: Float64Array;
  readonly selfBefore: Float64Array;
}

let nothing = new Float64Array(0);

// A column of zeros, the same for all that ask: most trees have none that is imprecise or compared, and columns of a
// million rows are not free. Never written to.
export function zeros(count: number): Float64Array {
  if (nothing.length < count) nothing = new Float64Array(count);
  return nothing.subarray(0, count);
}

export function isZero(column: Float64Array): boolean {
  if (column.buffer === nothing.buffer) return true;
  for (let i = 0; i < column.length; i++) if (column[i] !== 0) return false;
  return true;
}

export interface Ordered {
  readonly tree: Tree;
  readonly place: Int32Array; // loose node -> node of the tree; -1: left out
}

// Adds what the subtrees hold to their roots. Callees come after callers, so one loop backwards does it.
export function sumUp(self: Float64Array, parent: Int32Array, count: number): Float64Array {
  const sum = self.slice(0, count);
  for (let i = count - 1; i >= 0; i--) {
    const p = parent[i]!;
    if (p >= 0) sum[p] = sum[p]! + sum[i]!;
  }
  return sum;
}

const FEW = 24;

// Most lists are short: then this is faster than a sort with a function.
function sortFalling(list: Int32Array, rank: Float64Array, from: number, to: number): void {
  if (to - from > FEW) {
    list.subarray(from, to).sort((a, b) => rank[b]! - rank[a]! || a - b);
    return;
  }
  for (let i = from + 1; i < to; i++) {
    const node = list[i]!;
    const weight = rank[node]!;
    let place = i;
    for (; place > from && rank[list[place - 1]!]! < weight; place--) list[place] = list[place - 1]!;
    list[place] = node;
  }
}

// Children of each node that have weight, by falling total; `last` names the key that always goes to the end.
function sortedChildren(loose: LooseTree, total: Float64Array, samples: Float64Array, last: number):
  {first: Int32Array; list: Int32Array} {
  const {count, parent, key} = loose;
  const first = new Int32Array(count + 1);
  for (let i = 1; i < count; i++) if (total[i] !== 0 || samples[i] !== 0) first[parent[i]! + 1]!++;
  for (let i = 0; i < count; i++) first[i + 1]! += first[i]!;
  const fill = first.slice(0, count);
  const list = new Int32Array(first[count]!);
  for (let i = 1; i < count; i++) if (total[i] !== 0 || samples[i] !== 0) list[fill[parent[i]!]!++] = i;
  let rank = total;
  if (last >= 0) {
    rank = total.slice();
    for (let i = 1; i < count; i++) if (key[i] === last) rank[i] = -1;
  }
  for (let i = 0; i < count; i++) if (first[i + 1]! - first[i]! > 1) sortFalling(list, rank, first[i]!, first[i + 1]!);
  return {first, list};
}

// What has neither weight nor samples is left out.
export function orderByWeight(loose: LooseTree, last = -1): Ordered {
  const looseTotal = sumUp(loose.self, loose.parent, loose.count);
  const looseSamples = sumUp(loose.selfSamples, loose.parent, loose.count);
  const children = sortedChildren(loose, looseTotal, looseSamples, last);
  const count = children.list.length + 1;
  const hasImprecise = !isZero(loose.selfImprecise);
  const hasBefore = !isZero(loose.selfBefore);
  const columnIf = (needed: boolean): Float64Array => (needed ? new Float64Array(count) : zeros(count));
  const tree = {
    count,
    parent: new Int32Array(count), end: new Int32Array(count), depth: new Int32Array(count),
    key: new Int32Array(count), type: new Uint8Array(count),
    start: new Float64Array(count), total: new Float64Array(count), self: new Float64Array(count),
    samples: new Float64Array(count), selfSamples: new Float64Array(count), imprecise: columnIf(hasImprecise),
    selfImprecise: columnIf(hasImprecise), before: columnIf(hasBefore), selfBefore: columnIf(hasBefore),
    maxDepth: 0,
  };
  const place = new Int32Array(loose.count).fill(-1);
  const next = new Float64Array(count); // where the next callee of a node starts
  const pending = new Int32Array(count);
  let waiting = 1; // the root, loose node 0
  for (let at = 0; waiting > 0; at++) {
    const node = pending[--waiting]!;
    const parent = node === 0 ? -1 : place[loose.parent[node]!]!;
    place[node] = at;
    tree.parent[at] = parent;
    tree.key[at] = loose.key[node]!;
    tree.type[at] = loose.type[node]!;
    tree.total[at] = looseTotal[node]!;
    tree.self[at] = loose.self[node]!;
    tree.samples[at] = looseSamples[node]!;
    tree.selfSamples[at] = loose.selfSamples[node]!;
    if (hasImprecise) tree.selfImprecise[at] = loose.selfImprecise[node]!;
    if (hasBefore) tree.selfBefore[at] = loose.selfBefore[node]!;
    if (parent >= 0) {
      tree.depth[at] = tree.depth[parent]! + 1;
      if (tree.depth[at]! > tree.maxDepth) tree.maxDepth = tree.depth[at]!;
      tree.start[at] = next[parent]!;
      next[parent]! += tree.total[at]!;
    }
    next[at] = tree.start[at]!;
    for (let i = children.first[node + 1]! - 1; i >= children.first[node]!; i--) pending[waiting++] = children.list[i]!;
  }
  for (let i = count - 1; i >= 0; i--) {
    if (tree.end[i]! < i + 1) tree.end[i] = i + 1;
    const parent = tree.parent[i]!;
    if (parent >= 0 && tree.end[parent]! < tree.end[i]!) tree.end[parent] = tree.end[i]!;
  }
  if (hasImprecise) tree.imprecise.set(sumUp(tree.selfImprecise, tree.parent, count));
  if (hasBefore) tree.before.set(sumUp(tree.selfBefore, tree.parent, count));
  return {tree, place};
}

export function pathOf(tree: Tree, node: number): number[] {
  const path: number[] = [];
  for (let i = node; i > 0; i = tree.parent[i]!) path.push(tree.key[i]!);
  return path.reverse();
}

// The node at the end of a path of keys, or of the longest part of it that exists.
export function nodeAtPath(tree: Tree, path: readonly number[]): number {
  let node = 0;
  for (const key of path) {
    let child = node + 1;
    while (child < tree.end[node]! && tree.key[child] !== key) child = tree.end[child]!;
    if (child >= tree.end[node]!) break;
    node = child;
  }
  return node;
}
