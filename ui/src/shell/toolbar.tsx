// Search, and what the graph shows.
import type {RefObject} from 'preact';
import {useMemo} from 'preact/hooks';
import type {Profile, Thread} from '../data/profile';
import {clipped} from '../data/visible_text';
import {weightText, type View} from '../flame/facts';
import {count, share} from '../model/format';
import type {Matched} from '../model/search';
import type {Theme} from './theme';

export type SearchResult =
  {readonly error: string} | {readonly matches: Uint8Array; readonly found: Matched};

interface Props {
  readonly profile: Profile;
  readonly view: View;
  readonly thread: number | null;
  readonly byThread: boolean;
  readonly reversed: boolean;
  readonly turned: boolean;
  readonly query: string;
  readonly isRegex: boolean;
  readonly search: SearchResult | null;
  readonly theme: Theme;
  readonly searchField: RefObject<HTMLInputElement>;
  readonly onThread: (thread: number | null) => void;
  readonly onByThread: () => void;
  readonly onReversed: () => void;
  readonly onTurned: () => void;
  readonly onQuery: (query: string) => void;
  readonly onRegex: () => void;
  readonly onTheme: () => void;
  readonly onHelp: () => void;
}

export function Toolbar(props: Props) {
  const leaveSearch = (event: KeyboardEvent): void => {
    if (event.key === 'Escape') props.onQuery('');
    if (event.key !== 'Escape' && event.key !== 'Enter') return;
    event.preventDefault();
    document.getElementById('flame')?.focus();
  };
  const toggle = (label: string, key: string, pressed: boolean, action: () => void) => (
    <button type="button" aria-pressed={pressed} aria-keyshortcuts={key} title={`${label} (${key})`}
      onClick={action}>{label}</button>
  );
  return (
    <div class="toolbar" role="toolbar" aria-label="View">
      <div class="search">
        <input ref={props.searchField} type="search" placeholder="Search  ( / )" aria-label="Search methods"
          aria-describedby="search-result" aria-invalid={props.search !== null && 'error' in props.search}
          value={props.query} spellcheck={false} autocomplete="off" onKeyDown={leaveSearch}
          onInput={(event) => props.onQuery(event.currentTarget.value)} />
        <button type="button" class="regex" aria-pressed={props.isRegex} aria-label="Regular expression"
          title="Regular expression" onClick={props.onRegex}>.*</button>
      </div>
      <output id="search-result" class="found" aria-live="polite">{searchText(props.search, props.view)}</output>
      <span class="gap" />
      <ThreadList profile={props.profile} thread={props.thread} onThread={props.onThread} />
      {toggle('Threads', 't', props.byThread, props.onByThread)}
      {toggle('Reverse', 'r', props.reversed, props.onReversed)}
      {toggle('Flip', 'i', props.turned, props.onTurned)}
      {toggle('Dark', 'd', props.theme === 'dark', props.onTheme)}
      <button type="button" aria-label="Help" aria-keyshortcuts="?" title="Help (?)" onClick={props.onHelp}>?</button>
    </div>
  );
}

function searchText(search: SearchResult | null, view: View): string {
  if (search === null) return '';
  if ('error' in search) return search.error;
  const {found} = search;
  if (found.frames === 0) return 'no match';
  return `${share(found.weight, view.calls.total[0]!)} matched \u00b7 ${weightText(view, found.weight)}`;
}

const MOST_THREADS = 1000;

function threadLabel(profile: Profile, thread: Thread): string {
  const name = clipped(profile.names[thread.name]!, 60);
  if (thread.merged > 1) return `${name} \u00d7 ${count(thread.merged)}`;
  return thread.osId > 0 && !thread.virtual ? `${name} (${thread.osId})` : name;
}

function ThreadList({profile, thread, onThread}: Pick<Props, 'profile' | 'thread' | 'onThread'>) {
  const list = useMemo(() => {
    const {self} = profile.nodes;
    let whole = 0;
    const weights = profile.threads.map(({first, end}) => {
      let weight = 0;
      for (let i = first; i < end; i++) weight += self[i]!;
      whole += weight;
      return weight;
    });
    const order = profile.threads.map((_, i) => i).sort((a, b) => weights[b]! - weights[a]! || a - b);
    return order.slice(0, MOST_THREADS).map((i) => (
      {i, text: `${share(weights[i]!, whole)}  ${threadLabel(profile, profile.threads[i]!)}`}));
  }, [profile]);
  const more = profile.threads.length - list.length;
  return (
    <select aria-label="Thread" value={thread === null ? '' : String(thread)}
      onChange={(event) => onThread(event.currentTarget.value === '' ? null : Number(event.currentTarget.value))}>
      <option value="">{`All threads (${count(profile.threads.length)})`}</option>
      {list.map(({i, text}) => <option key={i} value={String(i)}>{text}</option>)}
      {more > 0 && <option disabled>{`${count(more)} lighter ones`}</option>}
    </select>
  );
}
