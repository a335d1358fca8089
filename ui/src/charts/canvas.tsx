// A canvas that is as large as its place and as sharp as the screen.
import {useLayoutEffect, useRef, useState} from 'preact/hooks';
import type {RefObject} from 'preact';

export const CHART_FONT = '11px system-ui, "Segoe UI", "Helvetica Neue", "DejaVu Sans", sans-serif';

export interface Size {
  readonly width: number;
  readonly height: number;
  readonly ratio: number;
}

const TALLEST = 8192; // browsers refuse canvases of any size; screens are smaller

// The size of the element, followed while it changes.
export function useSize(element: RefObject<HTMLElement>): Size {
  const [size, setSize] = useState<Size>({width: 0, height: 0, ratio: 1});
  useLayoutEffect(() => {
    const measure = (): void => {
      const box = element.current;
      if (box === null) return;
      const next = {width: box.clientWidth, height: Math.min(box.clientHeight, TALLEST), ratio: window.devicePixelRatio || 1};
      setSize((old) => (old.width === next.width && old.height === next.height && old.ratio === next.ratio ? old : next));
    };
    measure();
    const observer = new ResizeObserver(measure);
    if (element.current !== null) observer.observe(element.current);
    window.addEventListener('resize', measure);
    return () => {
      observer.disconnect();
      window.removeEventListener('resize', measure);
    };
  }, []);
  return size;
}

// Makes the canvas so large and gives its context, in CSS pixels and empty.
export function prepare(canvas: HTMLCanvasElement, width: number, height: number, ratio: number, background: string): CanvasRenderingContext2D {
  const [w, h] = [Math.round(width * ratio), Math.round(height * ratio)];
  if (canvas.width !== w || canvas.height !== h) {
    canvas.width = w;
    canvas.height = h;
  }
  const context = canvas.getContext('2d', {alpha: false})!;
  context.setTransform(ratio, 0, 0, ratio, 0, 0);
  context.globalAlpha = 1;
  context.font = CHART_FONT;
  context.textBaseline = 'middle';
  context.textAlign = 'left';
  context.direction = 'ltr';
  context.fillStyle = background;
  context.fillRect(0, 0, width, height);
  return context;
}

// The text, or as much of its beginning as fits.
export function fitted(context: CanvasRenderingContext2D, text: string, width: number): string {
  if (width <= 8) return '';
  const short = text.length > 300 ? text.slice(0, 300) : text;
  if (context.measureText(short).width <= width) return short;
  let low = 0;
  let high = short.length;
  while (low < high) {
    const middle = (low + high + 1) >> 1;
    if (context.measureText(`${short.slice(0, middle)}\u2026`).width <= width) low = middle;
    else high = middle - 1;
  }
  return low === 0 ? '' : `${short.slice(0, low)}\u2026`;
}

// Where an event is on an element, in CSS pixels.
export function placeOn(element: Element, event: MouseEvent): {x: number; y: number} {
  const box = element.getBoundingClientRect();
  return {x: event.clientX - box.left, y: event.clientY - box.top};
}

export type CanvasRef = RefObject<HTMLCanvasElement>;
export const useCanvas = (): CanvasRef => useRef<HTMLCanvasElement>(null);
