// The tree of callers: merged from the innermost frame outwards.
//
// Written out in full it would have one path for each stack that was ever seen: too much for large recordings. So it
// is built level by level, and callers that would be narrower than a pixel are folded into one node of the name
// `rest`. Zooming builds it anew, down to what is visible then.
import type {Profile} from '../data/profile';
import {keyOf, NO_FRAME} from './frame_types';
import {LooseBuilder} from './loose_builder';
import {orderByWeight, type Tree} from './tree';

const VISIBLE_SHARE = 1 / 10_000; // of what the zoom shows; half a pixel on a screen of 5,000
const MOST_STEPS = 30_000_000; // about two seconds

// The stacks that share the callers found so far: [from, to) of the cursors, and the node that stands for them.
interface Group {
  readonly from: number;
  readonly to: number;
  readonly node: number;
  readonly level: number;
}

// Each stack that has weight of its own, and how far outwards it has been followed. Groups are neighbours in here.
class Cursors {
  readonly leaf: Int32Array; // the node whose self weight it is
  readonly at: Int32Array; // the frame that comes next; the root or a thread: there is none
  private readonly leafScratch: Int32Array;
  private readonly atScratch: Int32Array;

  constructor(calls: Tree) {
    const leaves: number[] = [];
    for (let i = 1; i < calls.count; i++) if (calls.self[i]! > 0 || calls.selfSamples[i]! > 0) leaves.push(i);
    this.leaf = Int32Array.from(leaves);
    this.at = this.leaf.slice();
    this.leafScratch = new Int32Array(leaves.length);
    this.atScratch = new Int32Array(leaves.length);
  }

  // Brings equal keys together; calls back with each run.
  partition(from: number, to: number, key: (i: number) => number, run: (from: number, to: number) => void): void {
    if (to - from === 1) {
      run(from, to);
      return;
    }
    const counts = new Map<number, number>();
    for (let i = from; i < to; i++) counts.set(key(i), (counts.get(key(i)) ?? 0) + 1);
    if (counts.size > 1) {
      let next = from;
      for (const [k, n] of counts) {
        counts.set(k, next);
        next += n;
      }
      for (let i = from; i < to; i++) {
        const k = key(i);
        const place = counts.get(k)!;
        counts.set(k, place + 1);
        this.leafScratch[place] = this.leaf[i]!;
        this.atScratch[place] = this.at[i]!;
      }
      this.leaf.set(this.leafScratch.subarray(from, to), from);
      this.at.set(this.atScratch.subarray(from, to), from);
    } else {
      counts.set(key(from), to);
    }
    let start = from;
    for (const end of counts.values()) {
      run(start, end);
      start = end;
    }
  }
}

function threadKeys(calls: Tree): Int32Array {
  const keys = new Int32Array(calls.count);
  for (let i = 1; i < calls.count; i++) keys[i] = calls.depth[i] === 1 ? calls.key[i]! : keys[calls.parent[i]!]!;
  return keys;
}

// `path` is where the zoom is: the keys from the root to the node in focus, as pathOf gives them.
export function reverseCalls(profile: Profile, calls: Tree, byThread: boolean, path: readonly number[]): Tree {
  const ended = -1;
  const rest = keyOf(profile.restName, NO_FRAME);
  const loose = new LooseBuilder();
  const cursors = new Cursors(calls);
  const {leaf, at} = cursors;

  const threads = byThread ? threadKeys(calls) : new Int32Array(0);
  const threadOf = (i: number): number => threads[leaf[i]!]!;
  const outermost = byThread ? 1 : 0; // frames lie below this depth of the tree of calls
  const nextKey = (i: number): number => (calls.depth[at[i]!]! > outermost ? calls.key[at[i]!]! : ended);
  const weightOf = (from: number, to: number): number => {
    let weight = 0;
    for (let i = from; i < to; i++) weight += calls.self[leaf[i]!]!;
    return weight;
  };
  const settle = (from: number, to: number, node: number): void => {
    for (let i = from; i < to; i++) {
      loose.self[node]! += calls.self[leaf[i]!]!;
      loose.selfSamples[node]! += calls.selfSamples[leaf[i]!]!;
      loose.selfImprecise[node]! += calls.selfImprecise[leaf[i]!]!;
      loose.selfBefore[node]! += calls.selfBefore[leaf[i]!]!;
    }
  };

  const queue: Group[] = [];
  let steps = 0;
  let visible = 0;
  const expand = (group: Group): void => {
    const isThreads = byThread && group.level === 0;
    if (group.level === path.length) visible = weightOf(group.from, group.to) * VISIBLE_SHARE;
    steps += group.to - group.from;
    cursors.partition(group.from, group.to, isThreads ? threadOf : nextKey, (from, to) => {
      const key = isThreads ? threadOf(from) : nextKey(from);
      if (key === ended) {
        settle(from, to, group.node);
        return;
      }
      const shown = group.level < path.length ? key === path[group.level] : weightOf(from, to) >= visible;
      if (!shown || steps > MOST_STEPS) {
        settle(from, to, loose.child(group.node, rest, NO_FRAME));
        return;
      }
      const node = loose.child(group.node, key, isThreads ? NO_FRAME : calls.type[at[from]!]!);
      if (!isThreads) {
        for (let i = from; i < to; i++) {
          loose.vote(node, calls.type[at[i]!]!, calls.self[leaf[i]!]!);
          at[i] = calls.parent[at[i]!]!;
        }
      }
      queue.push({from, to, node, level: group.level + 1});
    });
  };

  const root = loose.child(-1, keyOf(profile.allName, NO_FRAME), NO_FRAME);
  if (leaf.length > 0) queue.push({from: 0, to: leaf.length, node: root, level: 0});
  for (let next = 0; next < queue.length; next++) expand(queue[next]!);
  return orderByWeight(loose.finish(), rest).tree;
}
