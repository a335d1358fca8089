// Finding frames by name.
import {nameOfKey} from './frame_types';
import type {Tree} from './tree';

type Test = (name: string) => boolean;

// `part`: the test is whether a name in small letters has this.
export type Query = {readonly test: Test; readonly part?: string} | {readonly error: string};

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
  return {test: (name) => name.toLowerCase().includes(part), part};
}

const lowered = new WeakMap<readonly string[], readonly string[]>();

function smallLetters(names: readonly string[]): readonly string[] {
  let known = lowered.get(names);
  if (known === undefined) lowered.set(names, (known = names.map((name) => name.toLowerCase())));
  return known;
}

// By name: does it match? Each name is tested once, however many frames have it.
export function matchNames(names: readonly string[], query: Test | {readonly test: Test; readonly part?: string}): Uint8Array {
  const {test, part}: {test: Test; part?: string} = typeof query === 'function' ? {test: query} : query;
  const matches = new Uint8Array(names.length);
  if (part === undefined) {
    for (let i = 0; i < names.length; i++) if (test(names[i]!)) matches[i] = 1;
  } else {
    const small = smallLetters(names);
    for (let i = 0; i < names.length; i++) if (small[i]!.includes(part)) matches[i] = 1;
  }
  return matches;
}

export interface Matched {
  readonly weight: number; // of the stacks with at least one match: a match inside a match adds nothing
  readonly samples: number;
  readonly frames: number; // nodes that match, but for those below others that do
}

export function matchedWeight(tree: Tree, matches: Uint8Array): Matched {
  let weight = 0;
  let samples = 0;
  let frames = 0;
  for (let i = 1; i < tree.count;) {
    if (matches[nameOfKey(tree.key[i]!)] === 0) {
      i++;
      continue;
    }
    frames++;
    weight += tree.total[i]!;
    samples += tree.samples[i]!;
    i = tree.end[i]!;
  }
  return {weight, samples, frames};
}
