// The calling context ring chart: ring n holds the calls n levels below the focus, the angle of a call is its weight.
// It is the flame graph's layout with angles for widths.
import {layoutFlame, rectangleAt, type Layout} from '../flame/layout';
import type {Tree} from '../model/tree';

export interface RingLayout {
  readonly layout: Layout; // left and right are angles: 0 at the top, clockwise, 2 pi is all around
  readonly firstRow: number; // the row of the focus, which is the centre
  readonly rings: number; // how many fit
  readonly hidden: number; // levels that do not
  readonly centre: number; // radius
  readonly thickness: number; // of a ring
}

export const AROUND = 2 * Math.PI;
const LEAST_THICKNESS = 17; // a label fits
const MOST_THICKNESS = 46;
const LEAST_CENTRE = 44;
const LEAST_ARC = 0.7; // pixels, at the outermost ring

function depthBelow(tree: Tree, focus: number): number {
  let deepest = tree.depth[focus]!;
  for (let i = focus; i < tree.end[focus]!; i++) if (tree.depth[i]! > deepest) deepest = tree.depth[i]!;
  return deepest - tree.depth[focus]!;
}

export function layoutRing(tree: Tree, focus: number, radius: number): RingLayout {
  const levels = depthBelow(tree, focus);
  const room = Math.max(radius - LEAST_CENTRE, LEAST_THICKNESS);
  const rings = Math.max(0, Math.min(levels, Math.floor(room / LEAST_THICKNESS)));
  const thickness = rings === 0 ? 0 : Math.min(room / rings, MOST_THICKNESS);
  const layout = layoutFlame(tree, focus, AROUND, LEAST_ARC / Math.max(radius, 1));
  return {layout, firstRow: tree.depth[focus]!, rings, hidden: levels - rings, centre: LEAST_CENTRE, thickness};
}

export type Hit = {readonly arc: number} | 'centre' | null;

// What is at a point, seen from the middle.
export function hitRing(ring: RingLayout, x: number, y: number): Hit {
  const distance = Math.hypot(x, y);
  if (distance <= ring.centre) return 'centre';
  if (ring.thickness === 0) return null;
  const level = 1 + Math.floor((distance - ring.centre) / ring.thickness);
  if (level > ring.rings) return null;
  const angle = (Math.atan2(x, -y) + AROUND) % AROUND;
  const arc = rectangleAt(ring.layout, ring.firstRow + level, angle);
  return arc < 0 ? null : {arc};
}

// Below the root the first frames of all stacks are often the same: the chart begins where calls part.
export function firstParting(tree: Tree): number {
  let node = 0;
  for (;;) {
    const child = node + 1;
    if (child >= tree.end[node]! || tree.total[child]! < 0.98 * tree.total[0]!) return node;
    node = child;
  }
}
