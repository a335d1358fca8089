// The heat map: patterns that sums over a second hide, such as pauses, bursts and beats.
import {useLayoutEffect, useMemo, useRef, useState} from 'preact/hooks';
import {ChartActions, textTable} from '../charts/actions';
import {placeOn, prepare, useSize} from '../charts/canvas';
import {chartColors, heatColor} from '../charts/colors';
import {rangeBetween, ticks, timeLabel} from '../charts/time';
import {Tooltip, type Tip} from '../charts/tooltip';
import type {Head} from '../data/head';
import {clipped} from '../data/visible_text';
import {bytes, duration, interval} from '../model/format';
import type {TimeRange} from '../shell/state';
import {rangeByKey} from './brush';
import {cellMoments, heatMap} from './heat';

interface Props {
  readonly head: Head;
  readonly values: Float64Array; // by moment
  readonly what: string; // "CPU time"
  readonly unit: string;
  readonly range: TimeRange | null;
  readonly onRange: (range: TimeRange | null, step: boolean) => void;
  readonly dark: boolean;
  readonly weight: string; // name of the profile
  readonly onWeight: (weight: string) => void;
}

const GUTTER = 128;
const AXIS = 20;
const HEIGHT = 150;

export function HeatView({head, values, what, unit, range, onRange, dark, weight, onWeight}: Props) {
  const box = useRef<HTMLDivElement>(null);
  const canvas = useRef<HTMLCanvasElement>(null);
  const size = useSize(box);
  const [hover, setHover] = useState<Tip | null>(null);
  const [asTable, setAsTable] = useState(false);
  const drag = useRef<{first: number; end: number; isMade: boolean} | null>(null);
  const map = useMemo(() => heatMap(head, values), [head, values]);
  const colors = chartColors(dark);
  const amount = (value: number): string => (unit === 'bytes' ? bytes(value) : duration(value));
  useLayoutEffect(() => {
    if (map === null || size.width === 0 || canvas.current === null) return;
    const context = prepare(canvas.current, size.width, HEIGHT + AXIS, size.ratio, colors.background);
    const room = size.width - GUTTER;
    // The last column may be shorter: columns are as wide as their time, so that the axis fits the timeline's.
    const wide = (room * map.columnMoments) / head.moments;
    const tall = HEIGHT / map.rows;
    const snap = (value: number): number => Math.round(value * size.ratio) / size.ratio;
    context.fillStyle = colors.raised;
    context.fillRect(GUTTER, 0, room, HEIGHT);
    for (let c = 0; c < map.columns; c++) {
      const left = snap(GUTTER + c * wide);
      const right = Math.min(snap(GUTTER + (c + 1) * wide), size.width);
      for (let r = 0; r < map.rows; r++) {
        const cell = cellMoments(map, head.moments, c, r);
        if (cell.first >= cell.end) continue;
        const value = map.values[c * map.rows + r]!;
        const isOut = range !== null && (cell.end <= range.first || cell.first >= range.end);
        const top = snap(HEIGHT - (r + 1) * tall);
        if (value > 0) {
          context.globalAlpha = isOut ? 0.25 : 1;
          context.fillStyle = heatColor(colors.heat, 0.08 + 0.92 * (value / map.most));
          context.fillRect(left, top, right - left, snap(HEIGHT - r * tall) - top);
        }
      }
    }
    context.globalAlpha = 1;
    const span = head.moments * head.moment_ns;
    context.fillStyle = colors.muted;
    for (const {at, label} of ticks(0, span, room / 80)) {
      const left = GUTTER + (at / span) * room;
      context.textAlign = left > size.width - 30 ? 'right' : 'left';
      context.fillText(label, left + (left > size.width - 30 ? -3 : 3), HEIGHT + AXIS / 2);
    }
    context.textAlign = 'right';
    const columnNs = map.columnMoments * head.moment_ns;
    context.fillText(`${interval(columnNs)} later`, GUTTER - 6, 7);
    context.fillText('begin of the column', GUTTER - 6, HEIGHT - 6);
    context.textAlign = 'left';
    // What the colours mean.
    const steps = 40;
    for (let i = 0; i < steps; i++) {
      context.fillStyle = heatColor(colors.heat, 0.08 + (0.92 * i) / steps);
      context.fillRect(4 + (i * (GUTTER - 50)) / steps, HEIGHT / 2 - 6, (GUTTER - 50) / steps + 0.5, 8);
    }
    context.fillStyle = colors.muted;
    context.fillText('0', 4, HEIGHT / 2 + 12);
    context.textAlign = 'right';
    context.fillText(amount(map.most), GUTTER - 46 + 30, HEIGHT / 2 + 12);
    context.textAlign = 'left';
  });
  if (map === null) return null;

  const cellAt = (event: MouseEvent): {column: number; row: number} => {
    const {x, y} = placeOn(canvas.current!, event);
    const wide = ((size.width - GUTTER) * map.columnMoments) / head.moments;
    return {column: Math.min(Math.max(Math.floor((x - GUTTER) / wide), 0), map.columns - 1),
            row: Math.min(Math.max(Math.floor(((HEIGHT - y) / HEIGHT) * map.rows), 0), map.rows - 1)};
  };
  const momentsAt = (event: MouseEvent): {first: number; end: number} => {
    const {column, row} = cellAt(event);
    return cellMoments(map, head.moments, column, row);
  };
  const onPointerMove = (event: PointerEvent): void => {
    if (placeOn(canvas.current!, event).x < GUTTER) {
      setHover(null);
      return;
    }
    const {column, row} = cellAt(event);
    const {first, end} = cellMoments(map, head.moments, column, row);
    if (first < end) {
      setHover({x: event.clientX, y: event.clientY, title: `${timeLabel(first * head.moment_ns)} to ${timeLabel(end * head.moment_ns)}`,
                lines: [{text: `${what} ${amount(map.values[column * map.rows + row]!)}`}, {text: 'click or drag to choose this time', muted: true}]});
    }
    const from = drag.current;
    if (from === null) return;
    onRange(rangeBetween(head, Math.min(from.first, first), Math.max(from.end, end)), !from.isMade);
    from.isMade = true;
  };
  const onPointerDown = (event: PointerEvent): void => {
    if (event.button !== 0 || event.detail > 1 || placeOn(canvas.current!, event).x < GUTTER) return;
    const cell = momentsAt(event);
    if (cell.first >= cell.end) return;
    drag.current = {...cell, isMade: true};
    canvas.current!.setPointerCapture(event.pointerId);
    onRange(rangeBetween(head, cell.first, cell.end), true);
  };
  const onKeyDown = (event: KeyboardEvent): void => {
    const next = rangeByKey(head, range, event);
    if (next === undefined) return;
    event.preventDefault();
    event.stopPropagation();
    onRange(next, range === null || next === null);
  };
  const hottest = (): string[][] => {
    const order = Array.from(map.values.keys()).filter((i) => map.values[i]! > 0).sort((a, b) => map.values[b]! - map.values[a]!).slice(0, 50);
    return [['from', 'to', what], ...order.map((i) => {
      const {first, end} = cellMoments(map, head.moments, Math.floor(i / map.rows), i % map.rows);
      return [timeLabel(first * head.moment_ns), timeLabel(end * head.moment_ns), amount(map.values[i]!)];
    })];
  };
  return (
    <section aria-label={`Heat map of ${what}`}>
      <div class="panel-head">
        <h2>{what} in detail</h2>
        {head.profiles.length > 1 && (
          <select aria-label="What the heat map and the hottest methods show" value={weight}
            onChange={(event) => onWeight((event.target as HTMLSelectElement).value)}>
            {head.profiles.map(({name, what: words}) => <option key={name} value={name}>{clipped(words || name, 40)}</option>)}
          </select>
        )}
        <span class="muted">cells of {interval(map.rowMoments * head.moment_ns)}, columns of {interval(map.columnMoments * head.moment_ns)}</span>
        <span class="gap" />
        <ChartActions name="heat-map" text={() => textTable(hottest(), [true, true, true])} canvas={() => canvas.current}
          table={{shown: asTable, toggle: () => setAsTable(!asTable)}} />
      </div>
      <div ref={box} tabIndex={0} role="application" class="brushed" onKeyDown={onKeyDown}
        aria-label="Heat map; arrow keys move the selected range, with Shift its end, Escape clears it. The table says the same in text.">
        <canvas ref={canvas} class="chart-canvas" aria-hidden="true" style={{height: `${HEIGHT + AXIS}px`}} onPointerDown={onPointerDown}
          onPointerMove={onPointerMove} onPointerUp={() => (drag.current = null)} onPointerCancel={() => (drag.current = null)}
          onPointerLeave={() => setHover(null)} onDblClick={() => onRange(null, true)} />
      </div>
      {asTable && (
        <div class="table-scroll plain-table" tabIndex={0}>
          <table>
            <caption>The 50 hottest times</caption>
            <thead><tr>{hottest()[0]!.map((cell, i) => <th key={i} scope="col" class="number">{cell}</th>)}</tr></thead>
            <tbody>{hottest().slice(1).map((row, r) => <tr key={r}>{row.map((cell, i) => <td key={i} class="number">{cell}</td>)}</tr>)}</tbody>
          </table>
        </div>
      )}
      {hover && <Tooltip tip={hover} />}
    </section>
  );
}
