// Which nodes of a tree are to be seen in a table that opens and closes them.
import {nameOfKey} from './frame_types';
import type {Tree} from './tree';

// The same for the same path in any tree of one profile: what was opened stays so when the filter changes.
export function pathMarks(tree: Tree): Float64Array {
  const marks = new Float64Array(tree.count);
  const low = new Int32Array(tree.count);
  for (let i = 1; i < tree.count; i++) {
    const parent = tree.parent[i]!;
    const hash = Math.imul(low[parent]! ^ tree.key[i]!, 0x9e3779b1);
    low[i] = hash ^ (hash >>> 15);
    marks[i] = (low[i]! >>> 0) * 2 ** 20 + (Math.imul(hash ^ tree.depth[i]!, 0x85ebca6b) >>> 12);
  }
  return marks;
}

// 1: the node matches; 2: one below it does; 4: it lies below one that does.
export function matchMarks(tree: Tree, matches: Uint8Array): Uint8Array {
  const marks = new Uint8Array(tree.count);
  for (let i = 1; i < tree.count; i++) {
    if ((marks[tree.parent[i]!]! & 5) !== 0) marks[i]! |= 4;
    if (matches[nameOfKey(tree.key[i]!)] === 1) marks[i]! |= 1;
  }
  for (let i = tree.count - 1; i > 0; i--) if ((marks[i]! & 3) !== 0) marks[tree.parent[i]!]! |= 2;
  return marks;
}

const MOST_AT_FIRST = 40;

// Nodes of at least this share are open at first: as many as give an overview.
export function openShare(tree: Tree): number {
  for (const next of [0.5, 0.3, 0.2, 0.1, 0.05, 0.02, 0.01]) {
    let open = 0;
    for (let i = 1; i < tree.count;) {
      if (tree.total[i]! >= next * tree.total[0]!) {
        open++;
        i++;
      } else {
        i = tree.end[i]!;
      }
    }
    if (open > MOST_AT_FIRST) return Math.min(next * 2, 0.5);
  }
  return 0.01;
}

export interface TreeRows {
  readonly node: Int32Array;
  readonly indent: Int32Array; // only callees that are one of several are set in: chains of calls stay straight
  readonly count: number;
}

// `isOpen` is asked for nodes that have callees; `marks` (of matchMarks) leaves only what a search is about.
export function visibleRows(tree: Tree, isOpen: (node: number) => boolean, marks: Uint8Array | null): TreeRows {
  const node = new Int32Array(Math.max(tree.count - 1, 0));
  const indent = new Int32Array(node.length);
  const indentOf = new Int32Array(tree.count);
  let count = 0;
  for (let i = 1; i < tree.count;) {
    if (marks !== null && marks[i] === 0) {
      i = tree.end[i]!;
      continue;
    }
    const parent = tree.parent[i]!;
    const isOnly = parent > 0 && i === parent + 1 && tree.end[i] === tree.end[parent] && tree.self[parent] === 0;
    indentOf[i] = parent === 0 ? 0 : indentOf[parent]! + (isOnly ? 0 : 1);
    node[count] = i;
    indent[count] = indentOf[i]!;
    count++;
    i = tree.end[i]! > i + 1 && isOpen(i) ? i + 1 : tree.end[i]!;
  }
  return {node: node.subarray(0, count), indent: indent.subarray(0, count), count};
}
