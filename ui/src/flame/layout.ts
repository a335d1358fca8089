// Which rectangles are to be seen, and where: pure geometry in CSS pixels, rows counted from the root.
import type {Tree} from '../model/tree';

export interface Layout {
  readonly rows: number;
  readonly rowStart: Int32Array; // rectangles of row r are [rowStart[r], rowStart[r + 1]), from left to right
  readonly node: Int32Array;
  readonly left: Float32Array;
  readonly right: Float32Array;
  // 1: not one node, but `node` and all its smaller siblings together, each too narrow to be drawn.
  readonly isRest: Uint8Array;
}

class Rectangles {
  count = 0;
  node = new Int32Array(1024);
  left = new Float32Array(1024);
  right = new Float32Array(1024);
  row = new Int32Array(1024);
  isRest = new Uint8Array(1024);

  add(node: number, left: number, right: number, row: number, isRest: number): void {
    const i = this.count++;
    if (i === this.node.length) this.grow();
    this.node[i] = node;
    this.left[i] = left;
    this.right[i] = right;
    this.row[i] = row;
    this.isRest[i] = isRest;
  }

  private grow(): void {
    const bigger = <T extends Int32Array | Float32Array | Uint8Array>(old: T, made: T): T => {
      made.set(old as never);
      return made;
    };
    const length = this.count * 2;
    this.node = bigger(this.node, new Int32Array(length));
    this.left = bigger(this.left, new Float32Array(length));
    this.right = bigger(this.right, new Float32Array(length));
    this.row = bigger(this.row, new Int32Array(length));
    this.isRest = bigger(this.isRest, new Uint8Array(length));
  }
}

// Depth first order keeps each row's rectangles in order from left to right: a stable sort by row is all it takes.
function byRow(found: Rectangles): Layout {
  let rows = 0;
  for (let i = 0; i < found.count; i++) rows = Math.max(rows, found.row[i]! + 1);
  const rowStart = new Int32Array(rows + 1);
  for (let i = 0; i < found.count; i++) rowStart[found.row[i]! + 1]!++;
  for (let r = 0; r < rows; r++) rowStart[r + 1]! += rowStart[r]!;
  const fill = rowStart.slice();
  const layout = {
    rows, rowStart,
    node: new Int32Array(found.count), left: new Float32Array(found.count), right: new Float32Array(found.count),
    isRest: new Uint8Array(found.count),
  };
  for (let i = 0; i < found.count; i++) {
    const place = fill[found.row[i]!]!++;
    layout.node[place] = found.node[i]!;
    layout.left[place] = found.left[i]!;
    layout.right[place] = found.right[i]!;
    layout.isRest[place] = found.isRest[i]!;
  }
  return layout;
}

// The focus fills the width; its callers lie below it at full width, so that one sees where it is. Siblings narrower
// than `least` are drawn as one: what is too small to see apart is still seen.
export function layoutFlame(tree: Tree, focus: number, width: number, least: number): Layout {
  const found = new Rectangles();
  const callers: number[] = [];
  for (let i = tree.parent[focus]!; i >= 0; i = tree.parent[i]!) callers.push(i);
  callers.reverse().forEach((node, row) => found.add(node, 0, width, row, 0));

  const origin = tree.start[focus]!;
  const scale = tree.total[focus]! > 0 ? width / tree.total[focus]! : 0;
  const end = tree.end[focus]!;
  found.add(focus, 0, width, tree.depth[focus]!, 0);
  for (let i = focus + 1; i < end;) {
    const left = (tree.start[i]! - origin) * scale;
    const right = left + tree.total[i]! * scale;
    if (right - left >= least) {
      found.add(i, left, right, tree.depth[i]!, 0);
      i++;
      continue;
    }
    const parent = tree.parent[i]!;
    const restRight = (tree.start[parent]! - origin + tree.total[parent]! - tree.self[parent]!) * scale;
    if (restRight - left >= least) found.add(i, left, restRight, tree.depth[i]!, 1);
    i = tree.end[parent]!; // siblings further right are smaller still
  }
  return byRow(found);
}

// The rectangle at x in a row, or -1.
export function rectangleAt(layout: Layout, row: number, x: number): number {
  if (row < 0 || row >= layout.rows) return -1;
  let low = layout.rowStart[row]!;
  let high = layout.rowStart[row + 1]!;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (layout.right[middle]! <= x) low = middle + 1;
    else high = middle;
  }
  return low < layout.rowStart[row + 1]! && layout.left[low]! <= x ? low : -1;
}

export function rectangleOf(layout: Layout, tree: Tree, node: number): number {
  const row = tree.depth[node]!;
  if (row >= layout.rows) return -1;
  for (let i = layout.rowStart[row]!; i < layout.rowStart[row + 1]!; i++) {
    if (layout.node[i] === node && layout.isRest[i] === 0) return i;
  }
  return -1;
}

export type Direction = 'caller' | 'callee' | 'previous' | 'next';

// Where the selection goes: to a node that is drawn as itself. Without one there, it stays.
export function neighbour(layout: Layout, tree: Tree, node: number, direction: Direction): number {
  if (direction === 'caller') return Math.max(tree.parent[node]!, 0);
  const here = rectangleOf(layout, tree, node);
  if (here < 0) return node;
  if (direction === 'callee') {
    const child = node + 1;
    return child < tree.end[node]! && rectangleOf(layout, tree, child) >= 0 ? child : node;
  }
  const step = direction === 'next' ? 1 : -1;
  const row = tree.depth[node]!;
  for (let i = here + step; i >= layout.rowStart[row]! && i < layout.rowStart[row + 1]!; i += step) {
    if (layout.isRest[i] === 0) return layout.node[i]!;
  }
  return node;
}
