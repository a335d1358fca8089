// One method between its callers (above it) and its callees (below it).
import {useMemo, useState} from 'preact/hooks';
import {clipped} from '../data/visible_text';
import {factsOf, type View} from '../flame/facts';
import {FlamePanel} from '../flame/flame_panel';
import {layoutFlame} from '../flame/layout';
import {CLASS, MARKER, nameOfKey, NO_FRAME} from '../model/frame_types';
import {count, share} from '../model/format';
import {methodsOf, orderMethods} from '../model/methods';
import {sandwichOf} from '../model/sandwich';
import {nodeAtPath, type Tree} from '../model/tree';
import {asTsv, ExportButtons} from '../shell/export_buttons';
import {withMore} from '../shell/page_state';
import {useKeys} from '../shell/use_keys';
import {ShareCell, VirtualTable} from '../shell/virtual_table';
import {ExactNote} from './exact_note';
import {MethodName} from './method_button';
import {methodOf, methodText} from './method_choice';
import {SelectionLine} from './selection_line';
import type {StackViewProps} from './stack_views';
import {Swatch} from './swatch';
import {keysOfZoom, zoomText} from './zoom_path';
import {flamePicture} from '../flame/picture';

const LEAST_SIDE = 170; // pixels: room for the table beside it

interface Side {
  readonly id: 'up' | 'down';
  readonly title: string;
  readonly view: View;
}

export function CallersView(props: StackViewProps) {
  const {stacks, state, change, recording} = props;
  const {profile, calls, unit, coloring, matches} = stacks;
  const methods = useMemo(() => methodsOf(calls, profile.names.length), [calls]);
  const order = useMemo(() => orderMethods(methods, profile.names, 'self', matches), [methods, matches]);
  const chosenText = state.more['callers.method'] ?? '';
  const chosen = useMemo(() => {
    const found = chosenText === '' ? -1 : methodOf(profile.names, chosenText);
    return found >= 0 || chosenText !== '' ? found : orderMethods(methods, profile.names, 'self', null).find((name) => methods.type[name] !== MARKER) ?? -1;
  }, [methods, chosenText]);
  const choose = (name: number, step = false): void => change(withMore(state, {
    'callers.method': methodText(profile.names, name), 'callers.up': '', 'callers.down': ''}), step);
  const sides = useMemo((): readonly Side[] => {
    if (chosen < 0) return [];
    const {callers, callees} = sandwichOf(profile, calls, chosen);
    const common = {profile, calls, unit, coloring, events: stacks.events, exact: stacks.exact};
    return [{id: 'up', title: 'Callers', view: {...common, tree: callers}},
            {id: 'down', title: 'Callees', view: {...common, tree: callees}}];
  }, [calls, chosen]);
  const [selected, setSelected] = useState<{side: string; node: number; tree: Tree} | null>(null);
  const shown = selected !== null && sides.some(({view}) => view.tree === selected.tree) ? selected : null;
  useKeys({
    Escape: () => {
      if ((state.more['callers.up'] ?? '') + (state.more['callers.down'] ?? '') !== '') {
        change(withMore(state, {'callers.up': '', 'callers.down': ''}), true);
      } else if (shown !== null) {
        setSelected(null);
      } else {
        change({query: ''});
      }
    },
  });
  const whole = calls.total[0]!;
  const facts = useMemo(() => {
    const side = sides.find(({id}) => id === shown?.side);
    return side === undefined || shown === null ? null : factsOf(side.view, shown.node);
  }, [sides, shown]);
  const cell = (name: number) => (
    <span class="method">
      <Swatch paint={coloring.kinds === stacks.coloring.kinds && profile.nodes.before === null && methods.type[name] !== NO_FRAME
        ? coloring.paint(props.palette, methods.type[name]!) : props.palette.node} />
      <MethodName name={profile.names[name]!} isClass={methods.type[name] === CLASS} />
    </span>
  );
  const text = (): string => asTsv([
    ['direction', 'level', 'weight', 'share', 'samples', 'method'],
    ...sides.flatMap(({title, view: {tree}}) => Array.from({length: Math.min(tree.count, 5000)}, (_, i) => [
      title, tree.depth[i]!, tree.total[i]!, (tree.total[i]! / whole).toFixed(6), tree.samples[i]!,
      profile.names[nameOfKey(tree.key[i]!)]!]))]);
  const name = chosen < 0 ? '' : profile.names[chosen]!;
  return (
    <div class="sandwich">
      <section class="choice" aria-label="Methods to choose from">
        <VirtualTable id="choice" label="Choose a method" rows={order.length} active={order.indexOf(chosen)}
          onActive={(row) => choose(order[row]!)}
          columns={[
            {id: 'self', label: 'self %', isNumber: true, width: 70, cell: (row) => share(methods.self[order[row]!]!, whole)},
            {id: 'total', label: 'total %', isNumber: true, width: 70, cell: (row) => share(methods.total[order[row]!]!, whole)},
            {id: 'name', label: 'method', cell: (row) => cell(order[row]!)},
          ]} />
      </section>
      <section class="sides" aria-label="Callers and callees">
        <div class="view-tools">
          <h2><bdi dir="ltr">{chosen < 0 ? 'No such method is in these stacks' : clipped(name, 200)}</bdi>{' '}
            {chosen >= 0 && <span class="muted">
              total {share(methods.total[chosen]!, whole)}, self {share(methods.self[chosen]!, whole)}, {count(methods.totalSamples[chosen]!)} {stacks.events}<ExactNote text={stacks.exact} />
            </span>}</h2>
          {sides.length > 0 && <ExportButtons name={`${recording.head.title}-callers`} text={text}
            image={() => flamePicture(sides.map(({id, view}) => ({view, rootAtTop: id === 'down', focus: focusOf(props, id, view),
                                                                matches})), props.palette)} />}
        </div>
        {chosen < 0 && chosenText !== '' && <p class="empty" role="status">
          The method of this link has no samples here: perhaps the choice of time or threads leaves it out, or the recording is another one.
        </p>}
        {sides.map((side) => (
          <SidePanel key={side.id} {...props} side={side} selected={shown?.side === side.id ? shown.node : -1}
            onSelect={(node) => setSelected({side: side.id, node, tree: side.view.tree})}
            onChoose={(node) => {
              const key = side.view.tree.key[node]!;
              if (side.view.tree.type[node] !== NO_FRAME) choose(nameOfKey(key), true);
            }} />
        ))}
        <SelectionLine facts={facts} hint="Click a frame to zoom; a row of the tables makes its method the one in the middle."
          onFind={(found) => change({isRegex: false, query: `"${found}"`}, true)}
          onCallers={(found) => choose(methodOf(profile.names, found), true)} />
      </section>
    </div>
  );
}

function focusOf({stacks, state}: StackViewProps, id: string, view: View): number {
  return nodeAtPath(view.tree, keysOfZoom(stacks.profile, state.more[`callers.${id}`] ?? ''));
}

interface SideProps extends StackViewProps {
  readonly side: Side;
  readonly selected: number;
  readonly onSelect: (node: number) => void;
  readonly onChoose: (node: number) => void;
}

function SidePanel(props: SideProps) {
  const {side: {id, title, view}, stacks, state, change, palette} = props;
  const {tree} = view;
  const zoom = state.more[`callers.${id}`] ?? '';
  const focus = useMemo(() => focusOf(props, id, view), [tree, zoom]);
  const next = useMemo(() => {
    const found: number[] = [];
    for (let i = focus + 1; i < tree.end[focus]!; i = tree.end[i]!) found.push(i);
    return found;
  }, [tree, focus]);
  const [active, setActive] = useState(-1);
  const zoomTo = (node: number): void =>
    change(withMore(state, {[`callers.${id}`]: zoomText(stacks.profile, tree, node)}), true);
  const total = tree.total[focus]!;
  const isAlone = tree.count <= 1;
  const rows = useMemo(() => layoutFlame(tree, focus, 700, 0.5).rows, [tree, focus]); // about as many as are seen
  const grows = Math.min(Math.max(rows, 8), 24); // the deeper side gets more room
  return (
    <div class={`side ${id}${isAlone ? ' alone' : ''}`} style={isAlone ? {} : {flexGrow: grows, maxHeight: `${Math.max(rows * 18 + 22, LEAST_SIDE)}px`}}>
      <div class="side-graph">
        <h3>{title}<span class="muted">{isAlone ? (id === 'up' ? ': it is called by nothing' : ': it calls nothing') : focus === 0 ? '' : ': zoomed; Esc goes back'}</span></h3>
        <FlamePanel id={`flame-${id}`} label={title} leastHeight={60} isMain={id === 'up'} view={view} focus={focus} selected={props.selected}
          matches={stacks.matches} onlyKind={-1} rootAtTop={id === 'down'} palette={palette} onSelect={props.onSelect}
          onZoom={zoomTo} onBack={() => change(withMore(state, {[`callers.${id}`]: ''}), true)} />
      </div>
      {!isAlone && <VirtualTable id={`side-${id}`} label={id === 'up' ? 'Direct callers' : 'Direct callees'} rows={next.length}
        active={Math.min(active, next.length - 1)} onActive={setActive}
        onKey={(key, row) => {
          if (key !== 'Enter' || row < 0) return false;
          props.onChoose(next[row]!);
          return true;
        }}
        columns={[
          {id: 'share', label: '%', isNumber: true, width: 76, cell: (row) => <ShareCell share={tree.total[next[row]!]! / total} text={share(tree.total[next[row]!]!, total)} />},
          {id: 'name', label: id === 'up' ? 'called by' : 'calls', cell: (row) => (
            <button type="button" class="method" tabIndex={-1} onClick={() => props.onChoose(next[row]!)}>
              <MethodName name={stacks.profile.names[nameOfKey(tree.key[next[row]!]!)]!} isClass={tree.type[next[row]!] === CLASS} />
            </button>)},
        ]} />}
    </div>
  );
}
