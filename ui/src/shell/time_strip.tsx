// The recording's time as a thin strip: how much happened when, and the range that all of the page is about. Dragging
// chooses a range, dragging inside it moves it; its ends are sliders for the keyboard.
import {useLayoutEffect, useMemo, useRef, useState} from 'preact/hooks';
import {weightByMoment} from '../model/filter';
import {duration} from '../model/format';
import type {TimeRange, ViewProps} from './state';
import {threadMask} from './threads_filter';
import {useProfile} from './use_profile';

export interface TimeStripProps {
  readonly values: Float64Array; // by moment
  readonly moments: number;
  readonly momentNs: number;
  readonly range: TimeRange | null;
  readonly onRange: (range: TimeRange | null) => void;
  readonly dark: boolean;
  readonly label: string;
  readonly height?: number;
}

const COLOURS = {
  light: {bar: '#7aa7d6', out: '#ced6e0', back: '#f1f3f6'},
  dark: {bar: '#3f7fb8', out: '#3a4452', back: '#1c1f25'},
};
const LEAST_DRAG = 3; // pixels: less is a click

// Sums of neighbouring moments, as many as there are pixels.
export function binned(values: Float64Array, moments: number, bins: number): Float64Array {
  const sums = new Float64Array(bins);
  for (let m = 0; m < Math.min(values.length, moments); m++) sums[Math.min(bins - 1, Math.floor((m * bins) / moments))]! += values[m]!;
  return sums;
}

// The height of the strip. A few moments that are far above all others must not make those flat.
export function topOf(sums: Float64Array): number {
  const used = sums.filter((sum) => sum > 0).sort();
  if (used.length === 0) return 0;
  const high = used[Math.floor(used.length * 0.95)]!;
  const highest = used[used.length - 1]!;
  return highest > 6 * high ? 1.5 * high : highest;
}

export function rangeText(range: TimeRange, momentNs: number): string {
  const at = (moment: number): string => `${((moment * momentNs) / 1e9).toFixed(momentNs < 1e8 ? 2 : 1)}`;
  return `${at(range.first)} \u2013 ${at(range.end)}\u202fs (${duration((range.end - range.first) * momentNs)})`;
}

type Drag = {readonly anchor: number; readonly moved: TimeRange | null; readonly x: number};

export function TimeStrip(props: TimeStripProps) {
  const {values, moments, momentNs, range, onRange, height = 30} = props;
  const box = useRef<HTMLDivElement>(null);
  const canvas = useRef<HTMLCanvasElement>(null);
  const [width, setWidth] = useState(0);
  const [hover, setHover] = useState(-1); // moment under the mouse
  const drag = useRef<Drag | null>(null);

  useLayoutEffect(() => {
    const measure = (): void => setWidth(box.current!.clientWidth);
    measure();
    const observer = new ResizeObserver(measure);
    observer.observe(box.current!);
    return () => observer.disconnect();
  }, []);

  useLayoutEffect(() => {
    if (width === 0) return;
    const ratio = window.devicePixelRatio || 1;
    const element = canvas.current!;
    const bins = Math.max(1, Math.min(moments, Math.floor(width / 2)));
    element.width = Math.round(width * ratio);
    element.height = Math.round(height * ratio);
    const context = element.getContext('2d', {alpha: false})!;
    context.setTransform(ratio, 0, 0, ratio, 0, 0);
    const colours = props.dark ? COLOURS.dark : COLOURS.light;
    context.fillStyle = colours.back;
    context.fillRect(0, 0, width, height);
    const sums = binned(values, moments, bins);
    const most = topOf(sums);
    for (let b = 0; b < bins && most > 0; b++) {
      const tall = Math.min(sums[b]! / most, 1) * (height - 3);
      const moment = ((b + 0.5) * moments) / bins;
      context.fillStyle = range === null || (moment >= range.first && moment < range.end) ? colours.bar : colours.out;
      const left = Math.round((b * width * ratio) / bins) / ratio;
      const right = Math.round(((b + 1) * width * ratio) / bins) / ratio;
      context.fillRect(left, height - tall, right - left, tall);
      if (sums[b]! > most) context.fillRect(left, 0, right - left, 2); // it is higher than the strip
    }
  }, [values, moments, width, height, range, props.dark]);

  const momentAt = (event: PointerEvent): number => {
    const {left} = box.current!.getBoundingClientRect();
    return Math.min(Math.max(((event.clientX - left) / Math.max(width, 1)) * moments, 0), moments);
  };
  const onPointerDown = (event: PointerEvent): void => {
    if (event.button !== 0) return;
    const anchor = momentAt(event);
    const isInside = range !== null && anchor >= range.first && anchor < range.end && !event.shiftKey;
    drag.current = {anchor, moved: isInside ? range : null, x: event.clientX};
    box.current!.setPointerCapture(event.pointerId);
  };
  const onPointerMove = (event: PointerEvent): void => {
    const now = momentAt(event);
    setHover(Math.floor(now));
    const from = drag.current;
    if (from === null || Math.abs(event.clientX - from.x) < LEAST_DRAG) return;
    if (from.moved !== null) {
      const length = from.moved.end - from.moved.first;
      const first = Math.min(Math.max(Math.round(from.moved.first + now - from.anchor), 0), moments - length);
      onRange({first, end: first + length});
      return;
    }
    const first = Math.floor(Math.min(from.anchor, now));
    onRange({first, end: Math.min(moments, Math.max(first + 1, Math.ceil(Math.max(from.anchor, now))))});
  };
  const onPointerUp = (event: PointerEvent): void => {
    const from = drag.current;
    drag.current = null;
    if (from !== null && Math.abs(event.clientX - from.x) < LEAST_DRAG && from.moved === null) onRange(null);
  };

  const shown = range ?? {first: 0, end: moments};
  const slide = (end: 'first' | 'end') => (event: KeyboardEvent): void => {
    const step = (event.shiftKey ? 10 : 1) * Math.max(1, Math.round(moments / 200));
    const moves: Record<string, number> = {ArrowLeft: -step, ArrowDown: -step, ArrowRight: step, ArrowUp: step,
                                           PageDown: -10 * step, PageUp: 10 * step, Home: -moments, End: moments};
    if (event.key === 'Escape' && range !== null) {
      onRange(null);
    } else if (moves[event.key] !== undefined) {
      const next = {...shown, [end]: shown[end] + moves[event.key]!};
      next.first = Math.min(Math.max(next.first, 0), shown.end - 1);
      next.end = Math.max(Math.min(next.end, moments), next.first + 1);
      onRange(next.first === 0 && next.end === moments ? null : next);
    } else {
      return;
    }
    event.preventDefault();
    event.stopPropagation();
  };
  const handle = (end: 'first' | 'end', name: string) => (
    <div role="slider" tabIndex={0} class={`handle ${end}`} aria-label={`${name} of the range of time`} aria-valuemin={0}
      aria-valuemax={moments} aria-valuenow={shown[end]} aria-valuetext={`${((shown[end] * momentNs) / 1e9).toFixed(2)} seconds`}
      onKeyDown={slide(end)} style={{left: `${(100 * shown[end]) / Math.max(moments, 1)}%`}} />
  );
  const isRight = hover > 0.85 * moments; // the words go to the left of the line
  return (
    <div class="time-strip" role="group" aria-label={props.label} ref={box} style={{height: `${height}px`}}
      onPointerDown={onPointerDown} onPointerMove={onPointerMove} onPointerUp={onPointerUp}
      onPointerCancel={() => (drag.current = null)} onPointerLeave={() => setHover(-1)}>
      <canvas ref={canvas} aria-hidden="true" />
      {range !== null && <div class="range" aria-hidden="true" style={{
        left: `${(100 * range.first) / moments}%`, width: `${(100 * (range.end - range.first)) / moments}%`}} />}
      {hover >= 0 && hover < moments && (
        <div class={`at${isRight ? ' right' : ''}`} aria-hidden="true" style={{left: `${(100 * hover) / moments}%`}}>
          <span>{((hover * momentNs) / 1e9).toFixed(momentNs < 1e8 ? 2 : 1)}{'\u202f'}s</span>
        </div>)}
      {handle('first', 'Begin')}
      {handle('end', 'End')}
    </div>
  );
}

// The strip above every view: the weight that the stack views show.
export function PageTimeStrip({recording, state, change, dark}: ViewProps) {
  const {loaded} = useProfile(recording, state.weight);
  const values = useMemo(() => (loaded === null ? new Float64Array(0)
    : weightByMoment(loaded.profile, threadMask(loaded.profile, recording.threads, state.thread))), [loaded, state.thread]);
  const {moments, moment_ns: momentNs} = recording.head;
  const started = useRef(false); // a drag is one step of the browser's history, not hundreds
  if (values.length === 0 || moments < 2) return null;
  const seconds = (moments * momentNs) / 1e9;
  return (
    <div class="strip-row" onPointerDown={() => (started.current = false)} onKeyDown={() => (started.current = false)}>
      <span class="strip-label muted">{loaded!.head.what || loaded!.head.name}<br />over {duration(seconds * 1e9)}</span>
      <TimeStrip values={values} moments={moments} momentNs={momentNs} range={state.range} dark={dark}
        label={`Range of time, of ${duration(seconds * 1e9)}`}
        onRange={(range) => {
          change({range}, !started.current);
          started.current = true;
        }} />
    </div>
  );
}
