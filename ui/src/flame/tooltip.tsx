// What is under the mouse.
import {useLayoutEffect, useMemo, useRef} from 'preact/hooks';
import {clipped} from '../data/visible_text';
import {factsOf, factsOfRest, type View} from './facts';

export interface Hover {
  readonly rectangle: number;
  readonly x: number;
  readonly y: number;
}

export function Tooltip({view, hover, node, isRest}: {view: View; hover: Hover; node: number; isRest: boolean}) {
  const facts = useMemo(() => (isRest ? factsOfRest(view, node) : factsOf(view, node)), [view, node, isRest]);
  const box = useRef<HTMLDivElement>(null);
  useLayoutEffect(() => {
    const {offsetWidth: width, offsetHeight: height, style} = box.current!;
    const right = document.documentElement.clientWidth;
    const below = hover.y + 18 + height < window.innerHeight;
    style.left = `${Math.max(4, Math.min(hover.x + 12, right - width - 8))}px`;
    style.top = `${below ? hover.y + 18 : Math.max(4, hover.y - height - 12)}px`;
  }, [hover, facts]); // it measures itself, which is slow: not at every change of the page
  return (
    <div class="tooltip" ref={box} aria-hidden="true">
      <bdi class="method" dir="ltr">{clipped(facts.name, 300)}</bdi>
      <div>{facts.numbers}</div>
      <div class="muted">{facts.what}</div>
    </div>
  );
}
