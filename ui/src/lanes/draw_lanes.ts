// Puts the lanes that can be seen onto a canvas. What is narrower than a pixel is added up, so that a thousand short
// waits look like what they are together.
import {CHART_FONT, fitted} from '../charts/canvas';
import {waitColor, type ChartColors} from '../charts/colors';
import {ticks} from '../charts/time';
import {firstAt, type ByThread, type Lane, type LaneData} from './lane_data';

export const LANE = 20; // height
export const AXIS = 22;
const PAD = 2;
const TICKS_FROM = 8; // pixels of a moment: then single samples are shown

// An interval in a lane that is marked: what was clicked, or who held the lock meanwhile.
export interface Mark {
  readonly thread: number;
  readonly begin: number;
  readonly end: number;
  readonly role: 'selected' | 'owner' | 'waker';
}

export interface LaneScene {
  readonly data: LaneData;
  readonly lanes: readonly Lane[];
  readonly laneOf: ReadonlyMap<number, number>; // by thread
  readonly closed: ReadonlySet<string>;
  readonly momentNs: number;
  readonly from: number; // ns, at the left of the lanes
  readonly to: number;
  readonly range: {readonly from: number; readonly to: number} | null; // the page's
  readonly marks: readonly Mark[];
  readonly cursor: number; // lane, -1: none
  readonly drag: {readonly from: number; readonly to: number} | null; // pixels from the left of the lanes
  readonly hoverX: number; // likewise, -1: none
}

export interface LaneView {
  readonly width: number;
  readonly height: number;
  readonly gutter: number;
  readonly scroll: number;
}

// Marked threads whose lanes are out of sight: they are shown once more, below the axis.
export function pinnedThreads(scene: Pick<LaneScene, 'marks' | 'laneOf'>, view: Pick<LaneView, 'height' | 'scroll'>): number[] {
  const threads = [...new Set(scene.marks.map(({thread}) => thread))];
  const isSeen = (thread: number): boolean => {
    const lane = scene.laneOf.get(thread);
    if (lane === undefined) return false;
    const top = laneTop(lane, view.scroll);
    return top >= AXIS && top + LANE <= view.height;
  };
  return threads.every(isSeen) ? [] : threads;
}

export const laneTop = (lane: number, scroll: number): number => AXIS + lane * LANE - scroll;
export const laneAt = (y: number, scroll: number): number => (y < AXIS ? -1 : Math.floor((y - AXIS + scroll) / LANE));

export function drawLanes(context: CanvasRenderingContext2D, scene: LaneScene, view: LaneView, colors: ChartColors): void {
  const {width, height, gutter} = view;
  const room = width - gutter;
  const scale = room / (scene.to - scene.from);
  const x = (ns: number): number => gutter + (ns - scene.from) * scale;
  const first = Math.max(0, Math.floor(view.scroll / LANE));
  const end = Math.min(scene.lanes.length, Math.ceil((view.scroll + height - AXIS) / LANE));
  const axis = ticks(scene.from, scene.to, room / 90);
  context.fillStyle = colors.line;
  for (const {at} of axis) context.fillRect(Math.round(x(at)), AXIS, 1, height - AXIS);

  context.save();
  context.beginPath();
  context.rect(gutter, AXIS, room, height - AXIS);
  context.clip();
  for (let lane = first; lane < end; lane++) {
    const {thread} = scene.lanes[lane]!;
    if (thread >= 0) drawThread(context, scene, thread, laneTop(lane, view.scroll), view, scale, colors);
  }
  if (scene.range !== null) {
    context.fillStyle = colors.veil;
    const left = x(scene.range.from);
    const right = x(scene.range.to);
    if (left > gutter) context.fillRect(gutter, AXIS, Math.min(left, width) - gutter, height);
    if (right < width) context.fillRect(Math.max(right, gutter), AXIS, width - Math.max(right, gutter), height);
  }
  const pinned = pinnedThreads(scene, view);
  const topOf = (thread: number): number | null => {
    const pin = pinned.indexOf(thread);
    if (pin >= 0) return AXIS + pin * LANE;
    const lane = scene.laneOf.get(thread);
    return lane === undefined ? null : laneTop(lane, view.scroll);
  };
  pinned.forEach((thread, i) => {
    context.fillStyle = colors.background;
    context.fillRect(gutter, AXIS + i * LANE, room, LANE);
    drawThread(context, scene, thread, AXIS + i * LANE, view, scale, colors);
  });
  drawMarks(context, scene, view, x, topOf, colors);
  if (scene.drag !== null) {
    context.fillStyle = colors.selection;
    context.strokeStyle = colors.accent;
    const left = gutter + Math.min(scene.drag.from, scene.drag.to);
    const wide = Math.abs(scene.drag.to - scene.drag.from);
    context.fillRect(left, AXIS, wide, height);
    context.strokeRect(left + 0.5, AXIS, wide, height);
  }
  if (scene.hoverX >= 0) {
    context.fillStyle = colors.muted;
    context.fillRect(gutter + Math.round(scene.hoverX), AXIS, 1, height);
  }
  context.restore();

  drawNames(context, scene, view, first, end, colors);
  pinned.forEach((thread, i) => {
    context.fillStyle = colors.background;
    context.fillRect(0, AXIS + i * LANE, gutter - 1, LANE);
    context.font = `bold ${CHART_FONT}`;
    context.fillStyle = colors.text;
    context.fillText(fitted(context, scene.data.threads.name[thread]!, gutter - 28), 20, AXIS + i * LANE + LANE / 2 + 0.5);
  });
  if (pinned.length > 0) {
    context.fillStyle = colors.accent;
    context.fillRect(0, AXIS + pinned.length * LANE, width, 2);
  }
  // The axis last: lanes scroll below it.
  context.fillStyle = colors.raised;
  context.fillRect(0, 0, width, AXIS);
  context.fillStyle = colors.line;
  context.fillRect(0, AXIS - 1, width, 1);
  context.font = CHART_FONT;
  for (const {at, label} of axis) {
    const left = x(at);
    if (left < gutter - 1 || left + 30 > width) continue;
    context.fillStyle = colors.line;
    context.fillRect(Math.round(left), 0, 1, AXIS);
    context.fillStyle = colors.muted;
    context.fillText(label, left + 4, AXIS / 2);
  }
  context.fillStyle = colors.muted;
  context.fillText('thread', 8, AXIS / 2);
}

function drawNames(context: CanvasRenderingContext2D, scene: LaneScene, view: LaneView, first: number, end: number, colors: ChartColors): void {
  const {gutter, width} = view;
  context.fillStyle = colors.background;
  context.fillRect(0, AXIS, gutter, view.height);
  for (let i = first; i < end; i++) {
    const lane = scene.lanes[i]!;
    const top = laneTop(i, view.scroll);
    if (lane.kind === 'group') {
      context.fillStyle = colors.raised;
      context.fillRect(0, top, width, LANE);
      context.font = `bold ${CHART_FONT}`;
      context.fillStyle = colors.text;
      const isClosed = scene.closed.has(lane.id);
      context.fillText(isClosed ? '\u25b8' : '\u25be', 6, top + LANE / 2 + 0.5);
      context.fillText(fitted(context, lane.label, gutter), 20, top + LANE / 2 + 0.5);
      const wide = context.measureText(fitted(context, lane.label, gutter)).width;
      context.font = CHART_FONT;
      context.fillStyle = colors.muted;
      context.fillText(lane.facts, Math.max(30 + wide, gutter + 6), top + LANE / 2 + 0.5);
    } else {
      const isMarked = scene.marks.some(({thread}) => thread === lane.thread);
      if (isMarked) {
        context.fillStyle = colors.selection;
        context.fillRect(0, top, width, LANE);
      }
      context.font = isMarked ? `bold ${CHART_FONT}` : CHART_FONT;
      context.fillStyle = colors.text;
      context.fillText(fitted(context, lane.label, gutter - 28), 20, top + LANE / 2 + 0.5);
      context.font = CHART_FONT;
    }
    if (i === scene.cursor) {
      context.strokeStyle = colors.accent;
      context.lineWidth = 2;
      context.strokeRect(1, top + 1, width - 2, LANE - 2);
    }
  }
  context.fillStyle = colors.line;
  context.fillRect(gutter - 1, AXIS, 1, view.height);
}

function drawThread(context: CanvasRenderingContext2D, scene: LaneScene, thread: number, top: number, view: LaneView, scale: number,
                    colors: ChartColors): void {
  const {data, momentNs} = scene;
  const {contentions, waits} = data;
  const y = top + PAD;
  const tall = LANE - 2 * PAD;
  if (waits !== null) {
    drawIntervals(context, scene, view, scale, data.waitRows, thread, waits.begin, waits.span, waits.length, y, tall,
      (row) => waitColor(colors, waits.kinds, waits.kind[row]!));
  }
  drawCpu(context, scene, thread, y, tall, view, scale, colors);
  if (contentions !== null) {
    drawIntervals(context, scene, view, scale, data.blocks, thread, contentions.begin, contentions.span, contentions.length, y, tall, () => colors.blocked);
  }
  if (momentNs * scale >= TICKS_FROM) drawSamples(context, scene, thread, y + tall, view, scale, colors);
}

function drawIntervals(context: CanvasRenderingContext2D, scene: LaneScene, view: LaneView, scale: number, by: ByThread, thread: number,
                       begins: Float64Array, spans: Float64Array, lengths: Float64Array, y: number, tall: number, colorOf: (row: number) => string): void {
  const {from, to} = scene;
  const {gutter, width} = view;
  const end = by.start[thread + 1]!;
  let pixel = -1; // the one that is being filled by short ones
  let filled = 0;
  let color = '';
  const flush = (): void => {
    if (pixel >= 0 && filled > 0) {
      context.globalAlpha = Math.min(1, 0.25 + 0.75 * filled);
      context.fillStyle = color;
      context.fillRect(gutter + pixel, y, 1, tall);
      context.globalAlpha = 1;
    }
    pixel = -1;
    filled = 0;
  };
  for (let i = firstAt(scene.data.threads, thread, by, begins, from); i < end; i++) {
    const row = by.rows[i]!;
    const begin = begins[row]!;
    if (begin > to) break;
    const left = (begin - from) * scale;
    const right = left + spans[row]! * scale;
    if (right < 0) continue;
    if (right - left >= 1) {
      flush();
      context.fillStyle = colorOf(row);
      // What stands for several is paler: they were somewhere in there.
      if (lengths[row]! < spans[row]!) context.globalAlpha = 0.15 + 0.85 * (lengths[row]! / spans[row]!);
      const from0 = Math.max(left, 0);
      context.fillRect(gutter + from0, y, Math.max(Math.min(right, width) - from0, 1), tall);
      context.globalAlpha = 1;
      continue;
    }
    const at = Math.max(Math.floor(left), 0);
    if (at !== pixel) {
      flush();
      pixel = at;
      color = colorOf(row);
    }
    filled += lengths[row]! * scale;
  }
  flush();
}

function drawCpu(context: CanvasRenderingContext2D, scene: LaneScene, thread: number, y: number, tall: number, view: LaneView,
                 scale: number, colors: ChartColors): void {
  const {data: {cpu}, momentNs, from, to} = scene;
  const end = cpu.start[thread + 1]!;
  const wide = momentNs * scale;
  context.fillStyle = colors.running;
  const bar = (left: number, width: number, part: number): void => {
    if (part <= 0) return;
    const high = Math.max(1.5, Math.min(part, 1) * tall);
    context.fillRect(view.gutter + left, y + tall - high, width, high);
  };
  let low = cpu.start[thread]!;
  let high = end;
  const wanted = Math.floor(from / momentNs);
  while (low < high) {
    const middle = (low + high) >> 1;
    if (cpu.moment[middle]! < wanted) low = middle + 1;
    else high = middle;
  }
  let pixel = -1;
  let ns = 0;
  for (let i = low; i < end; i++) {
    const begin = cpu.moment[i]! * momentNs;
    if (begin > to) break;
    const left = (begin - from) * scale;
    if (wide >= 1) {
      bar(left, Math.max(wide, 1), cpu.ns[i]! / momentNs);
      continue;
    }
    const at = Math.floor(left);
    if (at !== pixel) {
      bar(pixel, 1, ns * scale);
      pixel = at;
      ns = 0;
    }
    ns += cpu.ns[i]!;
  }
  if (pixel >= 0) bar(pixel, 1, ns * scale);
}

// When in its moment a sample was taken is not kept: they are spread over it.
function drawSamples(context: CanvasRenderingContext2D, scene: LaneScene, thread: number, bottom: number, view: LaneView,
                     scale: number, colors: ChartColors): void {
  const {data: {cpu}, momentNs, from, to} = scene;
  const wide = momentNs * scale;
  context.fillStyle = colors.tick;
  for (let i = cpu.start[thread]!; i < cpu.start[thread + 1]!; i++) {
    const begin = cpu.moment[i]! * momentNs;
    if (begin + momentNs < from) continue;
    if (begin > to) break;
    const shown = Math.min(cpu.samples[i]!, Math.floor(wide / 2));
    for (let k = 0; k < shown; k++) {
      context.fillRect(view.gutter + (begin - from) * scale + ((k + 0.5) * wide) / shown, bottom - 5, 1, 5);
    }
  }
}

function drawMarks(context: CanvasRenderingContext2D, scene: LaneScene, view: LaneView, x: (ns: number) => number,
                   topOf: (thread: number) => number | null, colors: ChartColors): void {
  const selected = scene.marks.find(({role}) => role === 'selected');
  for (const mark of scene.marks) {
    const top = topOf(mark.thread);
    if (top === null) continue;
    const left = Math.max(x(mark.begin), view.gutter - 2);
    const right = Math.min(Math.max(x(mark.end), left + 3), view.width + 2);
    context.strokeStyle = mark.role === 'selected' ? colors.text : colors.accent;
    context.lineWidth = 2;
    context.strokeRect(left - 1, top + 1, right - left + 2, LANE - 2);
    if (mark.role === 'selected' || selected === undefined) continue;
    // From the one who held the lock, or woke it up, to the one who waited.
    const target = topOf(selected.thread);
    if (target === null) continue;
    const at = mark.role === 'waker' ? x(selected.end) : Math.min(Math.max((left + right) / 2, view.gutter), view.width);
    const down = target > top;
    const fromY = down ? top + LANE : top;
    const toY = down ? target : target + LANE;
    context.lineWidth = 1.5;
    context.beginPath();
    context.moveTo(at, fromY);
    context.lineTo(at, toY);
    context.stroke();
    context.fillStyle = colors.accent;
    context.beginPath();
    context.moveTo(at, toY);
    context.lineTo(at - 4, toY + (down ? -7 : 7));
    context.lineTo(at + 4, toY + (down ? -7 : 7));
    context.fill();
  }
}
