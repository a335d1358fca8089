// One method with all its callers and all its callees. A stack on which it is several times is cut at its outermost
// call: so each stack counts once, both trees weigh what the method's total is, and recursion is seen among callees.
import type {Profile} from '../data/profile';
import {keyOf, nameOfKey, NO_FRAME} from './frame_types';
import {LooseBuilder} from './loose_builder';
import {orderByWeight, type Tree} from './tree';

export interface Sandwich {
  readonly callers: Tree; // the root is the method, its callees here are its callers
  readonly callees: Tree;
}

const MOST_STEPS = 30_000_000; // along stacks; beyond this, callers are not told apart

function outermostCalls(calls: Tree, name: number): number[] {
  const found: number[] = [];
  for (let i = 1; i < calls.count;) {
    if (calls.type[i] !== NO_FRAME && nameOfKey(calls.key[i]!) === name) {
      found.push(i);
      i = calls.end[i]!;
    } else {
      i++;
    }
  }
  return found;
}

export function sandwichOf(profile: Profile, calls: Tree, name: number): Sandwich {
  const tops = outermostCalls(calls, name);
  const first = tops[0];
  const key = first === undefined ? keyOf(name, 0) : calls.key[first]!;
  const type = first === undefined ? 0 : calls.type[first]!;
  const rest = keyOf(profile.restName, NO_FRAME);
  const up = new LooseBuilder();
  const down = new LooseBuilder();
  up.child(-1, key, type);
  down.child(-1, key, type);
  const place = new Int32Array(calls.count);
  let steps = 0;
  for (const top of tops) {
    const weight = calls.total[top]!;
    up.vote(0, calls.type[top]!, weight);
    let node = 0;
    for (let i = calls.parent[top]!; i > 0; i = calls.parent[i]!) {
      if (calls.type[i] === NO_FRAME) break; // a thread
      if (++steps > MOST_STEPS) {
        node = up.child(node, rest, NO_FRAME);
        break;
      }
      node = up.child(node, calls.key[i]!, calls.type[i]!);
      up.vote(node, calls.type[i]!, weight);
    }
    up.self[node]! += weight;
    up.selfSamples[node]! += calls.samples[top]!;
    up.selfImprecise[node]! += calls.imprecise[top]!;
    up.selfBefore[node]! += calls.before[top]!;

    for (let i = top; i < calls.end[top]!; i++) {
      const here = i === top ? 0 : down.child(place[calls.parent[i]!]!, calls.key[i]!, calls.type[i]!);
      place[i] = here;
      down.vote(here, calls.type[i]!, calls.total[i]!);
      down.self[here]! += calls.self[i]!;
      down.selfSamples[here]! += calls.selfSamples[i]!;
      down.selfImprecise[here]! += calls.selfImprecise[i]!;
      down.selfBefore[here]! += calls.selfBefore[i]!;
    }
  }
  return {callers: orderByWeight(up.finish(), rest).tree, callees: orderByWeight(down.finish()).tree};
}
