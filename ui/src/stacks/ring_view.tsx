// The calling context ring chart, with what is around its centre as a table.
import {useLayoutEffect, useMemo, useRef, useState} from 'preact/hooks';
import {factsOf, intervalText, weightOf, type View} from '../flame/facts';
import {Tooltip, type Hover} from '../flame/tooltip';
import {neighbour, type Direction} from '../flame/layout';
import {CLASS, nameOfKey} from '../model/frame_types';
import {share} from '../model/format';
import {collectMethods, orderMethods} from '../model/methods';
import {nodeAtPath} from '../model/tree';
import {RingPainter, type RingScene} from '../ring/draw';
import {firstParting, hitRing, layoutRing, type RingLayout} from '../ring/layout';
import {asTsv, ExportButtons} from '../shell/export_buttons';
import {withMore} from '../shell/page_state';
import {useKeys} from '../shell/use_keys';
import {ShareCell, VirtualTable} from '../shell/virtual_table';
import {Breadcrumbs} from './breadcrumbs';
import {Legend} from './legend';
import {MethodName} from './method_button';
import {SelectionLine} from './selection_line';
import type {StackViewProps} from './stack_views';
import {Swatch} from './swatch';
import {keysOfZoom, zoomText} from './zoom_path';

const WHOLE = '-'; // in the address: the root itself; nothing there: where calls part
const MARGIN = 4;
const PICTURE = 1200;
const MOST_COPIED = 20_000;

// Outwards is to the callees.
const ARROWS: Readonly<Record<string, Direction>> = {ArrowUp: 'callee', ArrowDown: 'caller', ArrowLeft: 'previous', ArrowRight: 'next'};

export function RingView(props: StackViewProps) {
  const {recording, stacks, state, change, palette} = props;
  const {profile, calls: tree, unit, coloring, matches} = stacks;
  const zoom = state.more['ring.zoom'] ?? '';
  const view: View = useMemo(() => ({profile, calls: tree, tree, unit, coloring, events: stacks.events, exact: stacks.exact}), [tree]);
  const focus = useMemo(() => (zoom === '' ? firstParting(tree) : zoom === WHOLE ? 0 : nodeAtPath(tree, keysOfZoom(profile, zoom))),
    [tree, zoom]);
  const [selected, setSelected] = useState(-1);
  const [onlyKind, setOnlyKind] = useState(-1);
  const lastTree = useRef(tree);
  if (lastTree.current !== tree) {
    lastTree.current = tree;
    if (selected >= 0) setSelected(-1);
  }
  const shown = selected < tree.count ? selected : -1;
  const zoomTo = (node: number): void => {
    setSelected(-1);
    change(withMore(state, {'ring.zoom': node === 0 ? WHOLE : zoomText(profile, tree, node)}), true);
  };
  const up = (): void => {
    if (focus > 0) zoomTo(tree.parent[focus]!);
  };
  useKeys({Escape: () => (shown >= 0 ? setSelected(-1) : zoom !== '' ? change(withMore(state, {'ring.zoom': ''}), true) : change({query: ''}))});

  const whole = tree.total[0]!;
  const inside = tree.total[focus]!;
  const next = useMemo(() => {
    const found: number[] = [];
    for (let i = focus + 1; i < tree.end[focus]!; i = tree.end[i]!) found.push(i);
    return found;
  }, [tree, focus]);
  const scene: Omit<RingScene, 'ring' | 'hovered'> = {
    tree, names: profile.names, focus, selected: shown, matches, coloring, onlyKind,
    centreLines: [share(inside, whole), weightOf(unit, inside)],
  };
  const paint = (node: number) => {
    const kind = coloring.of(tree, node);
    return kind < 0 ? palette.node : coloring.paint(palette, kind);
  };
  const facts = useMemo(() => (shown >= 0 ? factsOf(view, shown) : null), [view, shown]);
  const text = (): string => {
    const rows: (string | number)[][] = [['ring', 'total', 'share', 'self', 'samples', 'method']];
    for (let i = focus; i < tree.end[focus]! && rows.length <= MOST_COPIED; i++) {
      if (tree.total[i]! < inside / 2000) continue;
      rows.push([tree.depth[i]! - tree.depth[focus]!, tree.total[i]!, (tree.total[i]! / whole).toFixed(6), tree.self[i]!,
                 tree.samples[i]!, profile.names[nameOfKey(tree.key[i]!)]!]);
    }
    return asTsv(rows);
  };
  const picture = (): HTMLCanvasElement => {
    const canvas = document.createElement('canvas');
    const ring = layoutRing(tree, focus, PICTURE / 2 - MARGIN);
    new RingPainter(canvas).draw({...scene, ring, hovered: -1}, PICTURE, PICTURE, 1, palette);
    return canvas;
  };
  const [active, setActive] = useState(-1);
  const [activeMethod, setActiveMethod] = useState(-1);
  const methods = useMemo(() => collectMethods(tree, profile.names.length, Math.max(focus, 1), tree.end[focus]!), [tree, focus]);
  const hottest = useMemo(() => orderMethods(methods, profile.names, 'self', /^".+"$/s.test(state.query) ? null : matches), [methods, matches]);
  return (
    <div class="columns">
      <section class="graph" aria-label="Ring chart">
        <div class="view-tools">
          <Breadcrumbs view={view} focus={focus} onZoom={zoomTo} onReset={() => zoomTo(0)} />
          <ExportButtons name={`${recording.head.title}-ring`} text={text} image={picture} />
        </div>
        <RingPanel {...props} view={view} scene={scene} onSelect={setSelected} onZoom={zoomTo} onUp={up} />
        <SelectionLine facts={facts} hint="Click an arc to put it into the centre; click the centre to go to its caller."
          onFind={(name) => change({isRegex: false, query: `"${name}"`}, true)}
          onCallers={(name) => change({view: 'callers', ...withMore(state, {'callers.method': name})}, true)}
          onFlame={() => change({view: 'flame', ...withMore(state, {'flame.zoom': zoomText(profile, tree, shown), 'flame.threads': '', 'flame.reverse': ''})}, true)} />
        <Legend view={view} palette={palette} only={onlyKind} onOnly={setOnlyKind} />
      </section>
      <section class="methods ring-table" aria-label="The innermost ring as a table">
        <h2>Called from the centre</h2>
        <VirtualTable id="ring-row" label="Calls of the innermost ring" rows={next.length} active={Math.min(active, next.length - 1)}
          onActive={(row) => {
            setActive(row);
            setSelected(next[row]!);
          }}
          onKey={(key, row) => {
            if (key === 'Enter' && row >= 0) zoomTo(next[row]!);
            else if (key === 'Backspace') up();
            else return false;
            return true;
          }}
          columns={[
            {id: 'share', label: 'of centre', isNumber: true, width: 84, cell: (row) => <ShareCell share={tree.total[next[row]!]! / inside} text={share(tree.total[next[row]!]!, inside)} />},
            {id: 'interval', label: stacks.exact === '' ? '95 % of all' : 'of all', title: stacks.exact === '' ? 'Its share of everything is in here with a probability of 95 %' : stacks.exact, isNumber: true, width: 90, cell: (row) => intervalText(tree, tree.total[next[row]!]!, tree.samples[next[row]!]!) || share(tree.total[next[row]!]!, whole)},
            {id: 'name', label: 'method', cell: (row) => (
              <button type="button" class="method" tabIndex={-1} onClick={() => zoomTo(next[row]!)}>
                <Swatch paint={paint(next[row]!)} /><MethodName name={profile.names[nameOfKey(tree.key[next[row]!]!)]!} isClass={tree.type[next[row]!] === CLASS} />
              </button>)},
          ]} />
        {tree.self[focus]! > 0 && <p class="muted">{share(tree.self[focus]!, inside)} is spent in the centre itself.</p>}
        <h2>Hottest methods in the chart</h2>
        <VirtualTable id="ring-method" label="Hottest methods in the chart" rows={hottest.length} active={Math.min(activeMethod, hottest.length - 1)}
          onActive={setActiveMethod}
          columns={[
            {id: 'self', label: 'self', isNumber: true, width: 84, cell: (row) => <ShareCell share={methods.self[hottest[row]!]! / inside} text={share(methods.self[hottest[row]!]!, inside)} />},
            {id: 'total', label: 'total', isNumber: true, width: 70, cell: (row) => share(methods.total[hottest[row]!]!, inside)},
            {id: 'name', label: 'method', cell: (row) => (
              <button type="button" class="method" tabIndex={-1} onClick={() => change({isRegex: false, query: `"${profile.names[hottest[row]!]!}"`}, true)}>
                <Swatch paint={profile.nodes.before === null ? coloring.paint(palette, methods.type[hottest[row]!]!) : palette.node} />
                <MethodName name={profile.names[hottest[row]!]!} isClass={methods.type[hottest[row]!] === CLASS} />
              </button>)},
          ]} />
      </section>
    </div>
  );
}

interface PanelProps extends StackViewProps {
  readonly view: View;
  readonly scene: Omit<RingScene, 'ring' | 'hovered'>;
  readonly onSelect: (node: number) => void;
  readonly onZoom: (node: number) => void;
  readonly onUp: () => void;
}

function RingPanel({view, scene, palette, onSelect, onZoom, onUp}: PanelProps) {
  const box = useRef<HTMLDivElement>(null);
  const canvas = useRef<HTMLCanvasElement>(null);
  const painter = useRef<RingPainter | null>(null);
  const [size, setSize] = useState({width: 0, height: 0});
  const [hover, setHover] = useState<Hover | null>(null);
  useLayoutEffect(() => {
    const measure = (): void => setSize({width: box.current!.clientWidth, height: box.current!.clientHeight});
    measure();
    const observer = new ResizeObserver(measure);
    observer.observe(box.current!);
    return () => observer.disconnect();
  }, []);
  const {tree, focus, selected} = scene;
  const radius = Math.max(Math.min(size.width, size.height) / 2 - MARGIN, 60);
  const ring: RingLayout = useMemo(() => layoutRing(tree, focus, radius), [tree, focus, radius]);
  useLayoutEffect(() => setHover(null), [ring]);
  useLayoutEffect(() => {
    if (size.width === 0) return;
    painter.current ??= new RingPainter(canvas.current!);
    painter.current.draw({...scene, ring, hovered: hover?.rectangle ?? -1}, size.width, size.height, window.devicePixelRatio || 1, palette);
  });
  const hitOf = (event: MouseEvent) => {
    const {left, top, width, height} = canvas.current!.getBoundingClientRect();
    return hitRing(ring, event.clientX - left - width / 2, event.clientY - top - height / 2);
  };
  const onMove = (event: MouseEvent): void => {
    const hit = hitOf(event);
    setHover(hit !== null && hit !== 'centre' ? {rectangle: hit.arc, x: event.clientX, y: event.clientY} : null);
  };
  const onClick = (event: MouseEvent): void => {
    const hit = hitOf(event);
    if (hit === 'centre') onUp();
    else if (hit !== null) onZoom(ring.layout.isRest[hit.arc] === 1 ? tree.parent[ring.layout.node[hit.arc]!]! : ring.layout.node[hit.arc]!);
  };
  const onKeyDown = (event: KeyboardEvent): void => {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    const arrow = ARROWS[event.key];
    if (arrow) onSelect(selected < 0 ? Math.min(focus + 1, tree.end[focus]! - 1) : Math.max(neighbour(ring.layout, tree, selected, arrow), focus));
    else if (event.key === 'Enter' && selected >= 0) onZoom(selected);
    else if (event.key === 'Backspace') onUp();
    else return;
    event.preventDefault();
  };
  return (
    <div class="ring" ref={box} tabIndex={0} role="application" aria-label="Ring chart" id="ring" data-main onKeyDown={onKeyDown}
      aria-describedby="ring-keys">
      <canvas ref={canvas} aria-hidden="true" onMouseMove={onMove} onMouseLeave={() => setHover(null)} onClick={onClick} />
      {ring.hidden > 0 && <p class="ring-note muted">{ring.hidden} more {ring.hidden === 1 ? 'level' : 'levels'} further out: click an arc to see them.</p>}
      <p id="ring-keys" class="hidden">
        Arrow keys move the selection, Enter puts it into the centre, Backspace goes to the caller. The table beside it
        says the same in text.
      </p>
      {hover && <Tooltip view={view} hover={hover} node={ring.layout.node[hover.rectangle]!} isRest={ring.layout.isRest[hover.rectangle] === 1} />}
    </div>
  );
}
