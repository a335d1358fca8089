// The canvas and what mouse and keyboard do to it.
import {useEffect, useLayoutEffect, useMemo, useRef, useState} from 'preact/hooks';
import {Painter, rowAt, rowTop, type Viewport} from './draw';
import type {View} from './facts';
import {layoutFlame, neighbour, rectangleAt, type Direction} from './layout';
import type {Palette} from './palette';
import {Tooltip, type Hover} from './tooltip';

export interface FlamePanelProps {
  readonly id: string;
  readonly label: string;
  readonly leastHeight?: number;
  readonly isMain: boolean; // what gets the focus when a search is done
  readonly view: View;
  readonly focus: number;
  readonly selected: number;
  readonly matches: Uint8Array | null;
  readonly onlyKind: number;
  readonly rootAtTop: boolean;
  readonly palette: Palette;
  readonly onSelect: (node: number) => void;
  readonly onZoom: (node: number) => void;
  readonly onBack: (steps: number) => void;
}

const LEAST_WIDTH = 0.5;
const LEAST_HEIGHT = 240; // of what is seen, unless there is less to see
const TALLEST = 8192; // browsers refuse canvases of any size; screens are smaller
const CONTEXT_ROWS = 3; // callers of the focus that stay in sight

const ARROWS: Readonly<Record<string, (rootAtTop: boolean) => Direction>> = {
  ArrowUp: (rootAtTop) => (rootAtTop ? 'caller' : 'callee'),
  ArrowDown: (rootAtTop) => (rootAtTop ? 'callee' : 'caller'),
  ArrowLeft: () => 'previous',
  ArrowRight: () => 'next',
};

export function FlamePanel(props: FlamePanelProps) {
  const {view, focus, selected, rootAtTop} = props;
  const scroller = useRef<HTMLDivElement>(null);
  const canvas = useRef<HTMLCanvasElement>(null);
  const painter = useRef<Painter | null>(null);
  const [size, setSize] = useState({width: 0, height: 0, pixelRatio: 1});
  const [scroll, setScroll] = useState(0);
  const [hover, setHover] = useState<Hover | null>(null);
  const zoomedByClick = useRef(0);

  const rowHeight = useMemo(() => (matchMedia('(pointer: coarse)').matches ? 24 : 18), []);
  const layout = useMemo(
    () => layoutFlame(view.tree, focus, Math.max(size.width, 1), LEAST_WIDTH), [view.tree, focus, size.width]);
  const viewport: Viewport = {...size, scroll, rowHeight};
  const height = layout.rows * rowHeight;

  useLayoutEffect(() => {
    const box = scroller.current!;
    const measure = (): void => {
      const next = {width: box.clientWidth, height: Math.min(box.clientHeight, TALLEST), pixelRatio: window.devicePixelRatio || 1};
      setSize((old) => (old.width === next.width && old.height === next.height && old.pixelRatio === next.pixelRatio
        ? old : next));
    };
    measure();
    const observer = new ResizeObserver(measure);
    observer.observe(box);
    window.addEventListener('resize', measure);
    return () => {
      observer.disconnect();
      window.removeEventListener('resize', measure);
    };
  }, []);

  // A new tree, focus or direction begins at the focus, with some of its callers in sight.
  useLayoutEffect(() => {
    const box = scroller.current!;
    const first = Math.max(view.tree.depth[focus]! - CONTEXT_ROWS, 0) * rowHeight;
    box.scrollTop = rootAtTop ? first : height - box.clientHeight - first;
    setScroll(box.scrollTop);
    setHover(null);
  }, [view.tree, focus, rootAtTop, size.width, size.height, height]);

  // The selection is always in sight.
  useLayoutEffect(() => {
    if (selected < 0) return;
    const box = scroller.current!;
    const top = rowTop(view.tree.depth[selected]!, layout.rows, {...viewport, scroll: box.scrollTop}, rootAtTop);
    if (top < 0) box.scrollTop += top;
    else if (top + rowHeight > box.clientHeight) box.scrollTop += top + rowHeight - box.clientHeight;
  }, [selected, layout]);

  useLayoutEffect(() => {
    if (size.width === 0) return;
    painter.current ??= new Painter(canvas.current!);
    painter.current.draw({
      tree: view.tree, names: view.profile.names, layout, focus, selected, hovered: hover?.rectangle ?? -1,
      matches: props.matches, coloring: view.coloring, onlyKind: props.onlyKind, rootAtTop,
    }, viewport, props.palette);
  });

  useEffect(() => {
    zoomedByClick.current = 0;
  }, [view.tree]);

  const find = (event: MouseEvent): Hover | null => {
    const box = canvas.current!.getBoundingClientRect();
    const x = event.clientX - box.left;
    const y = event.clientY - box.top;
    const rectangle = rectangleAt(layout, rowAt(y, layout.rows, viewport, rootAtTop), x);
    return rectangle < 0 ? null : {rectangle, x: event.clientX, y: event.clientY};
  };

  const onClick = (event: MouseEvent): void => {
    const hit = find(event);
    if (event.detail > 1) return; // the second half of a double click
    zoomedByClick.current = 0;
    if (hit === null) return;
    const isRest = layout.isRest[hit.rectangle] === 1;
    const node = isRest ? view.tree.parent[layout.node[hit.rectangle]!]! : layout.node[hit.rectangle]!;
    props.onSelect(node);
    if (node !== focus) {
      zoomedByClick.current = 1;
      props.onZoom(node);
    }
  };

  // A double click steps back from where one was before it: its first half may have zoomed already.
  const onDoubleClick = (): void => {
    props.onBack(1 + zoomedByClick.current);
    zoomedByClick.current = 0;
  };

  const onKeyDown = (event: KeyboardEvent): void => {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    const arrow = ARROWS[event.key];
    if (arrow) props.onSelect(selected < 0 ? focus : neighbour(layout, view.tree, selected, arrow(rootAtTop)));
    else if (event.key === 'Enter' && selected >= 0) props.onZoom(selected);
    else if (event.key === 'Home') props.onSelect(focus);
    else return;
    event.preventDefault();
  };

  return (
    <div class="flame" style={{minHeight: `${Math.min(height, props.leastHeight ?? LEAST_HEIGHT)}px`}}>
      <div class="flame-scroll" ref={scroller} onScroll={() => setScroll(scroller.current!.scrollTop)} tabIndex={0}
        role="application" aria-label={props.label} aria-describedby={`${props.id}-keys`} onKeyDown={onKeyDown} id={props.id}
        data-main={props.isMain ? '' : undefined}
        style={{height: `${height}px`}}>
        <canvas ref={canvas} class="flame-canvas" aria-hidden="true" style={{height: `${size.height}px`}}
          onMouseMove={(event) => setHover(find(event))} onMouseLeave={() => setHover(null)} onClick={onClick}
          onDblClick={onDoubleClick} />
        <div class="flame-space" style={{height: `${Math.max(height - size.height, 0)}px`}} />
      </div>
      <p id={`${props.id}-keys`} class="hidden">
        Arrow keys move the selection, Enter zooms in, Escape zooms out. The tables beside it and the call tree say the
        same in text.
      </p>
      {hover && <Tooltip view={view} hover={hover} node={layout.node[hover.rectangle]!}
        isRest={layout.isRest[hover.rectangle] === 1} />}
    </div>
  );
}
