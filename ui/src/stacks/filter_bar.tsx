// What all stack views are about: which weight, which threads, which time, which stacks; and the search.
import type {RefObject} from 'preact';
import {useMemo} from 'preact/hooks';
import {THREAD_KINDS, type Threads} from '../data/recording';
import type {Profile} from '../data/profile';
import {clipped} from '../data/visible_text';
import {weightOf} from '../flame/facts';
import {count, share} from '../model/format';
import {withMore} from '../shell/page_state';
import type {ViewProps} from '../shell/state';
import {choiceLabel, groupsOf, threadLabel} from '../shell/threads_filter';
import {rangeText} from '../shell/time_strip';
import {profileHeadOf} from '../shell/use_profile';
import {EXCLUDE, INCLUDE, ONLY, type Stacks} from './use_stacks';

const WEIGHT_NAMES: Readonly<Record<string, string>> = {cpu: 'CPU', wall: 'Wall', alloc: 'Allocation', waits: 'Waits', locks: 'Locks', owners: 'Lock owners'};

const WEIGHT_TITLES: Readonly<Record<string, string>> = {
  locks: 'Time that threads were blocked by locks, by what was blocked (w: the next)',
  owners: 'The same time, by what held the lock meanwhile: where to change code so that others wait less (w: the next)',
};

interface Props extends ViewProps {
  readonly stacks: Stacks | null;
  readonly searchField: RefObject<HTMLInputElement>;
}

export function FilterBar(props: Props) {
  const {recording, state, change, stacks} = props;
  const {head} = recording;
  const current = profileHeadOf(head, state.weight)?.name;
  const leaveSearch = (event: KeyboardEvent): void => {
    if (event.key === 'Escape') change({query: ''});
    if (event.key !== 'Escape' && event.key !== 'Enter') return;
    event.preventDefault();
    document.querySelector<HTMLElement>('[data-main]')?.focus();
  };
  const search = stacks?.search ?? null;
  return (
    <div class="filter-bar" role="toolbar" aria-label="Which stacks">
      {head.profiles.length > 0 && (
        <div class="segments" role="group" aria-label="Weight">
          {head.profiles.map(({name, what}) => (
            <button type="button" key={name} aria-pressed={name === current} title={WEIGHT_TITLES[name] ?? `Weight: ${what} (w: the next)`}
              onClick={() => change({weight: name}, true)}>{WEIGHT_NAMES[name] ?? clipped(name, 20)}</button>
          ))}
        </div>
      )}
      <ThreadList {...props} />
      <div class="search">
        <input ref={props.searchField} type="search" placeholder="Search  ( / )" aria-label="Search methods"
          aria-describedby="search-result" aria-invalid={search !== null && 'error' in search} value={state.query}
          spellcheck={false} autocomplete="off" onKeyDown={leaveSearch}
          onInput={(event) => change({query: event.currentTarget.value})} />
        <button type="button" class="regex" aria-pressed={state.isRegex} aria-label="Regular expression"
          title="Regular expression" onClick={() => change({isRegex: !state.isRegex})}>.*</button>
        <button type="button" class="only" aria-pressed={state.more[ONLY] === '1'} title="Show only stacks with a match"
          onClick={() => change(withMore(state, {[ONLY]: state.more[ONLY] === '1' ? '' : '1'}), true)}>only</button>
      </div>
      <StackField {...props} of={INCLUDE} label="Only stacks with" placeholder="include" />
      <StackField {...props} of={EXCLUDE} label="No stacks with" placeholder="exclude" />
      <output id="search-result" class="found" aria-live="polite">{searchText(stacks)}</output>
      <span class="gap" />
      {state.range !== null && stacks !== null && stacks.profile.moments === null && (
        <span class="muted">no times are known of {head.against === undefined ? 'this profile' : 'a comparison'}: shown is all of it</span>)}
      {state.range !== null && stacks?.untimed === true && (
        <span class="muted" title="How much they used is known, but not when">without threads that are not sampled</span>)}
      {state.range !== null && (
        <Chip text={rangeText(state.range, head.moment_ns)} what="range of time" onRemove={() => change({range: null}, true)} />)}
      {state.thread !== '' && (
        <Chip text={choiceLabel(recording.threads, state.thread)} what="choice of threads"
          onRemove={() => change({thread: ''}, true)} />)}
      {stacks !== null && stacks.filterError !== '' && <span class="bad" role="alert">{clipped(stacks.filterError, 120)}</span>}
    </div>
  );
}

function Chip({text, what, onRemove}: {text: string; what: string; onRemove: () => void}) {
  return (
    <span class="chip">
      <bdi dir="ltr">{text}</bdi>
      <button type="button" aria-label={`Remove the ${what}`} title={`Remove the ${what}`} onClick={onRemove}>{'\u00d7'}</button>
    </span>
  );
}

// Applied with Enter or on leaving the field: each new text filters all of the profile.
function StackField({state, change, of, label, placeholder}: Props & {of: string; label: string; placeholder: string}) {
  const value = state.more[of] ?? '';
  const apply = (text: string): void => {
    if (text !== value) change(withMore(state, {[of]: text}), true);
  };
  return (
    <input class={`stack-field${value === '' ? '' : ' set'}`} type="search" key={value} defaultValue={value} spellcheck={false} autocomplete="off"
      placeholder={placeholder} aria-label={label} title={`${label} a frame of this name; /.../ is a regular expression`}
      onBlur={(event) => apply(event.currentTarget.value)} onChange={(event) => apply(event.currentTarget.value)}
      onKeyDown={(event) => {
        if (event.key === 'Escape') {
          event.currentTarget.value = '';
          apply('');
        } else if (event.key === 'Enter') {
          apply(event.currentTarget.value);
        }
      }} />
  );
}

function searchText(stacks: Stacks | null): string {
  if (stacks === null || stacks.search === null) return '';
  if ('error' in stacks.search) return clipped(stacks.search.error, 200);
  const {found} = stacks.search;
  if (found.frames === 0) return 'no match';
  return `${share(found.weight, stacks.whole)} matched \u00b7 ${weightOf(stacks.unit, found.weight)}`;
}

const MOST_THREADS = 500;

interface Choice {
  readonly value: string;
  readonly text: string;
  readonly weight: number;
}

function choices(profile: Profile, threads: Threads): {kinds: Choice[]; groups: Choice[]; pools: Choice[]; list: Choice[]} {
  const {self} = profile.nodes;
  const kinds = new Map<string, number>();
  const pools = new Map<string, number>();
  const groups = new Map<string, number>();
  const groupOf = groupsOf(threads);
  let whole = 0;
  const weights = profile.threads.map(({row, first, end}) => {
    let weight = 0;
    for (let i = first; i < end; i++) weight += self[i]!;
    whole += weight;
    const kind = THREAD_KINDS[threads.kind[row]!]!;
    kinds.set(kind, (kinds.get(kind) ?? 0) + weight);
    const pool = threads.pool[row]!;
    if (pool !== '') pools.set(pool, (pools.get(pool) ?? 0) + weight);
    const group = groupOf[row]!;
    if (group !== '') groups.set(group, (groups.get(group) ?? 0) + weight);
    return weight;
  });
  const sorted = (list: Choice[]): Choice[] => list.sort((a, b) => b.weight - a.weight || (a.value < b.value ? -1 : 1));
  const named = (letter: string, found: Map<string, number>): Choice[] => sorted([...found].map(([name, weight]) => (
    {value: letter + name, weight, text: `${share(weight, whole)}  ${clipped(name, 60)}`})));
  const list = profile.threads.map(({row}, i) => (
    {value: `t${row}`, weight: weights[i]!, text: `${share(weights[i]!, whole)}  ${threadLabel(threads, row)}`}));
  return {kinds: named('k', kinds), groups: named('g', groups), pools: named('p', pools), list: sorted(list)};
}

function ThreadList({recording, state, change, stacks}: Props) {
  const profile = stacks?.profile ?? null;
  const all = useMemo(() => (profile === null ? null : choices(profile, recording.threads)), [profile]);
  const list = useMemo(() => (all === null ? null : <ThreadSelect all={all} recording={recording} thread={state.thread} change={change} />),
    [all, state.thread]); // hundreds of options: only when they change
  return list;
}

interface SelectProps extends Pick<Props, 'recording' | 'change'> {
  readonly all: ReturnType<typeof choices>;
  readonly thread: string;
}

function ThreadSelect({all, recording, thread, change}: SelectProps) {
  const option = ({value, text}: Choice) => <option key={value} value={value}>{text}</option>;
  const {kinds, groups, pools, list} = all;
  const shown = list.slice(0, MOST_THREADS);
  const isListed = [...kinds, ...groups, ...pools, ...shown].some(({value}) => value === thread);
  return (
    <select aria-label="Threads" value={thread}
      onChange={(event) => change({thread: event.currentTarget.value}, true)}>
      <option value="">{`All threads (${count(list.length)})`}</option>
      {thread !== '' && !isListed && <option value={thread}>{choiceLabel(recording.threads, thread)}</option>}
      {kinds.length > 1 && <optgroup label="Kinds">{kinds.map(option)}</optgroup>}
      {groups.length > 1 && <optgroup label="Groups">{groups.map(option)}</optgroup>}
      {pools.length > 0 && <optgroup label="Pools">{pools.map(option)}</optgroup>}
      <optgroup label="Threads">
        {shown.map(option)}
        {list.length > shown.length && <option disabled>{`${count(list.length - shown.length)} lighter ones`}</option>}
      </optgroup>
    </select>
  );
}
