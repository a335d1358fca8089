// What the mouse is over, beside the mouse.
import {useLayoutEffect, useRef} from 'preact/hooks';
import {clipped} from '../data/visible_text';

export interface TipLine {
  readonly text: string;
  readonly color?: string; // of a small box before it
  readonly muted?: boolean;
}

export interface Tip {
  readonly x: number; // of the window
  readonly y: number;
  readonly title: string;
  readonly lines: readonly TipLine[];
}

export function Tooltip({tip}: {tip: Tip}) {
  const box = useRef<HTMLDivElement>(null);
  useLayoutEffect(() => {
    const {offsetWidth: width, offsetHeight: height, style} = box.current!;
    const right = document.documentElement.clientWidth;
    const below = tip.y + 18 + height < window.innerHeight;
    style.left = `${Math.max(4, Math.min(tip.x + 12, right - width - 8))}px`;
    style.top = `${below ? tip.y + 18 : Math.max(4, tip.y - height - 12)}px`;
  });
  return (
    <div class="tooltip" ref={box} aria-hidden="true">
      <bdi class="method" dir="ltr">{clipped(tip.title, 300)}</bdi>
      {tip.lines.map((line, i) => (
        <div key={i} class={line.muted ? 'muted' : undefined}>
          {line.color !== undefined && <span class="swatch chart-swatch" style={{background: line.color}} />}
          <bdi dir="ltr">{clipped(line.text, 400)}</bdi>
        </div>
      ))}
    </div>
  );
}
