// Of a table of any length, the rows that can be seen.
import {useLayoutEffect, useRef, useState} from 'preact/hooks';
import type {RefObject} from 'preact';

const SPARE = 8; // rows above and below, so that scrolling shows no holes

export interface Window {
  readonly first: number;
  readonly end: number;
  readonly above: number; // pixels
  readonly below: number;
}

export function useVirtualRows(box: RefObject<HTMLElement>, rows: number, rowHeight: number): Window {
  const [scroll, setScroll] = useState({top: 0, height: 600});
  const asked = useRef(0);
  useLayoutEffect(() => {
    const element = box.current!;
    const read = (): void => {
      asked.current = 0;
      setScroll((old) => (old.top === element.scrollTop && old.height === element.clientHeight ? old
        : {top: element.scrollTop, height: element.clientHeight}));
    };
    const later = (): void => {
      if (asked.current === 0) asked.current = requestAnimationFrame(read);
    };
    read();
    element.addEventListener('scroll', later, {passive: true});
    const observer = new ResizeObserver(later);
    observer.observe(element);
    return () => {
      element.removeEventListener('scroll', later);
      observer.disconnect();
      cancelAnimationFrame(asked.current);
    };
  }, []);
  const first = Math.max(0, Math.min(Math.floor(scroll.top / rowHeight) - SPARE, rows));
  const end = Math.min(rows, Math.ceil((scroll.top + scroll.height) / rowHeight) + SPARE);
  return {first, end: Math.max(first, end), above: first * rowHeight, below: Math.max(0, rows - end) * rowHeight};
}
