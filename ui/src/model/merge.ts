// From the recording's trees, one for each thread and with lines apart, to the tree of calls that is drawn.
import type {Profile} from '../data/profile';
import type {Weights} from './filter';
import {keyOf, NO_FRAME} from './frame_types';
import {LooseBuilder} from './loose_builder';
import {orderByWeight, sumUp, type Tree} from './tree';

export interface CallTree extends Tree {
  readonly byThread: boolean; // threads are the first level
  readonly nodeOf: Int32Array; // source node -> node; -1: nothing is left of it
  readonly sourceTotal: Float64Array;
  readonly sampled: number; // the weight that was sampled; the rest was measured, and its shares are no estimates
  readonly effectiveSamples: number; // as many samples of equal weight would tell as much
}

// What has no weight is not in the tree.
export function mergeCalls(profile: Profile, weights: Weights, byThread: boolean): CallTree {
  const {nodes} = profile;
  const sourceTotal = sumUp(weights.self, nodes.parent, nodes.count);
  const sourceSamples = sumUp(weights.samples, nodes.parent, nodes.count);
  const loose = new LooseBuilder(1 << 12);
  const root = loose.child(-1, keyOf(profile.allName, NO_FRAME), NO_FRAME);
  const nodeOf = new Int32Array(nodes.count).fill(-1);
  let sampled = 0;
  let squares = 0;
  for (const thread of profile.threads) {
    let top = byThread ? -1 : root;
    for (let i = thread.first; i < thread.end; i++) {
      if (sourceTotal[i] === 0 && sourceSamples[i] === 0) continue;
      // Threads of one name are one node: what differs is shown by choosing them from the list.
      if (top < 0) top = loose.child(root, keyOf(thread.name, NO_FRAME), NO_FRAME);
      const type = nodes.type[i]!;
      const caller = nodes.parent[i]!;
      const node = loose.child(caller < 0 ? top : nodeOf[caller]!, keyOf(nodes.name[i]!, type), type);
      const self = weights.self[i]!;
      const samples = weights.samples[i]!;
      nodeOf[i] = node;
      loose.self[node]! += self;
      loose.selfSamples[node]! += samples;
      loose.selfImprecise[node]! += weights.imprecise[i]!;
      if (weights.before !== null) loose.selfBefore[node]! += weights.before[i]!;
      loose.vote(node, type, sourceTotal[i]!);
      if (samples > 0) {
        sampled += self;
        squares += (self * self) / samples;
      }
    }
  }
  const {tree, place} = orderByWeight(loose.finish());
  for (let i = 0; i < nodeOf.length; i++) if (nodeOf[i]! >= 0) nodeOf[i] = place[nodeOf[i]!]!;
  return {...tree, byThread, nodeOf, sourceTotal, sampled,
          effectiveSamples: squares > 0 ? (sampled * sampled) / squares : 0};
}

// Of which lines and types a node is made: the heaviest first.
export interface Makeup {
  readonly lines: readonly {readonly line: number; readonly weight: number}[];
  readonly types: readonly {readonly type: number; readonly weight: number}[];
}

export function makeupOf(profile: Profile, tree: CallTree, node: number): Makeup {
  const lines = new Map<number, number>();
  const types = new Map<number, number>();
  for (let i = 0; i < tree.nodeOf.length; i++) {
    if (tree.nodeOf[i] !== node) continue;
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
