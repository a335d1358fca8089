// Where to look first: the hottest methods and the most contended locks of the selected time.
import {useMemo} from 'preact/hooks';
import {shortClass, shortLabel} from '../charts/chains';
import type {Profile} from '../data/profile';
import type {Threads} from '../data/recording';
import {clipped} from '../data/visible_text';
import {labelOf, MORE, shortLabelOf} from '../locks/aspects';
import {OwnerKind, type Contentions, type Cut} from '../locks/contentions';
import {lockTree} from '../locks/lock_tree';
import {filterWeights, NO_FILTER} from '../model/filter';
import {bytes, count, duration, share} from '../model/format';
import {withMore} from '../shell/page_state';
import type {ViewProps} from '../shell/state';
import {threadMask} from '../shell/threads_filter';

export interface HotMethod {
  readonly name: string;
  readonly self: number;
}

// What was not sampled is part of the whole, but no method.
export function hottestMethods(profile: Profile, threads: Threads, self: Float64Array, most: number): {methods: HotMethod[]; all: number} {
  const sums = new Float64Array(profile.names.length);
  let all = 0;
  for (const {row, first, end} of profile.threads) {
    const isSampled = threads.osId[row]! > 0 || threads.javaId[row]! > 0 || threads.name[row] !== '[not sampled]';
    for (let i = first; i < end; i++) {
      all += self[i]!;
      if (isSampled) sums[profile.nodes.name[i]!]! += self[i]!;
    }
  }
  const order = Array.from(sums.keys()).filter((name) => sums[name]! > 0).sort((a, b) => sums[b]! - sums[a]! || a - b);
  return {methods: order.slice(0, most).map((name) => ({name: profile.names[name]!, self: sums[name]!})), all};
}

export interface Changed {
  readonly name: string;
  readonly before: number;
  readonly after: number;
}

// Of a comparison: methods whose own weight changed most. Its weights are the mean of both recordings.
export function changedMost(profile: Profile, most: number): Changed[] {
  const {nodes, names} = profile;
  const before = new Float64Array(names.length);
  const after = new Float64Array(names.length);
  for (let i = 0; i < nodes.count; i++) {
    before[nodes.name[i]!]! += nodes.before![i]!;
    after[nodes.name[i]!]! += 2 * nodes.self[i]! - nodes.before![i]!;
  }
  const change = (name: number): number => Math.abs(after[name]! - before[name]!);
  return Array.from(before.keys()).filter((name) => change(name) > 0).sort((a, b) => change(b) - change(a) || a - b).slice(0, most)
    .map((name) => ({name: names[name]!, before: before[name]!, after: after[name]!}));
}

export function ChangedMethods({change, profile, weight, unit, what}: Pick<ViewProps, 'change'> & {
  profile: Profile; weight: string; unit: string; what: string;
}) {
  const methods = useMemo(() => changedMost(profile, METHODS), [profile]);
  const amount = (value: number): string => (value === 0 ? 'nothing' : unit === 'bytes' ? bytes(value) : duration(value));
  const largest = Math.max(...methods.map(({before, after}) => Math.abs(after - before)), 1);
  if (methods.length === 0) return <p class="muted">Nothing changed.</p>;
  return (
    <section aria-label="Largest changes">
      <div class="panel-head"><h2>Largest changes</h2><span class="muted">{what}, without what they call</span></div>
      <ol class="hot-list">
        {methods.map(({name, before, after}) => (
          <li key={name}>
            <span class={`hot-bar${after > before ? ' lock' : ''}`} aria-hidden="true"><span style={{width: `${(100 * Math.abs(after - before)) / largest}%`}} /></span>
            <span class="number">{after > before ? '+' : '\u2212'}{amount(Math.abs(after - before))}</span>
            <button type="button" class="link-button" title={`${clipped(name, 400)}: show it in the flame graph`}
              onClick={() => change({view: 'flame', weight, query: `"${name}"`, isRegex: false}, true)}>
              <bdi dir="ltr">{clipped(shortLabel(name), 100)}</bdi>
            </button>
            <span class="muted number">{amount(before)} {'\u2192'} {amount(after)}</span>
          </li>
        ))}
      </ol>
    </section>
  );
}

const LOCK_WEIGHTS = [
  {weight: 'locks', words: 'Who was blocked', title: 'Flame graph of the time that threads were blocked by locks'},
  {weight: 'owners', words: 'Who held them', title: 'Flame graph of the same time, by what held the lock meanwhile'},
];
const METHODS = 5;
const LOCKS = 3;

export function HotMethods({recording, state, change, profile, weight, unit, what}: ViewProps & {
  profile: Profile; weight: string; unit: string; what: string;
}) {
  const {methods, all} = useMemo(() => {
    const threads = threadMask(profile, recording.threads, state.thread);
    return hottestMethods(profile, recording.threads, filterWeights(profile, {...NO_FILTER, range: state.range, threads}).self, METHODS);
  }, [profile, state.range, state.thread]);
  if (methods.length === 0) return <p class="muted">Nothing was sampled in this time.</p>;
  return (
    <section aria-label="Hottest methods">
      <div class="panel-head"><h2>Hottest methods</h2><span class="muted">{what}, without what they call</span></div>
      <ol class="hot-list">
        {methods.map(({name, self}) => (
          <li key={name}>
            <span class="hot-bar" aria-hidden="true"><span style={{width: `${all > 0 ? (100 * self) / all : 0}%`}} /></span>
            <span class="number">{share(self, all)}</span>
            <button type="button" class="link-button" title={`${clipped(name, 400)}: show it in the flame graph`}
              onClick={() => change({view: 'flame', weight, query: `"${name}"`, isRegex: false}, true)}>
              <bdi dir="ltr">{clipped(shortLabel(name), 100)}</bdi>
            </button>
            <span class="muted number">{unit === 'bytes' ? bytes(self) : duration(self)}</span>
          </li>
        ))}
      </ol>
    </section>
  );
}

export function HotLocks({recording, state, change, data, cut}: ViewProps & {data: Contentions; cut: Cut}) {
  const {threads} = recording;
  // Some recordings know which thread held a lock, but not where.
  const {tree, of} = useMemo(() => {
    const byMethod = lockTree(data, threads, cut, ['object', 'owner-method']);
    const isKnown = byMethod.byOwner[OwnerKind.Chain]! >= byMethod.byOwner[OwnerKind.Thread]!;
    return isKnown ? {tree: byMethod, of: 'owner-method' as const} : {tree: lockTree(data, threads, cut, ['object', 'owner-thread']), of: 'owner-thread' as const};
  }, [data, cut]);
  const first = Array.from(tree.children(0).subarray(0, LOCKS));
  const all = tree.blocked[0]!;
  return (
    <section aria-label="Most contended locks">
      <div class="panel-head"><h2>Most contended locks</h2>
        <span class="muted">{duration(all)} blocked, {count(tree.times[0]!)} times</span>
        {LOCK_WEIGHTS.filter(({weight}) => recording.head.profiles.some(({name}) => name === weight)).map(({weight, words, title}) => (
          <button type="button" key={weight} class="link-button" title={title}
            onClick={() => change({view: 'flame', weight, query: ''}, true)}>{words}{'\u00a0\u203a'}</button>))}</div>
      {first.length === 0 ? <p class="muted">No thread was blocked by a lock in this time.</p> : (
        <ol class="hot-list">
          {first.map((node) => {
            const key = tree.key[node]!;
            const name = labelOf(data, threads, 'object', key);
            // Somebody who can be named first: hand-off is nobody's fault.
            const owners = Array.from(tree.children(node));
            const owner = owners.find((each) => tree.key[each]! >= 0) ?? owners[0];
            return (
              <li key={key}>
                <span class="hot-bar lock" aria-hidden="true"><span style={{width: `${all > 0 ? (100 * tree.blocked[node]!) / all : 0}%`}} /></span>
                <span class="number">{share(tree.blocked[node]!, all)}</span>
                <span class="hot-name">
                  <button type="button" class="link-button" title={`${clipped(name, 400)}: show who was blocked by it, and who held it`}
                    onClick={() => change({view: 'locks', query: '', ...withMore(state, {
                      'locks.by': 'object,blocked-method,owner-method', 'locks.sel': key === MORE ? '' : String(key), 'locks.open': '', 'locks.case': ''})}, true)}>
                    <bdi dir="ltr">{clipped(shortClass(name), 100)}</bdi>
                  </button>
                  {owner !== undefined && <span class="muted"> held by <bdi dir="ltr">{clipped(shortLabelOf(data, threads, of, tree.key[owner]!), 100)}</bdi>
                    {` (${share(tree.blocked[owner]!, tree.blocked[node]!)})`}</span>}
                </span>
                <span class="muted number">{duration(tree.blocked[node]!)}</span>
              </li>
            );
          })}
        </ol>
      )}
    </section>
  );
}
