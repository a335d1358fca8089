// What is said about one node, in words: the same for the tooltip, the selection line and screen readers.
import type {Profile} from '../data/profile';
import {FRAME_TYPES, nameOfKey, NO_FRAME} from '../model/frame_types';
import {afterOf} from '../model/changes';
import {shareInterval} from '../model/confidence';
import {bytes, count, duration, share} from '../model/format';
import {makeupOf, type CallTree} from '../model/merge';
import type {Tree} from '../model/tree';
import type {Coloring} from './coloring';

export type Unit = 'ns' | 'bytes' | 'samples';

export interface View {
  readonly profile: Profile;
  readonly calls: CallTree; // from the outside in
  readonly tree: Tree; // what is drawn: the calls, or their reverse
  readonly unit: Unit;
  readonly coloring: Coloring;
  readonly events?: string; // what was counted, if not samples
  readonly exact?: string; // why nothing is left to chance; empty: it is
}

export const isCompared = (view: View): boolean => view.profile.nodes.before !== null;

export interface Facts {
  readonly name: string;
  readonly what: string; // type and lines
  readonly numbers: string;
}

export const weightOf = (unit: Unit, weight: number): string =>
  unit === 'bytes' ? bytes(weight) : unit === 'ns' ? duration(weight) : `${count(weight)} samples`;
export const weightText = (view: View, weight: number): string => weightOf(view.unit, weight);

// "27.1-29.4", in percent: where the true share is with a probability of 95 %. Empty: it is exact.
export function intervalText(calls: CallTree, weight: number, samples: number): string {
  const found = shareInterval(calls, weight, samples);
  if (found === null) return '';
  const digits = found.high - found.low < 0.001 && found.high < 0.1 ? 2 : 1;
  return `${(100 * found.low).toFixed(digits)}\u2013${(100 * found.high).toFixed(digits)}`;
}

const MOST_LINES = 4;

function kindText(view: View, node: number): string {
  if (node === 0 && view.tree.type[0] === NO_FRAME) return 'everything in this view';
  const type = view.tree.type[node]!;
  if (type === NO_FRAME) {
    return nameOfKey(view.tree.key[node]!) === view.profile.restName ? 'too small to be drawn one by one' : 'thread';
  }
  if (view.tree !== view.calls) return FRAME_TYPES[type]!.name;
  const {lines, types} = makeupOf(view.profile, view.calls, node);
  const total = view.tree.total[node]!;
  const withShare = (text: string, weight: number, alone: boolean): string =>
    alone ? text : `${text} ${share(weight, total)}`;
  const typeText = types.map((t) => withShare(FRAME_TYPES[t.type]!.name, t.weight, types.length === 1)).join(', ');
  if (lines.length === 0) return typeText;
  const lineTexts = lines.slice(0, MOST_LINES).map((l) => withShare(`${l.line}`, l.weight, lines.length === 1));
  const more = lines.length > MOST_LINES ? `, ${lines.length - MOST_LINES} more` : '';
  return `${typeText} \u00b7 ${lines.length === 1 ? 'line' : 'lines'} ${lineTexts.join(', ')}${more}`;
}

// "10 ms -> 25 ms (+15 ms, x2.5)"
export function changeText(view: View, mean: number, before: number): string {
  const after = afterOf(mean, before);
  const difference = `${after < before ? '\u2212' : '+'}${weightText(view, Math.abs(after - before))}`;
  const factor = before > 0 && after > 0 ? `, \u00d7${(after / before).toFixed(2)}` : '';
  return `${weightText(view, before)} \u2192 ${weightText(view, after)} (${difference}${factor})`;
}

function changeFacts(view: View, node: number): string {
  const {tree, calls, coloring} = view;
  const parts = [`total ${changeText(view, tree.total[node]!, tree.before[node]!)}`];
  if (tree === calls && node > 0) parts.push(`self ${changeText(view, tree.self[node]!, tree.selfBefore[node]!)}`);
  parts.push(`${count(tree.samples[node]!)} ${view.events ?? 'samples'} in both`, coloring.kinds[coloring.of(tree, node)]!.name);
  return parts.join(' \u00b7 ');
}

export function factsOf(view: View, node: number): Facts {
  const {tree, calls, profile} = view;
  const name = profile.names[nameOfKey(tree.key[node]!)]!;
  if (isCompared(view)) return {name, what: kindText(view, node), numbers: changeFacts(view, node)};
  const whole = calls.total[0]!;
  const parts = [`total ${weightText(view, tree.total[node]!)}, ${share(tree.total[node]!, whole)}`];
  if (tree === calls && node > 0) parts.push(`self ${weightText(view, tree.self[node]!)}, ${share(tree.self[node]!, whole)}`);
  const interval = intervalText(calls, tree.total[node]!, tree.samples[node]!);
  if (view.exact?.startsWith('exact') === true && node > 0) parts[0] += ' (exact)';
  if (interval !== '' && node > 0) parts[0] += ` (95 % sure: ${interval}\u202f%)`;
  if (view.unit !== 'samples') parts.push(`${count(tree.samples[node]!)} ${view.events ?? 'samples'}`);
  if (tree.imprecise[node]! > 0) parts.push(`${share(tree.imprecise[node]!, tree.samples[node]!)} of them imprecise`);
  return {name, what: kindText(view, node), numbers: parts.join(' \u00b7 ')};
}

// For a rectangle that stands for a node and its smaller siblings.
export function factsOfRest(view: View, first: number): Facts {
  const {tree} = view;
  const parent = tree.parent[first]!;
  let frames = 0;
  let weight = 0;
  for (let i = first; i < tree.end[parent]!; i = tree.end[i]!) {
    frames++;
    weight += tree.total[i]!;
  }
  const parentName = view.profile.names[nameOfKey(tree.key[parent]!)]!;
  return {
    name: `${count(frames)} smaller ${frames === 1 ? 'frame' : 'frames'}`,
    what: `too narrow to be drawn one by one; zoom into ${parentName.slice(0, 80)}`,
    numbers: `together ${weightText(view, weight)}, ${share(weight, view.calls.total[0]!)}`,
  };
}
