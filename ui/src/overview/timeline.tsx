// One row for each quantity over a common axis of time. Dragging chooses the range that all of the page is about.
import type {ComponentChildren} from 'preact';
import {useLayoutEffect, useMemo, useRef, useState} from 'preact/hooks';
import {ChartActions, textTable} from '../charts/actions';
import {fitted, placeOn, prepare, useSize} from '../charts/canvas';
import {chartColors, type ChartColors} from '../charts/colors';
import {rangeBetween, ticks, timeLabel} from '../charts/time';
import {Tooltip, type Tip} from '../charts/tooltip';
import type {Head} from '../data/head';
import {bytes, duration, share} from '../model/format';
import type {TimeRange} from '../shell/state';
import {rangeByKey} from './brush';
import {bucketsFor, inBuckets, type Buckets, type Series} from './series';

interface Props {
  readonly head: Head;
  readonly series: readonly Series[];
  readonly range: TimeRange | null;
  readonly onRange: (range: TimeRange | null, step: boolean) => void;
  readonly dark: boolean;
  readonly limits: ComponentChildren; // what the page is limited to; in the head, so that nothing moves while a range is drawn
}

const ROW = 58;
const GAP = 8;
const AXIS = 20;
const GUTTER = 128;
const LEAST_DRAG = 3;

interface Scaled {
  readonly series: Series;
  readonly layers: readonly Float64Array[]; // by bucket
  readonly most: number; // of what is drawn on top of each other
}

// How much a bucket's amount is in the unit of its row.
function inUnit(series: Series, amount: number, bucketNs: number): number {
  return series.unit === 'bytes' ? (amount * 1e9) / bucketNs : amount / bucketNs;
}

export function unitText(series: Series, value: number): string {
  const digits = value >= 10 ? value.toFixed(0) : value >= 1 ? value.toFixed(1) : value.toFixed(2);
  switch (series.unit) {
    case 'cpus': return `${digits} CPUs`;
    case 'threads': return `${digits} threads`;
    case 'bytes': return `${bytes(value)}/s`;
    case 'share': return share(value, 1);
  }
}

function scale(series: Series, buckets: Buckets): Scaled {
  const layers = series.layers.map(({values}) => inBuckets(values, buckets));
  let most = 0;
  for (let b = 0; b < buckets.count; b++) {
    let sum = 0;
    layers.forEach((values, i) => {
      if (!series.layers[i]!.isBehind) sum += values[b]!;
      else most = Math.max(most, values[b]!);
    });
    most = Math.max(most, sum);
  }
  return {series, layers, most};
}

// The last bucket may be shorter than the others.
const bucketNs = (head: Head, buckets: Buckets, bucket: number): number =>
  Math.max(Math.min(buckets.moments, head.moments - bucket * buckets.moments), 1) * head.moment_ns;

function drawRow(context: CanvasRenderingContext2D, head: Head, row: Scaled, buckets: Buckets, top: number, width: number, ratio: number, colors: ChartColors): void {
  const {series} = row;
  const room = width - GUTTER;
  const whole = buckets.moments * head.moment_ns;
  // CPUs: as many as there are, unless hardly any is used; else as much as there was.
  const peak = inUnit(series, row.most, whole);
  const limit = series.limit > 0 && (series.unit === 'share' || peak > series.limit * 0.25) ? Math.max(series.limit, peak) : peak;
  const bottom = top + ROW;
  context.fillStyle = colors.raised;
  context.fillRect(GUTTER, top, room, ROW);
  const snap = (value: number): number => Math.round(value * ratio) / ratio; // seams between bars would look like gaps
  const left = (bucket: number): number =>
    snap(GUTTER + (Math.min(bucket * buckets.moments, head.moments) / Math.max(head.moments, 1)) * room);
  const used = new Float64Array(buckets.count);
  row.layers.forEach((values, i) => {
    const {isBehind, color} = series.layers[i]!;
    context.fillStyle = color(colors);
    for (let b = 0; b < buckets.count; b++) {
      if (values[b] === 0) continue;
      const part = limit > 0 ? inUnit(series, values[b]!, bucketNs(head, buckets, b)) / limit : 0;
      const high = series.unit === 'share' && !isBehind ? Math.max(part * ROW, 2) : part * ROW;
      const base = isBehind ? 0 : used[b]!;
      context.fillRect(left(b), bottom - Math.min(base + high, ROW), Math.max(left(b + 1) - left(b), 0.8), Math.min(high, ROW));
      if (!isBehind) used[b]! += high;
    }
  });
  context.textAlign = 'left';
  context.fillStyle = colors.text;
  context.font = context.font.replace(/^(bold )?/, 'bold ');
  context.fillText(fitted(context, series.label, GUTTER - 8), 0, top + 9);
  context.font = context.font.replace(/^bold /, '');
  context.fillStyle = colors.muted;
  context.fillText(fitted(context, `top ${unitText(series, limit)}`, GUTTER - 8), 0, top + 24);
  context.fillText(fitted(context, series.source, GUTTER - 8), 0, top + 38);
}

export function Timeline({head, series, range, onRange, dark, limits}: Props) {
  const box = useRef<HTMLDivElement>(null);
  const canvas = useRef<HTMLCanvasElement>(null);
  const size = useSize(box);
  const [hover, setHover] = useState<{bucket: number; tip: Tip} | null>(null);
  const [asTable, setAsTable] = useState(false);
  const drag = useRef<{at: number; x: number; isMade: boolean} | null>(null);
  const room = Math.max(size.width - GUTTER, 1);
  const buckets = useMemo(() => bucketsFor(head, room), [head, room]);
  const rows = useMemo(() => series.map((each) => scale(each, buckets)), [series, buckets]);
  const height = rows.length * (ROW + GAP) + AXIS;
  const span = head.moments * head.moment_ns;
  const colors = chartColors(dark);

  useLayoutEffect(() => {
    if (size.width === 0 || canvas.current === null) return;
    const context = prepare(canvas.current, size.width, height, size.ratio, colors.background);
    rows.forEach((row, i) => drawRow(context, head, row, buckets, i * (ROW + GAP), size.width, size.ratio, colors));
    const x = (moment: number): number => GUTTER + (moment / Math.max(head.moments, 1)) * room;
    const bottom = height - AXIS;
    for (const {at, label} of ticks(0, span, room / 80)) {
      const left = GUTTER + (at / span) * room;
      context.fillStyle = colors.line;
      context.fillRect(Math.round(left), 0, 1, bottom + 4);
      context.fillStyle = colors.muted;
      context.textAlign = left > size.width - 30 ? 'right' : 'left';
      context.fillText(label, left + (left > size.width - 30 ? -3 : 3), height - AXIS / 2);
    }
    context.textAlign = 'left';
    if (range !== null) {
      context.fillStyle = colors.veil;
      context.fillRect(GUTTER, 0, x(range.first) - GUTTER, bottom);
      context.fillRect(x(range.end), 0, size.width - x(range.end), bottom);
      context.fillStyle = colors.accent;
      context.fillRect(Math.round(x(range.first)) - 1, 0, 2, bottom);
      context.fillRect(Math.round(x(range.end)) - 1, 0, 2, bottom);
    }
    if (hover !== null) {
      context.fillStyle = colors.muted;
      context.fillRect(Math.round(x((hover.bucket + 0.5) * buckets.moments)), 0, 1, bottom);
    }
  });

  const momentAt = (event: MouseEvent): number =>
    Math.min(Math.max(((placeOn(canvas.current!, event).x - GUTTER) / room) * head.moments, 0), head.moments);
  const tipAt = (event: MouseEvent): {bucket: number; tip: Tip} => {
    const bucket = Math.min(Math.floor(momentAt(event) / buckets.moments), buckets.count - 1);
    const ns = bucketNs(head, buckets, bucket);
    const begin = bucket * buckets.moments * head.moment_ns;
    const lines = rows.flatMap(({series: each, layers}) => {
      const shown = layers.map((values, i) => ({layer: each.layers[i]!, value: inUnit(each, values[bucket]!, ns)}));
      const sum = shown.reduce((all, {layer, value}) => all + (layer.isBehind ? 0 : value), 0);
      return [{text: `${each.label}: ${unitText(each, sum)}`},
              ...(layers.length > 1 ? shown.filter(({value}) => value > 0).map(({layer, value}) =>
                ({text: `${layer.label} ${unitText(each, value)}`, color: layer.color(colors), muted: true})) : [])];
    });
    return {bucket, tip: {x: event.clientX, y: event.clientY, title: `${timeLabel(begin)} to ${timeLabel(begin + ns)}`, lines}};
  };
  const onPointerDown = (event: PointerEvent): void => {
    if (event.button !== 0 || placeOn(canvas.current!, event).x < GUTTER) return;
    drag.current = {at: momentAt(event), x: event.clientX, isMade: false};
    canvas.current!.setPointerCapture(event.pointerId);
  };
  const onPointerMove = (event: PointerEvent): void => {
    setHover(placeOn(canvas.current!, event).x < GUTTER ? null : tipAt(event));
    const from = drag.current;
    if (from === null || Math.abs(event.clientX - from.x) < LEAST_DRAG) return;
    onRange(rangeBetween(head, from.at, momentAt(event)), !from.isMade);
    from.isMade = true;
  };
  const onKeyDown = (event: KeyboardEvent): void => {
    const next = rangeByKey(head, range, event);
    if (next === undefined) return;
    event.preventDefault();
    event.stopPropagation();
    onRange(next, range === null || next === null);
  };

  const table = useMemo(() => tableOf(head, series), [head, series]);
  return (
    <section class="timeline" aria-label="What happened when">
      <div class="panel-head">
        <h2>What happened when</h2>
        <span class="muted number">each bar {duration(buckets.moments * head.moment_ns)}</span>
        {limits}
        <span class="gap" />
        <ChartActions name="timeline" text={() => textTable(table, table[0]!.map(() => true))} canvas={() => canvas.current}
          table={{shown: asTable, toggle: () => setAsTable(!asTable)}} />
      </div>
      <Legend series={series} colors={colors} />
      <div ref={box} tabIndex={0} data-main role="application" class="brushed" onKeyDown={onKeyDown} aria-label="Timeline; arrow keys move the selected range, with Shift its end, Escape clears it. The table says the same in text.">
        <canvas ref={canvas} class="chart-canvas" aria-hidden="true" style={{height: `${height}px`}} onPointerDown={onPointerDown}
          onPointerMove={onPointerMove} onPointerUp={() => (drag.current = null)} onPointerCancel={() => (drag.current = null)}
          onPointerLeave={() => setHover(null)} onDblClick={() => onRange(null, true)} />
      </div>
      {asTable && (
        <div class="table-scroll plain-table" tabIndex={0}>
          <table>
            <caption class="hidden">What happened when</caption>
            <thead><tr>{table[0]!.map((cell, i) => <th key={i} scope="col" class={i > 0 ? 'number' : undefined}>{cell}</th>)}</tr></thead>
            <tbody>{table.slice(1).map((row, r) => <tr key={r}>{row.map((cell, i) => <td key={i} class={i > 0 ? 'number' : undefined}>{cell}</td>)}</tr>)}</tbody>
          </table>
        </div>
      )}
      {hover && <Tooltip tip={hover.tip} />}
    </section>
  );
}

const ROWS_OF_TABLE = 60;

// At most so many rows: of whole seconds if there are not too many.
function tableOf(head: Head, series: readonly Series[]): string[][] {
  const second = Math.max(1, Math.round(1e9 / Math.max(head.moment_ns, 1)));
  const seconds = Math.ceil(head.moments / second / ROWS_OF_TABLE);
  const moments = second * Math.max(seconds, 1);
  const buckets: Buckets = {moments, count: Math.max(Math.ceil(head.moments / moments), 1)};
  const scaled = series.map((each) => scale(each, buckets));
  const rows = [['from', ...series.map(({label}) => label)]];
  for (let b = 0; b < buckets.count; b++) {
    const ns = bucketNs(head, buckets, b);
    rows.push([timeLabel(b * moments * head.moment_ns, 1e9), ...scaled.map(({series: each, layers}) =>
      unitText(each, layers.reduce((sum, values, i) => sum + (each.layers[i]!.isBehind ? 0 : inUnit(each, values[b]!, ns)), 0)))]);
  }
  return rows;
}

function Legend({series, colors}: {series: readonly Series[]; colors: ChartColors}) {
  const groups = series.filter(({layers}) => layers.length > 1);
  return (
    <div class="legend-groups">
      {groups.map((each) => (
        <ul key={each.id} class="chart-legend" aria-label={`Colours of ${each.label}`}>
          <li aria-hidden="true"><strong>{each.label}</strong></li>
          {each.layers.map(({label, color}, i) => <li key={i}><span class="swatch chart-swatch" style={{background: color(colors)}} />{label}</li>)}
        </ul>
      ))}
    </div>
  );
}
