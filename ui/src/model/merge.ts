// From the recording's trees, one for each thread and with lines apart, to the tree of calls that is drawn.
import type {Profile} from '../data/profile';
import {keyOf, NO_FRAME} from './frame_types';
import {LooseBuilder} from './loose_builder';
import {orderByWeight, sumUp, type Tree} from './tree';

export interface Selection {
  readonly thread: number | null; // null: all
  readonly byThread: boolean; // threads as the first level
}

export interface CallTree extends Tree {
  readonly byThread: boolean;
  readonly sourceFirst: number; // source nodes [sourceFirst, sourceFirst + nodeOf.length) are in this tree
  readonly nodeOf: Int32Array; // source node - sourceFirst -> node
  readonly sourceTotal: Float64Array; // source node - sourceFirst -> ns
}

export function mergeCalls(profile: Profile, selection: Selection): CallTree {
  const {nodes, threads} = profile;
  const chosen = selection.thread === null ? threads : [threads[selection.thread]!];
  const first = chosen.length > 0 ? chosen[0]!.first : 0;
  const end = chosen.length > 0 ? chosen[chosen.length - 1]!.end : 0;

  const parentHere = nodes.parent.slice(first, end);
  for (let i = 0; i < parentHere.length; i++) if (parentHere[i]! >= 0) parentHere[i]! -= first;
  const sourceTotal = sumUp(nodes.self.subarray(first, end), parentHere, end - first);

  const loose = new LooseBuilder();
  const root = loose.child(-1, keyOf(profile.allName, NO_FRAME), NO_FRAME);
  const nodeOf = new Int32Array(end - first);
  for (const thread of chosen) {
    // Threads of one name are one node: what differs is shown by choosing them from the list.
    const top = selection.byThread ? loose.child(root, keyOf(thread.name, NO_FRAME), NO_FRAME) : root;
    for (let i = thread.first; i < thread.end; i++) {
      const type = nodes.type[i]!;
      const caller = parentHere[i - first]!;
      const node = loose.child(caller < 0 ? top : nodeOf[caller]!, keyOf(nodes.name[i]!, type), type);
      nodeOf[i - first] = node;
      loose.self[node]! += nodes.self[i]!;
      loose.selfSamples[node]! += nodes.samples[i]!;
      loose.selfImprecise[node]! += nodes.imprecise[i]!;
      if (nodes.before !== null) loose.selfBefore[node]! += nodes.before[i]!;
      loose.vote(node, type, sourceTotal[i - first]!);
    }
  }
  const {tree, place} = orderByWeight(loose.finish());
  for (let i = 0; i < nodeOf.length; i++) nodeOf[i] = place[nodeOf[i]!]!;
  return {...tree, byThread: selection.byThread, sourceFirst: first, nodeOf, sourceTotal};
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
    const source = tree.sourceFirst + i;
    const weight = tree.sourceTotal[i]!;
    const line = profile.nodes.line[source]!;
    const type = profile.nodes.type[source]!;
    if (line > 0) lines.set(line, (lines.get(line) ?? 0) + weight);
    types.set(type, (types.get(type) ?? 0) + weight);
  }
  const byWeight = (a: readonly number[], b: readonly number[]): number => b[1]! - a[1]! || a[0]! - b[0]!;
  return {
    lines: [...lines].sort(byWeight).map(([line, weight]) => ({line, weight})),
    types: [...types].sort(byWeight).map(([type, weight]) => ({type, weight})),
  };
}
