// The tree of calls as a table that opens and closes: the twin of the flame graph for those who read.
import {useEffect, useMemo, useState} from 'preact/hooks';
import {factsOf, intervalText, weightOf, type View} from '../flame/facts';
import {afterOf} from '../model/changes';
import {CLASS, nameOfKey} from '../model/frame_types';
import {count, share} from '../model/format';
import {nodeAtPath, type Tree} from '../model/tree';
import {matchMarks, openShare, pathMarks, visibleRows} from '../model/tree_rows';
import {asTsv, ExportButtons} from '../shell/export_buttons';
import {withMore} from '../shell/page_state';
import {useKeys} from '../shell/use_keys';
import {ShareCell, VirtualTable, type TableColumn} from '../shell/virtual_table';
import {ExactNote} from './exact_note';
import {MethodName} from './method_button';
import {differenceText, factorText} from './methods_view';
import {SelectionLine} from './selection_line';
import type {StackViewProps} from './stack_views';
import {Swatch} from './swatch';
import {keysOfZoom, zoomText} from './zoom_path';

const INDENT = 12;
const MOST_INDENT = 40;
const MOST_COPIED = 20_000;

export function TreeView(props: StackViewProps) {
  const {recording, stacks, state, change, palette} = props;
  const {profile, unit, coloring, matches} = stacks;
  const byThread = state.more['tree.threads'] === '1';
  const tree = byThread ? stacks.callsByThread() : stacks.calls;
  const isCompared = profile.nodes.before !== null;
  const [turned, setTurned] = useState<ReadonlyMap<number, boolean>>(() => new Map()); // opened or closed by hand
  const at = state.more['tree.at'] ?? '';
  const active = useMemo(() => (at === '' ? 0 : nodeAtPath(tree, keysOfZoom(profile, at))), [tree, at]);

  const paths = useMemo(() => pathMarks(tree), [tree]);
  const openFrom = useMemo(() => openShare(tree) * tree.total[0]!, [tree]);
  const marks = useMemo(() => (matches === null ? null : matchMarks(tree, matches)), [tree, matches]);
  // Whatever leads to the active node is open: the link to it shows it.
  const above = useMemo(() => {
    const found = new Set<number>();
    for (let i = active; i > 0; i = tree.parent[i]!) found.add(tree.parent[i]!);
    return found;
  }, [tree, active]);
  const isOpen = (node: number): boolean =>
    turned.get(paths[node]!) ?? (above.has(node) || (marks === null ? tree.total[node]! >= openFrom : (marks[node]! & 2) !== 0));
  const rows = useMemo(() => visibleRows(tree, isOpen, marks), [tree, turned, marks, above]);
  const activeRow = useMemo(() => (active === 0 ? -1 : rows.node.indexOf(active)), [rows, active]);
  const setActive = (node: number): void => change(withMore(state, {'tree.at': zoomText(profile, tree, node)}));
  const turn = (node: number, open: boolean): void => {
    if (tree.end[node] === node + 1) return;
    const next = new Map(turned);
    next.set(paths[node]!, open);
    setTurned(next);
  };
  const turnAll = (open: boolean): void => {
    if (active === 0) {
      setTurned(new Map());
      return;
    }
    const next = new Map(turned);
    for (let i = active; i < tree.end[active]! && next.size < 50_000; i++) next.set(paths[i]!, open);
    setTurned(next);
  };
  useEffect(() => setTurned(new Map()), [matches]);
  useKeys({
    t: () => change(withMore(state, {'tree.threads': byThread ? '' : '1', 'tree.at': ''}), true),
    Escape: () => (active > 0 ? change(withMore(state, {'tree.at': ''})) : change({query: ''})),
  });

  const view: View = useMemo(() => ({profile, calls: tree, tree, unit, coloring, events: stacks.events, exact: stacks.exact}), [tree]);
  const whole = tree.total[0]!;
  const node = (row: number): number => rows.node[row]!;
  const weight = (value: number): string => weightOf(unit, value);
  const after = (row: number): number => afterOf(tree.total[node(row)]!, tree.before[node(row)]!);
  const method: TableColumn = {
    id: 'name', label: 'method',
    cell: (row) => <TreeName tree={tree} node={node(row)} indent={rows.indent[row]!} isOpen={isOpen(node(row))} view={view}
      paint={paintOf(view, node(row), palette)} isMatch={marks !== null && (marks[node(row)]! & 1) !== 0}
      onTurn={() => turn(node(row), !isOpen(node(row)))} />,
  };
  const columns: TableColumn[] = isCompared ? [
    {id: 'before', label: 'total before', isNumber: true, width: 90, cell: (row) => weight(tree.before[node(row)]!)},
    {id: 'after', label: 'after', isNumber: true, width: 76, cell: (row) => weight(after(row))},
    {id: 'change', label: 'change', isNumber: true, width: 84, cell: (row) => differenceText(weight, tree.before[node(row)]!, after(row))},
    {id: 'factor', label: 'factor', isNumber: true, width: 70, cell: (row) => factorText(tree.before[node(row)]!, after(row))},
    {id: 'self', label: 'self change', isNumber: true, width: 90, cell: (row) => {
      const before = tree.selfBefore[node(row)]!;
      return differenceText(weight, before, afterOf(tree.self[node(row)]!, before));
    }},
    {id: 'samples', label: stacks.events, isNumber: true, width: 72, cell: (row) => count(tree.samples[node(row)]!)},
    method,
  ] : [
    {id: 'share', label: 'total %', isNumber: true, width: 96, cell: (row) => <ShareCell share={tree.total[node(row)]! / whole} text={share(tree.total[node(row)]!, whole)} />},
    ...(tree.sampled === 0 ? [] : [{id: 'interval', label: '95 % sure', isNumber: true, width: 92, title: 'The true share is in here with a probability of 95 %',
     cell: (row: number) => intervalText(tree, tree.total[node(row)]!, tree.samples[node(row)]!)} as TableColumn]),
    {id: 'total', label: 'total', isNumber: true, width: 78, cell: (row) => weight(tree.total[node(row)]!)},
    {id: 'self', label: 'self', isNumber: true, width: 78, cell: (row) => (tree.self[node(row)]! > 0 ? weight(tree.self[node(row)]!) : '')},
    {id: 'samples', label: stacks.events, isNumber: true, width: 72, cell: (row) => count(tree.samples[node(row)]!)},
    method,
  ];
  const onKey = (key: string, row: number): boolean => {
    if (key !== 'ArrowRight' && key !== 'ArrowLeft' && key !== 'Enter') return false;
    if (row < 0) return false;
    const here = node(row);
    const hasBelow = tree.end[here]! > here + 1;
    const open = hasBelow && isOpen(here);
    if (key === 'Enter') turn(here, !open);
    else if (key === 'ArrowRight' && hasBelow && !open) turn(here, true);
    else if (key === 'ArrowRight' && hasBelow && row + 1 < rows.count) setActive(node(row + 1));
    else if (key === 'ArrowLeft' && open) turn(here, false);
    else if (key === 'ArrowLeft' && tree.parent[here]! > 0) setActive(tree.parent[here]!);
    return true;
  };
  const text = (): string => asTsv([
    ['total', 'share', 'self', 'samples', ...(isCompared ? ['before'] : []), 'method'],
    ...Array.from(rows.node.subarray(0, MOST_COPIED), (n) => [
      isCompared ? afterOf(tree.total[n]!, tree.before[n]!) : tree.total[n]!, (tree.total[n]! / whole).toFixed(6),
      isCompared ? afterOf(tree.self[n]!, tree.selfBefore[n]!) : tree.self[n]!, tree.samples[n]!,
      ...(isCompared ? [tree.before[n]!] : []), '  '.repeat(tree.depth[n]! - 1) + profile.names[nameOfKey(tree.key[n]!)]!])]);
  const facts = useMemo(() => (activeRow >= 0 ? factsOf(view, active) : null), [view, active, activeRow]);
  return (
    <section class="full" aria-labelledby="tree-title">
      <div class="view-tools">
        <h2 id="tree-title">Call tree <span class="muted">{weight(whole)}, {count(tree.samples[0]!)} {stacks.events}<ExactNote text={stacks.exact} /></span></h2>
        <button type="button" onClick={() => turnAll(true)} disabled={active === 0} title="Open all below the active row">Open all</button>
        <button type="button" onClick={() => turnAll(false)} title={active === 0 ? 'As it was at first' : 'Close all below the active row'}>
          {active === 0 ? 'Reset' : 'Close all'}</button>
        <button type="button" aria-pressed={byThread} aria-keyshortcuts="t" title="By thread (t)"
          onClick={() => change(withMore(state, {'tree.threads': byThread ? '' : '1', 'tree.at': ''}), true)}>By thread</button>
        <ExportButtons name={`${recording.head.title}-calls`} text={text} />
      </div>
      {rows.count === 0 && <p class="empty" role="status">No frame matches the search.</p>}
      <VirtualTable id="call" label="Call tree" rows={rows.count} columns={columns} active={activeRow} isMain
        onActive={(row) => setActive(node(row))} onKey={onKey}
        treeRow={(row) => ({level: tree.depth[node(row)]!, isOpen: tree.end[node(row)]! > node(row) + 1 ? isOpen(node(row)) : null})} />
      <SelectionLine facts={facts} hint="The arrow keys move, open and close; t puts threads first."
        onFind={(name) => change({isRegex: false, query: `"${name}"`}, true)}
        onCallers={(name) => change({view: 'callers', ...withMore(state, {'callers.method': name})}, true)}
        onFlame={() => change({view: 'flame', ...withMore(state, {
          'flame.zoom': zoomText(profile, tree, active), 'flame.threads': byThread ? '1' : '', 'flame.reverse': ''})}, true)} />
    </section>
  );
}

function paintOf(view: View, node: number, palette: StackViewProps['palette']) {
  const kind = view.coloring.of(view.tree, node);
  return kind < 0 ? palette.node : view.coloring.paint(palette, kind);
}

interface NameProps {
  readonly tree: Tree;
  readonly node: number;
  readonly indent: number;
  readonly isOpen: boolean;
  readonly view: View;
  readonly paint: ReturnType<typeof paintOf>;
  readonly isMatch: boolean;
  readonly onTurn: () => void;
}

function TreeName({tree, node, indent, isOpen, view, paint, isMatch, onTurn}: NameProps) {
  const hasBelow = tree.end[node]! > node + 1;
  const kind = view.coloring.of(tree, node);
  return (
    <span class={`tree-name${isMatch ? ' match' : ''}`} style={{paddingLeft: `${Math.min(indent, MOST_INDENT) * INDENT}px`}}
      onDblClick={onTurn}>
      {hasBelow
        ? <button type="button" class="turn" tabIndex={-1} aria-label={isOpen ? 'Close' : 'Open'} onClick={(event) => {
            event.stopPropagation();
            onTurn();
          }}>{isOpen ? '\u25be' : '\u25b8'}</button>
        : <span class="turn" />}
      <Swatch paint={paint} />
      <span class="hidden">{kind < 0 ? 'thread' : view.coloring.kinds[kind]!.name} </span>
      <MethodName name={view.profile.names[nameOfKey(tree.key[node]!)]!} isClass={tree.type[node] === CLASS} />
    </span>
  );
}
