// Who blocks whom: owners on the left, the blocked on the right, bands as wide as the time between them.
import {useLayoutEffect, useMemo, useRef, useState} from 'preact/hooks';
import {ChartActions, textTable} from '../charts/actions';
import {fitted, placeOn, prepare, useSize} from '../charts/canvas';
import {chartColors, type ChartColors} from '../charts/colors';
import {Tooltip, type Tip} from '../charts/tooltip';
import {clipped} from '../data/visible_text';
import {count, duration, share} from '../model/format';
import type {Graph, GraphOf} from './blame';
import {LEAST_BOX, sankey, type Sankey} from './sankey';

interface Props {
  readonly graph: Graph;
  readonly of: GraphOf;
  readonly onOf: (of: GraphOf) => void;
  readonly hasPools: boolean;
  readonly dark: boolean;
  readonly onEdge: (owner: number, blocked: number) => void; // keys
}

const HEAD = 20;
const BOX = 8; // width of the boxes
const LABEL_SHARE = 0.34;
const WORDS: Readonly<Record<GraphOf, string>> = {thread: 'Threads', pool: 'Pools', method: 'Methods'};

interface Target {
  readonly side: 'owner' | 'blocked' | 'edge';
  readonly index: number;
}

// The method matters more than its class.
function fittedName(context: CanvasRenderingContext2D, name: string, width: number): string {
  if (context.measureText(name).width <= width) return name;
  const method = name.slice(name.lastIndexOf('.') + 1);
  return context.measureText(method).width <= width ? method : fitted(context, method, width);
}

function draw(context: CanvasRenderingContext2D, graph: Graph, places: Sankey, width: number, colors: ChartColors, hover: Target | null): void {
  const label = width * LABEL_SHARE;
  const leftX = label;
  const rightX = width - label - BOX;
  const middle = (leftX + BOX + rightX) / 2;
  const isLit = (edge: number): boolean => {
    if (hover === null) return true;
    const {owner, blocked} = graph.edges[edge]!;
    return hover.side === 'edge' ? hover.index === edge : hover.side === 'owner' ? hover.index === owner : hover.index === blocked;
  };
  context.fillStyle = colors.muted;
  context.textAlign = 'right';
  context.fillText('held the lock', leftX - 6, HEAD / 2);
  context.textAlign = 'left';
  context.fillText('was blocked', rightX + BOX + 6, HEAD / 2);
  for (const band of places.bands) {
    context.globalAlpha = isLit(band.edge) ? (hover === null ? 0.42 : 0.75) : 0.1;
    context.fillStyle = colors.blocked;
    context.beginPath();
    context.moveTo(leftX + BOX, HEAD + band.leftTop);
    context.bezierCurveTo(middle, HEAD + band.leftTop, middle, HEAD + band.rightTop, rightX, HEAD + band.rightTop);
    context.lineTo(rightX, HEAD + band.rightTop + Math.max(band.height, 0.7));
    context.bezierCurveTo(middle, HEAD + band.rightTop + band.height, middle, HEAD + band.leftTop + band.height,
      leftX + BOX, HEAD + band.leftTop + Math.max(band.height, 0.7));
    context.fill();
  }
  context.globalAlpha = 1;
  const column = (side: 'owner' | 'blocked'): void => {
    const isLeft = side === 'owner';
    const nodes = isLeft ? graph.owners : graph.blocked;
    (isLeft ? places.left : places.right).forEach((box, i) => {
      context.fillStyle = isLeft ? colors.blocked : colors.kinds['app']!;
      context.fillRect(isLeft ? leftX : rightX, HEAD + box.top, BOX, Math.max(box.height, 1));
      const time = duration(nodes[i]!.ns);
      const y = HEAD + box.top + Math.max(box.height, LEAST_BOX) / 2;
      const timeWidth = context.measureText(time).width;
      const name = fittedName(context, nodes[i]!.short, label - timeWidth - 20);
      context.textAlign = isLeft ? 'right' : 'left';
      context.fillStyle = colors.muted;
      context.fillText(time, isLeft ? leftX - 6 : rightX + BOX + 6, y);
      context.fillStyle = colors.text;
      context.fillText(name, isLeft ? leftX - 12 - timeWidth : rightX + BOX + 12 + timeWidth, y);
    });
  };
  column('owner');
  column('blocked');
  context.textAlign = 'left';
}

function targetAt(graph: Graph, places: Sankey, width: number, x: number, y: number): Target | null {
  const label = width * LABEL_SHARE;
  const leftX = label + BOX;
  const rightX = width - label - BOX;
  const at = y - HEAD;
  if (x <= leftX || x >= rightX) {
    const list = x <= leftX ? places.left : places.right;
    const index = list.findIndex(({top, height}) => at >= top && at < top + Math.max(height, LEAST_BOX));
    return index < 0 ? null : {side: x <= leftX ? 'owner' : 'blocked', index};
  }
  // Along the curve: the same blend as the Bezier's, near enough.
  const t = (x - leftX) / (rightX - leftX);
  const ease = t * t * (3 - 2 * t);
  let best: Target | null = null;
  let bestHeight = Infinity;
  for (const band of places.bands) {
    const top = band.leftTop + (band.rightTop - band.leftTop) * ease;
    const height = Math.max(band.height, 3);
    if (at >= top - 1 && at <= top + height + 1 && height < bestHeight) {
      best = {side: 'edge', index: band.edge};
      bestHeight = height;
    }
  }
  return best !== null && graph.edges[best.index] !== undefined ? best : null;
}

export function BlameView({graph, of, onOf, hasPools, dark, onEdge}: Props) {
  const box = useRef<HTMLDivElement>(null);
  const canvas = useRef<HTMLCanvasElement>(null);
  const size = useSize(box);
  const [hover, setHover] = useState<{target: Target; tip: Tip} | null>(null);
  const [asTable, setAsTable] = useState(false);
  const rows = Math.max(graph.owners.length, graph.blocked.length, 1);
  const height = Math.max(rows * 24 + HEAD + 60, size.height - 2);
  const places = useMemo(() => sankey(graph, height - HEAD - 4), [graph, height]);
  useLayoutEffect(() => {
    if (size.width === 0 || canvas.current === null) return;
    const colors = chartColors(dark);
    draw(prepare(canvas.current, size.width, height, size.ratio, colors.background), graph, places, size.width, colors,
      hover?.target ?? null);
  });
  const edgeWords = (edge: number): string => {
    const {owner, blocked} = graph.edges[edge]!;
    return `${graph.owners[owner]!.label} blocked ${graph.blocked[blocked]!.label}`;
  };
  const find = (event: MouseEvent): {target: Target; tip: Tip} | null => {
    const {x, y} = placeOn(canvas.current!, event);
    const target = targetAt(graph, places, size.width, x, y);
    if (target === null) return null;
    const edge = target.side === 'edge' ? graph.edges[target.index]! : null;
    const node = target.side === 'owner' ? graph.owners[target.index]! : target.side === 'blocked' ? graph.blocked[target.index]! : null;
    const ns = edge?.ns ?? node!.ns;
    const title = edge !== null ? edgeWords(target.index)
      : target.side === 'owner' ? `${node!.label} held locks that others waited for` : `${node!.label} was blocked`;
    const lines = [{text: `${duration(ns)}, ${share(ns, graph.ns)}${edge !== null ? `, ${count(edge.times)} times` : ''}`},
                   ...(edge !== null ? [{text: 'A click breaks down by these two', muted: true}] : [])];
    return {target, tip: {x: event.clientX, y: event.clientY, title, lines}};
  };
  const onClick = (event: MouseEvent): void => {
    const found = find(event);
    if (found?.target.side !== 'edge') return;
    const {owner, blocked} = graph.edges[found.target.index]!;
    onEdge(graph.owners[owner]!.key, graph.blocked[blocked]!.key);
  };
  const text = (): string => textTable([
    ['held the lock', 'was blocked', 'time', 'share', 'times'],
    ...graph.edges.map((edge) => [graph.owners[edge.owner]!.label, graph.blocked[edge.blocked]!.label, duration(edge.ns),
                                  share(edge.ns, graph.ns), count(edge.times)])], [false, false, true, true, true]);
  return (
    <section class="blame" aria-label="Who blocks whom">
      <div class="panel-head">
        <h2>Who blocks whom</h2>
        <div role="group" aria-label="Nodes of the graph" class="segments">
          {(Object.keys(WORDS) as GraphOf[]).filter((each) => each !== 'pool' || hasPools).map((each) => (
            <button key={each} type="button" aria-pressed={of === each} onClick={() => onOf(each)}>{WORDS[each]}</button>
          ))}
        </div>
        <span class="gap" />
        <ChartActions name="who-blocks-whom" text={text} canvas={() => canvas.current}
          table={{shown: asTable, toggle: () => setAsTable(!asTable)}} />
      </div>
      <div ref={box} class="blame-box">
        {graph.edges.length === 0 ? <p class="empty">Nobody was blocked here.</p> : (
          <canvas ref={canvas} aria-hidden="true" class="chart-canvas" style={{height: `${height}px`, display: asTable ? 'none' : 'block'}}
            onMouseMove={(event) => setHover(find(event))} onMouseLeave={() => setHover(null)} onClick={onClick} />
        )}
        {/* The twin of the drawing is always there for those who can't see it. */}
        <div class={asTable ? 'table-scroll plain-table' : 'hidden'} tabIndex={asTable ? 0 : undefined}>
          <table>
            <caption class="hidden">Who blocks whom, most time first</caption>
            <thead><tr><th scope="col">Held the lock</th><th scope="col">Was blocked</th><th scope="col" class="number">Time</th>
              <th scope="col" class="number">Share</th><th scope="col" class="number">Times</th></tr></thead>
            <tbody>
              {graph.edges.map((edge, i) => (
                <tr key={i}>
                  <td><bdi dir="ltr">{clipped(graph.owners[edge.owner]!.label, 200)}</bdi></td>
                  <td><bdi dir="ltr">{clipped(graph.blocked[edge.blocked]!.label, 200)}</bdi></td>
                  <td class="number">{duration(edge.ns)}</td><td class="number">{share(edge.ns, graph.ns)}</td>
                  <td class="number">{count(edge.times)}</td>
                </tr>
              ))}
            </tbody>
          </table>
        </div>
      </div>
      {hover && <Tooltip tip={hover.tip} />}
    </section>
  );
}
