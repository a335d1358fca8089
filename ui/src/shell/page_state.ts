// The page's state in its address: `#view=flame&weight=cpu&...`. What is as it always begins is left out.
import {useEffect, useRef, useState} from 'preact/hooks';
import type {Change, PageState, TimeRange} from './state';

export const VIEWS: readonly {readonly id: string; readonly label: string}[] = [
  {id: 'overview', label: 'Overview'},
  {id: 'flame', label: 'Flame graph'},
  {id: 'tree', label: 'Call tree'},
  {id: 'methods', label: 'Methods'},
  {id: 'callers', label: 'Callers'},
  {id: 'ring', label: 'Ring'},
  {id: 'locks', label: 'Locks'},
  {id: 'threads', label: 'Threads'},
  {id: 'quality', label: 'Quality'},
];

const FIRST: PageState = {view: 'overview', weight: '', range: null, thread: '', query: '', isRegex: false, more: {}};
const OWN = new Set(['view', 'weight', 'range', 'thread', 'q', 'regex']);

function rangeOf(text: string | null): TimeRange | null {
  const found = /^(\d{1,7})-(\d{1,7})$/.exec(text ?? '');
  if (found === null) return null;
  const [first, end] = [Number(found[1]), Number(found[2])];
  return end > first ? {first, end} : null;
}

export function parseState(fragment: string): PageState {
  const given = new URLSearchParams(fragment.replace(/^#/, ''));
  const view = given.get('view') ?? '';
  const more: Record<string, string> = {};
  given.forEach((value, key) => {
    if (!OWN.has(key) && /^[a-z][\w.-]*$/i.test(key)) more[key] = value;
  });
  return {
    view: VIEWS.some(({id}) => id === view) ? view : FIRST.view,
    weight: given.get('weight') ?? '', range: rangeOf(given.get('range')), thread: given.get('thread') ?? '',
    query: given.get('q') ?? '', isRegex: given.get('regex') === '1', more,
  };
}

export function formatState(state: PageState): string {
  const out = new URLSearchParams();
  out.set('view', state.view);
  if (state.weight !== '') out.set('weight', state.weight);
  if (state.range !== null) out.set('range', `${state.range.first}-${state.range.end}`);
  if (state.thread !== '') out.set('thread', state.thread);
  if (state.query !== '') out.set('q', state.query);
  if (state.isRegex) out.set('regex', '1');
  for (const [key, value] of Object.entries(state.more)) if (value !== '') out.set(key, value);
  return `#${out.toString()}`;
}

// What a link to another view keeps: all that is common, and what views know of themselves.
export const linkTo = (state: PageState, change: Change): string => formatState({...state, ...change});

export interface Addressed {
  readonly state: PageState;
  readonly change: (change: Change, step?: boolean) => void;
}

export function usePageState(): Addressed {
  const [state, setState] = useState(() => parseState(location.hash));
  const latest = useRef(state);
  latest.current = state;
  useEffect(() => {
    const read = (): void => {
      const next = parseState(location.hash);
      if (formatState(next) === formatState(latest.current)) return;
      latest.current = next;
      setState(next);
    };
    addEventListener('popstate', read);
    addEventListener('hashchange', read);
    return () => {
      removeEventListener('popstate', read);
      removeEventListener('hashchange', read);
    };
  }, []);
  const change = useRef((made: Change, step = false): void => {
    const next = {...latest.current, ...made};
    const address = formatState(next);
    if (address === formatState(latest.current)) return;
    latest.current = next;
    try {
      if (step) history.pushState(null, '', address);
      else history.replaceState(null, '', address);
    } catch {
      // Browsers refuse more than some hundred changes in a few seconds: the page goes on, its address is late.
    }
    setState(next);
  });
  return {state, change: change.current};
}

// A change of what only one view knows.
export const withMore = (state: PageState, more: Readonly<Record<string, string>>): Change => ({more: {...state.more, ...more}});
