// Places of a graph in two columns: boxes as tall as their time, bands between them as wide as theirs.
import type {Graph} from './blame';

export interface Box {
  readonly top: number;
  readonly height: number;
}

export interface Band {
  readonly edge: number;
  readonly leftTop: number;
  readonly rightTop: number;
  readonly height: number;
}

export interface Sankey {
  readonly left: readonly Box[];
  readonly right: readonly Box[];
  readonly bands: readonly Band[];
}

export const LEAST_BOX = 17; // a line of text
const GAP = 5;

// Heights are times, the same scale on both sides; small ones still have the room of their line.
function boxes(weights: readonly number[], perNs: number): Box[] {
  let top = 0;
  return weights.map((weight) => {
    const box = {top, height: weight * perNs};
    top += Math.max(box.height, LEAST_BOX) + GAP;
    return box;
  });
}

function heightOf(weights: readonly number[], perNs: number): number {
  return weights.reduce((sum, weight) => sum + Math.max(weight * perNs, LEAST_BOX) + GAP, -GAP);
}

// The largest scale with which both columns fit.
function scaleFor(graph: Graph, height: number): number {
  const columns = [graph.owners.map(({ns}) => ns), graph.blocked.map(({ns}) => ns)];
  let low = 0;
  let high = graph.ns > 0 ? height / graph.ns : 0;
  for (let i = 0; i < 40; i++) {
    const middle = (low + high) / 2;
    if (columns.every((weights) => heightOf(weights, middle) <= height)) low = middle;
    else high = middle;
  }
  return low;
}

export function sankey(graph: Graph, height: number): Sankey {
  const perNs = scaleFor(graph, height);
  const left = boxes(graph.owners.map(({ns}) => ns), perNs);
  const right = boxes(graph.blocked.map(({ns}) => ns), perNs);
  const leftUsed = left.map(({top}) => top);
  const rightUsed = right.map(({top}) => top);
  // In the order of their ends bands cross least.
  const order = graph.edges.map((_, i) => i).sort((a, b) =>
    graph.edges[a]!.owner - graph.edges[b]!.owner || graph.edges[a]!.blocked - graph.edges[b]!.blocked);
  const bands = order.map((edge): Band => {
    const {owner, blocked, ns} = graph.edges[edge]!;
    const high = ns * perNs;
    const band = {edge, leftTop: leftUsed[owner]!, rightTop: rightUsed[blocked]!, height: high};
    leftUsed[owner]! += high;
    rightUsed[blocked]! += high;
    return band;
  });
  return {left, right, bands};
}
