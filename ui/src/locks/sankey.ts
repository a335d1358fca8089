// Places of a graph in two columns: boxes as tall as their time, bands between them as wide as theirs.
import type {Graph} from './blame';

export interface Box {
  readonly top: number;
  readonly height: number;
}

export interface Band {
  readonly edge: number;
  readonly leftTop: number;
  readonly leftHeight: number;
  readonly rightTop: number;
  readonly rightHeight: number;
}

export interface Sankey {
  readonly left: readonly Box[];
  readonly right: readonly Box[];
  readonly bands: readonly Band[];
}

export const LEAST_BOX = 17; // a line of text
const GAP = 5;

// Each gets its line, the rest of the room is shared by time.
function boxes(weights: readonly number[], height: number): Box[] {
  const sum = weights.reduce((a, b) => a + b, 0);
  const room = Math.max(height - weights.length * LEAST_BOX - Math.max(weights.length - 1, 0) * GAP, 0);
  let top = 0;
  return weights.map((weight) => {
    const box = {top, height: LEAST_BOX + (sum > 0 ? (room * weight) / sum : 0)};
    top += box.height + GAP;
    return box;
  });
}

export function sankey(graph: Graph, height: number): Sankey {
  const left = boxes(graph.owners.map(({ns}) => ns), height);
  const right = boxes(graph.blocked.map(({ns}) => ns), height);
  const leftUsed = left.map(({top}) => top);
  const rightUsed = right.map(({top}) => top);
  // In the order of their ends bands cross least.
  const order = graph.edges.map((_, i) => i).sort((a, b) =>
    graph.edges[a]!.owner - graph.edges[b]!.owner || graph.edges[a]!.blocked - graph.edges[b]!.blocked);
  const bands = order.map((edge): Band => {
    const {owner, blocked, ns} = graph.edges[edge]!;
    const leftHeight = graph.owners[owner]!.ns > 0 ? (left[owner]!.height * ns) / graph.owners[owner]!.ns : 0;
    const rightHeight = graph.blocked[blocked]!.ns > 0 ? (right[blocked]!.height * ns) / graph.blocked[blocked]!.ns : 0;
    const band = {edge, leftTop: leftUsed[owner]!, leftHeight, rightTop: rightUsed[blocked]!, rightHeight};
    leftUsed[owner]! += leftHeight;
    rightUsed[blocked]! += rightHeight;
    return band;
  });
  return {left, right, bands};
}
