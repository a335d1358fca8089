// The page: what is shown, and the parts that show it.
import {useLayoutEffect, useMemo, useRef, useState} from 'preact/hooks';
import type {Head} from '../data/head';
import type {Profile} from '../data/profile';
import {BY_CHANGE, BY_TYPE} from '../flame/coloring';
import {factsOf, type Unit, type View} from '../flame/facts';
import {FlamePanel} from '../flame/flame_panel';
import {DARK, LIGHT} from '../flame/palette';
import {mergeCalls} from '../model/merge';
import {reverseCalls} from '../model/reverse';
import {compileQuery, matchedWeight, matchNames} from '../model/search';
import {nodeAtPath, pathOf} from '../model/tree';
import {Breadcrumbs} from './breadcrumbs';
import {ChangeTable} from './change_table';
import {HelpDialog} from './help_dialog';
import {Legend} from './legend';
import {MethodTable} from './method_table';
import {RecordingHead} from './recording_head';
import {SelectionLine} from './selection_line';
import {useTheme} from './theme';
import {Toolbar, type SearchResult} from './toolbar';

const NO_PATH: readonly number[] = [];

// A recording without weights counts each sample as 1: then there are no times to show.
function unitOf(head: Head, profile: Profile): Unit {
  const {self, samples, count} = profile.nodes;
  for (let i = 0; i < count; i++) if (self[i] !== samples[i]) return head.unit === 'bytes' ? 'bytes' : 'ns';
  return 'samples';
}

export function App({head, profile}: {head: Head; profile: Profile}) {
  const {theme, toggle: toggleTheme} = useTheme();
  const [thread, setThread] = useState<number | null>(null);
  const [byThread, setByThread] = useState(false);
  const [reversed, setReversed] = useState(false);
  const [turned, setTurned] = useState(false);
  const [zooms, setZooms] = useState<readonly (readonly number[])[]>([]); // paths, the current one last
  const [selected, setSelected] = useState(-1);
  const [onlyKind, setOnlyKind] = useState(-1);
  const [query, setQuery] = useState('');
  const [isRegex, setIsRegex] = useState(false);
  const [helpOpen, setHelpOpen] = useState(false);
  const searchField = useRef<HTMLInputElement>(null);

  const coloring = profile.nodes.before === null ? BY_TYPE : BY_CHANGE;
  const unit = useMemo(() => unitOf(head, profile), [profile]);
  const calls = useMemo(() => mergeCalls(profile, {thread, byThread}), [profile, thread, byThread]);
  const path = zooms.length > 0 ? zooms[zooms.length - 1]! : NO_PATH;
  const reversePath = reversed ? path : null; // only the reversed tree depends on the zoom
  const tree = useMemo(
    () => (reversePath ? reverseCalls(profile, calls, byThread, reversePath) : calls), [calls, reversePath]);
  const view: View = useMemo(() => ({profile, calls, tree, unit, coloring}), [calls, tree]);
  const focus = useMemo(() => nodeAtPath(tree, path), [tree, zooms]);

  const search: SearchResult | null = useMemo(() => {
    if (query === '') return null;
    const compiled = compileQuery(query, isRegex);
    if ('error' in compiled) return {error: compiled.error};
    const matches = matchNames(profile.names, compiled.test);
    matches[profile.allName] = matches[profile.restName] = 0;
    return {matches, found: matchedWeight(calls, matches)};
  }, [query, isRegex, calls]);
  const matches = search !== null && 'matches' in search ? search.matches : null;

  // Another tree: nodes have other numbers, and the zoom may lead nowhere.
  const changeView = (change: () => void): void => {
    setSelected(-1);
    setZooms([]);
    change();
  };
  const zoomTo = (node: number): void => {
    const next = pathOf(tree, node);
    setSelected(reversed ? -1 : node);
    setZooms((old) => [...old, next]);
  };
  const back = (steps: number): void => {
    setSelected(-1);
    setZooms((old) => old.slice(0, Math.max(old.length - steps, 0)));
  };

  const shortcuts: Readonly<Record<string, () => void>> = {
    '/': () => {
      searchField.current?.focus();
      searchField.current?.select();
    },
    Escape: () => (zooms.length > 0 ? back(1) : selected >= 0 ? setSelected(-1) : setQuery('')),
    r: () => changeView(() => setReversed(!reversed)),
    t: () => changeView(() => setByThread(!byThread)),
    i: () => setTurned(!turned),
    d: toggleTheme,
    '?': () => setHelpOpen(true),
  };
  const latest = useRef(shortcuts);
  latest.current = shortcuts;
  useLayoutEffect(() => {
    const onKeyDown = (event: KeyboardEvent): void => {
      const target = event.target as HTMLElement;
      if (event.ctrlKey || event.metaKey || event.altKey || event.defaultPrevented) return;
      if (target.closest('input, select, textarea, dialog')) return;
      const action = latest.current[event.key];
      if (!action) return;
      event.preventDefault();
      action();
    };
    document.addEventListener('keydown', onKeyDown);
    return () => document.removeEventListener('keydown', onKeyDown);
  }, []);

  const Methods = profile.nodes.before === null ? MethodTable : ChangeTable;
  const palette = theme === 'dark' ? DARK : LIGHT;
  const selectionFacts = useMemo(() => (selected >= 0 ? factsOf(view, selected) : null), [view, selected]);
  const isEmpty = calls.count <= 1 || calls.total[0] === 0;

  return (
    <>
      <RecordingHead head={head} />
      <main>
        <Toolbar profile={profile} view={view} thread={thread} byThread={byThread} reversed={reversed} turned={turned}
          query={query} isRegex={isRegex} search={search} theme={theme} searchField={searchField}
          onThread={(next) => changeView(() => setThread(next))} onByThread={shortcuts['t']!}
          onReversed={shortcuts['r']!} onTurned={shortcuts['i']!} onQuery={setQuery}
          onRegex={() => setIsRegex(!isRegex)} onTheme={toggleTheme} onHelp={shortcuts['?']!} />
        <div class="columns">
          <section class="graph" aria-label={reversed ? 'Callers' : 'Calls'}>
            <Breadcrumbs view={view} focus={focus} onZoom={zoomTo} onReset={() => back(zooms.length)} />
            {isEmpty
              ? <p class="empty" role="status">No samples{thread === null ? ' in this recording' : ' of this thread'}.</p>
              : <FlamePanel view={view} focus={focus} selected={selected} matches={matches} onlyKind={onlyKind}
                  rootAtTop={reversed !== turned} palette={palette} onSelect={setSelected} onZoom={zoomTo}
                  onBack={back} />}
            <SelectionLine facts={selectionFacts}
              onFind={(name) => {
                setIsRegex(false);
                setQuery(`"${name}"`);
              }} />
            <Legend view={view} palette={palette} only={onlyKind} onOnly={setOnlyKind} />
          </section>
          <Methods view={view} palette={palette} query={query} onFind={(name) => {
            setIsRegex(false);
            setQuery(query === `"${name}"` ? '' : `"${name}"`);
          }} />
        </div>
      </main>
      <HelpDialog open={helpOpen} onClose={() => setHelpOpen(false)} />
    </>
  );
}
