// From the recording to the tree that the stack views draw: profile, filter, merge, search. The newest results are
// kept, so that going from view to view costs nothing.
import {useMemo} from 'preact/hooks';
import {eventsOf, exactText, type ProfileHead} from '../data/head';
import type {Profile} from '../data/profile';
import type {Threads} from '../data/recording';
import {BY_CHANGE, BY_TYPE, type Coloring} from '../flame/coloring';
import type {Unit} from '../flame/facts';
import {filterWeights, type Weights} from '../model/filter';
import {mergeCalls, type CallTree} from '../model/merge';
import {compileQuery, matchedWeight, matchNames, type Matched} from '../model/search';
import type {PageState, ViewProps} from '../shell/state';
import {threadMask} from '../shell/threads_filter';
import {useProfile} from '../shell/use_profile';

export type SearchResult =
  {readonly error: string} | {readonly matches: Uint8Array; readonly found: Matched};

export interface Stacks {
  readonly profile: Profile;
  readonly head: ProfileHead;
  readonly calls: CallTree; // filtered, threads merged
  readonly callsByThread: () => CallTree;
  readonly whole: number; // the weight of all that the filter keeps, were it not for `only`: what a search's share is of
  readonly unit: Unit;
  readonly coloring: Coloring;
  readonly events: string; // what was counted: samples, waits or contentions
  readonly exact: string; // why there are no confidence intervals; empty: there are
  readonly search: SearchResult | null; // null: nothing is searched for
  readonly matches: Uint8Array | null; // by name
  readonly untimed: boolean; // of part of the weight it is not known when it was
  readonly filterError: string; // include or exclude cannot be read
}

export interface StacksState {
  readonly stacks: Stacks | null;
  readonly error: string;
  readonly isMissing: boolean;
}

export const INCLUDE = 'stacks.include';
export const EXCLUDE = 'stacks.exclude';
export const ONLY = 'stacks.only'; // only stacks with a match of the search

// A recording without weights counts each sample as 1: then there are no times to show.
function unitOf(unit: string, {nodes}: Profile): Unit {
  for (let i = 0; i < nodes.count; i++) {
    if (nodes.self[i] !== nodes.samples[i]) return unit === 'bytes' ? 'bytes' : 'ns';
  }
  return 'samples';
}

// Waits and contentions are recorded one by one, not sampled: nothing about their shares is left to chance.
const withoutChance = (head: ProfileHead, calls: CallTree): CallTree =>
  (head.census === true ? {...calls, sampled: 0, effectiveSamples: 0} : calls);

// Markers of threads that nobody samples have weight, but no samples and no times.
function hasUntimed({nodes}: Profile): boolean {
  for (let i = 0; i < nodes.count; i++) if (nodes.self[i]! > 0 && nodes.samples[i] === 0) return true;
  return false;
}

const KEPT = 8;
interface Kept {
  readonly profile: Profile;
  readonly key: string;
  readonly value: unknown;
}
const kept: Kept[] = [];

function remembered<T>(profile: Profile, key: string, make: () => T): T {
  const at = kept.findIndex((entry) => entry.profile === profile && entry.key === key);
  const entry = at >= 0 ? kept.splice(at, 1)[0]! : {profile, key, value: make()};
  kept.unshift(entry);
  kept.length = Math.min(kept.length, KEPT);
  return entry.value as T;
}

// "/text/" is a regular expression.
function maskOf(profile: Profile, text: string, isRegex = false): Uint8Array | string {
  const slashed = /^\/(.+)\/$/s.exec(text);
  const query = slashed ? compileQuery(slashed[1]!, true) : compileQuery(text, isRegex);
  if ('error' in query) return query.error;
  const names = matchNames(profile.names, query);
  names[profile.allName] = names[profile.restName] = 0;
  return names;
}

// Not by reduce(), which takes ten times as long for a million.
function sum(column: Float64Array): number {
  let all = 0;
  for (let i = 0; i < column.length; i++) all += column[i]!;
  return all;
}

interface Filtered {
  readonly weights: Weights;
  readonly whole: number;
  readonly error: string;
}

function filtered(profile: Profile, threads: Threads, state: PageState): Filtered {
  const include = state.more[INCLUDE] ?? '';
  const exclude = state.more[EXCLUDE] ?? '';
  const masks: Uint8Array[] = [];
  let error = '';
  const add = (text: string, isRegex: boolean): void => {
    const mask = maskOf(profile, text, isRegex);
    if (typeof mask === 'string') error = mask;
    else masks.push(mask);
  };
  if (include !== '') add(include, false);
  const without = exclude === '' ? null : maskOf(profile, exclude);
  if (typeof without === 'string') error = without;
  const range = profile.moments === null ? null : state.range; // comparisons know no times
  const filter = {range, threads: threadMask(profile, threads, state.thread), include: masks,
                  exclude: typeof without === 'string' ? null : without};
  let weights = filterWeights(profile, filter);
  const whole = sum(weights.self);
  if (state.more[ONLY] === '1' && state.query !== '') {
    add(state.query, state.isRegex);
    weights = filterWeights(profile, filter);
  }
  return {weights, whole, error};
}

const filterKey = ({range, thread, query, isRegex, more}: PageState): string => JSON.stringify([
  range, thread, more[INCLUDE] ?? '', more[EXCLUDE] ?? '', more[ONLY] === '1' ? [query, isRegex] : '']);

export function useStacks({recording, state}: Pick<ViewProps, 'recording' | 'state'>): StacksState {
  const {loaded, error, isMissing} = useProfile(recording, state.weight);
  const key = filterKey(state);
  const base = useMemo(() => {
    if (loaded === null) return null;
    const {profile, head} = loaded;
    const {weights, whole, error: filterError} =
      remembered(profile, `filter ${key}`, () => filtered(profile, recording.threads, state));
    const merged = (byThread: boolean): CallTree =>
      remembered(profile, `calls ${byThread} ${key}`, () => withoutChance(head, mergeCalls(profile, weights, byThread)));
    return {profile, head, calls: merged(false), callsByThread: () => merged(true), whole, filterError,
            untimed: profile.moments !== null && profile.moments.self.length > 0 && remembered(profile, 'untimed', () => hasUntimed(profile)),
            unit: remembered(profile, 'unit', () => unitOf(head.unit, profile)),
            events: eventsOf(head), exact: exactText(head, recording.head.engines),
            coloring: profile.nodes.before === null ? BY_TYPE : BY_CHANGE};
  }, [loaded, key]);
  const search = useMemo((): SearchResult | null => {
    if (base === null || state.query === '') return null;
    const matches = maskOf(base.profile, state.query, state.isRegex);
    return typeof matches === 'string' ? {error: matches} : {matches, found: matchedWeight(base.calls, matches)};
  }, [base, state.query, state.isRegex]);
  const matches = search !== null && 'matches' in search ? search.matches : null;
  const stacks = useMemo(() => (base === null ? null : {...base, search, matches}), [base, search]);
  return {stacks, error, isMissing};
}
