// From the recording's trees, one for each thread and with lines apart, to the tree of calls that is drawn.
import type {Profile} from '../data/profile';
import type {Weights} from './filter';
import {JAVA_TYPES, keyOf, NO_FRAME} from './frame_types';
import {LooseBuilder} from './loose_builder';
import {isZero, orderByWeight, sumUp, zeros, type Tree} from './tree';

export interface CallTree extends Tree {
  readonly byThread: boolean; // threads are the first level
  readonly nodeOf: () => Int32Array; // source node -> node; -1: nothing is left of it
  readonly sourceTotal: Float64Array;
  readonly sampled: number; // the weight that was sampled; the rest was measured, and its shares are no estimates
  readonly effectiveSamples: number; // as many samples of equal weight would tell as much
}

// Which source nodes are one: the same for every filter, so it is found once.
interface Shape {
  readonly nodeOf: Int32Array; // source node -> merged node
  readonly count: number;
  readonly parent: Int32Array;
  readonly key: Int32Array;
  readonly type: Uint8Array;
  readonly mixed: Int32Array; // merged node -> its place among those of several types; -1: it has one
  readonly mixedCount: number;
}

const shapes = new WeakMap<Profile, Shape[]>();

function shapeOf(profile: Profile, byThread: boolean): Shape {
  let ofProfile = shapes.get(profile);
  if (ofProfile === undefined) shapes.set(profile, (ofProfile = []));
  return (ofProfile[Number(byThread)] ??= findShape(profile, byThread));
}

function findShape(profile: Profile, byThread: boolean): Shape {
  const {nodes} = profile;
  const loose = new LooseBuilder(1 << 12);
  const root = loose.child(-1, keyOf(profile.allName, NO_FRAME), NO_FRAME);
  const nodeOf = new Int32Array(nodes.count);
  let mixedCount = 0;
  const isMixed = new Map<number, number>();
  for (const thread of profile.threads) {
    // Threads of one name are one node: what differs is shown by choosing them from the list.
    const top = byThread ? loose.child(root, keyOf(thread.name, NO_FRAME), NO_FRAME) : root;
    for (let i = thread.first; i < thread.end; i++) {
      const type = nodes.type[i]!;
      const caller = nodes.parent[i]!;
      const node = loose.child(caller < 0 ? top : nodeOf[caller]!, keyOf(nodes.name[i]!, type), type);
      nodeOf[i] = node;
      if (loose.type[node] !== type && !isMixed.has(node)) isMixed.set(node, mixedCount++);
    }
  }
  const {count} = loose;
  const mixed = new Int32Array(count).fill(-1);
  for (const [node, place] of isMixed) mixed[node] = place;
  return {nodeOf, count, parent: loose.parent.slice(0, count), key: loose.key.slice(0, count), type: loose.type.slice(0, count),
          mixed, mixedCount};
}

// A node of several types is named by its heaviest.
function typesOf(shape: Shape, profile: Profile, sourceTotal: Float64Array): Uint8Array {
  if (shape.mixedCount === 0) return shape.type;
  const votes = new Float64Array(shape.mixedCount * JAVA_TYPES);
  for (let i = 0; i < profile.nodes.count; i++) {
    const place = shape.mixed[shape.nodeOf[i]!]!;
    if (place >= 0) votes[place * JAVA_TYPES + profile.nodes.type[i]!]! += sourceTotal[i]!;
  }
  const type = shape.type.slice();
  for (let node = 0; node < shape.count; node++) {
    const first = shape.mixed[node]! * JAVA_TYPES;
    if (first < 0) continue;
    let best = type[node]!;
    for (let t = 0; t < JAVA_TYPES; t++) if (votes[first + t]! > votes[first + best]!) best = t;
    type[node] = best;
  }
  return type;
}

// What has no weight is not in the tree.
export function mergeCalls(profile: Profile, weights: Weights, byThread: boolean): CallTree {
  const {nodes} = profile;
  const shape = shapeOf(profile, byThread);
  const sourceTotal = sumUp(weights.self, nodes.parent, nodes.count);
  const hasImprecise = !isZero(weights.imprecise);
  const loose = {
    count: shape.count, parent: shape.parent, key: shape.key, type: typesOf(shape, profile, sourceTotal),
    self: new Float64Array(shape.count), selfSamples: new Float64Array(shape.count),
    selfImprecise: hasImprecise ? new Float64Array(shape.count) : zeros(shape.count),
    selfBefore: weights.before !== null ? new Float64Array(shape.count) : zeros(shape.count),
  };
  let sampled = 0;
  let squares = 0;
  for (let i = 0; i < nodes.count; i++) {
    const self = weights.self[i]!;
    const samples = weights.samples[i]!;
    if (self === 0 && samples === 0) continue;
    const node = shape.nodeOf[i]!;
    loose.self[node]! += self;
    loose.selfSamples[node]! += samples;
    if (hasImprecise) loose.selfImprecise[node]! += weights.imprecise[i]!;
    if (weights.before !== null) loose.selfBefore[node]! += weights.before[i]!;
    if (samples > 0) {
      sampled += self;
      squares += (self * self) / samples;
    }
  }
  const {tree, place} = orderByWeight(loose);
  let known: Int32Array | null = null;
  // Wanted when somebody looks at a node, not for every range of time that a drag passes.
  const nodeOf = (): Int32Array => (known ??= throughPlaces(shape.nodeOf, place));
  return {...tree, byThread, nodeOf, sourceTotal, sampled,
          effectiveSamples: squares > 0 ? (sampled * sampled) / squares : 0};
}

function throughPlaces(nodeOf: Int32Array, place: Int32Array): Int32Array {
  const into = new Int32Array(nodeOf.length);
  for (let i = 0; i < into.length; i++) into[i] = place[nodeOf[i]!]!;
  return into;
}

// Of which lines and types a node is made: the heaviest first.
export interface Makeup {
  readonly lines: readonly {readonly line: number; readonly weight: number}[];
  readonly types: readonly {readonly type: number; readonly weight: number}[];
}

export function makeupOf(profile: Profile, tree: CallTree, node: number): Makeup {
  const lines = new Map<number, number>();
  const types = new Map<number, number>();
  const nodeOf = tree.nodeOf();
  for (let i = nodeOf.indexOf(node); i >= 0; i = nodeOf.indexOf(node, i + 1)) {
    const weight = tree.sourceTotal[i]!;
    const line = profile.nodes.line[i]!;
    const type = profile.nodes.type[i]!;
    if (line > 0) lines.set(line, (lines.get(line) ?? 0) + weight);
    types.set(type, (types.get(type) ?? 0) + weight);
  }
  const byWeight = (a: readonly number[], b: readonly number[]): number => b[1]! - a[1]! || a[0]! - b[0]!;
  return {
    lines: [...lines].sort(byWeight).map(([line, weight]) => ({line, weight})),
    types: [...types].sort(byWeight).map(([type, weight]) => ({type, weight})),
  };
}
