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

export interface Ordered {
  readonly tree: Tree;
  readonly place: Int32Array; // loose node -> node of the tree
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

// Children of each node, by falling total; `last` names the key that always goes to the end.
function sortedChildren(loose: LooseTree, total: Float64Array, last: number): {first: Int32Array; list: Int32Array} {
  const {count, parent, key} = loose;
  const first = new Int32Array(count + 1);
  for (let i = 1; i < count; i++) first[parent[i]! + 1]!++;
  for (let i = 0; i < count; i++) first[i + 1]! += first[i]!;
  const fill = first.slice(0, count);
  const list = new Int32Array(Math.max(count - 1, 0));
  for (let i = 1; i < count; i++) list[fill[parent[i]!]!++] = i;
  const rank = (node: number): number => (key[node] === last ? -1 : total[node]!);
  for (let i = 0; i < count; i++) {
    if (first[i + 1]! - first[i]! > 1) {
      list.subarray(first[i]!, first[i + 1]!).sort((a, b) => rank(b) - rank(a) || a - b);
    }
  }
  return {first, list};
}

export function orderByWeight(loose: LooseTree, last = -1): Ordered {
  const {count} = loose;
  const looseTotal = sumUp(loose.self, loose.parent, count);
  const looseSamples = sumUp(loose.selfSamples, loose.parent, count);
  const looseImprecise = sumUp(loose.selfImprecise, loose.parent, count);
  const looseBefore = sumUp(loose.selfBefore, loose.parent, count);
  const children = sortedChildren(loose, looseTotal, last);

  const tree = {
    count,
    parent: new Int32Array(count), end: new Int32Array(count), depth: new Int32Array(count),
    key: new Int32Array(count), type: new Uint8Array(count),
    start: new Float64Array(count), total: new Float64Array(count), self: new Float64Array(count),
    samples: new Float64Array(count), selfSamples: new Float64Array(count), imprecise: new Float64Array(count),
    selfImprecise: new Float64Array(count), before: new Float64Array(count), selfBefore: new Float64Array(count),
    maxDepth: 0,
  };
  const place = new Int32Array(count);
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
    tree.imprecise[at] = looseImprecise[node]!;
    tree.selfImprecise[at] = loose.selfImprecise[node]!;
    tree.before[at] = looseBefore[node]!;
    tree.selfBefore[at] = loose.selfBefore[node]!;
    if (parent >= 0) {
      tree.depth[at] = tree.depth[parent]! + 1;
      tree.maxDepth = Math.max(tree.maxDepth, tree.depth[at]!);
      tree.start[at] = next[parent]!;
      next[parent]! += tree.total[at]!;
    }
    next[at] = tree.start[at]!;
    for (let i = children.first[node + 1]! - 1; i >= children.first[node]!; i--) pending[waiting++] = children.list[i]!;
  }
  for (let i = count - 1; i >= 0; i--) {
    tree.end[i] = Math.max(tree.end[i]!, i + 1);
    const parent = tree.parent[i]!;
    if (parent >= 0) tree.end[parent] = Math.max(tree.end[parent]!, tree.end[i]!);
  }
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
