// The drill-down into lock contention: aspects in any order, the tree of what they came to, the chains of those who were
// blocked and of those who held the locks, and who blocked whom.
import {useMemo} from 'preact/hooks';
import {ChartActions, textTable} from '../charts/actions';
import {FilterChips} from '../charts/filter_chips';
import {usePart} from '../charts/parts';
import {cutOf} from '../charts/time';
import {clipped} from '../data/visible_text';
import {count, duration, share} from '../model/format';
import {withMore} from '../shell/page_state';
import type {ViewProps} from '../shell/state';
import {threadTest} from '../shell/threads_filter';
import {AspectPanel} from './aspect_panel';
import {ASPECT_WORDS, aspectsOf, labelOf, MORE, shortLabelOf, type Aspect} from './aspects';
import {blameGraph, casesOf, type GraphOf} from './blame';
import {BlameView} from './blame_view';
import {contentionsOf, isLock, OwnerKind, type Contentions} from './contentions';
import {Details} from './details';
import {searchContentions} from './lock_search';
import {lockTree, nodeAt, pathOf, type LockTree} from './lock_tree';
import {formatOpen, formatPath, parseOpen, parsePath, visibleRows, type TreeRow} from './tree_rows';
import {TreeTable} from './tree_table';

export function Locks(props: ViewProps) {
  const {recording} = props;
  const part = usePart(recording, 'locks');
  if (part.state === 'failed') return <p class="empty" role="alert">The locks cannot be shown: {clipped(part.message, 300)}.</p>;
  if (part.state === 'loading') return <p class="empty" role="status">Reading the locks</p>;
  if (part.columns === null) {
    const text = recording.head.locks?.text;
    return (
      <div class="empty" role="status">
        <p>{text ? clipped(text, 600) : 'This recording has no lock events.'}</p>
        <p><code>tarsier record --lock</code> records who was blocked by locks, and who held them.</p>
      </div>
    );
  }
  let data: Contentions;
  try {
    data = contentionsOf(part.columns, recording);
  } catch (error) {
    return <p class="empty" role="alert">The locks cannot be shown: {error instanceof Error ? error.message : String(error)}.</p>;
  }
  return <Drill {...props} data={data} />;
}

const GRAPHS: readonly GraphOf[] = ['thread', 'pool', 'method'];

function Drill({recording, state, change, dark, data}: ViewProps & {data: Contentions}) {
  const {head, threads} = recording;
  const {more} = state;
  const byText = more['locks.by'];
  const by = useMemo(() => aspectsOf(byText), [byText]);
  const found = useMemo(() => searchContentions(data, threads, state.query, state.isRegex), [data, state.query, state.isRegex]);
  const foundRows = found !== null && 'rows' in found ? found.rows : null;
  const cut = useMemo(() => cutOf(head, state.range, threadTest(threads, state.thread), foundRows),
    [recording, state.range, state.thread, foundRows]);
  const tree = useMemo(() => lockTree(data, threads, cut, by), [data, cut, by]);
  const open = useMemo(() => parseOpen(tree, more['locks.open']), [tree, more['locks.open']]);
  const rows = useMemo(() => visibleRows(tree, open), [tree, open]);
  const selected = useMemo(() => {
    const path = parsePath(more['locks.sel']);
    return path === null ? 0 : Math.max(nodeAt(tree, path), 0);
  }, [tree, more['locks.sel']]);
  const path = useMemo(() => pathOf(tree, selected), [tree, selected]);
  const cases = useMemo(() => casesOf(data, cut, by, path), [data, cut, by, path]);
  const hasPools = useMemo(() => threads.pool.some((pool) => pool !== ''), [threads]);
  const of: GraphOf = GRAPHS.find((each) => each === more['locks.graph']) ?? (tree.byOwner[OwnerKind.Chain]! * 2 >= tree.byOwner[OwnerKind.Thread]! ? 'method' : 'thread');
  const graph = useMemo(() => blameGraph(data, threads, cut, by, path, of), [data, cut, by, path, of]);

  const set = (values: Readonly<Record<string, string>>, step = false): void => change(withMore(state, values), step);
  const onBy = (next: readonly Aspect[]): void =>
    set({'locks.by': next.join(','), 'locks.sel': '', 'locks.open': '', 'locks.case': ''}, true);
  const onSelect = (node: number): void => {
    // What is selected must be in sight: its callers are open.
    const opened = new Set(open);
    for (let at = tree.parent[node]!; at > 0; at = tree.parent[at]!) opened.add(at);
    set({'locks.sel': formatPath(pathOf(tree, node)), 'locks.case': '',
         ...(opened.size !== open.size ? {'locks.open': formatOpen(tree, opened)} : {})});
  };
  const onToggle = (node: number, isOpen: boolean): void => {
    const opened = new Set(open);
    if (isOpen) opened.add(node);
    else opened.delete(node);
    set({'locks.open': formatOpen(tree, opened), 'locks.sel': formatPath(pathOf(tree, node)), 'locks.case': ''});
  };
  const onEdge = (owner: number, blocked: number): void => {
    const what = of === 'method' ? 'method' : 'thread';
    const next: readonly Aspect[] = [`owner-${what}`, `blocked-${what}`, 'class', 'owner-chain'];
    const way = of === 'pool' || owner === MORE ? [] : blocked === MORE ? [owner] : [owner, blocked];
    set({'locks.by': next.join(','), 'locks.sel': formatPath(way), 'locks.open': formatPath(way.slice(0, 1)), 'locks.case': ''}, true);
  };
  const title = selected === 0 ? 'All contentions' : path.map((key, i) => shortLabelOf(data, threads, by[i]!, key)).join(' \u203a ');
  const expandAll = (levels: number): void => {
    const opened = new Set<number>();
    for (let node = 1; node < tree.count && opened.size < 60; node++) if (tree.level[node]! <= levels && tree.level[node]! < by.length) opened.add(node);
    set({'locks.open': formatOpen(tree, opened)});
  };

  return (
    <div class="locks view">
      <AspectPanel by={by} onBy={onBy} />
      <FilterChips recording={recording} state={state} change={change} dark={dark} />
      <div class="locks-line">
        <Summary tree={tree} isFiltered={!cut.whole || cut.isChosen !== null} head={recording.head} />
        <input type="search" placeholder="Find locks, methods, threads" aria-label="Find contentions by lock, method or thread"
          aria-invalid={found !== null && 'error' in found} value={state.query}
          onInput={(event) => change({query: (event.target as HTMLInputElement).value})} />
        {found !== null && <Matched found={found} data={data} tree={tree} />}
        <span class="gap" />
        <button type="button" onClick={() => set({'locks.open': 'none'})}>Close all</button>
        <button type="button" onClick={() => expandAll(1)} disabled={by.length < 2}>Open the first level</button>
        <ChartActions name="locks" text={() => treeText(tree, threads, rows)} />
      </div>
      {tree.times[0] === 0 && <p class="empty" role="status">{whyEmpty(state, found !== null, tree)}</p>}
      <div class="locks-columns">
        <TreeTable tree={tree} threads={threads} rows={rows} selected={selected} onSelect={onSelect} onToggle={onToggle} />
        <BlameView graph={graph} of={of} onOf={(next) => set({'locks.graph': next})} hasPools={hasPools} dark={dark} onEdge={onEdge} />
      </div>
      <Details data={data} threads={threads} cases={cases} at={Number(more['locks.case'] ?? 0) || 0} title={title}
        onAt={(at) => set({'locks.case': String(at)})}
        onShow={(row) => change({view: 'threads', ...withMore(state, {'threads.at': `b${row}`})}, true)} />
    </div>
  );
}

function whyEmpty(state: ViewProps['state'], isSearch: boolean, tree: LockTree): string {
  if (isSearch) return 'No contention matches the search.';
  if (tree.byGroup[2]! + tree.byGroup[3]! > 0) return 'No thread was blocked by a lock here; threads were parked for other things: add Kind of lock to see them.';
  return state.range !== null || state.thread !== '' ? 'No thread was blocked by a lock in the selected time and threads.' : 'No thread was blocked by a lock.';
}

function Summary({tree, isFiltered, head}: {tree: LockTree; isFiltered: boolean; head: ViewProps['recording']['head']}) {
  const total = tree.blocked[0]!;
  const owners = tree.byOwner;
  const parked = tree.by.includes('group') ? 0 : tree.byGroup[2]! + tree.byGroup[3]!;
  const kept = head.locks;
  const leftOut = (kept as {owners_left_out_ns?: number} | undefined)?.owners_left_out_ns ?? 0;
  return (
    <p class="locks-summary">
      <strong>{duration(total)}</strong> blocked in <strong>{count(tree.times[0]!)}</strong> contentions
      {isFiltered ? ' of the selected time and threads' : ''}
      {total > 0 && <span class="muted">
        {'; owner known with its chain '}{share(owners[OwnerKind.Chain]!, total)}, only the thread {share(owners[OwnerKind.Thread]!, total)},
        {' hand-off '}{share(owners[OwnerKind.HandOff]!, total)}, unknown {share(owners[OwnerKind.Unknown]!, total)}
      </span>}
      {parked > 0 && <span class="muted">; without {duration(parked)} parked for conditions (add Kind of lock)</span>}
      {kept !== undefined && kept.kept < kept.contentions && (
        <span class="muted">; {count(kept.contentions - kept.kept)} contentions with {duration(kept.total_ns - kept.kept_ns)} had no room in this page</span>
      )}
      {leftOut > 0 && !isFiltered && <span class="muted">; of {duration(leftOut)} the owner had no room: it counts as unknown</span>}
      {isFiltered && tree.data.pieceLongest !== null && <span class="muted">; about: short contentions are added up, their exact times are not kept</span>}
    </p>
  );
}

function Matched({found, data, tree}: {found: NonNullable<ReturnType<typeof searchContentions>>; data: Contentions; tree: LockTree}) {
  if ('error' in found) return <output class="found">{found.error}</output>;
  let all = 0;
  for (let i = 0; i < data.count; i++) if (isLock(data.group[i]!)) all += data.length[i]!;
  return <output class="found">{share(tree.blocked[0]!, Math.max(all, tree.blocked[0]!))} of the recording matched</output>;
}

// What can be seen of the tree, as text.
function treeText(tree: LockTree, threads: ViewProps['recording']['threads'], rows: readonly TreeRow[]): string {
  const total = tree.blocked[0]!;
  const lines = rows.map(({node, level}) => {
    const {p50, p95} = tree.spread(node);
    const times = tree.times[node]!;
    return [duration(tree.blocked[node]!), share(tree.blocked[node]!, total), count(times), duration(Math.floor(tree.blocked[node]! / Math.max(times, 1))),
            duration(p50), duration(p95), duration(tree.longest[node]!),
            '  '.repeat(level - 1) + labelOf(tree.data, threads, tree.by[level - 1]!, tree.key[node]!)];
  });
  const head = ['blocked', 'share', 'times', 'mean', 'p50', 'p95', 'max', tree.by.map((aspect) => ASPECT_WORDS[aspect]).join(' > ')];
  return `${duration(total)} blocked in ${count(tree.times[0]!)} contentions\n` +
    textTable([head, ...lines], [true, true, true, true, true, true, true, false]);
}
