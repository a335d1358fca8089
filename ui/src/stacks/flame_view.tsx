// The flame graph, or the icicle, with the hottest methods beside it.
import {useMemo, useRef, useState} from 'preact/hooks';
import {factsOf, type View} from '../flame/facts';
import {FlamePanel} from '../flame/flame_panel';
import {flamePicture} from '../flame/picture';
import {nameOfKey} from '../model/frame_types';
import {reverseCalls} from '../model/reverse';
import {nodeAtPath} from '../model/tree';
import {asTsv, ExportButtons} from '../shell/export_buttons';
import {withMore} from '../shell/page_state';
import {Breadcrumbs} from './breadcrumbs';
import {ChangeTable} from './change_table';
import {Legend} from './legend';
import {MethodTable} from './method_table';
import {SelectionLine} from './selection_line';
import type {StackViewProps} from './stack_views';
import {useKeys} from '../shell/use_keys';
import {keysOfZoom, zoomText} from './zoom_path';

const MOST_COPIED = 20_000;

export function FlameView({recording, stacks, state, change, palette}: StackViewProps) {
  const {profile, matches, coloring} = stacks;
  const byThread = state.more['flame.threads'] === '1';
  const reversed = state.more['flame.reverse'] === '1';
  const turned = state.more['flame.flip'] === '1';
  const zoom = state.more['flame.zoom'] ?? '';
  const [selected, setSelected] = useState(-1);
  const [onlyKind, setOnlyKind] = useState(-1);
  const zooms = useRef<readonly string[]>([]); // those before the current one, to step back

  const calls = byThread ? stacks.callsByThread() : stacks.calls;
  const path = useMemo(() => keysOfZoom(profile, zoom), [profile, calls, zoom]);
  const reversePath = reversed ? path : null; // only the reversed tree depends on the zoom
  const tree = useMemo(() => (reversePath ? reverseCalls(profile, calls, byThread, reversePath) : calls), [calls, reversePath]);
  const view: View = useMemo(() => ({profile, calls, tree, unit: stacks.unit, coloring, events: stacks.events, exact: stacks.exact}), [calls, tree]);
  const focus = useMemo(() => nodeAtPath(tree, path), [tree, path]);

  // Nodes of another tree have other numbers.
  const lastTree = useRef(tree);
  let shown = selected;
  if (lastTree.current !== tree) {
    lastTree.current = tree;
    shown = -1;
    if (selected >= 0) setSelected(-1);
  }
  const zoomTo = (node: number): void => {
    zooms.current = [...zooms.current, zoom].slice(-100);
    if (reversed) setSelected(-1);
    else setSelected(node);
    change(withMore(state, {'flame.zoom': zoomText(profile, tree, node)}), true);
  };
  const back = (steps: number): void => {
    const earlier = zooms.current.slice(0, zooms.current.length - steps + 1);
    const target = earlier.length > 0 ? earlier[earlier.length - 1]! : '';
    zooms.current = earlier.slice(0, -1);
    setSelected(-1);
    change(withMore(state, {'flame.zoom': target}), true);
  };
  const toggle = (name: string, isOn: boolean): void => {
    zooms.current = [];
    change(withMore(state, {[`flame.${name}`]: isOn ? '' : '1', ...(name === 'flip' ? {} : {'flame.zoom': ''})}), true);
  };
  const find = (name: string): void =>
    change({isRegex: false, query: state.query === `"${name}"` ? '' : `"${name}"`});

  useKeys({
    r: () => toggle('reverse', reversed),
    t: () => toggle('threads', byThread),
    i: () => toggle('flip', turned),
    Escape: () => (zoom !== '' ? back(1) : selected >= 0 ? setSelected(-1) : change({query: ''})),
  });

  // All that is wide enough to be seen.
  const text = (): string => {
    const whole = calls.total[0]!;
    const rows: (string | number)[][] = [['total', 'share', 'self', 'samples', 'frame']];
    for (let i = focus; i < tree.end[focus]! && rows.length <= MOST_COPIED;) {
      if (tree.total[i]! < tree.total[focus]! / 2000) {
        i = tree.end[i]!;
        continue;
      }
      rows.push([tree.total[i]!, (tree.total[i]! / whole).toFixed(6), tree.self[i]!, tree.samples[i]!,
                 '  '.repeat(tree.depth[i]!) + profile.names[nameOfKey(tree.key[i]!)]!]);
      i++;
    }
    return asTsv(rows);
  };

  const Methods = profile.nodes.before === null ? MethodTable : ChangeTable;
  const facts = useMemo(() => (shown >= 0 ? factsOf(view, shown) : null), [view, shown]);
  // Neither changes with the zoom: the same elements are not looked at again.
  const latestFind = useRef(find);
  latestFind.current = find;
  const legend = useMemo(() => <Legend view={view} palette={palette} only={onlyKind} onOnly={setOnlyKind} />, [calls, palette, onlyKind]);
  const table = useMemo(() => (
    <Methods view={view} palette={palette} query={state.query} matches={isExact(state.query) ? null : matches}
      onFind={(name) => latestFind.current(name)} />), [calls, palette, state.query, matches]);
  const button = (label: string, key: string, name: string, isOn: boolean) => (
    <button type="button" aria-pressed={isOn} aria-keyshortcuts={key} title={`${label} (${key})`}
      onClick={() => toggle(name, isOn)}>{label}</button>
  );
  return (
    <div class="columns">
      <section class="graph" aria-label={reversed ? 'Callers' : 'Calls'}>
        <div class="view-tools">
          <Breadcrumbs view={view} focus={focus} onZoom={zoomTo}
            onReset={() => {
              zooms.current = [];
              setSelected(-1);
              change(withMore(state, {'flame.zoom': ''}), true);
            }} />
          {button('By thread', 't', 'threads', byThread)}
          {button('Reverse', 'r', 'reverse', reversed)}
          <button type="button" aria-pressed={reversed !== turned} aria-keyshortcuts="i" title="Icicle: the root at the top (i)"
            onClick={() => toggle('flip', turned)}>Icicle</button>
          <ExportButtons name={`${recording.head.title}-flame`} text={text}
            image={() => flamePicture([{view, focus, rootAtTop: reversed !== turned, matches}], palette)} />
        </div>
        <FlamePanel id="flame" label="Flame graph" isMain view={view} focus={focus} selected={shown} matches={matches} onlyKind={onlyKind}
          rootAtTop={reversed !== turned} palette={palette} onSelect={setSelected} onZoom={zoomTo} onBack={back} />
        <SelectionLine facts={facts} onFind={find} hint="Click a frame to zoom, or use the arrow keys."
          onCallers={(name) => change({view: 'callers', ...withMore(state, {'callers.method': name})}, true)}
          {...(reversed ? {} : {onTable: () => change({view: 'tree', ...withMore(state, {
            'tree.at': zoomText(profile, tree, shown), 'tree.threads': byThread ? '1' : ''})}, true)})} />
        {legend}
      </section>
      {table}
    </div>
  );
}

// Who looks at one method wants to see it among the others.
const isExact = (query: string): boolean => /^".+"$/s.test(query);
