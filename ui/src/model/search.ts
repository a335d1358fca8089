// Finding frames by name.
import {nameOfKey} from './frame_types';
import type {Tree} from './tree';

export type Query = {readonly test: (name: string) => boolean} | {readonly error: string};

// "text": exactly this name; otherwise a part of the name in any case, or a regular expression.
export function compileQuery(text: string, isRegex: boolean): Query {
  if (isRegex) {
    try {
      const pattern = new RegExp(text, 'i');
      return {test: (name) => pattern.test(name)};
    } catch (error) {
      return {error: error instanceof Error ? error.message : String(error)};
    }
  }
  const exact = /^"(.+)"$/s.exec(text);
  if (exact) return {test: (name) => name === exact[1]};
  const part = text.toLowerCase();
  return {test: (name) => name.toLowerCase().includes(part)};
}

// By name: does it match? Each name is tested once, however many frames have it.
export function matchNames(names: readonly string[], test: (name: string) => boolean): Uint8Array {
  return Uint8Array.from(names, (name) => (test(name) ? 1 : 0));
}

export interface Matched {
  readonly weight: number; // of the stacks with at least one match: a match inside a match adds nothing
  readonly samples: number;
  readonly frames: number; // nodes that match themselves
}

export function matchedWeight(tree: Tree, matches: Uint8Array): Matched {
  let weight = 0;
  let samples = 0;
  let frames = 0;
  let coveredUpTo = 0; // nodes before this one lie below a match
  for (let i = 1; i < tree.count; i++) {
    if (matches[nameOfKey(tree.key[i]!)] === 0) continue;
    frames++;
    if (i < coveredUpTo) continue;
    weight += tree.total[i]!;
    samples += tree.samples[i]!;
    coveredUpTo = tree.end[i]!;
  }
  return {weight, samples, frames};
}
