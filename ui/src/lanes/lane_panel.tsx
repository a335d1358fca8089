// The lanes, and what mouse and keyboard do to them.
import {useEffect, useLayoutEffect, useMemo, useRef, useState} from 'preact/hooks';
import {ChartActions} from '../charts/actions';
import {placeOn, prepare, useSize} from '../charts/canvas';
import {chartColors, waitColor} from '../charts/colors';
import {FilterChips} from '../charts/filter_chips';
import {rangeBetween, spanOf, timeLabel} from '../charts/time';
import {Tooltip, type Tip} from '../charts/tooltip';
import type {Profile} from '../data/profile';
import {count, duration} from '../model/format';
import {withMore} from '../shell/page_state';
import type {ViewProps} from '../shell/state';
import {threadLabel, threadTest} from '../shell/threads_filter';
import {AXIS, drawLanes, LANE, laneAt, pinnedThreads, type LaneScene} from './draw_lanes';
import {hitAt, orderLanes, sumsOf, type Hit, type LaneData} from './lane_data';
import {LaneDetails} from './lane_details';
import {causesOf, formatSelection, mainCause, marksOf, parseSelection, placeOf, type Cause, type Selection} from './selection';
import {ThreadTable, threadText} from './thread_table';
import {wakerWords} from './waits';

interface Window {
  readonly from: number;
  readonly to: number;
}

const LEAST_WINDOW = 2000; // ns
const LEAST_DRAG = 4;
const ZOOM = 1.6;

function parseWindow(text: string | undefined, span: number): Window | null {
  const found = /^(\d{1,16})-(\d{1,16})$/.exec(text ?? '');
  if (found === null) return null;
  return within({from: Number(found[1]), to: Number(found[2])}, span);
}

export function within(window: Window, span: number): Window {
  const length = Math.min(Math.max(window.to - window.from, LEAST_WINDOW), span);
  const from = Math.min(Math.max(window.from, 0), span - length);
  return {from, to: from + length};
}

export function zoomed(window: Window, at: number, factor: number, span: number): Window {
  const length = (window.to - window.from) / factor;
  const part = (at - window.from) / (window.to - window.from);
  return within({from: at - length * part, to: at + length * (1 - part)}, span);
}

export function LanePanel({recording, state, change, dark, data, profile}: ViewProps & {data: LaneData; profile: Profile | null}) {
  const {head, threads} = recording;
  const {more} = state;
  const momentNs = Math.max(head.moment_ns, 1);
  const span = spanOf(head);
  const range = useMemo(() => (state.range === null ? null
    : {from: state.range.first * momentNs, to: state.range.end * momentNs}), [state.range]);
  const shownWindow = useMemo(() => parseWindow(more['threads.time'], span) ?? within(range ?? {from: 0, to: span}, span),
    [more['threads.time'], range, span]);
  const find = more['threads.find'] ?? '';
  const closed = useMemo(() => new Set((more['threads.closed'] ?? '').split('~').filter((id) => id !== '')), [more['threads.closed']]);
  const asTable = more['threads.table'] === '1';
  const onlyActive = more['threads.active'] === '1';

  // What threads came to decides their order: in the page's range, not in the zoom, so that lanes stay where they are.
  const rangeSums = useMemo(() => sumsOf(data, range?.from ?? -Infinity, range?.to ?? Infinity, momentNs), [data, range]);
  const isChosen = useMemo(() => threadTest(threads, state.thread), [threads, state.thread]);
  const activeSums = useMemo(() => (onlyActive ? sumsOf(data, shownWindow.from, shownWindow.to, momentNs) : null), [data, onlyActive, shownWindow]);
  const {lanes, hidden} = useMemo(() => {
    const part = find.toLowerCase();
    const wanted = (thread: number): boolean => (isChosen === null || isChosen(thread)) &&
      (activeSums === null || activeSums.cpu[thread]! + activeSums.blocked[thread]! + activeSums.waiting[thread]! > 0) &&
      (part === '' || threads.name[thread]!.toLowerCase().includes(part) || threads.pool[thread]!.toLowerCase().includes(part));
    return orderLanes(data, rangeSums, wanted, closed);
  }, [data, rangeSums, isChosen, find, closed, activeSums]);
  const laneOf = useMemo(() => new Map(lanes.map((lane, i) => [lane.thread, i] as const).filter(([thread]) => thread >= 0)), [lanes]);
  const selection = useMemo(() => parseSelection(more['threads.at'], data), [more['threads.at'], data]);
  const causes = useMemo(() => (selection === null ? [] : causesOf(data, selection)), [selection]);
  const causeIndex = more['threads.owner'] ? Number(more['threads.owner']) : mainCause(causes);
  const cause: Cause | null = causes[causeIndex] ?? null;
  const marks = useMemo(() => marksOf(data, selection, cause, momentNs), [data, selection, cause]);

  const scroller = useRef<HTMLDivElement>(null);
  const canvas = useRef<HTMLCanvasElement>(null);
  const size = useSize(scroller);
  const [scroll, setScroll] = useState(0);
  const [hover, setHover] = useState<{x: number; tip: Tip | null} | null>(null);
  const [drag, setDrag] = useState<{from: number; to: number; pan: Window | null} | null>(null);
  const [cursor, setCursor] = useState(-1);
  const gutter = Math.min(Math.max(Math.round(size.width * 0.16), 110), 240);
  const room = Math.max(size.width - gutter, 1);
  const nsPerPixel = (shownWindow.to - shownWindow.from) / room;
  const colors = chartColors(dark);

  const set = (values: Readonly<Record<string, string>>, step = false): void => change(withMore(state, values), step);
  const setWindow = (next: Window, step = false): void => {
    const {from, to} = within(next, span);
    const isAll = from <= 0 && to >= span && range === null;
    set({'threads.time': isAll ? '' : `${Math.round(from)}-${Math.round(to)}`}, step);
  };

  const scrollToLane = (thread: number): void => {
    const lane = laneOf.get(thread);
    const element = scroller.current;
    if (lane === undefined || element === null) return;
    const top = lane * LANE;
    const seen = element.clientHeight - AXIS;
    if (top < element.scrollTop || top + LANE > element.scrollTop + seen) element.scrollTop = Math.max(0, top - seen / 2);
  };
  // What is selected is in sight, in time and place: also when a link leads here.
  const shownFor = useRef('');
  const byHand = useRef(false); // what is selected now
  useEffect(() => {
    const wanted = `${more['threads.at'] ?? ''} ${more['threads.owner'] ?? ''}`;
    if (selection === null || size.width === 0 || shownFor.current === wanted) return;
    shownFor.current = wanted;
    const place = placeOf(data, selection, momentNs);
    const length = Math.max(place.end - place.begin, 1);
    // Whoever clicked it sees it; a link or a key may lead to what is elsewhere or too small.
    const isSeen = place.end > shownWindow.from && place.begin < shownWindow.to && (byHand.current || length / nsPerPixel >= 4);
    if (!isSeen) {
      const wide = byHand.current ? shownWindow.to - shownWindow.from : length * 8;
      setWindow({from: (place.begin + place.end - wide) / 2, to: (place.begin + place.end + wide) / 2});
    }
    scrollToLane(place.thread);
    if (cause !== null && cause.thread >= 0) scrollToLane(cause.thread);
  }, [selection, cause, size.width, laneOf]);

  const scene: LaneScene = {
    data, lanes, laneOf, closed, momentNs, from: shownWindow.from, to: shownWindow.to, range, marks, cursor,
    drag: drag !== null && drag.pan === null ? drag : null, hoverX: hover !== null && drag === null ? hover.x : -1,
  };
  useLayoutEffect(() => {
    if (size.width === 0 || asTable || canvas.current === null) return;
    const context = prepare(canvas.current, size.width, size.height, size.ratio, colors.background);
    drawLanes(context, scene, {width: size.width, height: size.height, gutter, scroll}, colors);
  });

  // Not by React's means: the page must not scroll while the wheel zooms.
  const latest = useRef({shownWindow, gutter, nsPerPixel, setWindow});
  latest.current = {shownWindow, gutter, nsPerPixel, setWindow};
  useEffect(() => {
    const element = scroller.current;
    if (element === null) return undefined;
    const onWheel = (event: WheelEvent): void => {
      const now = latest.current;
      const {x} = placeOn(element, event);
      const sideways = event.shiftKey ? event.deltaY || event.deltaX : Math.abs(event.deltaX) > Math.abs(event.deltaY) ? event.deltaX : 0;
      if (event.ctrlKey || event.metaKey) {
        const at = now.shownWindow.from + (x - now.gutter) * now.nsPerPixel;
        now.setWindow(zoomed(now.shownWindow, at, Math.exp(-event.deltaY * 0.003), span));
      } else if (sideways !== 0) {
        const by = sideways * now.nsPerPixel;
        now.setWindow({from: now.shownWindow.from + by, to: now.shownWindow.to + by});
      } else {
        return;
      }
      event.preventDefault();
    };
    element.addEventListener('wheel', onWheel, {passive: false});
    return () => element.removeEventListener('wheel', onWheel);
  }, [span, asTable]);

  const timeAt = (x: number): number => shownWindow.from + (x - gutter) * nsPerPixel;
  const hitOf = (event: MouseEvent): {lane: number; thread: number; at: number; hit: Hit} | null => {
    const {x, y} = placeOn(canvas.current!, event);
    const pinned = pinnedThreads(scene, {height: size.height, scroll});
    const pin = Math.floor((y - AXIS) / LANE);
    const isPinned = pin >= 0 && pin < pinned.length;
    const lane = isPinned ? laneOf.get(pinned[pin]!) ?? -1 : laneAt(y, scroll);
    const thread = isPinned ? pinned[pin]! : lanes[lane]?.thread ?? -1;
    if (!isPinned && (lane < 0 || lane >= lanes.length)) return null;
    const at = timeAt(x);
    return {lane, thread, at, hit: thread < 0 || x < gutter ? {kind: 'idle'} : hitAt(data, thread, at, nsPerPixel * 1.5, momentNs)};
  };
  const tipOf = (event: MouseEvent): Tip | null => {
    const found = hitOf(event);
    if (found === null || found.thread < 0) return null;
    return {x: event.clientX, y: event.clientY, title: threadLabel(threads, found.thread), lines: linesOf(found.thread, found.at, found.hit)};
  };
  const nameOf = (thread: number): string => threadLabel(threads, thread);
  const linesOf = (thread: number, at: number, hit: Hit): Tip['lines'] => {
    const {contentions, waits, cpu} = data;
    const when = {text: `at ${timeLabel(at, nsPerPixel)}`, muted: true};
    switch (hit.kind) {
      case 'blocked': {
        const main = causesOf(data, {kind: 'blocked', row: hit.row});
        const owner = main[mainCause(main)];
        const lock = contentions!.lock[hit.row]!;
        return [{text: `blocked ${duration(contentions!.length[hit.row]!)}${contentions!.more[hit.row]! > 0 ? `, ${count(1 + contentions!.more[hit.row]!)} times` : ''}${lock > 0 ? ` by ${contentions!.objects[lock - 1]!}` : ''}`, color: colors.blocked},
                {text: owner !== undefined && owner.thread >= 0 ? `held by ${nameOf(owner.thread)}; a click goes there` : 'the owner is not known'}, when];
      }
      case 'waiting':
        return [{text: `waiting ${duration(waits!.length[hit.row]!)}: ${waits!.kinds[waits!.kind[hit.row]!] ?? ''}`, color: waitColor(colors, waits!.kinds, waits!.kind[hit.row]!)},
                {text: `woken by ${wakerWords(waits!, hit.row, nameOf)}`}, when];
      case 'running':
        return [{text: `running ${duration(cpu.ns[hit.cell]!)} in ${duration(momentNs)}, ${count(cpu.samples[hit.cell]!)} samples`, color: colors.running}, when];
      case 'idle':
        return [{text: `nothing recorded`}, {text: `in all: ${duration(rangeSums.cpu[thread]!)} CPU, ${duration(rangeSums.blocked[thread]!)} blocked`, muted: true}, when];
    }
  };
  const select = (next: Selection | null): void => {
    byHand.current = true;
    set({'threads.at': next === null ? '' : formatSelection(next), 'threads.owner': ''}, next !== null);
  };
  const toggleGroup = (id: string): void => {
    const next = new Set(closed);
    if (!next.delete(id)) next.add(id);
    set({'threads.closed': [...next].join('~')});
  };
  const onClick = (event: MouseEvent): void => {
    const found = hitOf(event);
    if (found === null) return;
    setCursor(found.lane);
    if (found.thread < 0) toggleGroup(lanes[found.lane]!.id);
    else if (found.hit.kind === 'running') select({kind: 'running', thread: found.thread, moment: data.cpu.moment[found.hit.cell]!});
    else if (found.hit.kind !== 'idle') select(found.hit);
    else select(null);
  };
  const onPointerDown = (event: PointerEvent): void => {
    const {x} = placeOn(canvas.current!, event);
    if (event.button > 1 || x < gutter) return;
    setDrag({from: x - gutter, to: x - gutter, pan: event.button === 1 || event.shiftKey ? shownWindow : null});
    canvas.current!.setPointerCapture(event.pointerId);
  };
  const onPointerMove = (event: PointerEvent): void => {
    const {x} = placeOn(canvas.current!, event);
    if (drag === null) {
      setHover({x: x - gutter, tip: x >= gutter || laneAt(placeOn(canvas.current!, event).y, scroll) >= 0 ? tipOf(event) : null});
      return;
    }
    if (drag.pan !== null) {
      const by = (drag.from - (x - gutter)) * nsPerPixel;
      setWindow({from: drag.pan.from + by, to: drag.pan.to + by});
    }
    setDrag({...drag, to: Math.min(Math.max(x - gutter, 0), room)});
  };
  const onPointerUp = (event: PointerEvent): void => {
    const from = drag;
    setDrag(null);
    const {x, y} = placeOn(canvas.current!, event);
    if (from !== null && Math.abs(from.to - from.from) >= LEAST_DRAG) {
      if (from.pan !== null) return;
      const at = (pixel: number): number => shownWindow.from + pixel * nsPerPixel;
      setWindow({from: at(Math.min(from.from, from.to)), to: at(Math.max(from.from, from.to))}, true);
    } else if (event.button === 0 && (from !== null || x < gutter) && y >= AXIS) {
      onClick(event);
    }
  };

  const step = (direction: 1 | -1): void => {
    const thread = lanes[cursor]?.thread ?? -1;
    if (thread < 0 || data.contentions === null) return;
    const {start, rows} = data.blocks;
    const own = rows.subarray(start[thread]!, start[thread + 1]!);
    if (own.length === 0) return;
    const now = selection?.kind === 'blocked' ? own.indexOf(selection.row) : -1;
    const next = now < 0 ? (direction > 0 ? 0 : own.length - 1) : Math.min(Math.max(now + direction, 0), own.length - 1);
    select({kind: 'blocked', row: own[next]!});
  };
  const moveCursor = (to: number): void => {
    const next = Math.min(Math.max(to, 0), lanes.length - 1);
    setCursor(next);
    const element = scroller.current!;
    const top = next * LANE;
    const seen = element.clientHeight - AXIS;
    if (top < element.scrollTop) element.scrollTop = top;
    else if (top + LANE > element.scrollTop + seen) element.scrollTop = top + LANE - seen;
  };
  const onKeyDown = (event: KeyboardEvent): void => {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    const length = shownWindow.to - shownWindow.from;
    const middle = (shownWindow.from + shownWindow.to) / 2;
    const pan = (part: number): void => setWindow({from: shownWindow.from + part * length, to: shownWindow.to + part * length});
    switch (event.key) {
      case 'ArrowLeft': case 'a': pan(-0.15); break;
      case 'ArrowRight': case 'd': pan(0.15); break;
      case 'ArrowUp': moveCursor(cursor - 1); break;
      case 'ArrowDown': moveCursor(cursor + 1); break;
      case 'PageUp': moveCursor(cursor - 10); break;
      case 'PageDown': moveCursor(cursor + 10); break;
      case '+': case '=': case 'w': setWindow(zoomed(shownWindow, middle, ZOOM, span)); break;
      case '-': case 's': setWindow(zoomed(shownWindow, middle, 1 / ZOOM, span)); break;
      case 'Home': case '0': setWindow(range ?? {from: 0, to: span}); break;
      case 'n': step(1); break;
      case 'p': step(-1); break;
      case 'Enter': {
        const lane = lanes[cursor];
        if (lane?.kind === 'group') toggleGroup(lane.id);
        else if (cause !== null && cause.thread >= 0) {
          scrollToLane(cause.thread);
          setCursor(laneOf.get(cause.thread) ?? cursor);
        }
        break;
      }
      case 'Escape':
        if (selection === null) return;
        select(null);
        break;
      default: return;
    }
    event.preventDefault();
    event.stopPropagation();
  };

  const sums = useMemo(() => (asTable ? sumsOf(data, shownWindow.from, shownWindow.to, momentNs) : rangeSums), [data, asTable, shownWindow, rangeSums]);
  const shownThreads = useMemo(() => lanes.filter(({thread}) => thread >= 0).map(({thread}) => thread), [lanes]);
  const isZoomed = more['threads.time'] !== undefined && more['threads.time'] !== '';
  return (
    <div class={`lanes view${selection !== null ? ' with-details' : ''}`}>
      <div class="panel-head">
        <input type="search" placeholder="Find threads" aria-label="Find threads by name or pool" value={find}
          onInput={(event) => set({'threads.find': (event.target as HTMLInputElement).value})} />
        <span class="number">{timeLabel(shownWindow.from, nsPerPixel * 10)} to {timeLabel(shownWindow.to, nsPerPixel * 10)}{' '}
          <span class="muted">({duration(shownWindow.to - shownWindow.from)})</span></span>
        <div class="actions" role="group" aria-label="Zoom">
          <button type="button" onClick={() => setWindow(zoomed(shownWindow, (shownWindow.from + shownWindow.to) / 2, ZOOM, span))} aria-label="Zoom in" title="Zoom in (+)">+</button>
          <button type="button" onClick={() => setWindow(zoomed(shownWindow, (shownWindow.from + shownWindow.to) / 2, 1 / ZOOM, span))} aria-label="Zoom out" title="Zoom out (-)">{'\u2212'}</button>
          <button type="button" disabled={!isZoomed} onClick={() => set({'threads.time': ''}, true)} title="Show all of the selected time (Home)">All</button>
          <button type="button" disabled={!isZoomed} title="Everything on the page is then about the time that is shown"
            onClick={() => change({range: rangeBetween(head, shownWindow.from / momentNs, shownWindow.to / momentNs), ...withMore(state, {'threads.time': ''})}, true)}>
            Use as range
          </button>
          <button type="button" aria-pressed={onlyActive} onClick={() => set({'threads.active': onlyActive ? '' : '1'})}
            title="Only threads that did something in the time that is shown">Active only</button>
        </div>
        <span class="gap" />
        <ChartActions name="threads" text={() => threadText(threads, sums, shownThreads)}
          {...(asTable ? {} : {canvas: () => canvas.current})}
          table={{shown: asTable, toggle: () => set({'threads.table': asTable ? '' : '1'})}} />
      </div>
      <FilterChips recording={recording} state={state} change={change} dark={dark} />
      {!asTable && <Legend data={data} dark={dark} />}
      {asTable ? <ThreadTable threads={threads} sums={sums} shown={shownThreads} onThread={(thread) => change({thread: `t${thread}`}, true)} /> : (
        <div class="lane-scroll" ref={scroller} tabIndex={0} data-main role="application" aria-label="Threads over time" aria-describedby="lane-keys"
          onScroll={() => setScroll(scroller.current!.scrollTop)} onKeyDown={onKeyDown}
          style={{height: `${Math.max(lanes.length * LANE + AXIS + 2, 80)}px`}}>
          <canvas ref={canvas} class="lane-canvas" aria-hidden="true" style={{height: `${size.height}px`}} onPointerDown={onPointerDown}
            onPointerMove={onPointerMove} onPointerUp={onPointerUp} onPointerCancel={() => setDrag(null)} onPointerLeave={() => setHover(null)}
            onDblClick={() => set({'threads.time': ''}, true)} />
          <div style={{height: `${Math.max(lanes.length * LANE + AXIS - size.height, 0)}px`}} />
        </div>
      )}
      <p id="lane-keys" class="lane-help muted">
        Drag to zoom, double-click for all, <kbd>Ctrl</kbd> + wheel zooms, <kbd>Shift</kbd> + wheel or drag moves; <kbd>+</kbd> <kbd>-</kbd>{' '}
        <kbd>{'\u2190'}</kbd> <kbd>{'\u2192'}</kbd> likewise; <kbd>n</kbd> <kbd>p</kbd> step through the blocked times of a lane, <kbd>Enter</kbd> goes to the owner.
        {hidden > 0 && ` ${count(hidden)} ${hidden === 1 ? 'thread' : 'threads'} of which nothing was recorded ${hidden === 1 ? 'is' : 'are'} not shown.`}
      </p>
      {selection !== null && (
        <LaneDetails data={data} profile={profile} selection={selection} momentNs={momentNs} cause={causeIndex}
          onCause={(next) => {
            set({'threads.owner': String(next)});
            const thread = causes[next]?.thread ?? -1;
            if (thread >= 0) {
              scrollToLane(thread);
              setCursor(laneOf.get(thread) ?? -1);
            }
          }} onClose={() => select(null)} />
      )}
      {hover?.tip && drag === null && <Tooltip tip={hover.tip} />}
    </div>
  );
}

function Legend({data, dark}: {data: LaneData; dark: boolean}) {
  const colors = chartColors(dark);
  const {waits} = data;
  const used = useMemo(() => {
    if (waits === null) return [];
    const sums = new Float64Array(waits.kinds.length);
    for (let i = 0; i < waits.count; i++) sums[waits.kind[i]!]! += waits.length[i]!;
    return waits.kinds.map((_, i) => i).filter((i) => sums[i]! > 0).sort((a, b) => sums[b]! - sums[a]!).slice(0, 10);
  }, [waits]);
  const items = [
    ...(data.cpu.moment.length > 0 ? [{label: 'running', color: colors.running}] : []),
    ...(data.blocks.rows.length > 0 ? [{label: 'blocked by a lock', color: colors.blocked}] : []),
    ...used.map((kind) => ({label: waits!.kinds[kind]!, color: waitColor(colors, waits!.kinds, kind)})),
  ];
  return (
    <ul class="chart-legend" aria-label="Colours">
      {items.map(({label, color}, i) => <li key={i}><span class="swatch chart-swatch" style={{background: color}} />{label}</li>)}
    </ul>
  );
}
