// The aspects by which contentions are broken down, and what their values are called (src/analysis/lock_aspects.h).
import {shortClass, shortLabel} from '../charts/chains';
import type {Threads} from '../data/recording';
import {GROUPS, OwnerKind, type Contentions} from './contentions';

export const ASPECTS = ['group', 'class', 'object', 'blocked-thread', 'blocked-method', 'blocked-chain', 'owner-thread',
                        'owner-method', 'owner-chain', 'after-wait'] as const;
export type Aspect = (typeof ASPECTS)[number];

export const DEFAULT_ASPECTS: readonly Aspect[] = ['class', 'blocked-method', 'owner-method'];

export const ASPECT_WORDS: Readonly<Record<Aspect, string>> = {
  'group': 'Kind of lock', 'class': 'Lock class', 'object': 'Lock object',
  'blocked-thread': 'Blocked thread', 'blocked-method': 'Blocked method', 'blocked-chain': 'Blocked call chain',
  'owner-thread': 'Owner thread', 'owner-method': 'Owner method', 'owner-chain': 'Owner call chain',
  'after-wait': 'After Object.wait',
};

// Keys of what is no value in particular; all others are not negative.
export const HAND_OFF = -1;
export const UNKNOWN_OWNER = -2;
export const NO_CHAIN = -3;
export const NO_STACK = -4;
export const NO_LOCK = -5;
export const MORE = -6;

const SPECIAL = new Map([[HAND_OFF, '[hand-off]'], [UNKNOWN_OWNER, '[unknown owner]'], [NO_CHAIN, '[no chain]'],
                         [NO_STACK, '[no stack]'], [NO_LOCK, '[no blocker]'], [MORE, '[more]']]);

export const SPECIAL_MEANING: Readonly<Record<number, string>> = {
  [HAND_OFF]: 'nobody held it: it had been released, and the next owner had not woken up yet',
  [UNKNOWN_OWNER]: 'who held it was not recorded',
  [NO_CHAIN]: 'the thread that held it is known, but not its call chain',
  [NO_STACK]: 'the call chain could not be recorded',
  [NO_LOCK]: 'the thread was parked for no object in particular',
};

export const isOfOwner = (aspect: Aspect): boolean => aspect.startsWith('owner-');

export function aspectsOf(text: string | undefined): readonly Aspect[] {
  const known = (text ?? '').split(',').filter((name): name is Aspect => (ASPECTS as readonly string[]).includes(name));
  const once = known.filter((name, i) => known.indexOf(name) === i);
  return once.length > 0 ? once : DEFAULT_ASPECTS;
}

// By contention, or by owner for aspects of the owner: the key of its value.
export function keysOf(data: Contentions, aspect: Aspect): Int32Array {
  const {owners} = data;
  switch (aspect) {
    case 'group': return Int32Array.from(data.group);
    case 'class': return data.lock.map((lock) => (lock === 0 ? NO_LOCK : data.lockClass[lock - 1]!));
    case 'object': return data.lock.map((lock) => (lock === 0 ? NO_LOCK : lock - 1));
    case 'blocked-thread': return data.thread;
    case 'blocked-method': return data.method.map((method) => (method === 0 ? NO_STACK : method - 1));
    case 'blocked-chain': return userChains(data, data.chain, data.method);
    case 'after-wait': return Int32Array.from(data.afterWait);
    case 'owner-thread':
      return owners.thread.map((thread, i) => (thread > 0 ? thread - 1 : withoutChain(owners.kind[i]!)));
    case 'owner-method':
      return owners.method.map((method, i) => (owners.kind[i] !== OwnerKind.Chain ? withoutChain(owners.kind[i]!)
        : method === 0 ? NO_STACK : method - 1));
    case 'owner-chain':
      return userChains(data, owners.chain, owners.method).map((chain, i) =>
        (owners.kind[i] !== OwnerKind.Chain ? withoutChain(owners.kind[i]!) : chain));
  }
}

const withoutChain = (kind: number): number =>
  kind === OwnerKind.HandOff ? HAND_OFF : kind === OwnerKind.Thread ? NO_CHAIN : UNKNOWN_OWNER;

function userChains(data: Contentions, chains: Int32Array, methods: Int32Array): Int32Array {
  const known = new Map<number, number>();
  const into = new Int32Array(chains.length);
  const labels = data.chains.labels.length + 1;
  for (let i = 0; i < into.length; i++) {
    const pair = chains[i]! * labels + methods[i]!;
    let key = known.get(pair);
    if (key === undefined) {
      key = chains[i] === 0 || methods[i] === 0 ? NO_STACK : data.chains.from(chains[i]!, methods[i]! - 1);
      known.set(pair, key);
    }
    into[i] = key;
  }
  return into;
}

// For people, in full.
export function labelOf(data: Contentions, threads: Threads, aspect: Aspect, key: number): string {
  const special = SPECIAL.get(key);
  if (special !== undefined) return special;
  switch (aspect) {
    case 'group': return GROUPS[key] ?? '';
    case 'class': return data.classes[key] ?? '';
    case 'object': return data.objects[key] ?? '';
    case 'blocked-thread':
    case 'owner-thread': return threads.name[key] ?? '';
    case 'blocked-method':
    case 'owner-method': return data.chains.labels[key] ?? '';
    case 'after-wait': return key === 0 ? 'not after wait' : 'after wait';
    case 'blocked-chain':
    case 'owner-chain': return data.chains.frames(key).join(' < ');
  }
}

const FRAMES_IN_ROW = 3;

// For a row of a table: names without their packages, chains as far as a line goes.
export function shortLabelOf(data: Contentions, threads: Threads, aspect: Aspect, key: number): string {
  if (SPECIAL.has(key)) return SPECIAL.get(key)!;
  switch (aspect) {
    case 'class':
    case 'object': return shortClass(labelOf(data, threads, aspect, key));
    case 'blocked-method':
    case 'owner-method': return shortLabel(labelOf(data, threads, aspect, key));
    case 'blocked-chain':
    case 'owner-chain': {
      const frames = data.chains.frames(key);
      const rest = frames.length - FRAMES_IN_ROW;
      return frames.slice(0, FRAMES_IN_ROW).map(shortLabel).join(' < ') + (rest > 0 ? ` [+${rest}]` : '');
    }
    default: return labelOf(data, threads, aspect, key);
  }
}
